(** * How a statement on a few elements is decided

    The tactics here read a statement as a tree of [Statements] and let Coq compute whether it is true in every world.
    They are not trusted: what they leave is a proof by [sound], which the kernel checks. *)

From Coq Require Import List Bool Arith.
From SonnxClip Require Import Order Worlds Statements.
Import ListNotations.

(** ** Types of numbers alone, where equal elements are identical *)

Definition never_same (r : relation) (_ : list relation) : bool := negb (is_same r).

Theorem sound_of_numbers : forall (o : ordered) (identical : o -> o -> bool) elements default p,
  (forall a b, identical a b = true <-> a = b) -> (forall a b : o, eq a b -> a = b) -> (forall a : o, le a a) ->
  all_known (length elements) p &&
    forallb (fun w => true_in w p) (worlds [true] never_same [[]] (length elements)) = true ->
  stated o identical elements default p.
Proof.
  intros o identical elements default p I E N C. apply andb_true_iff in C as [K W].
  apply (sound o identical I) with (flags := [true]) (law := never_same) (lawful := fun _ => True)
    (elements := elements) (constants := []) (arranged := [[]]); try easy.
  - intros a b c A B. destruct B. now apply E.
  - intros a b rest _. unfold Worlds.relate. destruct (identical a b) eqn:D; [easy|].
    destruct (le a b) eqn:L, (le b a) eqn:G; try easy. exfalso.
    apply not_true_iff_false in D. apply D, I, E. unfold is_true. now rewrite eq_by_le, L, G.
  - intros a. left. symmetry. apply N.
  - now left.
  - now rewrite app_nil_r.
Qed.

(** Where what is looked for is one of a few elements. *)
Lemma among : forall (T : Type) (P : T -> Prop) (x l m o : T), P x \/ P l \/ P m \/ P o -> exists y, P y.
Proof. intros T P x l m o [H|[H|[H|H]]]; eexists; exact H. Qed.

(** ** Statements, from what is written *)

Ltac position a env :=
  lazymatch env with
  | a :: _ => constr:(O)
  | _ :: ?rest => let i := position a rest in constr:(S i)
  end.

Ltac read_element identical env a :=
  lazymatch a with
  | (if ?c then ?p else ?q) =>
      let c := read_condition identical env c in
      let p := read_element identical env p in
      let q := read_element identical env q in constr:(Choose c p q)
  | _ => let i := position a env in constr:(Var i)
  end
with read_condition identical env c :=
  let element := read_element identical env in
  let condition := read_condition identical env in
  lazymatch c with
  | true => constr:(Is true)
  | false => constr:(Is false)
  | le ?a ?b => let a := element a in let b := element b in constr:(Le a b)
  | lt ?a ?b => let a := element a in let b := element b in constr:(Lt a b)
  | eq ?a ?b => let a := element a in let b := element b in constr:(Eq a b)
  | nan ?a => let a := element a in constr:(Nan a)
  | negb ?c => let c := condition c in constr:(Neg c)
  | ?c && ?d => let c := condition c in let d := condition d in constr:(Both c d)
  | ?c || ?d => let c := condition c in let d := condition d in constr:(Either c d)
  | implb ?c ?d => let c := condition c in let d := condition d in constr:(Follows c d)
  | Bool.eqb ?c ?d => let c := condition c in let d := condition d in constr:(Alike c d)
  | (if ?c then ?d else ?e) =>
      let c := condition c in let d := condition d in let e := condition e in constr:(Choice c d e)
  | _ =>
      lazymatch constr:((c, identical)) with
      | (?f ?a ?b, ?f) => let a := element a in let b := element b in constr:(Id a b)
      end
  end.

Ltac read_statement identical env p :=
  let element := read_element identical env in
  let condition := read_condition identical env in
  let statement := read_statement identical env in
  lazymatch p with
  | True => constr:(Plain true)
  | False => constr:(Plain false)
  | is_true ?c => let c := condition c in constr:(Holds c)
  | @Logic.eq bool ?c ?d => let c := condition c in let d := condition d in constr:(Equivalent c d)
  | ~ ?p => let p := statement p in constr:(Not p)
  | ?p /\ ?q => let p := statement p in let q := statement q in constr:(And p q)
  | ?p \/ ?q => let p := statement p in let q := statement q in constr:(Or p q)
  | ?p <-> ?q => let p := statement p in let q := statement q in constr:(Iff p q)
  | ?p -> ?q => let p := statement p in let q := statement q in constr:(Implies p q)
  | (if ?c then ?p else ?q) =>
      let c := condition c in let p := statement p in let q := statement q in constr:(Whether c p q)
  | ?a = ?b => let a := element a in let b := element b in constr:(Equal a b)
  end.

(* The elements of the context, before those of [env]. *)
Ltac elements env :=
  match goal with
  | a : element _ |- _ => lazymatch env with context [a] => fail | _ => elements constr:(a :: env) end
  | _ => env
  end.

(* What is supposed goes into the goal; elements of which nothing is said are dropped. *)
Ltac gathered :=
  cbv zeta; intros;
  repeat match goal with a : element _, H : context [?b] |- _ => constr_eq a b; revert H end;
  repeat match goal with a : element _ |- _ => clear a end.

(* Decides a statement on elements of a type to which [sound_of_numbers] applies. *)
Ltac by_worlds_of_numbers identical identical_is_equal identified numbers :=
  gathered;
  lazymatch goal with
  | |- ?goal =>
      let o := lazymatch goal with _ => match goal with a : element ?o |- _ => o end end in
      let env := elements (@nil (element o)) in
      let default := lazymatch env with ?d :: _ => d end in
      let p := read_statement identical env goal in
      change (stated o identical env default p);
      apply (sound_of_numbers o identical env default p identical_is_equal identified numbers);
      vm_compute; reflexivity
  end.
