(** * How the rendered statements on floats are proved

    [float_order] decides a statement about a few floats and the named constants of their format. It is not trusted:
    what it finds is a proof that Coq's kernel checks. It tells [order] how the constants are ordered, and uses that
    floats which compare equal are identical unless they are zeros. *)

From Coq Require Import ZArith Lia Bool ZifyBool.
From SonnxClip Require Import Order Key Floats FloatWorlds.
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

Lemma zero_or_identical : forall a b : t, le a b = true -> le b a = true ->
  ~ (le a zero = true /\ le zero a = true) -> a = b.
Proof.
  intros a b L G N. apply (identified prec emax prec_is_positive prec_is_less).
  - unfold is_true. now rewrite eq_by_le, L, G.
  - intros K. apply N. rewrite !le_by_key, key_of_zero in *. change (nan zero) with false. lia.
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

Definition compared {A} (_ _ : A) : Prop := True.

(* How two constants are ordered, if that is the same in all formats. *)
Ltac compare_constants prec emax P Q c d :=
  let by_keys := fun result =>
    assert (le c d = result) by
      (repeat match goal with H : _ = _ :> bool |- _ => clear H end;
       rewrite le_of_numbers by reflexivity; unfold c, d;
       pose proof (top_is_not_one prec emax P Q); pose proof (hidden_is_positive prec P);
       rewrite ?key_of_opposite, ?key_of_zero, ?key_of_infinity, ?key_of_highest, ?key_of_lowest,
         ?key_of_smallest_normal, ?key_of_smallest_subnormal; lia) in
  assert (compared c d) by exact I;
  first [by_keys true | by_keys false | idtac].

Ltac constant prec emax P Q :=
  match goal with
  | |- context [opposite prec emax P Q ?c] => constr:(opposite prec emax P Q c)
  | |- context [zero prec emax P Q] => constr:(zero prec emax P Q)
  | |- context [infinity prec emax P Q] => constr:(infinity prec emax P Q)
  | |- context [highest prec emax P Q] => constr:(highest prec emax P Q)
  | |- context [lowest prec emax P Q] => constr:(lowest prec emax P Q)
  | |- context [smallest_normal prec emax P Q] => constr:(smallest_normal prec emax P Q)
  | |- context [smallest_subnormal prec emax P Q] => constr:(smallest_subnormal prec emax P Q)
  end.

Ltac suppose fact :=
  let type := type of fact in lazymatch goal with _ : type |- _ => fail | _ => pose proof fact end.

(* What the constants that occur say of each other and of the other elements. *)
Ltac constants prec emax P Q :=
  repeat (let c := constant prec emax P Q in let k := fresh "c" in set (k := c));
  repeat match goal with
  | c := _ : element ?o, d := _ : element ?o |- _ =>
      lazymatch goal with _ : compared c d |- _ => fail | _ => compare_constants prec emax P Q c d end
  end;
  repeat match goal with
  | a : element ?o, c := ?body |- _ =>
      tryif (unfold a in * ) then fail else
      match body with
      | infinity _ _ _ _ => suppose (below_infinity prec emax P Q a : implb (le a a) (le a c) = true)
      | opposite _ _ _ _ (infinity _ _ _ _) =>
          suppose (above_minus_infinity prec emax P Q a : implb (le a a) (le c a) = true)
      end
  | a : element ?o, c := highest _ _ _ _, d := infinity _ _ _ _ |- _ =>
      suppose (finite_below_highest prec emax P Q a : implb (le a a) (le a c || le d a) = true)
  | a : element ?o, c := lowest _ _ _ _, d := opposite _ _ _ _ (infinity _ _ _ _) |- _ =>
      suppose (finite_above_lowest prec emax P Q a : implb (le a a) (le c a || le a d) = true)
  end.

(* Two floats that compare both ways are identical: one is a constant other than zero, or no two zeros meet. *)
Ltac identify prec emax P Q :=
  match goal with
  | L : le ?a ?b = true, G : le ?b ?a = true |- ?a = ?b =>
      repeat match goal with c := _ : element _ |- _ => subst c end;
      first
      [ apply (zero_or_identical prec emax P Q _ _ L G); intros [? ?]; solve [impossible | intuition congruence]
      | apply (identical_to_constant prec emax P Q _ _ L G); nonzero prec emax P Q
      | symmetry; apply (identical_to_constant prec emax P Q _ _ G L); nonzero prec emax P Q ]
  end
with nonzero prec emax P Q :=
  repeat match goal with H : _ = _ :> bool |- _ => clear H end;
  pose proof (top_is_not_one prec emax P Q); pose proof (hidden_is_positive prec P);
  rewrite ?key_of_opposite, ?key_of_infinity, ?key_of_highest, ?key_of_lowest,
    ?key_of_smallest_normal, ?key_of_smallest_subnormal; lia.

Ltac by_constants prec emax P Q :=
  cbv zeta; intros; only_le; constants prec emax P Q; order;
  try solve [intuition (first [congruence | identify prec emax P Q])].

(** Decides a statement about a few floats of one format: by computing, unless it speaks of constants other than 0. *)
Ltac float_order prec emax P Q := first [solve [by_worlds prec emax P Q] | by_constants prec emax P Q].
