(** * Clip on the bits of a float

    A pattern of [fraction + exponent + 1] bits is an integer. Its comparisons below are comparisons of integers, and
    Clip with them is Clip with the comparisons of IEEE 754: on every pattern, NaNs included, for every width. *)

From Coq Require Import ZArith Lia Bool SpecFloat ZifyBool.
From Flocq Require Import Core.Zaux Core.Digits.
From Flocq Require IEEE754.BinarySingleNaN.
From Flocq Require Import IEEE754.Binary IEEE754.Bits.
From SonnxClip Require Import Order Clip Key Floats.
Local Open Scope Z_scope.

Section Bits.
Variables fraction exponent : Z.      (* the widths of the two fields; float32 has 23 and 8 *)
Hypothesis has_fraction : 0 < fraction.
Hypothesis has_exponent : 0 < exponent.
Hypothesis has_range : fraction + 1 < 2 ^ (exponent - 1).

Notation prec := (fraction + 1).
Notation emax := (2 ^ (exponent - 1)).
Notation emin := (SpecFloat.emin prec emax).
Notation sign_bit := (2 ^ (fraction + exponent)).
Notation width := (fraction + exponent + 1).
Notation encode := (bits_of_binary_float fraction exponent).

Lemma precision_is_positive : FLX.Prec_gt_0 prec.
Proof. unfold FLX.Prec_gt_0. lia. Qed.
Lemma precision_is_less : BinarySingleNaN.Prec_lt_emax prec emax.
Proof. exact has_range. Qed.
Notation floats := (floats prec emax precision_is_positive precision_is_less).
Notation key := (key prec emax).

(** ** Patterns *)

Definition negative (b : Z) : bool := sign_bit <=? b.
Definition magnitude (b : Z) : Z := if negative b then b - sign_bit else b.
Definition bits_key (b : Z) : Z := if negative b then - magnitude b else magnitude b.
Definition bits_nan (b : Z) : bool := (2 ^ exponent - 1) * 2 ^ fraction <? magnitude b.

(** Patterns as an ordered type: nothing but comparisons of integers. *)
Definition patterns : ordered := keyed Z bits_nan bits_key.

(** ** What Flocq's encoder gives *)

Lemma powers : 2 * emax = 2 ^ exponent /\ 0 < 2 ^ fraction /\ 0 < 2 ^ exponent /\
  sign_bit = 2 ^ exponent * 2 ^ fraction /\ 2 ^ (prec - 1) = 2 ^ fraction /\ 2 ^ width = 2 * sign_bit.
Proof.
  repeat split.
  - rewrite <- Z.pow_succ_r by lia. f_equal. lia.
  - apply Z.pow_pos_nonneg; lia.
  - apply Z.pow_pos_nonneg; lia.
  - rewrite Z.pow_add_r by lia. ring.
  - f_equal. lia.
  - rewrite <- Z.pow_succ_r by lia. f_equal.
Qed.

Lemma payload_fits : forall p, nan_pl prec p = true -> Zpos p < 2 ^ fraction.
Proof.
  intros p H. unfold nan_pl in H. apply Z.ltb_lt in H. rewrite Zpos_digits2_pos in H.
  assert (D := proj2 (Zdigits_correct radix2 (Zpos p))). simpl Z.abs in D.
  change (radix_val radix2) with 2 in D.
  apply Z.lt_le_trans with (1 := D). apply Z.pow_le_mono_r; lia.
Qed.

Lemma encoded : forall x : floats,
  encode x = (if Bsign prec emax x then sign_bit else 0) + Key.magnitude prec emax x.
Proof.
  destruct powers as (E & P & _ & T & Q & _).
  assert (J : forall s m e, join_bits fraction exponent s m e = (if s then sign_bit else 0) + e * 2 ^ fraction + m).
  { intros s m e. unfold join_bits. rewrite Z.shiftl_mul_pow2, T by lia. destruct s; ring. }
  intros [s|s|s p H|s m e H]; cbn [bits_of_binary_float Bsign Key.magnitude]; unfold top;
    rewrite ?J, ?Q, ?E; try ring.
  destruct (bounded_mantissa _ _ precision_is_positive m e H) as (A & B & C). rewrite Q in B, C.
  case Zle_bool_spec; intros D; [ring|].
  replace e with emin by lia. ring.
Qed.

Lemma magnitude_fits : forall x : floats, 0 <= Key.magnitude prec emax x < sign_bit /\
  (nan x = true <-> (2 ^ exponent - 1) * 2 ^ fraction < Key.magnitude prec emax x).
Proof.
  destruct powers as (E & P & R & T & Q & _).
  assert (0 <= (2 ^ exponent - 1) * 2 ^ fraction) by (apply Z.mul_nonneg_nonneg; lia).
  intros [s|s|s p H'|s m e H']; cbn [Key.magnitude]; unfold top; rewrite ?Q, ?E.
  - change (nan _) with false. split; [nia|]. split; [easy|lia].
  - change (nan _) with false. split; [nia|]. split; [easy|lia].
  - change (nan _) with true. generalize (payload_fits p H'). split; [nia|]. split; [lia|easy].
  - change (nan _) with false.
    assert (M := finite_magnitude _ _ precision_is_positive precision_is_less s m e H').
    cbn [Key.magnitude] in M. unfold top in M. rewrite Q, E in M. split; [nia|]. split; [easy|lia].
Qed.

Lemma negative_encoded : forall x : floats, negative (encode x) = Bsign prec emax x.
Proof.
  intros x. unfold negative. rewrite encoded. generalize (magnitude_fits x).
  destruct Bsign; lia.
Qed.

Lemma magnitude_encoded : forall x : floats, magnitude (encode x) = Key.magnitude prec emax x.
Proof. intros x. unfold magnitude. rewrite negative_encoded, encoded. destruct Bsign; ring. Qed.

Theorem key_of_bits : forall x : floats, bits_key (encode x) = key x.
Proof. intros x. unfold bits_key, Key.key. now rewrite negative_encoded, magnitude_encoded. Qed.

Theorem nan_of_bits : forall x : floats, bits_nan (encode x) = nan x.
Proof.
  intros x. unfold bits_nan. rewrite magnitude_encoded. generalize (magnitude_fits x). intros [_ N].
  apply eq_true_iff_eq. rewrite N. apply Z.ltb_lt.
Qed.

(** ** The comparisons of the patterns are those of IEEE 754 *)

Theorem le_of_bits : forall x y : floats, le (o := patterns) (encode x) (encode y) = le x y.
Proof.
  intros x y. cbn [le patterns keyed]. unfold keyed_le. rewrite !key_of_bits, !nan_of_bits.
  symmetry. exact (le_is_keyed _ _ precision_is_positive precision_is_less x y).
Qed.

Theorem lt_of_bits : forall x y : floats, lt (o := patterns) (encode x) (encode y) = lt x y.
Proof.
  intros x y. cbn [lt patterns keyed]. unfold keyed_lt. rewrite !key_of_bits, !nan_of_bits.
  symmetry. exact (lt_is_keyed _ _ precision_is_positive precision_is_less x y).
Qed.

Theorem clip_of_bits : forall x l m : floats,
  clip (o := patterns) (encode x) (encode l) (encode m) = encode (clip x l m).
Proof.
  intros x l m. unfold clip. rewrite lt_of_bits, !le_of_bits.
  now destruct (lt m l), (le x l), (le m x).
Qed.

(** ** Every pattern is the encoding of a float

    The decoder computes with integers only. It asks whether what it found is a number of the format; that it always
    is, for a pattern, is [encode_decode]. *)

Definition finite (s : bool) (m : Z) (e : Z) : floats :=
  match m with
  | Zpos p =>
      match bool_dec (SpecFloat.bounded prec emax p e) true with
      | left H => B754_finite prec emax s p e H
      | right _ => B754_zero prec emax s
      end
  | _ => B754_zero prec emax s
  end.

Definition not_a_number (s : bool) (payload : Z) : floats :=
  match payload with
  | Zpos p =>
      match bool_dec (nan_pl prec p) true with
      | left H => B754_nan prec emax s p H
      | right _ => B754_infinity prec emax s
      end
  | _ => B754_infinity prec emax s
  end.

Definition decode (b : Z) : floats :=
  let s := negative b in
  let e := magnitude b / 2 ^ fraction in
  let m := magnitude b mod 2 ^ fraction in
  if e =? 2 ^ exponent - 1 then not_a_number s m
  else if e =? 0 then finite s m emin
  else finite s (m + 2 ^ fraction) (e - 1 + emin).

Lemma finite_magnitude_of : forall s m e, emin <= e <= emax - prec -> 0 <= m < 2 * 2 ^ fraction ->
  e = emin \/ 2 ^ fraction <= m ->
  Bsign prec emax (finite s m e) = s /\ Key.magnitude prec emax (finite s m e) = (e - emin) * 2 ^ fraction + m.
Proof.
  destruct powers as (_ & P & _ & _ & Q & _).
  intros s m e E M N. unfold finite. destruct m as [|p|p]; [|destruct bool_dec as [H|H]|lia].
  - split; [easy|]. destruct N as [->|N]; [cbn; ring|lia].
  - split; [easy|]. cbn [Key.magnitude]. now rewrite Q.
  - destruct H. apply (bounded_intro _ _ precision_is_positive); rewrite ?Q; lia.
Qed.

Lemma payload_magnitude : forall s p, 0 <= p < 2 ^ fraction ->
  Bsign prec emax (not_a_number s p) = s /\
  Key.magnitude prec emax (not_a_number s p) = (2 ^ exponent - 1) * 2 ^ fraction + p.
Proof.
  destruct powers as (E & P & _ & _ & Q & _).
  intros s p B. unfold not_a_number. destruct p as [|p|p]; [|destruct bool_dec as [H|H]|lia].
  - split; [easy|]. cbn [Key.magnitude]. unfold top. rewrite Q, E. ring.
  - split; [easy|]. cbn [Key.magnitude]. unfold top. rewrite Q, E. ring.
  - destruct H. unfold nan_pl. apply Z.ltb_lt. rewrite Zpos_digits2_pos.
    assert (Zdigits radix2 (Zpos p) <= fraction); [|lia].
    apply Zdigits_le_Zpower. change (Zpos p < 2 ^ fraction). lia.
Qed.

Theorem encode_decode : forall b, 0 <= b < 2 ^ width -> encode (decode b) = b.
Proof.
  intros b B. rewrite encoded.
  destruct powers as (E & P & R & T & Q & W). rewrite W in B.
  assert (M : 0 <= magnitude b < sign_bit) by (unfold magnitude, negative; destruct (Z.leb_spec sign_bit b); lia).
  assert (S : (if negative b then sign_bit else 0) + magnitude b = b)
    by (unfold magnitude; destruct (negative b); ring).
  assert (D := Z.div_mod (magnitude b) (2 ^ fraction)).
  assert (F := Z.mod_pos_bound (magnitude b) (2 ^ fraction)).
  assert (C : 0 <= magnitude b / 2 ^ fraction < 2 ^ exponent).
  { split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; lia. }
  unfold decode. cbv zeta.
  set (s := negative b) in *. set (e := magnitude b / 2 ^ fraction) in *.
  set (f := magnitude b mod 2 ^ fraction) in *. clearbody s e f.
  generalize (exponents _ _ precision_is_positive precision_is_less). intros X.
  destruct (Z.eqb_spec e (2 ^ exponent - 1)) as [I|I]; [|destruct (Z.eqb_spec e 0) as [N|N]].
  - destruct (payload_magnitude s f) as [-> ->]; [lia|]. rewrite <- I. lia.
  - destruct (finite_magnitude_of s f emin) as [-> ->]; [lia|lia|lia|]. subst e. lia.
  - destruct (finite_magnitude_of s (f + 2 ^ fraction) (e - 1 + emin)) as [-> ->]; [lia|lia|lia|]. lia.
Qed.

(** Clip by integer comparisons of patterns is the Clip of IEEE 754. *)
Theorem clip_of_patterns : forall x l m, 0 <= x < 2 ^ width -> 0 <= l < 2 ^ width -> 0 <= m < 2 ^ width ->
  clip (o := patterns) x l m = encode (clip (decode x) (decode l) (decode m)).
Proof. intros x l m X L M. rewrite <- clip_of_bits. now rewrite !encode_decode. Qed.

End Bits.
