(** * The readings that are rendered from the YAML are those written by hand, for floats of every format *)

From Coq Require Import ZArith Bool.
From Flocq Require FLX IEEE754.BinarySingleNaN.
From SonnxClip Require Import Order Floats ByWorlds Decide.
From SonnxClip Require Clip Readings.
From SonnxClip.Generated Require Import Float FloatReadings.

Section ReadingsAgreement.
Context {prec emax : Z}.
Context {prec_is_positive : FLX.Prec_gt_0 prec}.
Context {prec_is_less : BinarySingleNaN.Prec_lt_emax prec emax}.
Notation t := (floats prec emax prec_is_positive prec_is_less).
Notation zero := (zero prec emax prec_is_positive prec_is_less).
Notation opposite := (opposite prec emax prec_is_positive prec_is_less).
Notation unquiet := (unquiet prec emax prec_is_positive prec_is_less).
Implicit Types x l m y z : t.

Ltac decided :=
  unfold cases_returns, onnx_body_returns, onnx_words_returns, onnx_13_words_returns, formula_c_returns, formula_cpp_returns,
    formula_2008_returns, formula_2019_returns, formula_2019_number_returns, numpy_returns, onnx_equation_returns, directml_returns, directml_c_returns,
    sonnx_2026_01_words_returns, is_float, is_strict_2026, strict, Readings.sonnx_2026_01,
    is_larger, is_smaller, max_of_cpp, is_formula_dropping_nan, is_max_dropping_nan, is_min_dropping_nan, is_max_2019, is_min_2019, is_max_numpy, is_min_numpy,
    before, is_minus_and_plus_zero, min_then_max, max_then_min, body_tmp, formula, max, min, cases, inside, high, low, inverted,
    Readings.onnx_13_words, Readings.onnx_body, Readings.upper_then_lower, Readings.formula_cpp, Readings.max_first,
    Readings.min_first, Readings.directml_c, Readings.larger, Readings.smaller, Readings.max_dropping_nan,
    Readings.min_dropping_nan, Readings.max_numpy, Readings.min_numpy, Readings.max_2019, Readings.min_2019, Readings.before,
    Clip.clip, Clip.formula, Clip.max, Clip.min in *;
  by_signalling prec emax prec_is_positive prec_is_less;
  float_order prec emax prec_is_positive prec_is_less.

(** shows: cases *)
Theorem cases_are_written : forall x l m y, cases_returns x l m y <-> y = Clip.clip x l m.
Proof. decided. Qed.

(** shows: onnx-body *)
Theorem onnx_body_is_written : forall x l m y, onnx_body_returns x l m y <-> y = Readings.onnx_body x l m.
Proof. decided. Qed.

(** shows: onnx-words *)
Theorem onnx_words_is_written : forall x l m y,
  onnx_words_returns x l m y <-> y = Readings.onnx_body x l m \/ y = Readings.upper_then_lower x l m.
Proof. decided. Qed.

(** shows: formula-c *)
Theorem formula_c_is_written : forall x l m y, formula_c_returns x l m y <-> y = Clip.formula x l m.
Proof. decided. Qed.

(** shows: onnx-13-words *)
Theorem onnx_13_words_is_written : forall x l m y, onnx_13_words_returns x l m y <-> Readings.onnx_13_words x l m y.
Proof. decided. Qed.

(** shows: formula-cpp *)
Theorem formula_cpp_is_written : forall x l m y, formula_cpp_returns x l m y <-> y = Readings.formula_cpp x l m.
Proof. decided. Qed.

(** shows: directml-c *)
Theorem directml_c_is_written : forall x l m y, directml_c_returns x l m y <-> y = Readings.directml_c x l m.
Proof. decided. Qed.

(** shows: sonnx-2026-01-words *)
Theorem sonnx_2026_01_words_is_written : forall x l m y,
  sonnx_2026_01_words_returns x l m y <-> y = Readings.sonnx_2026_01 x l m.
Proof. decided. Qed.

(* The YAML says what the maximum may be: X or L. By hand it may be any NaN in place of one that is X or L. *)
Ltac in_two_steps maximum minimum :=
  intros x l m y; split;
  [ intros R; apply (among _ _ x l x x); decided
  | intros [z [A B]];
    assert (E : z = x \/ z = l \/ nan z /\ nan x \/ nan z /\ nan l) by (clear B; decided);
    destruct E as [E | [E | [E | E]]];
    [ subst z; decided
    | subst z; decided
    | assert (M : minimum m x y) by (clear A; decided); clear B;
      assert (maximum x l x) by (clear M; decided); clear A E; decided
    | assert (M : minimum m l y) by (clear A; decided); clear B;
      assert (maximum x l l) by (clear M; decided); clear A E; decided ] ].

(** shows: formula-2019-number *)
Theorem formula_2019_number_is_written : forall x l m y,
  formula_2019_number_returns x l m y <->
  Readings.formula_with Readings.max_dropping_nan Readings.min_dropping_nan x l m y.
Proof.
  intros x l m y; split;
  [ intros R; apply (among _ _ x l x x); decided
  | intros [z [A B]];
    assert (E : z = x \/ z = l \/ nan z /\ nan x /\ nan l) by (clear B; decided);
    destruct E as [E | [E | E]];
    [ subst z; decided
    | subst z; decided
    | assert (C : Readings.min_dropping_nan m x y) by (clear A; decided); clear A B; decided ] ].
Qed.

(** Where none of the three is signalling. shows: formula-2008 *)
Theorem formula_2008_is_written : forall x l m y,
  ~ (nan x && unquiet x) -> ~ (nan l && unquiet l) -> ~ (nan m && unquiet m) ->
  formula_2008_returns x l m y <-> Readings.formula_with Readings.max_dropping_nan Readings.min_dropping_nan x l m y.
Proof.
  intros x l m y X L M; split;
  [ intros R; apply (among _ _ x l x x); decided
  | intros [z [A B]];
    assert (E : z = x \/ z = l \/ nan z /\ nan x /\ nan l) by (clear B; decided);
    destruct E as [E | [E | E]];
    [ subst z; decided
    | subst z; decided
    | assert (C : Readings.min_dropping_nan m x y) by (clear A X L M; decided); clear A B; decided ] ].
Qed.

(** Where X or L is signalling, the maximum is a NaN; where M is, the minimum. shows: formula-2008 *)
Theorem formula_2008_of_signalling : forall x l m y,
  nan x && unquiet x \/ nan l && unquiet l \/ nan m && unquiet m ->
  formula_2008_returns x l m y <-> (nan m /\ nan y \/ ~ nan m /\ y = m).
Proof. decided. Qed.

(** shows: formula-2019 *)
Theorem formula_2019_is_written : forall x l m y,
  formula_2019_returns x l m y <->
  Readings.formula_with (Readings.max_2019 (opposite zero) zero) (Readings.min_2019 (opposite zero) zero) x l m y.
Proof. in_two_steps (@Readings.max_2019 t (opposite zero) zero) (@Readings.min_2019 t (opposite zero) zero). Qed.

(** shows: numpy *)
Theorem numpy_is_written : forall x l m y,
  numpy_returns x l m y <-> Readings.formula_with Readings.max_numpy Readings.min_numpy x l m y.
Proof. in_two_steps (@Readings.max_numpy t) (@Readings.min_numpy t). Qed.

(** shows: onnx-equation *)
Theorem onnx_equation_is_written : forall x l m y,
  onnx_equation_returns x l m y <-> Readings.formula_with Readings.max_numpy Readings.min_numpy x l m y.
Proof. in_two_steps (@Readings.max_numpy t) (@Readings.min_numpy t). Qed.

(* The tactic takes what is compared with X first for its second operand: here the upper bound. *)
(** shows: directml *)
Theorem directml_is_written : forall x m l y,
  directml_returns x l m y <-> Readings.formula_with Readings.smaller Readings.larger x m l y.
Proof. in_two_steps (@Readings.smaller t) (@Readings.larger t). Qed.

End ReadingsAgreement.
