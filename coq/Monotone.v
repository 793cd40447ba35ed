(** * Clip and functions that keep or turn the order

    The theorems of spec/rewrites.yaml about functions, which why3/rewrites.mlw has for the provers: for any two
    ordered element types. Each carries the id of the theorem that it shows. *)

From SonnxClip Require Import Order Clip.

(** ** What Clip gives, by comparisons alone *)

Section Numbers.
Context {o : ordered}.
Implicit Types x l m : o.
Local Open Scope element_scope.

Lemma inverted_bounds : forall x l m, ~ l <= m -> m <= l -> clip x l m = m.
Proof. unfold clip. order. Qed.

Lemma three_ways : forall x l m, ~ nan x -> l <= m ->
  clip x l m = l /\ x <= l \/ clip x l m = m /\ m <= x \/ clip x l m = x /\ l <= x /\ x <= m.
Proof. unfold clip. order. Qed.

Lemma is_lower : forall x l m, l <= m -> x <= l -> l == clip x l m.
Proof. unfold clip. order. Qed.

Lemma is_upper : forall x l m, l <= m -> m <= x -> m == clip x l m.
Proof. unfold clip. order. Qed.

Lemma is_inside : forall x l m, l <= x -> x <= m -> x == clip x l m.
Proof. unfold clip. order. Qed.

Lemma both_ways : forall x y : o, x <= y -> y <= x -> x == y.
Proof. order. Qed.

Lemma reflexive : forall x : o, ~ nan x -> x <= x.
Proof. intros x X. now destruct (total o x x X X). Qed.

Lemma is_upper_of_inverted : forall x l m, ~ nan x -> m <= l -> m == clip x l m.
Proof.
  intros x l m X V. destruct (only_numbers_compare o m l V) as [M L].
  destruct (le l m) eqn:I.
  - destruct (three_ways x l m X I) as [[-> A]|[[-> A]|[-> [A B]]]].
    + now apply both_ways.
    + now apply both_ways; apply reflexive.
    + apply both_ways; [|exact B]. exact (transitive o _ _ _ V A).
  - rewrite inverted_bounds; [|congruence|exact V]. now apply both_ways; apply reflexive.
Qed.

Lemma not_beyond : forall x y : o, x <= y -> ~ y < x.
Proof. order. Qed.

Lemma not_same : forall x y : o, x < y -> ~ x == y.
Proof. order. Qed.

Lemma not_same_back : forall x y : o, x < y -> ~ y == x.
Proof. order. Qed.

End Numbers.

(** ** Functions *)

Section Functions.
Variables from to : ordered.
Variable f : from -> to.
Implicit Types a b x l m : from.
Local Open Scope element_scope.

(** It keeps the order of numbers, and gives numbers. *)
Definition monotone : Prop := (forall a b, a <= b -> f a <= f b) /\ (forall a, ~ nan a -> ~ nan (f a)).

(** It turns the order of numbers, and gives numbers. *)
Definition falling : Prop := (forall a b, a <= b -> f b <= f a) /\ (forall a, ~ nan a -> ~ nan (f a)).

(** Clip goes through a function that keeps the order, for any bounds, inverted ones too.
    shows: monotone-function-through-clip *)
Theorem clip_then_f : monotone -> forall x l m, ~ nan x -> ~ nan l -> ~ nan m ->
  f (clip x l m) == clip (f x) (f l) (f m).
Proof.
  intros [keeps numbers] x l m X L M. destruct (le l m) eqn:I.
  - destruct (three_ways x l m X I) as [[-> A]|[[-> A]|[-> [A B]]]].
    + apply is_lower; auto.
    + apply is_upper; auto.
    + apply is_inside; auto.
  - assert (V : m <= l) by (destruct (total from l m L M); congruence).
    rewrite inverted_bounds; [|congruence|exact V].
    apply is_upper_of_inverted; auto.
Qed.

(** Through a function that turns the order the bounds change places, and have to be in order.
    shows: falling-function-through-clip *)
Theorem clip_then_falling_f : falling -> forall x l m, ~ nan x -> l <= m ->
  f (clip x l m) == clip (f x) (f m) (f l).
Proof.
  intros [turns numbers] x l m X I. destruct (three_ways x l m X I) as [[-> A]|[[-> A]|[-> [A B]]]].
  - apply is_upper; auto.
  - apply is_lower; auto.
  - apply is_inside; auto.
Qed.

(** Clip before a function that keeps the order is not needed if no number goes beyond the images of the bounds.
    shows: clip-dropped-before-saturation *)
Theorem clip_before_f_is_not_needed : monotone -> forall x l m, ~ nan x -> l <= m ->
  f l <= f x -> f x <= f m -> f (clip x l m) == f x.
Proof.
  intros [keeps numbers] x l m X I F G. destruct (three_ways x l m X I) as [[-> A]|[[-> A]|[-> [A B]]]].
  - apply both_ways; auto.
  - apply both_ways; auto.
  - apply both_ways; apply keeps; now apply reflexive.
Qed.

(** And only then: a number that goes beyond shows it. shows: clip-dropped-before-saturation *)
Theorem clip_before_f_is_needed : monotone -> forall x l m, ~ nan x -> l <= m ->
  f x < f l \/ f m < f x -> ~ f (clip x l m) == f x.
Proof.
  intros [keeps numbers] x l m X I F. destruct (three_ways x l m X I) as [[-> A]|[[-> A]|[-> [A B]]]].
  - destruct F as [F|F]; [now apply not_same_back|].
    destruct (not_beyond (f x) (f m)); auto. apply keeps. exact (transitive from _ _ _ A I).
  - destruct F as [F|F]; [|now apply not_same].
    destruct (not_beyond (f l) (f x)); auto. apply keeps. exact (transitive from _ _ _ I A).
  - destruct F as [F|F]; [destruct (not_beyond (f l) (f x))|destruct (not_beyond (f x) (f m))]; auto.
Qed.

End Functions.
