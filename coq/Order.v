(** * Ordered element types with unordered elements

    The axioms of why3/ordered.mlw, word for word. What Clip needs of an element type is a comparison [<=] that
    orders its numbers, and perhaps some elements, the NaNs, that compare with nothing. Nothing here says that
    equal elements are identical: -0 and +0 are equal and differ. Comparisons are computed, so they are [bool]. *)

From Coq Require Export Bool ZArith.
From Coq Require Import Lia ZifyBool.

Coercion is_true : bool >-> Sortclass.

Record ordered := Ordered {
  element :> Type;

  nan : element -> bool;              (* the element is unordered *)
  le : element -> element -> bool;    (* less than or equal *)
  lt : element -> element -> bool;    (* less than *)
  eq : element -> element -> bool;    (* equal *)

  (** A comparison with a NaN is false: IEEE 754-2019, 5.11. *)
  only_numbers_compare : forall a b, le a b -> ~ nan a /\ ~ nan b;

  (** Two numbers can always be compared; with a = b, every number equals itself. *)
  total : forall a b, ~ nan a -> ~ nan b -> le a b \/ le b a;

  (** The comparison is an order up to equality. *)
  transitive : forall a b c, le a b -> le b c -> le a c;

  (** Strictly less is less than or equal, but not the other way round. *)
  lt_is_strict : forall a b, lt a b <-> le a b /\ ~ le b a;

  (** Equal is less than or equal both ways. *)
  eq_is_both : forall a b, eq a b <-> le a b /\ le b a
}.

Arguments nan {_} _.
Arguments le {_} _ _.
Arguments lt {_} _ _.
Arguments eq {_} _ _.

Declare Scope element_scope.
Delimit Scope element_scope with element.
Bind Scope element_scope with element.
Notation "a <= b" := (le a b) : element_scope.
Notation "a < b" := (lt a b) : element_scope.
Notation "a == b" := (eq a b) (at level 70, no associativity) : element_scope.

(** ** Everything through [<=]

    The other symbols are functions of [<=], so that a statement about a few elements is decided by the finitely
    many ways in which they can be ordered. *)

Section OnlyLe.
Variable o : ordered.
Implicit Types a b : o.
Local Open Scope element_scope.

Lemma nan_by_le : forall a, nan a = negb (a <= a).
Proof.
  intros a. apply eq_true_iff_eq. rewrite negb_true_iff. split; intros H.
  - apply not_true_is_false. intros L. now destruct (only_numbers_compare o _ _ L) as [N _].
  - destruct (nan a) eqn:N; [easy|].
    assert (N' : ~ nan a) by now rewrite N.
    destruct (total o a a N' N'); congruence.
Qed.

Lemma lt_by_le : forall a b, (a < b) = (a <= b) && negb (b <= a).
Proof.
  intros a b. apply eq_true_iff_eq. rewrite andb_true_iff, negb_true_iff, <- not_true_iff_false.
  apply lt_is_strict.
Qed.

Lemma eq_by_le : forall a b, (a == b) = (a <= b) && (b <= a).
Proof. intros a b. apply eq_true_iff_eq. rewrite andb_true_iff. apply eq_is_both. Qed.

Lemma number_left : forall a b, (a <= b) = true -> (a <= a) = true.
Proof.
  intros a b L. destruct (only_numbers_compare o a b L) as [N _].
  rewrite nan_by_le in N. now destruct (a <= a); [|destruct N].
Qed.

Lemma number_right : forall a b, (a <= b) = true -> (b <= b) = true.
Proof.
  intros a b L. destruct (only_numbers_compare o a b L) as [_ N].
  rewrite nan_by_le in N. now destruct (b <= b); [|destruct N].
Qed.

Lemma numbers_compare : forall a b, (a <= a) = true -> (b <= b) = true -> (a <= b) = false -> (b <= a) = true.
Proof.
  intros a b A B L. destruct (total o a b) as [H|H]; rewrite ?nan_by_le, ?A, ?B; try easy; congruence.
Qed.

End OnlyLe.

(** [order] decides a statement about the comparisons of a few elements of any ordered type: it goes through the
    ways in which they can be ordered, and drops those that contradict an axiom. *)

Ltac impossible :=
  match goal with
  | H : le ?a ?b = true, H' : le ?a ?b = false |- _ => rewrite H in H'; discriminate H'
  | H : le ?a ?b = true, H' : le ?a ?a = false |- _ => rewrite (number_left _ _ _ H) in H'; discriminate H'
  | H : le ?a ?b = true, H' : le ?b ?b = false |- _ => rewrite (number_right _ _ _ H) in H'; discriminate H'
  | H'' : le ?a ?c = false, H : le ?a ?b = true, H' : le ?b ?c = true |- _ =>
      rewrite (transitive _ _ _ _ H H' : le a c = true) in H''; discriminate H''
  | H : le ?a ?b = false, H' : le ?b ?a = false, A : le ?a ?a = true, B : le ?b ?b = true |- _ =>
      rewrite (numbers_compare _ _ _ A B H) in H'; discriminate H'
  end.

(* What is supposed of the elements goes into the goal, and everything there into [<=]; what is known stays. *)
Ltac only_le :=
  unfold is_true in *;
  repeat match goal with
  | H : context [@nan] |- _ => revert H
  | H : context [@lt] |- _ => revert H
  | H : context [@eq] |- _ => revert H
  | H : context [@le] |- _ =>
      lazymatch type of H with
      | le ?a ?b = _ => tryif (is_var a; is_var b) then fail else revert H
      | _ => revert H
      end
  end;
  rewrite ?nan_by_le, ?lt_by_le, ?eq_by_le;
  repeat match goal with a : element _ |- _ => clear a end.    (* those of which nothing is said *)

(* First which elements are numbers, where that matters, then the comparisons as they are met. *)
Ltac compare_once :=
  match goal with
  | H : le ?a ?b = _ |- context [le ?a ?b] => rewrite H
  | |- context [le ?a ?a] => is_var a; destruct (le a a) eqn:?
  | |- context [le ?a ?b] => is_var a; is_var b; destruct (le a b) eqn:?
  | a : element _ |- _ => lazymatch goal with _ : le a a = _ |- _ => fail | _ => destruct (le a a) eqn:? end
  end;
  try impossible; cbn [andb orb negb implb Bool.eqb] in *.

Ltac order :=
  cbv zeta; intros; only_le; repeat (compare_once; try reflexivity; try discriminate); intros; try easy; try solve [intuition congruence].

(** A statement about the entries [x i] of a tensor, all of which are clipped to [l] and [m]: the second part holds at
    every entry if the bounds are inverted or [m] is at most every entry, and else the first does. *)
Ltac by_entries m l x :=
  intros; cbv zeta in *;
  repeat match goal with H : _ /\ _ |- _ => destruct H | H : _ \/ _ |- _ => destruct H end;
  lazymatch goal with
  | _ : forall i, is_true (le m (@?entry i)) |- _ => right
  | _ => destruct (lt m l) eqn:?; [right | first [discriminate | left]]
  end;
  let i := fresh "i" in intros i;
  repeat match goal with
  | H : forall _, _ |- _ => let statement := type of H in lazymatch type of statement with Prop => specialize (H i) end
  end;
  repeat match goal with H : context [x i] |- _ => revert H end; generalize (x i); clear i.

(** ** Orders through a key

    An element type whose numbers are ordered by an integer. *)

Section Keyed.
Local Open Scope Z_scope.
Variables (T : Type) (nan : T -> bool) (key : T -> Z).

Definition keyed_le a b := negb (nan a) && negb (nan b) && (key a <=? key b).
Definition keyed_lt a b := negb (nan a) && negb (nan b) && (key a <? key b).
Definition keyed_eq a b := negb (nan a) && negb (nan b) && (key a =? key b).

Definition keyed : ordered.
Proof.
  refine (Ordered T nan keyed_le keyed_lt keyed_eq _ _ _ _ _);
    unfold keyed_le, keyed_lt, keyed_eq, is_true; intros; lia.
Defined.
End Keyed.
