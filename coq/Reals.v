(** * The real numbers as an ordered type

    The only chapter of the page without a machine type. Coq's real numbers are axiomatic: what is shown here rests on
    their axioms, and nothing else in this folder does, but for [Link]. *)

From Coq Require Import Reals Lra Bool.
From SonnxClip Require Import Order ByWorlds.
Local Open Scope R_scope.

Definition real_le (a b : R) : bool := if Rle_dec a b then true else false.
Definition real_lt (a b : R) : bool := if Rlt_dec a b then true else false.
Definition real_eq (a b : R) : bool := if Req_EM_T a b then true else false.

Ltac by_reals :=
  unfold real_le, real_lt, real_eq, is_true; intros;
  repeat match goal with
  | |- context [if ?c then _ else _] => destruct c
  | H : context [if ?c then _ else _] |- _ => destruct c
  end; try easy; try lra; intuition (try easy; lra).

Definition reals : ordered.
Proof. refine (Ordered R (fun _ => false) real_le real_lt real_eq _ _ _ _ _); by_reals. Defined.

(** Reals that are equal are identical. *)
Theorem identified : forall a b : reals, eq a b -> a = b.
Proof. intros a b. change (real_eq a b -> a = b). by_reals. Qed.

Theorem every_real_is_a_number : forall a : reals, le a a.
Proof. intros a. change (real_le a a). by_reals. Qed.

Definition identical : reals -> reals -> bool := real_eq.

Theorem identical_is_equal : forall a b : reals, identical a b = true <-> a = b.
Proof. intros a b. unfold identical. split; [apply identified|intros ->; now by_reals]. Qed.

(** Decides a statement about a few reals. *)
Ltac real_order :=
  by_worlds_of_numbers identical identical_is_equal identified every_real_is_a_number.
