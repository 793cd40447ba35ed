"""Nothing can be taken for granted unseen: each way to slip an assumption in is reported."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from jinja2 import Template

from sonnx_clip.backends import drivers
from sonnx_clip.backends.generate import render_theories
from sonnx_clip.backends.templating import template_text
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.prove.trusted import GOLDEN, surprises, trusted
from sonnx_clip.spec import load_spec

if TYPE_CHECKING:
    from tests.prove.workbench import Workbench

ORDERED = "why3/ordered.mlw"
CLIP = "why3/clip.mlw"
MEMORY = "why3/memory.mlw"
SOURCE = "type source = abstract { from: int; readable: int }"
INT8_DRIVER = "generated/c/drivers/int8.drv"
DRIVER = "why3/drivers/elements.gen"
FLOAT = "generated/why3/float32.mlw"
TOTAL = "ordered.Ordered.total: forall a b: t. not nan a -> not nan b ->"
TRANSITIVE = "transitive: forall a b c: t. le a b -> le b c -> le a c"
FORMULA = "  function clip (x l m: t) : t ="
LEQ = "(float32_le %1 %2)"
LE = f'  syntax predicate le   "{LEQ}"\n'
MEANING = "module Meaning\n\n  use elements.Float32\n"
CASES = "  (** Every input falls into a case. *)"
ABSTRACT = "symbol abstract clip.Clip: no definition of predicate le t t, predicate lt t t"

# What is replaced in a file, and the lines that must be reported.
PLANTED = {
    "an axiom": (CLIP, FORMULA, f"  axiom easy: forall x: t. le x x\n\n{FORMULA}",
                 ["+ axiom clip.Clip.easy: forall x: t. le x x"]),
    "an axiom with a mark": (CLIP, FORMULA, f"  axiom easy [@shows:R1] : false\n\n{FORMULA}",
                             ["+ axiom clip.Clip.easy: false"]),
    "an axiom over two lines": (CLIP, FORMULA, f"  axiom easy:\n    forall x: t.\n      le x x\n\n{FORMULA}",
                                ["+ axiom clip.Clip.easy: forall x: t. le x x"]),
    "an axiom behind another declaration": (CLIP, "  type t\n  predicate le t t",
                                            "  type t axiom easy: false\n  predicate le t t",
                                            ["+ axiom clip.Clip.easy: false"]),
    "an axiom in a theory before the modules": (
        ORDERED, "module Ordered\n", "theory Before\n  axiom easy: false\nend\n\nmodule Ordered\n",
        ["+ axiom ordered.Before.easy: false"]),
    "an axiom in a generated file": (FLOAT, CASES, f"  axiom easy : false\n\n{CASES}",
                                     ["+ axiom float32.Meaning.easy: false"]),
    "an axiom made stronger": (ORDERED, "le a b \\/ le b a", "le a b",
                               [f"+ axiom {TOTAL} le a b", f"- axiom {TOTAL} le a b \\/ le b a"]),
    "an axiom that is gone": (ORDERED, f"  axiom {TRANSITIVE}\n", "",
                              [f"- axiom ordered.Ordered.{TRANSITIVE}"]),
    "an axiom after a comment that looks like its end": (
        CLIP, FORMULA, f"  axiom easy: (* \n\n end *) false\n\n{FORMULA}", ["+ axiom clip.Clip.easy: false"]),
    "a val": (CLIP, FORMULA, f"  val oracle (x: t) : t ensures {{ false }}\n\n{FORMULA}",
              ["+ symbol clip.Clip.oracle: val (x: t) : t ensures { false }"]),
    "a val whose contract goes on behind a blank line": (
        CLIP, FORMULA,
        f"  val oracle (x: t) : t\n    ensures {{ true }}\n\n    ensures {{ false }}\n\n{FORMULA}",
        ["+ symbol clip.Clip.oracle: val (x: t) : t ensures { true } ensures { false }"]),
    "a val whose contract goes on behind a let": (
        CLIP, FORMULA,
        f"  val oracle (x: t) : t\n    ensures {{\n    let yes = true in\n    false }}\n\n{FORMULA}",
        ["+ symbol clip.Clip.oracle: val (x: t) : t ensures { let yes = true in false }"]),
    "a val function": (CLIP, FORMULA, f"  val ghost function oracle (x: t) : t\n\n{FORMULA}",
                       ["+ symbol clip.Clip.oracle: val (x: t) : t"]),
    "an axiom with a location attribute": (
        CLIP, FORMULA, f'  axiom easy [#"clip.mlw" 1 1 1] : forall x: t. le x x\n\n{FORMULA}',
        ["+ axiom clip.Clip.easy: forall x: t. le x x",
         '+ refused why3/clip.mlw:12: a location attribute: [#"clip.mlw" 1 1 1]']),
    "assumed axioms behind a blank line": (
        FLOAT, f"{MEANING}  clone export clip.Clip",
        f"{MEANING}  clone import ordered.Ordered with type t = t,\n\n    axiom .\n  clone export clip.Clip",
        ["+ assumption float32.Meaning: clone ordered.Ordered with type t = t, axiom ."]),
    "an axiom behind a string that looks like a comment": (
        CLIP, FORMULA,
        f'  constant s: string = "\\\n(*" axiom easy: false constant e: string = "*)"\n\n{FORMULA}',
        ["+ axiom clip.Clip.easy: false",
         '+ refused why3/clip.mlw:12: a string: "\\ (*"', '+ refused why3/clip.mlw:13: a string: "*)"']),
    "a val that is an operator": (
        CLIP, FORMULA, f"  val (++) (a b: t) : unit ensures {{ a = b /\\ a <> b }}\n\n{FORMULA}",
        ["+ symbol clip.Clip.(++): val (a b: t) : unit ensures { a = b /\\ a <> b }",
         "+ refused why3/clip.mlw:12: an operator as a name: (++)"]),
    "a val within a program": (
        "why3/kernel.mlw", "max else x in\n", "max else (val v () : t ensures { false } in v ()) in\n",
        ["+ symbol kernel.Kernel.v: val () : t ensures { false }"]),
    "an attribute that nobody knows": (
        CLIP, FORMULA, f"  predicate p [@rewrite] (x: t) = le x x\n\n{FORMULA}",
        ["+ assumption clip.Clip: [@rewrite]"]),
    "a symbol without a definition": (
        CLIP, FORMULA, f"  function other (x: t) : t\n\n{FORMULA}",
        [f"+ {ABSTRACT}, function other (x: t) : t", f"- {ABSTRACT}"]),
    "a meta": (CLIP, FORMULA, f"  meta rewrite_def predicate le\n\n{FORMULA}",
               ["+ refused why3/clip.mlw:12: a meta: meta rewrite_def predicate le"]),
    "a theory of the library more": (
        CLIP, FORMULA, f"  use int.ComputerDivision\n\n{FORMULA}",
        ["+ symbol library int.ComputerDivision: a theory of Why3's own library"]),
    "an axiom in a scope": (
        CLIP, FORMULA, f"  scope S axiom easy: false end\n\n{FORMULA}",
        ["+ refused why3/clip.mlw:12: a scope: scope S axiom", "+ axiom clip.Clip.easy: false"]),
    "an axiom outside of all modules": (
        CLIP, "(** What needs no more", "axiom easy: false\n\n(** What needs no more",
        ["+ axiom clip.Clip.easy: false"]),
    "assumed axioms": (FLOAT, f"{MEANING}  clone export clip.Clip",
                       f"{MEANING}  clone ordered.Ordered with axiom .\n  clone export clip.Clip",
                       ["+ assumption float32.Meaning: clone ordered.Ordered with axiom ."]),
    "assumed axioms over two lines": (
        FLOAT, f"{MEANING}  clone export clip.Clip",
        f"{MEANING}  clone import ordered.Ordered with\n    type t = t,\n    axiom total\n  clone clip.Clip",
        ["+ assumption float32.Meaning: clone ordered.Ordered with type t = t, axiom total"]),
    "an assumption in a program": (
        "why3/tensor.mlw", "    | Scalar -> ()\n    | Dim _ rest -> match i with\n        | Origin -> ()",
        "    | Scalar -> ()\n    | Dim _ rest -> match i with\n        | Origin -> assume { false }",
        ["+ assumption tensor.ShapeTheorems: assume"]),
    "a comparison of the driver": (DRIVER, LE, LE.replace("32_le", "32_lt"),
                                   ["+ symbol elements.Float32.le: (float32_lt %1 %2)",
                                    f"- symbol elements.Float32.le: {LEQ}"]),
    "a driver's line more": (DRIVER, LE, f'{LE}  syntax function zero "#x00000000"\n',
                             ["+ symbol elements.Float32.zero: #x00000000"]),
    "a driver's line that is gone": (DRIVER, LE, "", [f"- symbol elements.Float32.le: {LEQ}"]),
    "a type of which something is assumed": (
        MEMORY, "readable: int }", "readable: int }\n\n    invariant { readable < from < readable }",
        [f"+ assumption memory.Buffers: {SOURCE} invariant {{ readable < from < readable }}"]),
    "a program that need not end": (
        "why3/kernel.mlw", "  = clip_elements y x min max n\n\n  (** Elsewhere",
        "  diverges\n  = clip_elements y x min max n\n\n  (** Elsewhere",
        ["+ assumption kernel.Kernel: diverges"]),
    "an end that Why3 is told not to ask for": (
        "why3/kernel.mlw", "let clip_elements ", "let clip_elements [@vc:divergent] ",
        ["+ assumption kernel.Kernel: [@vc:divergent]"]),
    "any result at all": (
        "why3/kernel.mlw", "max else x in\n", "max else any t in\n", ["+ assumption kernel.Kernel: any"]),
    "a definition in front of the C": (
        INT8_DRIVER, '  syntax type memory "void"',
        '  prelude "#define clip_element(x, min, max) (x)"\n  syntax type memory "void"',
        ['+ symbol c_*.Kernel.prelude: "#define clip_element(x, min, max) (x)" [int8]']),
    "a definition in front of all": (
        INT8_DRIVER, "module elements.Bits8\n", 'prelude "#define n 0"\nmodule elements.Bits8\n',
        ['+ symbol .prelude: "#define n 0" [int8]']),
    "a prelude": (DRIVER, "theory elements.Bits8\n", 'prelude "(assert false)"\n\ntheory elements.Bits8\n',
                  ["+ symbol elements.gen.prelude: (assert false)"]),
    "a prelude of one theory": (DRIVER, "theory elements.Bits8\n",
                                'theory elements.Bits8\n  prelude "(assert false)"\n',
                                ["+ symbol elements.gen.prelude: (assert false)"]),
}  # fmt: skip


def _news() -> list[str]:
    """Of the theories, the drivers and the tools; tests/meta/test_accounts.py is about the tasks."""
    return surprises(trusted(render_theories(load_spec()).obligations))


@pytest.mark.parametrize("name", PLANTED)
def test_each_surprise_is_reported(name: str, bench: Workbench) -> None:
    file, old, new, lines = PLANTED[name]
    bench.plant(file, old, new)
    news = _news()
    digests = [line for line in news if line[2:].startswith("symbol why3/drivers/")]
    assert [line for line in news if line not in digests] == lines
    assert len(digests) == (2 if file == DRIVER else 0)  # the file as it was, and as it is


def test_unreadable_declaration_cannot_be_allowed_by_the_golden_list(bench: Workbench) -> None:
    """A line in the golden list does not make it understood."""
    bench.plant(CLIP, FORMULA, f'  constant s: string = "(*"\n{FORMULA}')
    (line,) = _news()
    golden = bench.root / GOLDEN
    golden.write_text(f"{golden.read_text()}{line.removeprefix('+ ')}\n")
    assert _news() == [line]


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("z3.drv.j2", '/drivers/z3_471.drv"', '/drivers/z3_440.drv"', "symbol z3.drv: (** Z3"),
        ("cvc5.drv.j2", '(set-logic ALL)"', '(assert false)"', "symbol cvc5.drv: (** cvc5"),
        ("why3.conf.j2", "timelimit = 30", "timelimit = 31", "symbol why3.conf: [main]"),
        ("COMMANDS", "smt.random_seed=42", "smt.random_seed=43", "symbol Z3 command: z3"),
    ],
)
def test_a_rendered_driver_setting_or_command_is_listed(
    name: str, old: str, new: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "COMMANDS":
        changed = {
            k: tuple(new if word == old else word for word in words) for k, words in drivers.COMMANDS.items()
        }
        monkeypatch.setattr(drivers, name, changed)
        monkeypatch.setattr("sonnx_clip.prove.trusted.COMMANDS", changed)
    else:
        text = template_text(name)
        assert text.count(old) == 1
        planted = Template(text.replace(old, new), trim_blocks=True, keep_trailing_newline=True)
        right = drivers.template
        monkeypatch.setattr(drivers, "template", lambda asked: planted if asked == name else right(asked))
    news = _news()
    for sign, text in (("+", new), ("-", old)):
        assert any(line.startswith(f"{sign} {said}") and text in line for line in news), news


def test_a_driver_in_the_build_folder_is_written_anew(bench: Workbench) -> None:
    """What a script left there in place of the driver is not what Why3 reads."""
    configure(bench.build)
    file = bench.build / "why3" / "drivers" / "elements.gen"
    right = file.read_text()
    file.write_text(right.replace('"(float32_le %1 %2)"', '"(float32_lt %1 %2)"'))
    assert bench.prove("--only", "float32.clip_is_cases").status == 0
    assert file.read_text() == right == (bench.root / DRIVER).read_text()


def test_a_contract_that_asks_for_more_or_says_less_is_reported(bench: Workbench) -> None:
    """A contract of which nobody can keep the first part is proved of every kernel."""
    asked = "requires { same_or_apart x y n }"
    file = "generated/why3/c_int8.mlw"
    bench.plant(file, asked, f"{asked}\n    requires {{ n < 0 }}")
    gone, *news = sorted(_news(), key=len, reverse=True)
    assert gone.startswith("- symbol c_*.Kernel.sonnx_clip_*: (y: target)")
    assert any("requires { n < 0 }" in line and line.endswith("[int8]") for line in news)


def test_text_around_the_extracted_c_is_part_of_the_trusted_base(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A macro there changes what the C means, and no proof."""
    monkeypatch.setattr("sonnx_clip.prove.trusted.PRECISE", "#define min max\n\n")
    gone, new = sorted(_news(), key=len, reverse=True)
    assert new == "+ symbol c_*.before: #define min max"
    assert gone.startswith("- symbol c_*.before: #if defined(__clang__)")
    monkeypatch.undo()
    text = template_text("sonnx_clip.h.j2")
    monkeypatch.setattr("sonnx_clip.prove.trusted.template_text", lambda _: f"{text}#define min max\n")
    assert {line[:33] for line in _news()} == {f"{sign} symbol sonnx_clip.h.j2: sha256 " for sign in "+-"}


def test_a_program_that_may_not_end_is_not_proved(bench: Workbench) -> None:
    """Why3 only warns of it, each version in words of its own."""
    bench.plant("why3/kernel.mlw", "      variant   { n - i }\n", "")
    ended = bench.prove("--only", "kernel.clip_elements")
    assert ended.status == 1
    assert re.search("terminat|diverge", ended.out)
    assert "not proved kernel.clip_elements" in ended.out


def test_nothing_is_reported_of_the_project_itself(bench: Workbench) -> None:
    assert _news() == []


def test_a_golden_list_that_is_gone(bench: Workbench) -> None:
    (bench.root / GOLDEN).unlink()
    news = _news()
    assert len(news) > 40
    assert all(line.startswith("+ ") for line in news)


def test_a_line_too_many_in_the_golden_list(bench: Workbench) -> None:
    golden = bench.root / GOLDEN
    golden.write_text(golden.read_text() + "axiom clip.Clip.gone: true\n")
    assert _news() == ["- axiom clip.Clip.gone: true"]


def test_a_surprise_stops_the_proofs(bench: Workbench) -> None:
    golden = bench.root / GOLDEN
    golden.write_text(golden.read_text().replace("bvsle", "bvslt", 1))
    ended = bench.prove("--only", "int8.clip_is_cases")
    assert ended.status == 1
    assert "1 proved by two provers" in ended.out
    assert "the assumptions of the proofs have changed (compared with why3/trusted.txt):" in ended.out
    assert "\n  + symbol elements.Bits8.sle: (bvsle %1 %2)\n" in ended.out
    assert "\n  - symbol elements.Bits8.sle: (bvslt %1 %2)\n" in ended.out


def test_each_axiom_is_discharged_and_justified(bench: Workbench) -> None:
    found = trusted(render_theories(load_spec()).obligations)
    types = {e.id for e in load_spec().element_types}
    axioms = [t for t in found if t.kind == "axiom"]
    assert axioms
    assert [a.name for a in axioms if not a.name.startswith("ordered.")] == ["memory.Size.in_range"]
    for axiom in axioms:
        assert axiom.justification.endswith(".")
        if axiom.name == "memory.Size.in_range":
            assert "C99" in axiom.justification
            continue
        assert {id_.partition(".")[0] for id_ in axiom.discharged_by} == types
    floats = [t for t in found if "fp." in t.statement and t.name.startswith("elements.")]
    assert len(floats) == 16
    others = [t for t in found if t.name.startswith(("convert.", "scale_bias."))]
    assert len(others) == 61
    assert {t.justification for t in others} == {
        "conversion, rounding and comparison of IEEE 754 by the SMT-LIB theory FloatingPoint"
    }
    for symbol in floats:
        (shown,) = symbol.discharged_by
        assert ".encoding_" in shown
