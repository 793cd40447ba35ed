(** * Clip on one element of any ordered type, and the two ways in which the page words it *)

From SonnxClip Require Import Order.

Section Clip.
Context {o : ordered}.
Local Open Scope element_scope.

(** The normative meaning: a function of two comparisons and nothing else. *)
Definition clip (x l m : o) : o :=
  if m < l then m            (* the bounds are inverted *)
  else if x <= l then l      (* x is at or below the lower bound *)
  else if m <= x then m      (* x is at or above the upper bound *)
  else x.                    (* x passes through *)

(** The smaller and the greater of two, the second when they cannot be ordered. *)
Definition min (a b : o) : o := if a < b then a else b.
Definition max (a b : o) : o := if b < a then a else b.

(** The formula of the page. *)
Definition formula (x l m : o) : o := min m (max x l).

(** The informal specification, read word by word. *)
Definition prose (x l m : o) : o :=
  if m < l then m else if x < l then l else if m < x then m else x.

(** The same value: zeros of both signs, and all NaNs, taken together. *)
Definition same (a b : o) : Prop := a == b \/ (nan a /\ nan b).

(** The cases. *)
Definition inverted (x l m : o) : Prop := m < l.
Definition low (x l m : o) : Prop := ~ m < l /\ x <= l.
Definition high (x l m : o) : Prop := ~ m < l /\ ~ x <= l /\ m <= x.
Definition inside (x l m : o) : Prop := ~ m < l /\ ~ x <= l /\ ~ m <= x.

End Clip.
