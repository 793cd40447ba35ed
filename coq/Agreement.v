(** * What is rendered from the YAML is what is written here by hand

    For floats of every format: the cases, the formula and the prose of generated/coq are those of [Clip], and each
    claim of the YAML follows under the premises of the theorem of the same name in [Theorems] or [Bitwise]. That it
    holds under its whole condition, which is wider, is proved in generated/coq/Float.v. *)

From Coq Require Import ZArith Bool Lia.
From Flocq Require FLX IEEE754.BinarySingleNaN.
From SonnxClip Require Import Order Key Floats Decide.
From SonnxClip Require Clip Theorems Bitwise.
From SonnxClip.Generated Require Import Float.

Section Agreement.
Context {prec emax : Z}.
Context {prec_is_positive : FLX.Prec_gt_0 prec}.
Context {prec_is_less : BinarySingleNaN.Prec_lt_emax prec emax}.
Notation t := (floats prec emax prec_is_positive prec_is_less).
Notation lowest := (lowest prec emax prec_is_positive prec_is_less).
Notation highest := (highest prec emax prec_is_positive prec_is_less).
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

(** ** Claims, under the premises of the theorems of the same names *)

Ltac as_written := unfold is_true in *; intros; cbv zeta; rewrite ?cases_are_clip, ?same_is_written in *.

(** shows: result_is_operand *)
Theorem result_is_operand_as_written : forall x l m, claim_result_is_operand x l m.
Proof. unfold claim_result_is_operand. as_written. rewrite or_assoc. apply Theorems.result_is_operand. Qed.

(** shows: nan_out *)
Theorem nan_out_as_written : forall x l m, claim_nan_out x l m.
Proof. unfold claim_nan_out. as_written. apply Theorems.nan_out. Qed.

(** shows: interval, C2 *)
Theorem interval_as_written : forall x l m, ~ nan x -> bounds_are_numbers x l m -> claim_interval x l m.
Proof.
  unfold claim_interval. intros x l m X B. apply bounds_are_written in B.
  cbv zeta. rewrite cases_are_clip. now apply Theorems.interval.
Qed.

(** shows: formula_agrees *)
Theorem formula_agrees_as_written : forall x l m, ~ nan x -> bounds_are_numbers x l m -> claim_formula_agrees x l m.
Proof.
  unfold claim_formula_agrees. intros x l m X B. apply bounds_are_written in B.
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

(** shows: prose_is_complete *)
Theorem prose_is_complete_as_written : forall x l m, condition_prose_is_complete x l m -> claim_prose_is_complete x l m.
Proof.
  unfold condition_prose_is_complete, claim_prose_is_complete, prose_applies. intros x l m B.
  apply bounds_are_written in B. apply orb_true_iff. now apply Theorems.prose_is_complete.
Qed.

(** ** On tensors *)

(** shows: C2 *)
Theorem C2_as_written : forall (index : Type) (x : index -> t) l m,
  (forall i, ~ nan (x i)) -> ~ nan l -> ~ nan m -> claim_C2 index x l m.
Proof.
  unfold claim_C2. intros index x l m X L M. cbv zeta.
  destruct (Theorems.C2 t index x l m X L M) as [H|H]; [left|right]; intros i; rewrite cases_are_clip; apply H.
Qed.

(** shows: C2 *)
Theorem C2_refuted_as_written : forall (index : Type) (x : index -> t) l m (i : index),
  nan (x i) -> ~ lt m l -> ~ claim_C2 index x l m.
Proof.
  unfold claim_C2. intros index x l m i X L C. cbv zeta in C. apply (Theorems.C2_refuted t index x l m i X L).
  destruct C as [C|C]; [left|right]; intros j; rewrite <- cases_are_clip; apply C.
Qed.

(** ** Floats that are identical *)

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

(** ** Bounds that bound nothing *)

Lemma minus_infinity_is_least : forall x, ~ nan x -> le (opposite infinity) x.
Proof. intros x N. apply (extremes prec emax prec_is_positive prec_is_less x N). Qed.

Lemma infinity_is_greatest : forall x, ~ nan x -> le x infinity.
Proof. intros x N. apply (extremes prec emax prec_is_positive prec_is_less x N). Qed.

Lemma minus_infinity_is_alone : forall x, le x (opposite infinity) -> x = opposite infinity.
Proof.
  intros x L. apply (identical_to_constant prec emax); [easy| |].
  - apply minus_infinity_is_least. now apply (Order.only_numbers_compare t) in L.
  - rewrite key_of_opposite, key_of_infinity. generalize (top_is_positive prec emax _ prec_is_less). lia.
Qed.

Lemma infinity_is_alone : forall x, le infinity x -> x = infinity.
Proof.
  intros x L. apply (identical_to_constant prec emax); [|easy|].
  - apply infinity_is_greatest. now apply (Order.only_numbers_compare t) in L.
  - rewrite key_of_infinity. generalize (top_is_positive prec emax _ prec_is_less). lia.
Qed.

(** shows: nan_min_is_no_bound *)
Theorem nan_min_is_no_bound_as_written : forall x l m, claim_nan_min_is_no_bound x l m.
Proof.
  unfold claim_nan_min_is_no_bound. intros x l m. cbv zeta. rewrite !cases_are_clip. intros N. split.
  - apply (Bitwise.nan_min_is_bottom t); [exact minus_infinity_is_least|exact minus_infinity_is_alone|easy].
  - now apply Theorems.nan_min_is_no_bound.
Qed.

(** shows: nan_max_is_no_bound *)
Theorem nan_max_is_no_bound_as_written : forall x l m, claim_nan_max_is_no_bound x l m.
Proof.
  unfold claim_nan_max_is_no_bound. intros x l m. cbv zeta. rewrite !cases_are_clip. intros N. split.
  - apply (Bitwise.nan_max_is_top t); [exact infinity_is_greatest|exact infinity_is_alone|easy].
  - now apply Theorems.nan_max_is_no_bound.
Qed.

Lemma finite_or_nan : forall x, ~ is_infinite x -> (le lowest x /\ le x highest) \/ nan x.
Proof.
  intros x F. destruct (nan x) eqn:N; [now right|left].
  destruct (extremes prec emax prec_is_positive prec_is_less x) as (A & B & C & D); [now rewrite N|].
  split; [apply C|apply D]; apply (Order.lt_is_strict t); (split; [easy|]); intros E; apply F;
    unfold is_infinite, is_true; rewrite !eq_by_le; unfold is_true in A, B, E; rewrite A, B, E;
    auto using orb_true_r.
Qed.

Lemma limits_are_no_zeros : ~ is_signed_zero lowest /\ ~ is_signed_zero highest.
Proof.
  generalize (top_is_not_one prec emax prec_is_positive prec_is_less). intros T.
  unfold is_signed_zero, is_true. cbn [eq floats].
  rewrite !(eq_is_keyed prec emax prec_is_positive prec_is_less). unfold keyed_eq.
  rewrite key_of_lowest, key_of_highest, key_of_zero.
  change (Binary.is_nan prec emax lowest) with false. change (Binary.is_nan prec emax highest) with false.
  change (Binary.is_nan prec emax (Floats.zero prec emax prec_is_positive prec_is_less)) with false.
  cbn [negb andb]. lia.
Qed.

(** shows: widest_bounds_are_no_bound *)
Theorem widest_bounds_are_no_bound_as_written : forall x l m,
  condition_widest_bounds_are_no_bound x l m -> claim_widest_bounds_are_no_bound x l m.
Proof.
  unfold condition_widest_bounds_are_no_bound, claim_widest_bounds_are_no_bound. intros x l m F.
  rewrite cases_are_clip. destruct limits_are_no_zeros as [A B].
  apply (Bitwise.widest_bounds_are_no_bound t is_signed_zero floats_are_identified); try easy.
  destruct (finite_or_nan x F) as [I|N]; [now left|right]. split; [easy|].
  unfold is_true. cbn [lt floats]. rewrite (lt_is_keyed prec emax prec_is_positive prec_is_less). unfold keyed_lt.
  rewrite key_of_lowest, key_of_highest. generalize (top_is_not_one prec emax prec_is_positive prec_is_less). lia.
Qed.

(** shows: lowest_is_no_lower_bound *)
Theorem lowest_is_no_lower_bound_as_written : forall x l m,
  ~ is_infinite x -> ~ lt m lowest -> claim_lowest_is_no_lower_bound x l m.
Proof.
  unfold claim_lowest_is_no_lower_bound. intros x l m F M.
  rewrite cases_are_clip. destruct limits_are_no_zeros as [A _].
  apply (Bitwise.lowest_is_no_lower_bound t is_signed_zero floats_are_identified); try easy.
  destruct (finite_or_nan x F) as [[I _]|N]; [now left|now right].
Qed.

(** shows: highest_is_no_upper_bound *)
Theorem highest_is_no_upper_bound_as_written : forall x l m,
  ~ is_infinite x -> ~ lt highest l -> claim_highest_is_no_upper_bound x l m.
Proof.
  unfold claim_highest_is_no_upper_bound. intros x l m F L.
  rewrite cases_are_clip. destruct limits_are_no_zeros as [_ A].
  apply (Bitwise.highest_is_no_upper_bound t is_signed_zero floats_are_identified); try easy.
  destruct (finite_or_nan x F) as [[_ I]|N]; [now left|now right].
Qed.

(** ** Bit for bit, beside zeros of both signs *)

(** shows: formula_agrees_bitwise *)
Theorem formula_agrees_bitwise_as_written : forall x l m,
  ~ nan x -> bounds_are_numbers x l m -> ~ zero_tie x l -> ~ zero_tie x m -> claim_formula_agrees_bitwise x l m.
Proof.
  unfold claim_formula_agrees_bitwise. intros x l m X B A C.
  rewrite bounds_are_written in B. rewrite zero_tie_is_written in A, C. cbv zeta. rewrite cases_are_clip.
  apply (Bitwise.formula_agrees_bitwise t is_signed_zero floats_are_identified); tauto.
Qed.

(** shows: prose_agrees_bitwise *)
Theorem prose_agrees_bitwise_as_written : forall x l m,
  ~ zero_tie x l -> ~ zero_tie x m -> claim_prose_agrees_bitwise x l m.
Proof.
  unfold claim_prose_agrees_bitwise, prose_applies. intros x l m A C B.
  rewrite zero_tie_is_written in A, C. apply orb_true_iff in B. rewrite cases_are_clip.
  apply (Bitwise.prose_agrees_bitwise t is_signed_zero floats_are_identified); tauto.
Qed.

(** shows: idempotent_bitwise *)
Theorem idempotent_bitwise_as_written : forall x l m,
  ~ zero_tie l m -> claim_idempotent_bitwise x l m.
Proof.
  unfold claim_idempotent_bitwise. intros x l m C.
  rewrite zero_tie_is_written in C. cbv zeta. rewrite !cases_are_clip.
  now apply (Bitwise.idempotent_bitwise t is_signed_zero floats_are_identified).
Qed.

End Agreement.
