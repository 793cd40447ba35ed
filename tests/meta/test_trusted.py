"""No assumption enters the proofs unseen: each way to plant one is reported against why3/trusted.txt.

tests/prove/hidden_axioms.py writes assumptions in every lexical form; here each kind has one plain form.
"""

import re
import shutil

import pytest
from jinja2 import Template

from sonnx_clip.backends import drivers
from sonnx_clip.backends.generate import render_theories
from sonnx_clip.backends.templating import template_text
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.prove.trusted import GOLDEN, surprises, trusted
from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_root
from sonnx_clip.spec import load_spec
from sonnx_clip.whyml.hand_written import theory_texts
from tests.other_root import use_root

ORDERED, CLIP, TENSOR = "why3/ordered.mlw", "why3/clip.mlw", "why3/tensor.mlw"
KERNEL, MEMORY = "why3/kernel.mlw", "why3/memory.mlw"
SOURCE = "type source = abstract { from: int; readable: int }"
INT8_DRIVER = "generated/c/drivers/int8.drv"
DRIVER = "why3/drivers/elements.gen"
FLOAT16 = "generated/why3/c_float16.mlw"
OPERATOR = "(a b: t) : unit ensures { a = b /\\ a <> b }"
FLOAT = "generated/why3/float32.mlw"
TOTAL = "ordered.Ordered.total: forall a b: t. not nan a -> not nan b ->"
FORMULA = "  function clip (x l m: t) : t ="
SMOKE = "  goal smoke_clip [@shows:smoke] : false\n"
LEQ = "(float32_le %1 %2)"
LE = f'  syntax predicate le   "{LEQ}"\n'
MEANING = "module Meaning\n\n  use elements.Float32\n"
CASES = "  goal cases_complete [@kind:theorem]"
ABSTRACT = "symbol abstract clip.Clip: no definition of predicate le t t, predicate lt t t"

# What is replaced in a file, and the lines that must be reported.
PLANTED = {
    "an axiom": (CLIP, FORMULA, f"  axiom easy: forall x: t. le x x\n\n{FORMULA}",
                 ["+ axiom clip.Clip.easy: forall x: t. le x x"]),
    "an axiom in a generated file": (FLOAT, CASES, f"  axiom easy : false\n\n{CASES}",
                                     ["+ axiom float32.Meaning.easy: false"]),
    "an axiom made stronger": (ORDERED, "le a b \\/ le b a", "le a b",
                               [f"+ axiom {TOTAL} le a b", f"- axiom {TOTAL} le a b \\/ le b a"]),
    "assumed axioms": (FLOAT, f"{MEANING}  clone export clip.Clip",
                       f"{MEANING}  clone ordered.Ordered with axiom .\n  clone export clip.Clip",
                       ["+ assumption float32.Meaning: clone ordered.Ordered with axiom ."]),
    "a val": (CLIP, FORMULA, f"  val oracle (x: t) : t ensures {{ false }}\n\n{FORMULA}",
              ["+ symbol clip.Clip.oracle: val (x: t) : t ensures { false }"]),
    "a contradictory operator in a kernel": (
        FLOAT16, "  let less_equal [", f"  val ghost (++) {OPERATOR}\n\n  let less_equal [",
        [f"+ symbol c_float16.Kernel.(++): val {OPERATOR}",
         f"+ refused {FLOAT16}:45: an operator as a name: (++)"]),
    "a symbol without a definition": (
        CLIP, FORMULA, f"  function other (x: t) : t\n\n{FORMULA}",
        [f"+ {ABSTRACT}, function other (x: t) : t", f"- {ABSTRACT}"]),
    "a meta": (CLIP, FORMULA, f"  meta rewrite_def predicate le\n\n{FORMULA}",
               ["+ refused why3/clip.mlw:12: a meta: meta rewrite_def predicate le"]),
    "a theory of the library more": (
        CLIP, FORMULA, f"  use int.ComputerDivision\n\n{FORMULA}",
        ["+ symbol library int.ComputerDivision: a theory of Why3's own library"]),
    "an assumption in a program": (
        TENSOR, "    | Scalar -> ()\n    | Dim _ rest -> match i with\n        | Origin -> ()",
        "    | Scalar -> ()\n    | Dim _ rest -> match i with\n        | Origin -> assume { false }",
        ["+ assumption tensor.ShapeTheorems: assume"]),
    "any result at all": (
        KERNEL, "max else x in\n", "max else any t in\n", ["+ assumption kernel.Kernel: any"]),
    "a type of which something is assumed": (
        MEMORY, "readable: int }", "readable: int }\n\n    invariant { readable < from < readable }",
        [f"+ assumption memory.Buffers: {SOURCE} invariant {{ readable < from < readable }}"]),
    "a program that need not end": (
        KERNEL, "  = clip_elements y x min max n\n\n  (** Elsewhere",
        "  diverges\n  = clip_elements y x min max n\n\n  (** Elsewhere",
        ["+ assumption kernel.Kernel: diverges"]),
    "a comparison of the driver": (DRIVER, LE, LE.replace("32_le", "32_lt"),
                                   ["+ symbol elements.Float32.le: (float32_lt %1 %2)",
                                    f"- symbol elements.Float32.le: {LEQ}"]),
    "a prelude": (DRIVER, "theory elements.Bits8\n", 'prelude "(assert false)"\n\ntheory elements.Bits8\n',
                  ["+ symbol elements.gen.prelude: (assert false)"]),
    "a definition in front of the C": (
        INT8_DRIVER, '  syntax type memory "void"',
        '  prelude "#define clip_element(x, min, max) (x)"\n  syntax type memory "void"',
        ['+ symbol c_*.Kernel.prelude: "#define clip_element(x, min, max) (x)" [int8]']),
}  # fmt: skip


@pytest.fixture(scope="module")
def obligations():
    return render_theories(load_spec()).obligations


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A repository with theories, drivers and the list of its own."""
    found = tmp_path / "repository"
    for folder in ("why3", "generated/c/drivers"):
        shutil.copytree(repo_root() / folder, found / folder)
    (found / "generated/why3").symlink_to(repo_root() / "generated/why3")
    use_root(found, monkeypatch)
    return found


def news(obligations, file="", old="", new=""):
    """What differs from the list where a text is planted in a theory, or in another file of the root."""
    texts = dict(theory_texts())
    path = repo_root() / (file or CLIP)
    text = path.read_text(encoding="utf-8")
    assert not file or text.count(old) == 1, f"the text to replace must stand once in {file}"
    changed = text.replace(old, new) if file else text
    if file in texts:
        texts[file] = changed
    else:
        path.write_text(changed, encoding="utf-8")
    return surprises(trusted(obligations, texts))


@pytest.mark.parametrize("name", PLANTED)
def test_planted_assumption_is_reported(name, root, obligations):
    del root
    file, old, new, lines = PLANTED[name]
    found = news(obligations, file, old, new)
    digests = [line for line in found if line[2:].startswith("symbol why3/drivers/")]
    assert [line for line in found if line not in digests] == lines
    assert len(digests) == (2 if file == DRIVER else 0)  # the file as it was, and as it is


def test_unreadable_declaration_cannot_be_allowed_by_the_golden_list(root, obligations):
    planted = CLIP, FORMULA, f'  constant s: string = "(*"\n{FORMULA}'
    (line,) = news(obligations, *planted)
    golden = root / GOLDEN
    golden.write_text(f"{golden.read_text()}{line.removeprefix('+ ')}\n")
    assert news(obligations, *planted) == [line]


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("z3.drv.j2", '/drivers/z3_471.drv"', '/drivers/z3_440.drv"', "symbol z3.drv: (** Z3"),
        ("cvc5.drv.j2", '(set-logic ALL)"', '(assert false)"', "symbol cvc5.drv: (** cvc5"),
        ("why3.conf.j2", "timelimit = 30", "timelimit = 31", "symbol why3.conf: [main]"),
    ],
)
def test_changed_driver_or_setting_is_reported(name, old, new, said, monkeypatch, obligations):
    text, right = template_text(name), drivers.template
    assert text.count(old) == 1
    planted = Template(text.replace(old, new), trim_blocks=True, keep_trailing_newline=True)
    monkeypatch.setattr(
        drivers, "template", lambda asked: planted if asked == name else right(asked)
    )
    found = news(obligations)
    for sign, text in (("+", new), ("-", old)):
        assert any(line.startswith(f"{sign} {said}") and text in line for line in found), found


def test_changed_command_is_reported(monkeypatch, obligations):
    changed = {name: (*words, "--planted") for name, words in drivers.COMMANDS.items()}
    monkeypatch.setattr("sonnx_clip.prove.trusted.COMMANDS", changed)
    found = [line for line in news(obligations) if line.startswith("+ symbol Z3 command: z3")]
    assert len(found) == 1
    assert "--planted" in found[0]


def test_changed_text_around_the_extracted_c_is_reported(monkeypatch, obligations):
    """A macro there changes what the C means, and no proof."""
    monkeypatch.setattr("sonnx_clip.prove.trusted.PRECISE", "#define min max\n\n")
    gone, new = sorted(news(obligations), key=len, reverse=True)
    assert new == "+ symbol c_*.before: #define min max"
    assert gone.startswith("- symbol c_*.before: #if defined(__clang__)")
    monkeypatch.undo()
    text = template_text("sonnx_clip.h.j2")
    monkeypatch.setattr(
        "sonnx_clip.prove.trusted.template_text", lambda _: f"{text}#define min max\n"
    )
    assert {line[:33] for line in news(obligations)} == {
        f"{sign} symbol sonnx_clip.h.j2: sha256 " for sign in "+-"
    }


def test_golden_list_with_a_line_more_or_no_line_is_reported(root, obligations):
    assert news(obligations) == []
    golden = root / GOLDEN
    golden.write_text(golden.read_text() + "axiom clip.Clip.gone: true\n")
    assert news(obligations) == ["- axiom clip.Clip.gone: true"]
    golden.unlink()
    found = news(obligations)
    assert len(found) > 40
    assert all(line.startswith("+ ") for line in found)


def test_each_axiom_is_discharged_and_justified(obligations):
    found = trusted(obligations)
    types = {e.id for e in load_spec().element_types}
    axioms = [t for t in found if t.kind == "axiom"]
    families = {e.id: e.family for e in load_spec().element_types}
    of_kind = {
        "ordered.Ordered": types,
        "rewrites.Floats": {id_ for id_ in types if families[id_] == "float"},
        "rewrites.Integers": {id_ for id_ in types if families[id_] == "int"},
        "memory.Size": set(),
    }
    for axiom in axioms:
        assert axiom.justification.endswith(".")
        shown_for = {id_.partition(".")[0] for id_ in axiom.discharged_by}
        assert shown_for >= of_kind[axiom.name.rpartition(".")[0]], axiom.name
    floats = [t for t in found if "fp." in t.statement and t.name.startswith("elements.")]
    assert floats
    assert all(".encoding_" in shown for symbol in floats for shown in symbol.discharged_by)
    assert all(len(symbol.discharged_by) == 1 for symbol in floats)


# --- Through the commands -----------------------------------------------------------------------------------


def test_contract_of_a_kernel_is_part_of_the_list(bench):
    """A contract of which nobody can keep the first part is proved of every kernel."""
    asked = "requires { same_or_apart x y n }"
    bench.plant("generated/why3/c_int8.mlw", asked, f"{asked}\n    requires {{ n < 0 }}")
    gone, *new = sorted(news(render_theories(load_spec()).obligations), key=len, reverse=True)
    assert gone.startswith("- symbol c_*.Kernel.sonnx_clip_*: (y: target)")
    assert any("requires { n < 0 }" in line and line.endswith("[int8]") for line in new)


def test_lemma_is_an_obligation(bench):
    """It is used as a hypothesis elsewhere: it must say what it shows, and be proved."""
    extra = bench.root / "why3" / "extra.mlw"
    theory = "module Extra type t predicate nan t (** None. *) lemma no_nan: forall a: t. not nan a end\n"
    extra.write_text(theory)
    with pytest.raises(UserError, match=r"no_nan.* does not say"):
        render_theories(load_spec())
    extra.write_text(theory.replace("no_nan:", "no_nan [@shows:nan_out] :"))
    assert "extra.no_nan" in {o.id for o in render_theories(load_spec()).obligations}


def test_driver_in_the_build_folder_is_written_anew(bench):
    """What a script left there in place of the driver is not what Why3 reads."""
    configure(bench.build)
    file = bench.build / "why3" / "drivers" / "elements.gen"
    right = file.read_text()
    file.write_text(right.replace('"(float32_le %1 %2)"', '"(float32_lt %1 %2)"'))
    configure(bench.build)
    assert file.read_text() == right == (bench.root / DRIVER).read_text()


def test_changed_assumption_and_endless_program_stop_the_proofs(bench):
    """Why3 only warns of a program that may not end, each version in words of its own."""
    golden = bench.root / GOLDEN
    golden.write_text(golden.read_text().replace("bvsle", "bvslt", 1))
    bench.plant(KERNEL, "      variant   { n - i }\n", "")
    ended = bench.prove("--only", "int8.clip_is_cases", "--only", "kernel.clip_elements")
    assert ended.status == 1
    assert "1 proved by two provers" in ended.out
    assert "not proved kernel.clip_elements" in ended.out
    assert re.search("terminat|diverge", ended.out)
    assert (
        "the assumptions of the proofs have changed (compared with why3/trusted.txt):" in ended.out
    )
    assert "\n  + symbol elements.Bits8.sle: (bvsle %1 %2)\n" in ended.out
    assert "\n  - symbol elements.Bits8.sle: (bvslt %1 %2)\n" in ended.out
