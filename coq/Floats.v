(** * IEEE 754 floats of any format as an ordered type, and their named constants *)

From Coq Require Import ZArith Lia Bool SpecFloat ZifyBool.
From Flocq Require Import Core.Zaux Core.Digits.
From Flocq Require IEEE754.BinarySingleNaN.
From Flocq Require Import IEEE754.Binary.
From SonnxClip Require Import Order Key.
Local Open Scope Z_scope.

Section Floats.
Variables prec emax : Z.
Context (prec_is_positive : FLX.Prec_gt_0 prec).
Context (prec_is_less : BinarySingleNaN.Prec_lt_emax prec emax).

Notation float := (binary_float prec emax).
Notation is_nan := (Binary.is_nan prec emax).
Notation emin := (SpecFloat.emin prec emax).
Notation hidden := (2 ^ (prec - 1)).
Notation key := (key prec emax).
Notation top := (top prec emax).

(** ** The comparisons are those of IEEE 754, as Flocq defines them *)

Definition float_le (x y : float) : bool := BinarySingleNaN.Bleb (B2BSN prec emax x) (B2BSN prec emax y).
Definition float_lt (x y : float) : bool := BinarySingleNaN.Bltb (B2BSN prec emax x) (B2BSN prec emax y).
Definition float_eq (x y : float) : bool := BinarySingleNaN.Beqb (B2BSN prec emax x) (B2BSN prec emax y).

Lemma comparison : forall x y,
  SFcompare (BinarySingleNaN.B2SF (B2BSN prec emax x)) (BinarySingleNaN.B2SF (B2BSN prec emax y)) =
  if is_nan x || is_nan y then None else Some (key x ?= key y).
Proof.
  intros x y. destruct (is_nan x) eqn:Nx; [|destruct (is_nan y) eqn:Ny].
  - now destruct x.
  - now destruct y; try discriminate Ny; destruct x.
  - exact (compare_by_key _ _ prec_is_positive prec_is_less x y Nx Ny).
Qed.

Ltac by_comparison x y :=
  unfold float_le, float_lt, float_eq, BinarySingleNaN.Bleb, BinarySingleNaN.Bltb, BinarySingleNaN.Beqb,
    SFleb, SFltb, SFeqb, keyed_le, keyed_lt, keyed_eq;
  rewrite comparison; destruct (is_nan x), (is_nan y); try reflexivity; cbn [negb andb orb];
  unfold Z.leb, Z.ltb; try rewrite Z.eqb_compare; now destruct (key x ?= key y).

Theorem le_is_keyed : forall x y, float_le x y = keyed_le _ is_nan key x y.
Proof. intros x y. by_comparison x y. Qed.

Theorem lt_is_keyed : forall x y, float_lt x y = keyed_lt _ is_nan key x y.
Proof. intros x y. by_comparison x y. Qed.

Theorem eq_is_keyed : forall x y, float_eq x y = keyed_eq _ is_nan key x y.
Proof. intros x y. by_comparison x y. Qed.

(** ** The axioms that why3/ asks of an ordered element type *)

Local Ltac by_key :=
  unfold is_true; intros; rewrite ?le_is_keyed, ?lt_is_keyed, ?eq_is_keyed in *;
  unfold keyed_le, keyed_lt, keyed_eq in *; lia.

Theorem only_numbers_compare : forall x y, float_le x y -> ~ is_nan x /\ ~ is_nan y.
Proof. by_key. Qed.

Theorem total : forall x y, ~ is_nan x -> ~ is_nan y -> float_le x y \/ float_le y x.
Proof. by_key. Qed.

Theorem transitive : forall x y z, float_le x y -> float_le y z -> float_le x z.
Proof. by_key. Qed.

Theorem lt_is_strict : forall x y, float_lt x y <-> float_le x y /\ ~ float_le y x.
Proof. by_key. Qed.

Theorem eq_is_both : forall x y, float_eq x y <-> float_le x y /\ float_le y x.
Proof. by_key. Qed.

Definition floats : ordered :=
  Ordered float is_nan float_le float_lt float_eq only_numbers_compare total transitive lt_is_strict eq_is_both.

(** ** Identity *)

(** Floats that are equal are identical, zeros apart. *)
Theorem identified : forall x y : floats, eq x y -> key x <> 0 -> x = y.
Proof.
  intros x y E N. change (float_eq x y = true) in E. rewrite eq_is_keyed in E. unfold keyed_eq in E.
  now apply (key_is_injective _ _ prec_is_positive prec_is_less); lia.
Qed.

(** Two floats of different bits that are equal are the two zeros. *)
Theorem equal_or_zeros : forall x y : floats, eq x y -> x <> y -> key x = 0 /\ key y = 0.
Proof.
  intros x y E N. assert (K : key x = key y).
  { change (float_eq x y = true) in E. rewrite eq_is_keyed in E. unfold keyed_eq in E. lia. }
  destruct (Z.eq_dec (key x) 0) as [Z|Z]; [lia|]. destruct N. now apply identified.
Qed.

(** Whether two floats are identical: the kind, the sign, and the payload or the mantissa and exponent. *)
Definition identical (x y : floats) : bool :=
  match x, y with
  | B754_zero _ _ s, B754_zero _ _ s' => Bool.eqb s s'
  | B754_infinity _ _ s, B754_infinity _ _ s' => Bool.eqb s s'
  | B754_nan _ _ s p _, B754_nan _ _ s' p' _ => Bool.eqb s s' && Pos.eqb p p'
  | B754_finite _ _ s m e _, B754_finite _ _ s' m' e' _ => Bool.eqb s s' && Pos.eqb m m' && Z.eqb e e'
  | _, _ => false
  end.

Theorem identical_is_equal : forall x y : floats, identical x y = true <-> x = y.
Proof.
  intros [s|s|s p H|s m e H] [s'|s'|s' p' H'|s' m' e' H']; cbn [identical];
    rewrite ?andb_true_iff, ?eqb_true_iff, ?Pos.eqb_eq, ?Z.eqb_eq; split; intros E; try easy; try congruence.
  - destruct E as [-> ->]. f_equal. apply Eqdep_dec.UIP_dec, bool_dec.
  - injection E as -> ->. easy.
  - destruct E as [[-> ->] ->]. f_equal. apply Eqdep_dec.UIP_dec, bool_dec.
  - injection E as -> -> ->. easy.
Qed.

(** Whether the first bit of the fraction of a NaN is 0: then it is signalling. *)
Definition unquiet (x : floats) : bool :=
  match x with B754_nan _ _ _ p _ => Z.ltb (Zpos p) (2 ^ (prec - 2)) | _ => false end.

(** ** Named constants *)

(** The converse of [bounded_mantissa]. *)
Lemma bounded_intro : forall m e, emin <= e <= emax - prec -> Zpos m < 2 * hidden ->
  e = emin \/ hidden <= Zpos m -> SpecFloat.bounded prec emax m e = true.
Proof.
  intros m e E M N. apply andb_true_intro.
  split; [|apply Zle_bool_true; lia].
  assert (P : 2 * hidden = 2 ^ prec).
  { rewrite <- Z.pow_succ_r by (unfold FLX.Prec_gt_0 in *; lia). f_equal. lia. }
  assert (D : Zdigits radix2 (Zpos m) <= prec).
  { apply Zdigits_le_Zpower. change (Zpos m < 2 ^ prec). lia. }
  apply Zeq_bool_true. rewrite Zpos_digits2_pos. unfold SpecFloat.fexp.
  destruct N as [->|N]; [lia|].
  assert (prec - 1 < Zdigits radix2 (Zpos m)); [|lia].
  apply Zdigits_gt_Zpower. exact N.
Qed.

Definition infinity : floats := B754_infinity prec emax false.
Definition zero : floats := B754_zero prec emax false.

Lemma highest_is_bounded : SpecFloat.bounded prec emax (Z.to_pos (2 * hidden - 1)) (emax - prec) = true.
Proof.
  generalize (exponents _ _ prec_is_positive prec_is_less) (hidden_is_positive _ prec_is_positive). intros.
  apply bounded_intro; rewrite ?Z2Pos.id; lia.
Qed.

Lemma normal_is_bounded : SpecFloat.bounded prec emax (Z.to_pos hidden) emin = true.
Proof.
  generalize (exponents _ _ prec_is_positive prec_is_less) (hidden_is_positive _ prec_is_positive). intros.
  apply bounded_intro; rewrite ?Z2Pos.id; lia.
Qed.

Lemma subnormal_is_bounded : SpecFloat.bounded prec emax 1 emin = true.
Proof.
  generalize (exponents _ _ prec_is_positive prec_is_less) (hidden_is_positive _ prec_is_positive). intros.
  apply bounded_intro; lia.
Qed.

Definition highest : floats := B754_finite prec emax false _ _ highest_is_bounded.
Definition lowest : floats := B754_finite prec emax true _ _ highest_is_bounded.
Definition smallest_normal : floats := B754_finite prec emax false _ _ normal_is_bounded.
Definition smallest_subnormal : floats := B754_finite prec emax false _ _ subnormal_is_bounded.

(** The same number with the other sign. *)
Definition opposite (x : floats) : floats :=
  match x with
  | B754_zero _ _ s => B754_zero _ _ (negb s)
  | B754_infinity _ _ s => B754_infinity _ _ (negb s)
  | B754_nan _ _ s p H => B754_nan _ _ (negb s) p H
  | B754_finite _ _ s m e H => B754_finite _ _ (negb s) m e H
  end.

Lemma key_of_opposite : forall x, key (opposite x) = - key x.
Proof. intros [s|s|s p H|s m e H]; unfold Key.key; destruct s; cbn; lia. Qed.

(** It is another float, also when [x] is a zero or a NaN. *)
Lemma opposite_differs : forall x, opposite x <> x.
Proof. intros [s|s|s p H|s m e H]; destruct s; discriminate. Qed.

Lemma zero_of_key : forall x : floats, nan x = false -> key x = 0 -> x = zero \/ x = opposite zero.
Proof.
  assert (T := top_is_positive _ _ prec_is_positive prec_is_less).
  intros [s|s|s p H|s m e H] N K; try discriminate N.
  - destruct s; [now right|now left].
  - exfalso. unfold Key.key in K. cbn [Bsign magnitude] in K. destruct s; lia.
  - exfalso. assert (M := finite_magnitude _ _ prec_is_positive prec_is_less s m e H).
    unfold Key.key in K. cbn [Bsign] in K. destruct s; lia.
Qed.

Lemma nan_of_opposite : forall x, is_nan (opposite x) = is_nan x.
Proof. now intros [s|s|s p H|s m e H]. Qed.

(** A NaN of other bits, if [x] is a NaN. *)
Lemma another : forall x : floats, opposite x <> x /\ (nan (opposite x) <-> nan x).
Proof.
  intros x. split; [apply opposite_differs|]. change (is_nan (opposite x) <-> is_nan x). now rewrite nan_of_opposite.
Qed.

Lemma key_of_zero : key zero = 0.
Proof. easy. Qed.

Lemma key_of_infinity : key infinity = top.
Proof. easy. Qed.

Lemma key_of_highest : key highest = top - 1.
Proof.
  generalize (exponents _ _ prec_is_positive prec_is_less) (hidden_is_positive _ prec_is_positive). intros E H.
  unfold Key.key, top; cbn [Bsign highest magnitude]. rewrite Z2Pos.id; nia.
Qed.

Lemma key_of_lowest : key lowest = 1 - top.
Proof.
  change (key lowest) with (- key highest). rewrite key_of_highest. lia.
Qed.

Lemma key_of_smallest_normal : key smallest_normal = hidden.
Proof.
  generalize (hidden_is_positive _ prec_is_positive). intros H.
  unfold Key.key; cbn [Bsign smallest_normal magnitude]. rewrite Z2Pos.id; lia.
Qed.

Lemma key_of_smallest_subnormal : key smallest_subnormal = 1.
Proof. unfold Key.key; cbn [Bsign smallest_subnormal magnitude]. lia. Qed.

(** Every other number lies between the infinities; the finite ones between [lowest] and [highest]. *)
Theorem extremes : forall x : floats, ~ nan x ->
  le (opposite infinity) x /\ le x infinity /\
  (lt (opposite infinity) x -> le lowest x) /\ (lt x infinity -> le x highest).
Proof.
  intros x N. change (is_nan x <> true) in N. apply not_true_is_false in N.
  generalize (key_bounds _ _ prec_is_positive prec_is_less x N).
  unfold is_true; cbn [le lt floats]. rewrite !le_is_keyed, !lt_is_keyed. unfold keyed_le, keyed_lt.
  rewrite key_of_opposite, nan_of_opposite, key_of_infinity, key_of_lowest, key_of_highest.
  change (is_nan infinity) with false. change (is_nan lowest) with false. change (is_nan highest) with false.
  rewrite N. lia.
Qed.

End Floats.
