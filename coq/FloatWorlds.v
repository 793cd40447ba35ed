(** * The worlds of floats

    Every statement on a few floats of one format and their two zeros is decided by computing: what floats have
    beyond an order is that those which are equal and not identical are the two zeros. *)

From Coq Require Import List ZArith Lia Bool ZifyBool.
From SonnxClip Require Import Order Key Floats Worlds Statements ByWorlds.
Import ListNotations.
Local Open Scope Z_scope.

Section FloatWorlds.
Variables prec emax : Z.
Context (prec_is_positive : FLX.Prec_gt_0 prec).
Context (prec_is_less : BinarySingleNaN.Prec_lt_emax prec emax).
Notation t := (floats prec emax prec_is_positive prec_is_less).
Notation zero := (zero prec emax prec_is_positive prec_is_less).
Notation opposite := (opposite prec emax prec_is_positive prec_is_less).
Notation key := (key prec emax).
Notation identical := (identical prec emax prec_is_positive prec_is_less).
Notation relate := (relate t identical).

Definition same_are_zeros (r : relation) (rest : list relation) : bool :=
  match r with
  | Same => match last rest Same with Identical | Same => true | _ => false end
  | _ => true
  end.

Definition ends_with_zero (env : list t) : Prop := env = [] \/ last env zero = zero.

Lemma equal_by_key : forall a b : t, eq a b = negb (nan a) && negb (nan b) && (key a =? key b).
Proof. exact (eq_is_keyed prec emax prec_is_positive prec_is_less). Qed.

Lemma equal_zeros : forall a b : t, eq a b = true -> a <> b -> nan a = false /\ nan b = false /\ key a = 0 /\ key b = 0.
Proof.
  intros a b E D. destruct (equal_or_zeros prec emax prec_is_positive prec_is_less a b E D) as [A B].
  rewrite equal_by_key in E. lia.
Qed.

Lemma two_zeros : forall a b c : t, eq a b = true -> a <> b -> eq b c = true -> b <> c -> a = c.
Proof.
  intros a b c E D E' D'. apply equal_zeros in E as (NA & NB & A & B); [|easy]. apply equal_zeros in E' as (_ & NC & _ & C); [|easy].
  destruct (zero_of_key _ _ _ _ a NA A), (zero_of_key _ _ _ _ b NB B), (zero_of_key _ _ _ _ c NC C); congruence.
Qed.

Lemma last_related : forall a b env, last (map (relate a) (b :: env)) Same = relate a (last (b :: env) zero).
Proof.
  intros a b env. revert b. induction env as [|c env IH]; intros b; [easy|]. exact (IH c).
Qed.

Lemma obeyed : forall (a b : t) env, ends_with_zero (b :: env) -> same_are_zeros (relate a b) (map (relate a) env) = true.
Proof.
  intros a b env [L|L]; [easy|]. destruct env as [|c env]; [now destruct (relate a b)|].
  change (last (b :: c :: env) zero) with (last (c :: env) zero) in L.
  destruct (relate a b) eqn:R; try easy. unfold same_are_zeros. rewrite last_related, L.
  unfold Worlds.relate in R. destruct (identical a b) eqn:I; [easy|].
  destruct (le a b) eqn:A, (le b a) eqn:B; try easy.
  destruct (equal_zeros a b) as (N & _ & K & _).
  - now rewrite eq_by_le, A, B.
  - intros ->. apply not_true_iff_false in I. apply I. now apply identical_is_equal.
  - destruct (zero_of_key _ _ _ _ a N K) as [-> | ->]; reflexivity.
Qed.

Lemma constants_are : actual t identical [opposite zero; zero] = [(true, [Same]); (true, [])].
Proof. reflexivity. Qed.

Notation zeros := [opposite zero; zero].

Lemma zeros_are : actual t identical zeros = [(true, [Same]); (true, [])].
Proof. reflexivity. Qed.

Lemma zeros_are_lawful : forall some constants, ends_with_zero (some ++ constants ++ zeros).
Proof.
  intros some constants. right. change zeros with ([opposite zero] ++ [zero]). rewrite !app_assoc. apply last_last.
Qed.

Definition more_worlds : list world -> nat -> list world := worlds [true; false] same_are_zeros.
Definition float_worlds : nat -> list world := more_worlds [[(true, [Same]); (true, [])]].

(** Listed once, so that no proof lists them again. *)
Definition worlds_of_3 : list world := Eval vm_compute in float_worlds 3.
Definition worlds_of_4 : list world := Eval vm_compute in float_worlds 4.

Definition listed_worlds (n : nat) : list world :=
  match n with 3%nat => worlds_of_3 | 4%nat => worlds_of_4 | _ => float_worlds n end.

Lemma listed : forall n, listed_worlds n = float_worlds n.
Proof.
  intros [|[|[|[|[|n]]]]]; [reflexivity|reflexivity|reflexivity| | |reflexivity]; vm_compute; reflexivity.
Qed.

Definition every (arranged : list world) (count : nat) : Prop :=
  forall elements constants p, length elements = count ->
  In (actual t identical (constants ++ zeros)) arranged ->
  all_known (count + (length constants + 2)) p && forallb (fun w => true_in w p) (more_worlds arranged count) = true ->
  stated t identical (elements ++ constants ++ zeros) zero p.

Lemma in_every_world : forall arranged count, every arranged count.
Proof.
  intros arranged count elements constants p <- A C. apply andb_true_iff in C as [K W].
  apply (sound t identical (identical_is_equal _ _ _ _)) with (flags := [true; false]) (law := same_are_zeros)
    (lawful := ends_with_zero) (elements := elements) (constants := constants ++ zeros) (arranged := arranged).
  - exact two_zeros.
  - intros a [|b env] [L|L]; [now left|now left|discriminate|now right].
  - exact obeyed.
  - intros a. destruct (le a a); cbn; tauto.
  - intros some. apply zeros_are_lawful.
  - exact A.
  - reflexivity.
  - rewrite !app_length. exact K.
  - exact W.
Qed.

(** A statement on a few floats and the two zeros. *)
Theorem decided_in_worlds : forall elements p,
  all_known (length elements + 2) p && forallb (fun w => true_in w p) (listed_worlds (length elements)) = true ->
  stated t identical (elements ++ zeros) zero p.
Proof.
  intros elements p. rewrite listed.
  apply (in_every_world [_] _ elements [] p eq_refl). left. symmetry. exact zeros_are.
Qed.

(** A statement on a few floats and constants of which some [facts] are known. *)
Theorem decided_beside : forall count some elements constants facts p,
  length elements = count -> length constants = some -> stated t identical (constants ++ zeros) zero facts ->
  all_known (some + 2) facts && (all_known (count + (some + 2)) p &&
    forallb (fun w => true_in w p)
      (more_worlds (filter (fun w => true_in w facts) (listed_worlds some)) count)) = true ->
  stated t identical (elements ++ constants ++ zeros) zero p.
Proof.
  intros count some elements constants facts p <- <- F C. apply andb_true_iff in C as [K C].
  refine (in_every_world _ _ elements constants p eq_refl _ C). apply filter_In. rewrite listed. split.
  - apply every_world with (o := t) (lawful := ends_with_zero) (constants := zeros) (elements := constants).
    + apply identical_is_equal.
    + exact two_zeros.
    + intros a [|b env] [L|L]; [now left|now left|discriminate|now right].
    + exact obeyed.
    + intros a. destruct (le a a); cbn; tauto.
    + left. symmetry. exact zeros_are.
    + intros some. apply (zeros_are_lawful some []).
  - apply (stated_is_computed t identical (identical_is_equal _ _ _ _) (constants ++ zeros) zero); [|exact F].
    rewrite app_length. exact K.
Qed.
End FloatWorlds.
