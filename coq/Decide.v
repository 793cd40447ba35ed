(** * How the rendered statements on floats are proved

    [float_order] decides a statement about a few floats and the named constants of their format. It is not trusted:
    what it finds is a proof that Coq's kernel checks. The constants are elements like the others, arranged as far as
    they are in the same way in all formats. *)

From Coq Require Import List ZArith Lia Bool ZifyBool.
From SonnxClip Require Import Order Key Floats Worlds Statements ByWorlds FloatWorlds.
Import ListNotations.
Local Open Scope Z_scope.

Section Facts.
Variables prec emax : Z.
Context (prec_is_positive : FLX.Prec_gt_0 prec).
Context (prec_is_less : BinarySingleNaN.Prec_lt_emax prec emax).

Notation t := (floats prec emax prec_is_positive prec_is_less).
Notation zero := (zero prec emax prec_is_positive prec_is_less).
Notation infinity := (infinity prec emax prec_is_positive prec_is_less).
Notation highest := (highest prec emax prec_is_positive prec_is_less).
Notation lowest := (lowest prec emax prec_is_positive prec_is_less).
Notation opposite := (opposite prec emax prec_is_positive prec_is_less).
Notation key := (key prec emax).

Lemma le_by_key : forall a b : t, le a b = negb (nan a) && negb (nan b) && (key a <=? key b).
Proof. exact (le_is_keyed prec emax prec_is_positive prec_is_less). Qed.

Lemma le_of_numbers : forall a b : t, nan a = false -> nan b = false -> le a b = (key a <=? key b).
Proof. intros a b A B. now rewrite le_by_key, A, B. Qed.

Lemma below_infinity : forall a : t, implb (le a a) (le a infinity) = true.
Proof.
  intros a. rewrite !le_by_key. change (nan infinity) with false. rewrite key_of_infinity.
  destruct (nan a) eqn:N; [easy|]. generalize (key_bounds _ _ prec_is_positive prec_is_less a N). cbn [negb andb orb implb]. lia.
Qed.

Lemma above_minus_infinity : forall a : t, implb (le a a) (le (opposite infinity) a) = true.
Proof.
  intros a. rewrite !le_by_key. change (nan (opposite infinity)) with false.
  rewrite key_of_opposite, key_of_infinity.
  destruct (nan a) eqn:N; [easy|]. generalize (key_bounds _ _ prec_is_positive prec_is_less a N). cbn [negb andb orb implb]. lia.
Qed.

Lemma finite_below_highest : forall a : t, implb (le a a) (le a highest || le infinity a) = true.
Proof.
  intros a. rewrite !le_by_key. change (nan infinity) with false. change (nan highest) with false.
  rewrite key_of_infinity, key_of_highest. destruct (nan a) eqn:N; [easy|]. cbn [negb andb orb implb]. lia.
Qed.

Lemma finite_above_lowest : forall a : t, implb (le a a) (le lowest a || le a (opposite infinity)) = true.
Proof.
  intros a. rewrite !le_by_key. change (nan (opposite infinity)) with false. change (nan lowest) with false.
  rewrite key_of_opposite, key_of_infinity, key_of_lowest. destruct (nan a) eqn:N; [easy|]. cbn [negb andb orb implb]. lia.
Qed.

(** Below every finite number lies negative infinity alone, which is at most every number. *)
Lemma least_below_lowest : forall a b : t, implb (le a a && le b b && negb (le lowest a)) (le a b) = true.
Proof.
  intros a b. rewrite !le_by_key. change (nan lowest) with false. rewrite key_of_lowest.
  destruct (nan a) eqn:A; [reflexivity|]. destruct (nan b) eqn:B; [now rewrite !andb_false_r|].
  generalize (key_bounds _ _ prec_is_positive prec_is_less a A) (key_bounds _ _ prec_is_positive prec_is_less b B).
  cbn [negb andb orb implb]. lia.
Qed.

Lemma identical_to_constant : forall a c : t, le a c = true -> le c a = true -> key c <> 0 -> a = c.
Proof.
  intros a c L G N. symmetry. apply (identified prec emax prec_is_positive prec_is_less); [|easy].
  unfold is_true. now rewrite eq_by_le, L, G.
Qed.

Lemma top_is_not_one : 1 < top prec emax.
Proof.
  unfold top. generalize (exponents _ _ prec_is_positive prec_is_less) (hidden_is_positive _ prec_is_positive). nia.
Qed.
End Facts.

(* Two constants are compared by their keys. *)
Ltac by_keys prec emax P Q :=
  repeat match goal with H : _ /\ _ |- _ => clear H end;
  rewrite le_of_numbers by reflexivity;
  pose proof (top_is_not_one prec emax P Q); pose proof (hidden_is_positive prec P);
  rewrite ?key_of_opposite, ?key_of_zero, ?key_of_infinity, ?key_of_highest, ?key_of_lowest,
    ?key_of_smallest_normal, ?key_of_smallest_subnormal; lia.

(* How two constants are ordered, if that is the same in all formats, is joined to what is known. *)
Ltac learn prec emax P Q known c d :=
  let before := type of known in
  let now := fresh in
  first
  [ assert (now : le c d = true /\ before) by (split; [by_keys prec emax P Q | exact known])
  | assert (now : le c d = false /\ before) by (split; [by_keys prec emax P Q | exact known])
  | pose proof known as now ];
  clear known; rename now into known.

Ltac compare_with prec emax P Q known c others :=
  lazymatch others with
  | nil => idtac
  | ?d :: ?others => learn prec emax P Q known c d; learn prec emax P Q known d c; compare_with prec emax P Q known c others
  end.

Ltac compare_each prec emax P Q known constants :=
  lazymatch constants with
  | nil => idtac
  | ?c :: ?others =>
      compare_with prec emax P Q known c (c :: zero prec emax P Q :: others);
      compare_each prec emax P Q known others
  end.

Ltac absent k list :=
  lazymatch list with
  | nil => constr:(true)
  | k :: _ => constr:(false)
  | _ :: ?list => absent k list
  end.

(* The constants of the goal that are not 0, before those of [found]. *)
Ltac constants prec emax P Q found :=
  let more k := (let new := absent k found in lazymatch new with true => constants prec emax P Q (k :: found) end) in
  match goal with
  | |- context [opposite prec emax P Q ?c] =>
      lazymatch c with zero prec emax P Q => fail | _ => more (opposite prec emax P Q c) end
  | |- context [infinity prec emax P Q] => more (infinity prec emax P Q)
  | |- context [highest prec emax P Q] => more (highest prec emax P Q)
  | |- context [lowest prec emax P Q] => more (lowest prec emax P Q)
  | |- context [smallest_normal prec emax P Q] => more (smallest_normal prec emax P Q)
  | |- context [smallest_subnormal prec emax P Q] => more (smallest_subnormal prec emax P Q)
  | _ => found
  end.

(* Every number lies between the infinities, and every finite one between the finite limits. *)
Ltac limited prec emax P Q constants a :=
  let above := absent (infinity prec emax P Q) constants in
  let below := absent (opposite prec emax P Q (infinity prec emax P Q)) constants in
  let finite_above := absent (highest prec emax P Q) constants in
  let finite_below := absent (lowest prec emax P Q) constants in
  lazymatch above with false => generalize (below_infinity prec emax P Q a) | _ => idtac end;
  lazymatch below with false => generalize (above_minus_infinity prec emax P Q a) | _ => idtac end;
  lazymatch constr:((above, finite_above)) with
  | (false, false) => generalize (finite_below_highest prec emax P Q a) | _ => idtac end;
  lazymatch constr:((below, finite_below)) with
  | (false, false) => generalize (finite_above_lowest prec emax P Q a) | _ => idtac end.

Ltac all_limited prec emax P Q constants floats :=
  lazymatch floats with
  | nil => idtac
  | ?a :: ?floats => limited prec emax P Q constants a; all_limited prec emax P Q constants floats
  end.

(* What lies below the lowest number is negative infinity, though the goal does not name it. *)
Ltac least prec emax P Q a floats :=
  lazymatch floats with
  | nil => idtac
  | ?b :: ?floats => generalize (least_below_lowest prec emax P Q a b); least prec emax P Q a floats
  end.

Ltac all_least prec emax P Q constants floats all :=
  let finite_below := absent (lowest prec emax P Q) constants in
  let below := absent (opposite prec emax P Q (infinity prec emax P Q)) constants in
  lazymatch constr:((finite_below, below, floats)) with
  | (false, true, ?a :: ?others) => least prec emax P Q a all; all_least prec emax P Q constants others all
  | _ => idtac
  end.

(** Decides a statement about a few floats of one format. *)
Ltac float_order prec emax P Q :=
  gathered;
  let o := constr:(floats prec emax P Q) in
  let identical := constr:(identical prec emax P Q) in
  let zeros := constr:([opposite prec emax P Q (zero prec emax P Q); zero prec emax P Q]) in
  let floats := elements (@nil (element o)) in
  let constants := constants prec emax P Q (@nil (element o)) in
  lazymatch constants with
  | nil => idtac
  | _ => all_limited prec emax P Q constants floats; all_least prec emax P Q constants floats floats
  end;
  let known := fresh in
  assert (known : True) by exact I;
  compare_each prec emax P Q known constants;
  let env := eval cbn [app] in (floats ++ constants ++ zeros) in
  let told := eval cbn [app] in (constants ++ zeros) in
  lazymatch goal with
  | |- ?goal =>
      let p := read_statement identical env goal in
      lazymatch constants with
      | nil =>
          change (stated o identical (floats ++ zeros) (zero prec emax P Q) p);
          apply decided_in_worlds
      | _ =>
          let facts := type of known in
          let facts := read_statement identical told facts in
          change (stated o identical (floats ++ constants ++ zeros) (zero prec emax P Q) p);
          let count := eval cbn [length] in (length floats) in
          let some := eval cbn [length] in (length constants) in
          apply (decided_beside prec emax P Q count some floats constants facts p eq_refl eq_refl known)
      end;
      vm_compute; reflexivity
  end.

(** Splits by which NaNs are signalling: nothing else of [unquiet] matters to what is decided then. *)
Ltac by_signalling prec emax P Q :=
  gathered;
  repeat match goal with
  | |- context [unquiet prec emax P Q ?a] => destruct (unquiet prec emax P Q a)
  end.
