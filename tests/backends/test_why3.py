"""The rendered theories: conditions as WhyML, literals, and files that Why3 accepts without a warning."""

import subprocess

import pytest

from sonnx_clip.backends.whyml_printer import WhymlPrinter
from sonnx_clip.language.tree import Compare, Connective, If, Kind, Name, Not, Number
from sonnx_clip.prove.snapshot import configure
from sonnx_clip.root.folders import repo_file, repo_root
from sonnx_clip.spec import load_spec

SPEC = load_spec()
THEORIES = sorted(repo_file("generated/why3").glob("*.mlw"))
HOW_TIGHT = {"and": "/\\", "or": "\\/", "implies": "->", "iff": "<->"}


def printer(etype):
    return WhymlPrinter(SPEC.element_type(etype), SPEC.signature)


@pytest.mark.parametrize(
    ("etype", "number", "text"),
    [
        ("float32", "-0", "(0x80000000: t (* -0 *))"),
        ("bfloat16", "0.1", "(0x3dcd: t (* 0.1 *))"),
        ("float16", "highest", "(0x7bff: t (* highest *))"),
        ("int8", "-1", "(0xff: t (* -1 *))"),
        ("uint64", "highest", "(0xffffffffffffffff: t (* highest *))"),
        ("real", "10", "10.0"),
        ("real", "-0.05", "(-0.05)"),
        ("real", "0x1p-10", "0.0009765625"),
    ],
)
def test_literals_are_bits_and_exact_reals(etype, number, text):
    assert printer(etype).show(Number(number)) == text


def _trees():
    """Each form with each other one in each of its places."""
    x, *others = (Name(name, Kind.ELEMENT) for name in "XLMY")
    a, b, c = (Compare("<", x, other, Kind.ELEMENT) for other in others)
    for inner in (Not(a), If(a, b, c, Kind.BOOL), *(Connective(word, a, b) for word in HOW_TIGHT)):
        yield Not(inner)
        yield from (
            If(*three, Kind.BOOL) for three in ((inner, b, c), (c, inner, b), (c, b, inner))
        )
        yield from (
            Connective(word, *two) for word in HOW_TIGHT for two in ((inner, c), (c, inner))
        )


def _in_parentheses(expr):
    match expr:
        case Not(operand=operand):
            return f"(not {_in_parentheses(operand)})"
        case If(condition=condition, then=then, otherwise=otherwise):
            return "(if {} then {} else {})".format(
                *map(_in_parentheses, (condition, then, otherwise))
            )
        case Connective(operator=operator, left=left, right=right):
            return f"({_in_parentheses(left)} {HOW_TIGHT[operator]} {_in_parentheses(right)})"
        case _:
            return f"({printer('int8').show(expr)})"


@pytest.mark.nightly
def test_why3_reads_what_the_tree_means(tmp_path):
    """Trees, printed with as few parentheses as the printer thinks right, and with all of them."""
    pairs = [(printer("int8").show(tree), _in_parentheses(tree)) for tree in _trees()]
    goals = [
        f"  goal g{i}: forall x l m y: t. ({few}) <-> {many}\n"
        for i, (few, many) in enumerate(pairs)
    ]
    head = "module Trees\n  type t\n  predicate lt t t\n  predicate le t t\n  predicate eq t t\n"
    file = tmp_path / "trees.mlw"
    file.write_text(head + "".join(goals) + "end\n")
    config = configure(tmp_path).config
    asked = ["why3", "prove", "-C", config, "-L", repo_file("why3"), "-P", "cvc5", "-t", "10", file]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.stdout.count("Prover result is: Valid") == len(pairs), done.stdout + done.stderr


def test_why3_reads_every_theory_without_a_warning():
    paths = [*THEORIES, *sorted(repo_file("why3").glob("*.mlw"))]
    asked = ["why3", "prove", "--type-only", "-L", "why3", *map(str, paths)]
    done = subprocess.run(asked, cwd=repo_root(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
