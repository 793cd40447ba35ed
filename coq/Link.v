(** * Clip on finite floats is min and max of real numbers

    The one place, with [Reals], where Coq's axioms of the real numbers are used. *)

From Coq Require Import ZArith Reals Lra Bool.
From Flocq Require Import Core.Raux.
From Flocq Require IEEE754.BinarySingleNaN.
From Flocq Require Import IEEE754.Binary.
From SonnxClip Require Import Order Clip Floats.

Section Link.
Variables prec emax : Z.
Context (prec_is_positive : FLX.Prec_gt_0 prec).
Context (prec_is_less : BinarySingleNaN.Prec_lt_emax prec emax).
Notation floats := (floats prec emax prec_is_positive prec_is_less).
Notation finite := (is_finite prec emax).
Notation real := (B2R prec emax).     (* the real number that a finite float stands for *)
Implicit Types x y l m : floats.

Theorem le_of_reals : forall x y, finite x = true -> finite y = true -> (le x y <-> (real x <= real y)%R).
Proof.
  intros x y X Y. unfold is_true. cbn [le Floats.floats]. unfold float_le.
  rewrite BinarySingleNaN.Bleb_correct by now rewrite is_finite_B2BSN.
  rewrite !B2R_B2BSN. now case Rle_bool_spec; intros H; split; intros; try easy; lra.
Qed.

Theorem lt_of_reals : forall x y, finite x = true -> finite y = true -> (lt x y <-> (real x < real y)%R).
Proof.
  intros x y X Y. unfold is_true. cbn [lt Floats.floats]. unfold float_lt.
  rewrite BinarySingleNaN.Bltb_correct by now rewrite is_finite_B2BSN.
  rewrite !B2R_B2BSN. now case Rlt_bool_spec; intros H; split; intros; try easy; lra.
Qed.

(** Clip of finite floats is the formula of the page on their real values, without an error.
    shows: formula_agrees, result_is_operand *)
Theorem clip_of_reals : forall x l m, finite x = true -> finite l = true -> finite m = true ->
  real (clip x l m) = Rmin (real m) (Rmax (real x) (real l)).
Proof.
  intros x l m X L M. unfold clip.
  assert (A := lt_of_reals m l M L). assert (B := le_of_reals x l X L). assert (C := le_of_reals m x M X).
  unfold is_true in *.
  destruct (lt m l), (le x l), (le m x);
    unfold Rmin, Rmax; destruct Rle_dec; destruct Rle_dec; intuition (try easy; lra).
Qed.

End Link.
