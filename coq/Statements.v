(** * Deciding a statement about a few elements by computing

    A statement that compares elements, and asks which are identical, is read as a tree. Coq computes whether the
    tree is true in each world ([true_in]); if it is in all, the statement holds ([sound]). Nothing of this is
    trusted: the kernel checks [sound] once, and computes again. *)

From Coq Require Import List Bool Arith.
From SonnxClip Require Import Order Worlds.
Import ListNotations.

(** ** What can be said *)

Inductive expression :=
  | Var (i : nat)
  | Choose (c : condition) (a b : expression)
with condition :=
  | Is (b : bool)
  | Le (a b : expression)
  | Lt (a b : expression)
  | Eq (a b : expression)
  | Nan (a : expression)
  | Id (a b : expression)
  | Neg (c : condition)
  | Both (c d : condition)
  | Either (c d : condition)
  | Follows (c d : condition)
  | Alike (c d : condition)
  | Choice (c d e : condition).

Scheme element_mut := Induction for expression Sort Prop
with condition_mut := Induction for condition Sort Prop.
Combined Scheme both_mut from element_mut, condition_mut.

Inductive statement :=
  | Plain (b : bool)
  | Holds (c : condition)
  | Equal (a b : expression)
  | Equivalent (c d : condition)
  | Not (p : statement)
  | And (p q : statement)
  | Or (p q : statement)
  | Implies (p q : statement)
  | Iff (p q : statement)
  | Whether (c : condition) (p q : statement).

(** ** Whether it holds in a world *)

Fixpoint place (w : world) (e : expression) : nat :=
  match e with
  | Var i => i
  | Choose c a b => if test w c then place w a else place w b
  end
with test (w : world) (c : condition) : bool :=
  match c with
  | Is b => b
  | Le a b => world_le w (place w a) (place w b)
  | Lt a b => let i := place w a in let j := place w b in if world_le w i j then negb (world_le w j i) else false
  | Eq a b => let i := place w a in let j := place w b in if world_le w i j then world_le w j i else false
  | Nan a => negb (number w (place w a))
  | Id a b => world_identical w (place w a) (place w b)
  | Neg c => negb (test w c)
  | Both c d => if test w c then test w d else false
  | Either c d => if test w c then true else test w d
  | Follows c d => if test w c then test w d else true
  | Alike c d => Bool.eqb (test w c) (test w d)
  | Choice c d e => if test w c then test w d else test w e
  end.

Fixpoint true_in (w : world) (p : statement) : bool :=
  match p with
  | Plain b => b
  | Holds c => test w c
  | Equal a b => world_identical w (place w a) (place w b)
  | Equivalent c d => Bool.eqb (test w c) (test w d)
  | Not p => negb (true_in w p)
  | And p q => if true_in w p then true_in w q else false
  | Or p q => if true_in w p then true else true_in w q
  | Implies p q => if true_in w p then true_in w q else true
  | Iff p q => Bool.eqb (true_in w p) (true_in w q)
  | Whether c p q => if test w c then true_in w p else true_in w q
  end.

(** Whether it speaks of the first [n] elements only. *)
Fixpoint known_element (n : nat) (e : expression) : bool :=
  match e with
  | Var i => i <? n
  | Choose c a b => known n c && (known_element n a && known_element n b)
  end
with known (n : nat) (c : condition) : bool :=
  match c with
  | Is _ => true
  | Le a b | Lt a b | Eq a b | Id a b => known_element n a && known_element n b
  | Nan a => known_element n a
  | Neg c => known n c
  | Both c d | Either c d | Follows c d | Alike c d => known n c && known n d
  | Choice c d e => known n c && (known n d && known n e)
  end.

Fixpoint all_known (n : nat) (p : statement) : bool :=
  match p with
  | Plain _ => true
  | Holds c => known n c
  | Equal a b => known_element n a && known_element n b
  | Equivalent c d => known n c && known n d
  | Not p => all_known n p
  | And p q | Or p q | Implies p q | Iff p q => all_known n p && all_known n q
  | Whether c p q => known n c && (all_known n p && all_known n q)
  end.

(** ** What it means *)

Section Statements.
Variable o : ordered.
Variable identical : o -> o -> bool.
Hypothesis identical_is_equal : forall a b, identical a b = true <-> a = b.
Notation relate := (relate o identical).
Notation actual := (actual o identical).

(** What it means for elements. *)
Variable env : list o.
Variable default : o.

Fixpoint meant_element (e : expression) : o :=
  match e with
  | Var i => nth i env default
  | Choose c a b => if meant c then meant_element a else meant_element b
  end
with meant (c : condition) : bool :=
  match c with
  | Is b => b
  | Le a b => le (meant_element a) (meant_element b)
  | Lt a b => lt (meant_element a) (meant_element b)
  | Eq a b => eq (meant_element a) (meant_element b)
  | Nan a => nan (meant_element a)
  | Id a b => identical (meant_element a) (meant_element b)
  | Neg c => negb (meant c)
  | Both c d => meant c && meant d
  | Either c d => meant c || meant d
  | Follows c d => implb (meant c) (meant d)
  | Alike c d => Bool.eqb (meant c) (meant d)
  | Choice c d e => if meant c then meant d else meant e
  end.

Fixpoint stated (p : statement) : Prop :=
  match p with
  | Plain b => if b then True else False
  | Holds c => is_true (meant c)
  | Equal a b => meant_element a = meant_element b
  | Equivalent c d => meant c = meant d
  | Not p => ~ stated p
  | And p q => stated p /\ stated q
  | Or p q => stated p \/ stated q
  | Implies p q => stated p -> stated q
  | Iff p q => stated p <-> stated q
  | Whether c p q => if meant c then stated p else stated q
  end.

(** ** What is computed is what is meant *)

Lemma number_of : forall es i, i < length es ->
  number (actual es) i = le (nth i es default) (nth i es default).
Proof.
  intros es. induction es as [|a es IH]; intros i B; [inversion B|].
  destruct i as [|i]; [easy|]. cbn. apply IH. now apply Nat.succ_lt_mono.
Qed.

Lemma nth_related : forall a es j, j < length es -> nth j (map (relate a) es) Unordered = relate a (nth j es default).
Proof.
  intros a es j B. rewrite (nth_indep _ Unordered (relate a default)) by now rewrite map_length.
  apply map_nth.
Qed.

Lemma compare_of : forall es i j, i < length es -> j < length es ->
  compare (actual es) i j = relate (nth i es default) (nth j es default).
Proof.
  intros es. induction es as [|a es IH]; intros i j I J; [inversion I|]. cbn [length] in *.
  destruct i as [|i], j as [|j]; cbn [Worlds.actual compare nth].
  - now rewrite (relate_self _ _ identical_is_equal).
  - apply nth_related. now apply Nat.succ_lt_mono.
  - rewrite nth_related by now apply Nat.succ_lt_mono. now apply (relate_turned _ _ identical_is_equal).
  - apply IH; now apply Nat.succ_lt_mono.
Qed.

Notation size := (length env).
Notation here := (actual env).

Lemma le_of : forall i j, i < size -> j < size ->
  world_le here i j = le (nth i env default) (nth j env default).
Proof.
  intros i j I J. unfold world_le. rewrite compare_of, number_of by easy.
  generalize (nth i env default) (nth j env default). intros a b. unfold Worlds.relate.
  destruct (identical a b) eqn:E.
  - now apply identical_is_equal in E as <-.
  - now destruct (le a b), (le b a).
Qed.

Lemma identical_of : forall i j, i < size -> j < size ->
  world_identical here i j = identical (nth i env default) (nth j env default).
Proof.
  intros i j I J. unfold world_identical. rewrite compare_of by easy.
  generalize (nth i env default) (nth j env default). intros a b. unfold Worlds.relate.
  now destruct (identical a b), (le a b), (le b a).
Qed.

Lemma computed_is_meant :
  (forall e, known_element size e = true -> place here e < size /\ meant_element e = nth (place here e) env default) /\
  (forall c, known size c = true -> meant c = test here c).
Proof.
  apply both_mut; cbn [known_element known meant_element meant place test]; intros;
  repeat match goal with
  | H : _ && _ = true |- _ => apply andb_true_iff in H as [? ?]
  | IH : ?k = true -> _, H : ?k = true |- _ => specialize (IH H)
  | H : _ /\ _ |- _ => destruct H
  end.
  all: repeat match goal with
    | H : meant_element _ = _ |- _ => rewrite H; clear H
    | H : meant _ = _ |- _ => rewrite H; clear H
    end.
  - split; [now apply Nat.ltb_lt|easy].
  - destruct (test here c); now split.
  - reflexivity.
  - symmetry. now apply le_of.
  - rewrite lt_by_le, !le_of by easy. now destruct (le (nth (place here a) env default) (nth (place here b) env default)).
  - rewrite eq_by_le, !le_of by easy. now destruct (le (nth (place here a) env default) (nth (place here b) env default)).
  - now rewrite nan_by_le, number_of.
  - symmetry. now apply identical_of.
  - reflexivity.
  - now destruct (test here c).
  - now destruct (test here c).
  - now destruct (test here c).
  - reflexivity.
  - now destruct (test here c).
Qed.

Lemma stated_is_computed : forall p, all_known size p = true -> (stated p <-> true_in here p = true).
Proof.
  destruct computed_is_meant as [E C].
  induction p; cbn [all_known stated true_in]; intros K;
  repeat match goal with H : _ && _ = true |- _ => apply andb_true_iff in H as [? ?] end;
  repeat match goal with IH : ?k = true -> _, H : ?k = true |- _ => specialize (IH H) end.
  - now destruct b.
  - rewrite (C _ K). easy.
  - destruct (E _ H) as [A ->], (E _ H0) as [B ->]. rewrite identical_of by easy. symmetry. apply identical_is_equal.
  - rewrite (C _ H), (C _ H0). symmetry. apply eqb_true_iff.
  - rewrite IHp. destruct true_in; cbn; intuition congruence.
  - rewrite IHp1, IHp2. destruct (true_in here p1), (true_in here p2); intuition congruence.
  - rewrite IHp1, IHp2. destruct (true_in here p1), (true_in here p2); intuition congruence.
  - rewrite IHp1, IHp2. destruct (true_in here p1), (true_in here p2); intuition congruence.
  - rewrite IHp1, IHp2. destruct (true_in here p1), (true_in here p2); cbn; intuition congruence.
  - rewrite (C _ H). destruct test; assumption.
Qed.

(** What is true in every world holds. *)
Theorem sound : forall flags law (lawful : list o -> Prop) elements constants arranged p,
  (forall a b c : o, eq a b = true -> a <> b -> eq b c = true -> b <> c -> a = c) ->
  (forall a rest, lawful (a :: rest) -> lawful rest) ->
  (forall a b rest, lawful (b :: rest) -> law (relate a b) (map (relate a) rest) = true) ->
  (forall a : o, In (le a a) flags) ->
  (forall some, lawful (some ++ constants)) ->
  In (actual constants) arranged -> env = elements ++ constants -> all_known size p = true ->
  forallb (fun w => true_in w p) (worlds flags law arranged (length elements)) = true -> stated p.
Proof.
  intros flags law lawful elements constants arranged p Z R B F L A E K W. apply (stated_is_computed p K).
  rewrite forallb_forall in W. rewrite E. apply W.
  now apply every_world with (lawful := lawful).
Qed.

End Statements.
