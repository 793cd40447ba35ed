(** * What follows for every ordered element type at once

    A theorem carries the id of the property in spec/clip.yaml that it shows. *)

From SonnxClip Require Import Order Clip.

Section Theorems.
Variable o : ordered.
Implicit Types x l m y : o.
Local Open Scope element_scope.

Ltac by_cases := intros; unfold clip, formula, prose, min, max, same, inverted, low, high, inside in *; order.

(** ** The cases *)

(** shows: inverted, low, high, inside *)
Theorem cases_complete : forall x l m, inverted x l m \/ low x l m \/ high x l m \/ inside x l m.
Proof. by_cases. Qed.

(** shows: inverted, low, high, inside *)
Theorem cases_disjoint : forall x l m,
  ~ (inverted x l m /\ low x l m) /\ ~ (inverted x l m /\ high x l m) /\ ~ (inverted x l m /\ inside x l m) /\
  ~ (low x l m /\ high x l m) /\ ~ (low x l m /\ inside x l m) /\ ~ (high x l m /\ inside x l m).
Proof. by_cases. Qed.

(** shows: inverted, low, high, inside *)
Theorem cases_results : forall x l m,
  (inverted x l m -> clip x l m = m) /\ (low x l m -> clip x l m = l) /\
  (high x l m -> clip x l m = m) /\ (inside x l m -> clip x l m = x).
Proof. by_cases. Qed.

(** ** The result *)

(** shows: result_is_operand *)
Theorem result_is_operand : forall x l m, clip x l m = x \/ clip x l m = l \/ clip x l m = m.
Proof. by_cases. Qed.

(** shows: nan_out *)
Theorem nan_out : forall x l m, nan (clip x l m) <-> nan x /\ ~ m < l.
Proof. by_cases. Qed.

(** A NaN that passes keeps its payload. shows: nan_out *)
Theorem nan_passes : forall x l m, nan x -> ~ m < l -> clip x l m = x.
Proof. by_cases. Qed.

(** shows: interval, C2 *)
Theorem interval : forall x l m, ~ nan x -> ~ nan l -> ~ nan m ->
  l <= clip x l m /\ clip x l m <= m \/ clip x l m == m.
Proof. by_cases. Qed.

(** It is refuted by every NaN between bounds that are not inverted. shows: interval, C2 *)
Theorem interval_refuted : forall x l m, nan x -> ~ m < l ->
  ~ (l <= clip x l m /\ clip x l m <= m \/ clip x l m == m).
Proof. by_cases. Qed.

(** ** A NaN bound bounds nothing *)

(** shows: nan_min_is_no_bound *)
Theorem nan_min_is_no_bound : forall x l m, nan l -> clip x l m = if m <= x then m else x.
Proof. by_cases. Qed.

(** shows: nan_max_is_no_bound *)
Theorem nan_max_is_no_bound : forall x l m, nan m -> clip x l m = if x <= l then l else x.
Proof. by_cases. Qed.

(** ** The other wordings of the page, by value *)

(** shows: formula_agrees *)
Theorem formula_agrees : forall x l m, ~ nan x -> ~ nan l -> ~ nan m -> same (clip x l m) (formula x l m).
Proof. by_cases. Qed.

(** shows: prose_is_complete *)
Theorem prose_is_complete : forall l m, ~ nan l -> ~ nan m -> l <= m \/ m < l.
Proof. by_cases. Qed.

(** shows: prose_agrees *)
Theorem prose_agrees : forall x l m, l <= m \/ m < l -> same (clip x l m) (prose x l m).
Proof. by_cases. Qed.

(** ** Clip as a function of its input *)

(** shows: monotone *)
Theorem monotone : forall x x2 l m, x <= x2 -> clip x l m <= clip x2 l m.
Proof. by_cases. Qed.

(** shows: idempotent *)
Theorem idempotent : forall x l m, same (clip (clip x l m) l m) (clip x l m).
Proof. by_cases. Qed.

End Theorems.

(** ** On tensors

    Of a tensor only its entries matter here: a function of an index of any kind. *)

Section Tensors.
Variable o : ordered.
Local Open Scope element_scope.

(** shows: C2 *)
Theorem C2 : forall (index : Type) (x : index -> o) (l m : o),
  (forall i, ~ nan (x i)) -> ~ nan l -> ~ nan m ->
  (forall i, l <= clip (x i) l m /\ clip (x i) l m <= m) \/ (forall i, clip (x i) l m == m).
Proof.
  intros index x l m X L M. destruct (m < l) eqn:D; [right|left]; intros i;
  generalize (X i); generalize (x i); revert D L M; unfold clip; order.
Qed.

(** One NaN between bounds that are not inverted refutes it. shows: C2 *)
Theorem C2_refuted : forall (index : Type) (x : index -> o) (l m : o) (i : index),
  nan (x i) -> ~ m < l ->
  ~ ((forall i, l <= clip (x i) l m /\ clip (x i) l m <= m) \/ (forall i, clip (x i) l m == m)).
Proof.
  intros index x l m i X L [H|H]; apply (interval_refuted o (x i) l m X L); [left|right]; apply H.
Qed.
End Tensors.
