(** * Integers of any range as an ordered type *)

From Coq Require Import ZArith Lia Bool ZifyBool.
From SonnxClip Require Import Order ByWorlds.
Local Open Scope Z_scope.

Section Integers.
Variables least greatest : Z.

(** An integer of the range: int8 is [integer (-128) 127], uint8 is [integer 0 255]. *)
Record integer := Integer {
  value : Z;
  in_range : (least <=? value) && (value <=? greatest) = true
}.

Definition integers : ordered := keyed integer (fun _ => false) value.

Lemma le_by_value : forall a b : integers, le a b = (value a <=? value b).
Proof. easy. Qed.

(** Integers that are equal are identical. *)
Theorem identified : forall a b : integers, eq a b -> a = b.
Proof.
  intros [a A] [b B] E. change ((a =? b) = true) in E. apply Z.eqb_eq in E as ->.
  f_equal. apply Eqdep_dec.UIP_dec, bool_dec.
Qed.

Definition identical (a b : integers) : bool := value a =? value b.

Theorem identical_is_equal : forall a b : integers, identical a b = true <-> a = b.
Proof. intros a b. split; [apply identified|intros ->; apply Z.eqb_refl]. Qed.

Hypothesis not_empty : least <= greatest.

Lemma least_in_range : (least <=? least) && (least <=? greatest) = true.
Proof. lia. Qed.

Lemma greatest_in_range : (least <=? greatest) && (greatest <=? greatest) = true.
Proof. lia. Qed.

Definition lowest : integers := Integer least least_in_range.
Definition highest : integers := Integer greatest greatest_in_range.

Theorem extremes : forall a : integers, le lowest a /\ le a highest.
Proof. intros [a A]. unfold is_true. rewrite !le_by_value. cbn [value lowest highest]. lia. Qed.

End Integers.

Lemma every_integer_is_a_number : forall least greatest (a : integers least greatest), le a a.
Proof. intros least greatest a. unfold is_true. rewrite le_by_value. lia. Qed.

Ltac generalize_limits least greatest not_empty :=
  try match goal with |- context [lowest least greatest not_empty] => generalize (lowest least greatest not_empty) end;
  try match goal with |- context [highest least greatest not_empty] => generalize (highest least greatest not_empty) end.

Ltac within_limits least greatest not_empty :=
  repeat match goal with
  | a : element (integers least greatest) |- _ =>
      lazymatch goal with
      | _ : is_true (le (lowest least greatest not_empty) a) /\ _ |- _ => fail
      | _ => pose proof (extremes least greatest not_empty a)
      end
  end.

(** Decides a statement about a few integers of one range. The limits are looked at only where they occur. *)
Ltac integer_order least greatest not_empty :=
  gathered;
  try lazymatch goal with
  | |- context [lowest least greatest not_empty] => within_limits least greatest not_empty
  | |- context [highest least greatest not_empty] => within_limits least greatest not_empty
  end;
  gathered; generalize_limits least greatest not_empty;
  by_worlds_of_numbers (identical least greatest) (identical_is_equal least greatest) (identified least greatest)
    (every_integer_is_a_number least greatest).
