(** * Deciding what is said of a few elements

    A statement that compares a few elements, and asks which are identical, is true or false by how they are
    arranged: which are numbers, and how each two compare. There are finitely many arrangements, here called worlds.
    Here they are listed, and every arrangement of elements is shown to be among them ([every_world]). *)

From Coq Require Import List Bool Arith.
From SonnxClip Require Import Order.
Import ListNotations.

(** ** How two elements compare *)

Inductive relation := Identical | Same | Less | Greater | Unordered.

Definition turned (r : relation) : relation :=
  match r with Less => Greater | Greater => Less | _ => r end.

(** A world: for each element, whether it is a number, and how it compares with those after it. *)
Definition world : Type := list (bool * list relation).

Fixpoint number (w : world) (i : nat) : bool :=
  match w, i with
  | (n, _) :: _, O => n
  | _ :: older, S i => number older i
  | [], _ => false
  end.

Fixpoint compare (w : world) (i j : nat) : relation :=
  match w, i, j with
  | [], _, _ => Unordered
  | _, O, O => Identical
  | (_, r) :: _, O, S j => nth j r Unordered
  | (_, r) :: _, S i, O => turned (nth i r Unordered)
  | _ :: older, S i, S j => compare older i j
  end.

Definition world_le (w : world) (i j : nat) : bool :=
  match compare w i j with Identical => number w i | Same | Less => true | _ => false end.

Definition world_identical (w : world) (i j : nat) : bool :=
  match compare w i j with Identical => true | _ => false end.

(** ** Which worlds there are *)

(** How two elements may compare, by whether they are numbers. *)
Definition pair_fits (n m : bool) (r : relation) : bool :=
  match r with
  | Identical => Bool.eqb n m
  | Same | Less | Greater => n && m
  | Unordered => negb (n && m)
  end.

Definition is_identical (r : relation) : bool := match r with Identical => true | _ => false end.
Definition is_same (r : relation) : bool := match r with Same => true | _ => false end.
Definition is_less (r : relation) : bool := match r with Less => true | _ => false end.
Definition is_greater (r : relation) : bool := match r with Greater => true | _ => false end.
Definition is_unordered (r : relation) : bool := match r with Unordered => true | _ => false end.

Definition relation_eqb (r s : relation) : bool :=
  match r with
  | Identical => is_identical s | Same => is_same s | Less => is_less s | Greater => is_greater s
  | Unordered => is_unordered s
  end.

(** How [a] and [c] may compare when [a] and [b] compare as [r], and [b] and [c] as [s]. *)
Definition triple_fits (r s u : relation) : bool :=
  match r, s with
  | Identical, _ => relation_eqb u s
  | _, Identical => relation_eqb u r
  | Unordered, _ | _, Unordered => true
  | Same, Same => is_identical u
  | Same, _ => relation_eqb u s
  | _, Same => relation_eqb u r
  | Less, Less => is_less u
  | Greater, Greater => is_greater u
  | _, _ => negb (is_unordered u)
  end.

Fixpoint all_fit (r : relation) (older rest : list relation) : bool :=
  match older, rest with
  | s :: older, u :: rest => triple_fits r s u && all_fit r older rest
  | _, _ => true
  end.

Section Worlds.
Variable flags : list bool.                                (* whether elements may be numbers, and may be none *)
Variable law : relation -> list relation -> bool.          (* what holds of this element type beyond the order *)

(** How a further element, a number or not, may compare with those of a world. *)
Fixpoint rows (n : bool) (w : world) : list (list relation) :=
  match w with
  | [] => [[]]
  | (m, older) :: w =>
      flat_map (fun rest =>
        map (fun r => r :: rest)
          (filter (fun r => pair_fits n m r && (law r rest && all_fit r older rest))
            [Identical; Same; Less; Greater; Unordered])) (rows n w)
  end.

Definition extend (w : world) : list world :=
  flat_map (fun n => map (fun row => (n, row) :: w) (rows n w)) flags.

(** The worlds of [count] elements beside constants that are arranged in one of these ways. *)
Fixpoint worlds (constants : list world) (count : nat) : list world :=
  match count with
  | O => constants
  | S count => flat_map extend (worlds constants count)
  end.

(** ** Every arrangement of elements is among them *)

Variable o : ordered.
Variable identical : o -> o -> bool.
Hypothesis identical_is_equal : forall a b, identical a b = true <-> a = b.
Hypothesis two_zeros : forall a b c : o, eq a b = true -> a <> b -> eq b c = true -> b <> c -> a = c.

Definition relate (a b : o) : relation :=
  if identical a b then Identical
  else if le a b then if le b a then Same else Less
  else if le b a then Greater else Unordered.

Fixpoint actual (env : list o) : world :=
  match env with
  | [] => []
  | a :: env => (le a a, map (relate a) env) :: actual env
  end.

Lemma identical_self : forall a, identical a a = true.
Proof. intros a. now apply identical_is_equal. Qed.

Lemma relate_self : forall a, relate a a = Identical.
Proof. intros a. unfold relate. now rewrite identical_self. Qed.

Lemma identical_turned : forall a b, identical a b = identical b a.
Proof.
  intros a b. apply eq_true_iff_eq. rewrite !identical_is_equal. split; congruence.
Qed.

Lemma relate_turned : forall a b, turned (relate a b) = relate b a.
Proof.
  intros a b. unfold relate. rewrite (identical_turned b a).
  now destruct (identical a b), (le a b), (le b a).
Qed.

Lemma pairs_fit : forall a b, pair_fits (le a a) (le b b) (relate a b) = true.
Proof.
  intros a b. unfold relate. destruct (identical a b) eqn:I.
  - apply identical_is_equal in I as ->. apply eqb_reflx.
  - destruct (le a b) eqn:L, (le b a) eqn:G; cbn [pair_fits].
    + now rewrite (number_left _ _ _ L), (number_left _ _ _ G).
    + now rewrite (number_left _ _ _ L), (number_right _ _ _ L).
    + now rewrite (number_left _ _ _ G), (number_right _ _ _ G).
    + destruct (le a a) eqn:A, (le b b) eqn:B; try easy.
      now rewrite (numbers_compare _ _ _ A B L) in G.
Qed.

Lemma triples_fit : forall a b c, triple_fits (relate a b) (relate b c) (relate a c) = true.
Proof.
  intros a b c. unfold relate at 1 2.
  destruct (identical a b) eqn:I.
  { apply identical_is_equal in I as ->. fold (relate b c). now destruct (relate b c). }
  destruct (identical b c) eqn:J.
  { apply identical_is_equal in J as ->. unfold relate. rewrite I. now destruct (le a c), (le c a). }
  assert (I' : a <> b) by (rewrite <- identical_is_equal; congruence).
  assert (J' : b <> c) by (rewrite <- identical_is_equal; congruence).
  unfold relate.
  destruct (le a b) eqn:?, (le b a) eqn:?, (le b c) eqn:?, (le c b) eqn:?; cbn [triple_fits]; try reflexivity.
  { assert (a = c) as -> by (apply (two_zeros a b c); try easy; rewrite eq_by_le; apply andb_true_intro; easy).
    now rewrite identical_self. }
  all: destruct (identical a c) eqn:K;
    [apply identical_is_equal in K; subst c; first [reflexivity | exfalso; congruence]|].
  all: destruct (le a c) eqn:?, (le c a) eqn:?; first [reflexivity | exfalso].
  all: repeat match goal with
    | H : le ?x ?y = true |- _ =>
        lazymatch goal with
        | _ : le x x = true, _ : le y y = true |- _ => fail
        | _ => pose proof (number_left _ _ _ H); pose proof (number_right _ _ _ H)
        end
    end; impossible.
Qed.

Lemma all_of_them_fit : forall a b env, all_fit (relate a b) (map (relate b) env) (map (relate a) env) = true.
Proof. intros a b env. induction env as [|c env IH]; [easy|]. cbn [map all_fit]. now rewrite triples_fit, IH. Qed.

Variable lawful : list o -> Prop.      (* where the constants stand in a list of elements *)
Hypothesis lawful_rest : forall a env, lawful (a :: env) -> lawful env.
Hypothesis obeyed : forall a b env, lawful (b :: env) -> law (relate a b) (map (relate a) env) = true.
Hypothesis flagged : forall a : o, In (le a a) flags.

Lemma every_row : forall a env, lawful env -> In (map (relate a) env) (rows (le a a) (actual env)).
Proof.
  intros a env. induction env as [|b env IH]; intros L; [now left|]. cbn [actual rows map].
  apply in_flat_map. exists (map (relate a) env). split; [apply IH, (lawful_rest b), L|].
  apply (in_map (fun r => r :: map (relate a) env)), filter_In. split.
  - destruct (relate a b); cbn; tauto.
  - now rewrite pairs_fit, obeyed, all_of_them_fit.
Qed.

Lemma every_world : forall elements constants arranged,
  In (actual constants) arranged -> (forall some, lawful (some ++ constants)) ->
  In (actual (elements ++ constants)) (worlds arranged (length elements)).
Proof.
  intros elements constants arranged A L. induction elements as [|a elements IH]; [exact A|].
  cbn [app length worlds actual]. apply in_flat_map. exists (actual (elements ++ constants)).
  split; [exact IH|]. apply in_flat_map. exists (le a a). split; [apply flagged|].
  apply (in_map (fun row => (le a a, row) :: actual (elements ++ constants))), every_row, L.
Qed.

End Worlds.
