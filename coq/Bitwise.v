(** * What follows bit for bit

    Equal elements are identical, unless they are two zeros of a type that has two of them. Identity is Coq's [=]:
    the sign of a zero and the payload of a NaN included. A theorem carries the id of the property that it shows. *)

From SonnxClip Require Import Order Clip Theorems.

Section Bitwise.
Variable o : ordered.
Variable zero : o -> bool.
Local Open Scope element_scope.

Definition zero_tie (a b : o) : Prop := zero a /\ zero b.

Hypothesis identified : forall a b : o, a == b -> ~ zero_tie a b -> a = b.

Implicit Types x l m : o.

(* What [order] leaves: two elements that compare both ways are identical. *)
Ltac identify :=
  match goal with
  | H : le ?a ?b = true, H' : le ?b ?a = true |- ?a = ?b =>
      apply identified;
      [unfold is_true; rewrite eq_by_le, H, H'; reflexivity | unfold zero_tie, is_true; intuition congruence]
  end.

Ltac by_cases :=
  intros; unfold clip, formula, prose, min, max, zero_tie in *; order; try identify.

(** shows: formula_agrees_bitwise *)
Theorem formula_agrees_bitwise : forall x l m, ~ nan x -> ~ nan l -> ~ nan m ->
  ~ zero_tie x l -> ~ zero_tie x m -> clip x l m = formula x l m.
Proof. by_cases. Qed.

(** shows: prose_agrees_bitwise *)
Theorem prose_agrees_bitwise : forall x l m, l <= m \/ m < l ->
  ~ zero_tie x l -> ~ zero_tie x m -> clip x l m = prose x l m.
Proof. by_cases. Qed.

(** shows: idempotent_bitwise *)
Theorem idempotent_bitwise : forall x l m, ~ zero_tie l m -> clip (clip x l m) l m = clip x l m.
Proof. by_cases. Qed.

(** Bounds that no number leaves, as the numeric limits of an integer type: clipping at them changes nothing.
    shows: widest_bounds_are_no_bound *)
Theorem widest_bounds_are_no_bound : forall lowest highest x,
  ~ zero lowest -> ~ zero highest -> lowest <= x /\ x <= highest \/ nan x /\ ~ highest < lowest ->
  clip x lowest highest = x.
Proof. by_cases. Qed.

(** A bound below which there is no number but itself.
    shows: lowest_is_no_lower_bound *)
Theorem lowest_is_no_lower_bound : forall lowest x m,
  ~ zero lowest -> lowest <= x \/ nan x -> ~ m < lowest ->
  clip x lowest m = if m <= x then m else x.
Proof. by_cases. Qed.

(** shows: highest_is_no_upper_bound *)
Theorem highest_is_no_upper_bound : forall highest x l,
  ~ zero highest -> x <= highest \/ nan x -> ~ highest < l ->
  clip x l highest = if x <= l then l else x.
Proof. by_cases. Qed.

End Bitwise.

(** ** Types with a least and a greatest number *)

Section Bounded.
Variable o : ordered.
Variables bottom top : o.
Local Open Scope element_scope.

Hypothesis bottom_is_least : forall a : o, ~ nan a -> bottom <= a.
Hypothesis top_is_greatest : forall a : o, ~ nan a -> a <= top.
Hypothesis bottom_is_alone : forall a : o, a <= bottom -> a = bottom.
Hypothesis top_is_alone : forall a : o, top <= a -> a = top.

Implicit Types x l m : o.

Lemma nothing_below : forall a : o, (a < bottom) = false.
Proof.
  intros a. apply not_true_is_false. intros B. apply (lt_is_strict o) in B as [L N].
  apply N, bottom_is_least, (only_numbers_compare o _ _ L).
Qed.

Lemma nothing_above : forall a : o, (top < a) = false.
Proof.
  intros a. apply not_true_is_false. intros B. apply (lt_is_strict o) in B as [L N].
  apply N, top_is_greatest, (only_numbers_compare o _ _ L).
Qed.

(** shows: nan_min_is_no_bound *)
Theorem nan_min_is_bottom : forall x l m, nan l -> clip x l m = clip x bottom m.
Proof.
  intros x l m N. rewrite nan_min_is_no_bound by easy.
  unfold clip. rewrite nothing_below.
  destruct (x <= bottom) eqn:X; [|easy].
  rewrite (bottom_is_alone x X) in *.
  destruct (m <= bottom) eqn:M; [|easy].
  now apply bottom_is_alone.
Qed.

(** shows: nan_max_is_no_bound *)
Theorem nan_max_is_top : forall x l m, nan m -> clip x l m = clip x l top.
Proof.
  intros x l m N. rewrite nan_max_is_no_bound by easy.
  unfold clip. rewrite nothing_above.
  destruct (x <= l) eqn:X; [easy|].
  destruct (top <= x) eqn:T; [|easy].
  now apply top_is_alone.
Qed.

End Bounded.
