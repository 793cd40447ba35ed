(** * What is rendered from the YAML is what is written here by hand

    For floats of every format: the cases, the formula and the prose of generated/coq are those of [Clip], and each
    claim of the YAML is what the theorem of the same name in [Theorems] or [Bitwise] says. *)

From Coq Require Import ZArith Bool Lia.
From Flocq Require FLX IEEE754.BinarySingleNaN.
From SonnxClip Require Import Order Key Floats.
From SonnxClip Require Clip Theorems Bitwise.
From SonnxClip.Generated Require Import Float.

Section Agreement.
Context {prec emax : Z}.
Context {prec_is_positive : FLX.Prec_gt_0 prec}.
Context {prec_is_less : BinarySingleNaN.Prec_lt_emax prec emax}.
Notation t := (floats prec emax prec_is_positive prec_is_less).
Notation infinity := (infinity prec emax prec_is_positive prec_is_less).
Notation opposite := (opposite prec emax prec_is_positive prec_is_less).
Implicit Types x l m : t.

(** ** Definitions *)

Ltac by_bool := unfold is_true; rewrite ?andb_true_iff, ?negb_true_iff, ?not_true_iff_false; tauto.

(** shows: inverted *)
Theorem inverted_is_written : forall x l m, inverted x l m <-> Clip.inverted x l m.
Proof. intros. unfold inverted, Clip.inverted. by_bool. Qed.

(** shows: low *)
Theorem low_is_written : forall x l m, low x l m <-> Clip.low x l m.
Proof. intros. unfold low, inverted, Clip.low. by_bool. Qed.

(** shows: high *)
Theorem high_is_written : forall x l m, high x l m <-> Clip.high x l m.
Proof. intros. unfold high, inverted, Clip.high. by_bool. Qed.

(** shows: inside *)
Theorem inside_is_written : forall x l m, inside x l m <-> Clip.inside x l m.
Proof. intros. unfold inside, inverted, Clip.inside. by_bool. Qed.

(** shows: formula_agrees *)
Theorem formula_is_written : forall x l m, formula x l m = Clip.formula x l m.
Proof. reflexivity. Qed.

(** shows: prose_agrees *)
Theorem prose_is_written : forall x l m, prose x l m = Clip.prose x l m.
Proof. reflexivity. Qed.

Lemma same_is_written : forall x l, same x l <-> Clip.same x l.
Proof. intros. unfold same, Clip.same, is_true. rewrite orb_true_iff, andb_true_iff. tauto. Qed.

Lemma zero_tie_is_written : forall x l, zero_tie x l <-> Bitwise.zero_tie t is_signed_zero x l.
Proof. intros. unfold zero_tie, Bitwise.zero_tie, is_true. rewrite andb_true_iff. tauto. Qed.

Lemma bounds_are_written : forall x l m, bounds_are_numbers x l m <-> ~ nan l /\ ~ nan m.
Proof. intros. unfold bounds_are_numbers. by_bool. Qed.

(** ** Claims: each is what the theorem of its name says *)

Ltac as_written := unfold is_true in *; intros; cbv zeta; rewrite ?cases_are_clip, ?same_is_written in *.

(** shows: result_is_operand *)
Theorem result_is_operand_as_written : forall x l m, claim_result_is_operand x l m.
Proof. unfold claim_result_is_operand. as_written. rewrite or_assoc. apply Theorems.result_is_operand. Qed.

(** shows: nan_out *)
Theorem nan_out_as_written : forall x l m, claim_nan_out x l m.
Proof. unfold claim_nan_out. as_written. apply Theorems.nan_out. Qed.

(** shows: interval, C2 *)
Theorem interval_as_written : forall x l m, condition_interval x l m -> claim_interval x l m.
Proof.
  unfold condition_interval, claim_interval. intros x l m [X B]. apply bounds_are_written in B.
  cbv zeta. rewrite cases_are_clip. now apply Theorems.interval.
Qed.

(** shows: formula_agrees *)
Theorem formula_agrees_as_written : forall x l m, condition_formula_agrees x l m -> claim_formula_agrees x l m.
Proof.
  unfold condition_formula_agrees, claim_formula_agrees. intros x l m [X B]. apply bounds_are_written in B.
  cbv zeta. rewrite cases_are_clip. apply same_is_written. now apply Theorems.formula_agrees.
Qed.

(** shows: prose_agrees *)
Theorem prose_agrees_as_written : forall x l m, claim_prose_agrees x l m.
Proof.
  unfold claim_prose_agrees, prose_applies. intros x l m. cbv zeta. rewrite cases_are_clip. intros B.
  apply same_is_written. apply Theorems.prose_agrees. now apply orb_true_iff.
Qed.

(** shows: monotone *)
Theorem monotone_as_written : forall x x2 l m : t, claim_monotone x x2 l m.
Proof. unfold claim_monotone. intros x x2 l m. cbv zeta. rewrite !cases_are_clip. apply Theorems.monotone. Qed.

(** shows: idempotent *)
Theorem idempotent_as_written : forall x l m, claim_idempotent x l m.
Proof.
  unfold claim_idempotent. intros x l m. cbv zeta. rewrite !cases_are_clip. apply same_is_written.
  apply Theorems.idempotent.
Qed.

(** ** Bit for bit *)

(** Floats that are equal are identical, unless both are zeros: what [Bitwise] supposes. *)
Theorem floats_are_identified : forall x l : t, eq x l -> ~ Bitwise.zero_tie t is_signed_zero x l -> x = l.
Proof.
  intros x l E N. apply (identified prec emax prec_is_positive prec_is_less); [easy|]. intros K. apply N.
  assert (B := key_of_zero prec emax prec_is_positive prec_is_less).
  unfold Bitwise.zero_tie, is_signed_zero, is_true in *. cbn [eq floats] in *.
  rewrite !(eq_is_keyed prec emax prec_is_positive prec_is_less) in *. unfold keyed_eq in *. rewrite B.
  change (Binary.is_nan prec emax (Floats.zero prec emax prec_is_positive prec_is_less)) with false.
  lia.
Qed.

(** shows: formula_agrees_bitwise *)
Theorem formula_agrees_bitwise_as_written : forall x l m,
  condition_formula_agrees_bitwise x l m -> claim_formula_agrees_bitwise x l m.
Proof.
  unfold condition_formula_agrees_bitwise, claim_formula_agrees_bitwise. intros x l m C.
  rewrite bounds_are_written, !zero_tie_is_written in C. cbv zeta. rewrite cases_are_clip.
  apply (Bitwise.formula_agrees_bitwise t is_signed_zero floats_are_identified); tauto.
Qed.

(** shows: prose_agrees_bitwise *)
Theorem prose_agrees_bitwise_as_written : forall x l m,
  condition_prose_agrees_bitwise x l m -> claim_prose_agrees_bitwise x l m.
Proof.
  unfold condition_prose_agrees_bitwise, claim_prose_agrees_bitwise, prose_applies. intros x l m C B.
  rewrite !zero_tie_is_written in C. apply orb_true_iff in B. rewrite cases_are_clip.
  apply (Bitwise.prose_agrees_bitwise t is_signed_zero floats_are_identified); tauto.
Qed.

(** shows: idempotent_bitwise *)
Theorem idempotent_bitwise_as_written : forall x l m,
  condition_idempotent_bitwise x l m -> claim_idempotent_bitwise x l m.
Proof.
  unfold condition_idempotent_bitwise, claim_idempotent_bitwise. intros x l m C.
  rewrite zero_tie_is_written in C. cbv zeta. rewrite !cases_are_clip.
  now apply (Bitwise.idempotent_bitwise t is_signed_zero floats_are_identified).
Qed.

End Agreement.
