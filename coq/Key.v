(** * The order of binary floats through an integer

    Flocq's [binary_float prec emax] holds the floats of one format: zeros and infinities with a sign, NaNs with a
    sign and a payload, and finite numbers (-1)^s * m * 2^e. The key of a float is the integer that its bits spell
    as sign and magnitude. It orders all floats but the NaNs, and needs no real numbers.

    Everything holds for every precision and exponent range at once. *)

From Coq Require Import ZArith Lia Bool SpecFloat ZifyBool.
From Flocq Require Import Core.Zaux Core.Digits.
From Flocq Require IEEE754.BinarySingleNaN.
From Flocq Require Import IEEE754.Binary.
Local Open Scope Z_scope.

Section Key.
Variables prec emax : Z.
Context (prec_is_positive : FLX.Prec_gt_0 prec).
Context (prec_is_less : BinarySingleNaN.Prec_lt_emax prec emax).

Notation float := (binary_float prec emax).
Notation is_nan := (is_nan prec emax).
Notation emin := (SpecFloat.emin prec emax).
Notation hidden := (2 ^ (prec - 1)).     (* the weight of the hidden bit *)

(** The magnitude of the infinities. *)
Definition top : Z := (2 * emax - 1) * hidden.

Definition magnitude (x : float) : Z :=
  match x with
  | B754_zero _ _ _ => 0
  | B754_infinity _ _ _ => top
  | B754_nan _ _ _ payload _ => top + Zpos payload
  | B754_finite _ _ _ m e _ => (e - emin) * hidden + Zpos m
  end.

Definition key (x : float) : Z := if Bsign prec emax x then - magnitude x else magnitude x.

(** ** Magnitudes of finite numbers *)

Lemma hidden_is_positive : 0 < hidden.
Proof. apply Z.pow_pos_nonneg; unfold FLX.Prec_gt_0 in *; lia. Qed.

Lemma exponents : 2 <= emax /\ emax - prec - emin + 2 = 2 * emax - 1.
Proof.
  generalize prec_is_positive prec_is_less.
  unfold FLX.Prec_gt_0, BinarySingleNaN.Prec_lt_emax, SpecFloat.emin. lia.
Qed.

(** A mantissa has the hidden bit, unless the number is subnormal. *)
Lemma bounded_mantissa : forall m e, SpecFloat.bounded prec emax m e = true ->
  emin <= e <= emax - prec /\ Zpos m < 2 * hidden /\ (e = emin \/ hidden <= Zpos m).
Proof.
  intros m e H. apply andb_prop in H as [A B].
  apply Zle_bool_imp_le in B. apply Zeq_bool_eq in A.
  rewrite Zpos_digits2_pos in A. unfold SpecFloat.fexp in A.
  assert (D := Zdigits_correct radix2 (Zpos m)). simpl Z.abs in D.
  assert (P : 2 * hidden = 2 ^ prec).
  { rewrite <- Z.pow_succ_r by (unfold FLX.Prec_gt_0 in *; lia). f_equal. lia. }
  set (d := Zdigits radix2 (Zpos m)) in *. clearbody d.
  change (radix_val radix2) with 2 in D.
  split; [lia|split].
  - rewrite P. apply Z.lt_le_trans with (1 := proj2 D). apply Z.pow_le_mono_r; lia.
  - destruct (Z.eq_dec e emin) as [->|N]; [now left|right].
    replace (prec - 1) with (d - 1) by lia. apply D.
Qed.

Lemma top_is_positive : 0 < top.
Proof. unfold top. generalize hidden_is_positive exponents. nia. Qed.

Lemma finite_magnitude : forall s m e H, 0 < magnitude (B754_finite prec emax s m e H) < top.
Proof.
  intros s m e H. cbn [magnitude]. unfold top.
  generalize (bounded_mantissa m e H) hidden_is_positive exponents. intros (E & M & _) P (_ & X).
  assert ((e - emin) * hidden <= (2 * emax - 3) * hidden) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (0 <= (e - emin) * hidden) by (apply Z.mul_nonneg_nonneg; lia).
  lia.
Qed.

(** Comparing exponents, then mantissas, is comparing magnitudes. *)
Lemma compare_magnitudes : forall m1 e1 m2 e2,
  SpecFloat.bounded prec emax m1 e1 = true -> SpecFloat.bounded prec emax m2 e2 = true ->
  match e1 ?= e2 with Eq => Pos.compare_cont Eq m1 m2 | c => c end =
  ((e1 - emin) * hidden + Zpos m1 ?= (e2 - emin) * hidden + Zpos m2).
Proof.
  intros m1 e1 m2 e2 H1 H2.
  generalize (bounded_mantissa m1 e1 H1) (bounded_mantissa m2 e2 H2) hidden_is_positive.
  intros (E1 & M1 & N1) (E2 & M2 & N2) P.
  destruct (Z.compare_spec e1 e2) as [->|L|L].
  - change (Pos.compare_cont Eq m1 m2) with (Zpos m1 ?= Zpos m2). now rewrite Z.add_compare_mono_l.
  - symmetry. apply Z.compare_lt_iff.
    assert ((e1 + 1 - emin) * hidden <= (e2 - emin) * hidden) by (apply Z.mul_le_mono_nonneg_r; lia). lia.
  - symmetry. apply Z.compare_gt_iff.
    assert ((e2 + 1 - emin) * hidden <= (e1 - emin) * hidden) by (apply Z.mul_le_mono_nonneg_r; lia). lia.
Qed.

(** ** The comparison of IEEE 754 is that of the keys *)

Theorem compare_by_key : forall x y, is_nan x = false -> is_nan y = false ->
  Bcompare prec emax x y = Some (key x ?= key y).
Proof.
  intros x y Nx Ny.
  assert (T := top_is_positive).
  assert (Less : forall a b, a < b -> Some Lt = Some (a ?= b)).
  { intros. f_equal. symmetry. now apply Z.compare_lt_iff. }
  assert (Greater : forall a b, b < a -> Some Gt = Some (a ?= b)).
  { intros. f_equal. symmetry. now apply Z.compare_gt_iff. }
  assert (Equal : forall a b, a = b -> Some Eq = Some (a ?= b)).
  { intros. f_equal. symmetry. now apply Z.compare_eq_iff. }
  destruct x as [sx|sx|sx px Hx|sx mx ex Hx]; try discriminate Nx;
  destruct y as [sy|sy|sy py Hy|sy my ey Hy]; try discriminate Ny;
  try assert (Mx := finite_magnitude sx mx ex Hx); try assert (My := finite_magnitude sy my ey Hy);
  unfold Bcompare, BinarySingleNaN.Bcompare; unfold key;
  cbn [B2BSN BinarySingleNaN.B2SF SFcompare Bsign magnitude] in *;
  destruct sx; destruct sy;
  try (apply Less; lia); try (apply Greater; lia); try (apply Equal; lia).
  - rewrite Z.compare_opp, (Z.compare_antisym (_ + Zpos mx)), <- (compare_magnitudes mx ex my ey Hx Hy).
    now destruct (ex ?= ey).
  - rewrite <- (compare_magnitudes mx ex my ey Hx Hy). now destruct (ex ?= ey).
Qed.

(** ** Floats with the same key are identical, zeros apart *)

Lemma key_of_infinity : forall s, key (B754_infinity prec emax s) = if s then - top else top.
Proof. easy. Qed.

Theorem key_bounds : forall x, is_nan x = false -> - top <= key x <= top.
Proof.
  assert (T := top_is_positive).
  intros [s|s|s p H|s m e H] N; try discriminate N; unfold key; simpl Bsign; cbn iota;
  try assert (M := finite_magnitude s m e H); destruct s; cbn [magnitude] in *; lia.
Qed.

Theorem key_is_injective : forall x y, is_nan x = false -> is_nan y = false ->
  key x = key y -> key x <> 0 -> x = y.
Proof.
  assert (T := top_is_positive).
  intros x y Nx Ny.
  destruct x as [sx|sx|sx px Hx|sx mx ex Hx]; try discriminate Nx;
  destruct y as [sy|sy|sy py Hy|sy my ey Hy]; try discriminate Ny;
  try assert (Mx := finite_magnitude sx mx ex Hx); try assert (My := finite_magnitude sy my ey Hy);
  unfold key; cbn [Bsign magnitude] in *; destruct sx; destruct sy; intros; try lia; try reflexivity.
  all: assert (Q := compare_magnitudes mx ex my ey Hx Hy).
  all: replace ((ex - emin) * hidden + Zpos mx) with ((ey - emin) * hidden + Zpos my) in Q by lia.
  all: rewrite Z.compare_refl in Q.
  all: destruct (Z.compare_spec ex ey) as [->| |]; try discriminate Q.
  all: assert (mx = my) as -> by lia.
  all: f_equal; apply Eqdep_dec.UIP_dec, bool_dec.
Qed.

End Key.
