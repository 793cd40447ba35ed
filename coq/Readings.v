(** * What else the page or a library can be taken to say

    Some readings leave something open: they are relations between the inputs and an answer. A maximum is said by
    what it is, and not case by case as in spec/clip.yaml; [ReadingsAgreement] shows that both say the same. *)

From SonnxClip Require Import Order Clip.

Section Readings.
Context {o : ordered}.
Variables minus_zero plus_zero : o.
Implicit Types x l m y z : o.
Local Open Scope element_scope.

(** The function body of Clip-13 in ONNX. *)
Definition onnx_body x l m : o :=
  let tmp := if x < l then l else x in if m < tmp then m else tmp.

(** The two bounds of Clip in the other order, which the words of Clip-1 to Clip-12 allow too. *)
Definition upper_then_lower x l m : o :=
  let tmp := if m < x then m else x in if tmp < l then l else tmp.

(** The words of Clip-13 on inverted bounds, or its function body. *)
Definition onnx_13_words x l m y : Prop := y = onnx_body x l m \/ (m < l /\ y = m).

(** std::min(M, std::max(X, L)), which return the first operand in doubt. *)
Definition max_first a b : o := if a < b then b else a.
Definition min_first a b : o := if b < a then b else a.
Definition formula_cpp x l m : o := min_first m (max_first x l).

(** The SONNX edition of January 2026: a NaN bound does not limit, and X is kept where it equals a bound. *)
Definition sonnx_2026_01 x l m : o :=
  let above := if m < x then m else x in
  let below := if x < l then l else x in
  if nan l then above else if nan m then below else
  if m < l then m else if x < l then l else above.

(** DirectML: max(L, min(X, M)), with the comparisons of C. *)
Definition directml_c x l m : o := max l (min x m).

(** The larger and the smaller of two values: either of them, unless it is the other one; where one is a NaN, any. *)
Definition larger a b y : Prop := ((y = a \/ y = b) /\ ~ y < a /\ ~ y < b) \/ ((nan a \/ nan b) /\ nan y).
Definition smaller a b y : Prop := ((y = a \/ y = b) /\ ~ a < y /\ ~ b < y) \/ ((nan a \/ nan b) /\ nan y).

(** maxNum and minNum of IEEE 754-2008 for quiet NaNs, and maximumNumber and minimumNumber of IEEE 754-2019 without
    their order of zeros: a number if there is one; of equal numbers either. *)
Definition max_dropping_nan a b y : Prop :=
  (nan a /\ nan b /\ nan y) \/ ((y = a \/ y = b) /\ ~ nan y /\ ~ y < a /\ ~ y < b).
Definition min_dropping_nan a b y : Prop :=
  (nan a /\ nan b /\ nan y) \/ ((y = a \/ y = b) /\ ~ nan y /\ ~ a < y /\ ~ b < y).

(** np.maximum and np.minimum: a NaN if there is one; of equal numbers either. *)
Definition max_numpy a b y : Prop :=
  ((nan a \/ nan b) /\ nan y) \/ (~ nan a /\ ~ nan b /\ (y = a \/ y = b) /\ ~ y < a /\ ~ y < b).
Definition min_numpy a b y : Prop :=
  ((nan a \/ nan b) /\ nan y) \/ (~ nan a /\ ~ nan b /\ (y = a \/ y = b) /\ ~ a < y /\ ~ b < y).

(** maximum and minimum of IEEE 754-2019: a NaN if there is one; -0 is less than +0. *)
Definition before a b : Prop := a < b \/ (a = minus_zero /\ b = plus_zero).
Definition max_2019 a b y : Prop :=
  ((nan a \/ nan b) /\ nan y) \/ (~ nan a /\ ~ nan b /\ (y = a \/ y = b) /\ ~ before y a /\ ~ before y b).
Definition min_2019 a b y : Prop :=
  ((nan a \/ nan b) /\ nan y) \/ (~ nan a /\ ~ nan b /\ (y = a \/ y = b) /\ ~ before a y /\ ~ before b y).

(** The formula min(M, max(X, L)) with a maximum and a minimum that may leave something open. *)
Definition formula_with (maximum minimum : o -> o -> o -> Prop) x l m y : Prop :=
  exists z, maximum x l z /\ minimum m z y.

End Readings.
