"""Writes theories that hide an assumption in every lexical way that Why3 accepts, and looks for it.

Each theory is made of what assumes something (an axiom, a val, a clone, a type with an invariant …), of how
its name and its attributes are written, and of what stands around it: comments, strings, blank lines,
attributes, location attributes, operators, other declarations, in random order. Where Why3 accepts the
theory, the mechanism must name what it assumes, or refuse the theory by name.
"""

import random
import subprocess
from dataclasses import dataclass

from sonnx_clip.prove.assumptions import read_theories

BEFORE = "module Before\n  type t\n  axiom a: forall x y: t. x = y\nend\n"
# What assumes something, with a place for what stands between its words; and the kinds that have to be found.
ASSUMES = {
    "axiom": ("axiom{s}{n}{a}{s}:{s}forall{s}x{s}y: t. x = y", ("axiom",)),
    "axiom of false": ("axiom{s}{n}{a}{s}:{s}false", ("axiom",)),
    "axiom with a let": ("axiom{s}{n}{a}:{s}let{s}b = false in b", ("axiom",)),
    "axiom with a match": ("axiom{s}{n}{a}:{s}match 0 with{s}| _ -> false{s}end", ("axiom",)),
    "axiom with an if": ("axiom{s}{n}:{s}if{s}true then{s}false else{s}true", ("axiom",)),
    "clone with axioms": ("clone{s}Before{s}as{s}C{u}{s}with{s}axiom{s}.", ("clone",)),
    "clone with an axiom": ("clone{s}export{s}Before{s}with{s}type t = t,{s}axiom{s}a", ("clone",)),
    "clone import": ("clone{s}import{s}Before{s}with{s}type t{s}={s}t{s},{s}axiom{s}.", ("clone",)),
    "val": ("val{s}{n}{a}{s}(x: t){s}: t{s}ensures{s}{{{s}false{s}}}", ("val",)),
    "val ghost": ("val{s}ghost{s}{n}{a}{s}(x{s}y: t){s}:{s}unit{s}ensures{s}{{ x = y }}", ("val",)),
    "val function": ("val{s}function{s}{n}{a}{s}(x: t){s}:{s}t{s}ensures{s}{{ result <> x }}", ("val",)),
    "val predicate": ("val{s}predicate{s}{n}{a}{s}(x: t){s}ensures{s}{{ result <-> not result }}", ("val",)),
    "val constant": ("val{s}constant{s}{n}{a}{s}:{s}t", ("val",)),
    "val lemma": ("val{s}lemma{s}{n}{a}{s}(x: t){s}:{s}unit{s}ensures{s}{{ false }}", ("val",)),
    "val operator": ("val{s}({o}){a}{s}(x{s}y: t){s}:{s}unit{s}ensures{s}{{ x = y }}", ("val",)),
    "val prefix operator": ("val{s}(!_){s}(x: t){s}:{s}unit{s}ensures{s}{{ false }}", ("val",)),
    "val brackets": ("val{s}([]){s}(x{s}y: t){s}:{s}unit{s}ensures{s}{{ false }}", ("val",)),
    "val in a program": (
        "let{s}{n}{a}{s}(x: t){s}: t{s}={s}val{s}v{s}(y: t){s}: t{s}ensures{s}{{ false }}{s}in{s}v x",
        ("val",)),
    "any": ("let{s}{n}{a}{s}(x: t){s}: t{s}={s}any{s}t{s}ensures{s}{{ result = x }}", ("unasked",)),
    "assume": ("let{s}{n}{a}{s}(x{s}y: t){s}: unit{s}ensures{s}{{ x = y }}{s}={s}assume{s}{{ x = y }}",
               ("unasked",)),
    "diverges": ("let{s}rec{s}{n}{a}{s}(x: t){s}: unit{s}ensures{s}{{ false }}{s}diverges{s}={s}{n} x",
                 ("unasked",)),
    "type with an invariant": (
        "type{s}{u}{a}{s}={s}abstract{s}{{ w{u}: int }}{s}invariant{s}{{ w{u} <> 1 }}", ("type",)),
    "function": ("function{s}{n}{a}{s}(x: t){s}:{s}t", ("undefined",)),
    "predicate": ("predicate{s}{n}{a}{s}(x: t)", ("undefined",)),
    "constant": ("constant{s}{n}{a}{s}:{s}t", ("undefined",)),
    "operator function": ("function{s}({o}){s}(x{s}y: t){s}:{s}t", ("undefined", "refused")),
    "axiom in a scope": ("scope{s}S{u}{s}axiom{s}{n}{a}:{s}false{s}end", ("axiom",)),
    "goal": ("goal{s}{n}{a}{s}:{s}forall{s}x{s}y: t. x = y", ("goal",)),
    "lemma": ("lemma{s}{n}{a}{s}:{s}forall{s}x{s}y: t. x = y", ("lemma",)),
    "let lemma": (
        "let{s}lemma{s}{n}{a}{s}(x: t){s}:{s}unit{s}ensures{s}{{ x = x }}{s}={s}()", ("lemma program",)),
    "let rec lemma": (
        "let{s}rec{s}lemma{s}{n}{a}{s}(i: int){s}:{s}unit{s}ensures{s}{{ i = i }}{s}variant{s}{{ i }}{s}=()",
        ("lemma program",)),
    "let ghost lemma": (
        "let{s}ghost{s}lemma{s}{n}{a}{s}(x: t){s}:{s}unit{s}ensures{s}{{ x = x }}{s}={s}()",
        ("lemma program",)),
}  # fmt: skip
_IN_PROGRAMS = ("val in a program", "any", "assume", "diverges")  # their name is the program's
SPACES = (
    " ", "\n", "\n\n", "\t", "\r\n", "\n\n\n  ", " (* c *) ", " (**) ", "(* (* nested *) *)", " (* end *) ",
    '(* " *)', "\n(* axiom b: true *)\n", "(* (*) *)", "(***)", "(** doc\n\n end *)\n", "(* ' \\ *)",
)  # fmt: skip
ATTRIBUTES = (
    "", "", " ", "[@shows:R1]", " [@kind:a] [@shows:b]", " [@foo]", " [@(*]", " [@*)]", " [@ a  b ]",
    " [@end]",
    ' [@"]', ' [#"clip.mlw" 1 1 1]', ' [#"clip.mlw" 1 1 1 1]', "\n[@shows:x]\n", " (* [@a] *) [@b:c]",
)  # fmt: skip
OPERATORS = ("++", "+", "=~", "<*>", "||>", "@@", "*", "-", "<=.", "|", "&&&", "^", "%", "\\")
NAMES = (
    "easy",
    "_easy",
    "x'",
    "y''",
    "a1",
    "end_",
    "axiom_",
    "let_",
    "t2_",
    "h'0",
    "val1",
    "clone'",
)
AROUND = (
    "", "(* comment *)", 'constant s{k}: string = "(*"', 'constant s{k}: string = "*)"',
    'constant s{k}: string = "\\\\"', 'constant s{k}: string = "\\\n   (*"', 'constant s{k}: string = "\\""',
    "constant c{k}: int = 0x1F", "constant c{k}: real = 1.5e-3", "predicate p{k} (x: t) = x = x", "type u{k}",
    "predicate q{k} [@h:(*] (x: t) = true", "predicate r{k} [@h:*)] (x: t) = true", '[##"other.mlw" 7 1]',
    "use int.Int", "constant l{k}: int = 1_000", "predicate z{k} (x: t) = match x with _ -> true end",
    "inductive i{k} t = I{k}: forall x: t. i{k} x", "exception E{k}", "meta coercion function m{k}",
    "function m{k} (x: t) : int = 0", "let f{k} (x: t) : t = x", "let f{k} (x: t) : t = begin x end",
    "let f{k} (x: t) : t = let y = x in y", "predicate b{k} (x: t) = let y = x in y = x",
    '(* " *)', "(*)(*)*)", "type k{k} = A{k} | B{k} int", "type n{k} = < range 0 255 >", "goal g{k} : true",
)  # fmt: skip


@dataclass(frozen=True)
class Theory:
    """A theory that assumes something: which of `ASSUMES`, by a name that is empty where it has none."""

    what: str
    name: str
    text: str


def theories(seed, count):
    """As many theories; Why3 may refuse some of them."""
    draw = random.Random(seed)
    for number in range(count):
        what = list(ASSUMES)[number % len(ASSUMES)]
        form, _ = ASSUMES[what]
        first, *parts = form.split("{s}")
        spaces = (" " if draw.random() < 0.6 else draw.choice(SPACES) for _ in parts)
        text = first + "".join(map("".join, zip(spaces, parts, strict=True)))
        name, operator = draw.choice(NAMES), draw.choice(OPERATORS)
        text = text.format(n=name, a=draw.choice(ATTRIBUTES), o=operator, u=f"t{number}")
        around = [draw.choice(AROUND).replace("{k}", str(k)) for k in range(draw.randint(0, 4))]
        place = draw.randint(0, len(around))
        body = draw.choice(("\n", "\n", " ", "\n\n")).join((*around[:place], text, *around[place:]))
        called = name if "{n}" in form and what not in _IN_PROGRAMS else ""
        yield Theory(what, called, f"{BEFORE}module Hidden\n  type t\n  {body}\nend\n")


def accepted(theory, file):
    """Whether Why3 accepts the theory."""
    file.write_text(theory.text, newline="")
    asked = ["why3", "prove", "--type-only", "-L", str(file.parent), str(file)]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def missed(theory):
    """Whether what the theory assumes is not found, and not refused either."""
    _, kinds = ASSUMES[theory.what]
    found = [f for f in read_theories(theory.text) if f.module != "Before"]
    return not any(
        f.kind == "refused" or (f.kind in kinds and theory.name in ("", f.name)) for f in found
    )
