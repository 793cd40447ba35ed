"""Each mistake planted in the specification, a theory or a kernel makes a named obligation fail."""

import re

import pytest

from sonnx_clip.backends import generate, whyml_printer
from sonnx_clip.backends.c_reference import kernel_theories
from sonnx_clip.backends.theory import Generated
from sonnx_clip.root.folders import repo_file
from sonnx_clip.spec import load_spec
from tests.meta.judged import nightly_but
from tests.meta.spec_bugs import ALL, FLOAT16, TOGETHER

C_FLOAT32 = repo_file("generated/c/sonnx_clip_float32.c")
# More than what holds takes, as the test of the same obligations without a bug shows; then for `TOGETHER`.
STEPS = {"Z3": 40_000_000, "cvc5": 250_000}
FEW_STEPS = {"Z3": 4_000_000, "cvc5": 50_000}


def _only(ids):
    return [part for id_ in ids for part in ("--only", id_)]


def _not_proved(ended):
    return set(re.findall(r"^not proved (\S+):", ended.out, re.MULTILINE))


def plant(bugs, bench):
    """Plant mistakes in the files; those in the kernel of float16 in what is rendered for it."""
    theories = kernel_theories(load_spec())
    text = theories.files[FLOAT16]
    for bug in bugs:
        if bug.file == FLOAT16:
            assert text.count(bug.old) == 1
            text = text.replace(bug.old, bug.new)
        else:
            bench.plant(bug.file, bug.old, bug.new)
    planted = Generated({**theories.files, FLOAT16: text}, theories.obligations)
    targets = [
        (
            every,
            (lambda _: planted)
            if render is kernel_theories and text != theories.files[FLOAT16]
            else render,
        )
        for every, render in generate.THEORIES
    ]
    bench.monkeypatch.setattr(generate, "THEORIES", targets)


def test_each_bug_can_be_planted():
    counts = {
        bug.name: repo_file(bug.file).read_text(encoding="utf-8").count(bug.old) for bug in ALL
    }
    assert {name: count for name, count in counts.items() if count != 1} == {}
    assert len(counts) == len(ALL)


@pytest.mark.parametrize("group", nightly_but({"the YAML"}, TOGETHER))
def test_bugs_that_only_provers_find(group, bench):
    """All bugs of a group are planted at once; each is caught by an obligation of its own."""
    bench.limit_steps(FEW_STEPS)
    plant(TOGETHER[group], bench)
    bench.generate()
    caught_by = {bug.caught_by[0] for bug in TOGETHER[group]}
    ended = bench.prove(*_only(caught_by))
    assert ended.status == 1
    assert _not_proved(ended) == caught_by


@pytest.mark.nightly
@pytest.mark.parametrize("bug", ALL, ids=lambda bug: bug.name)
def test_bug_is_caught_by_each_of_its_obligations(bug, bench):
    bench.limit_steps(STEPS)
    plant([bug], bench)
    bench.believe_the_yaml()
    bench.generate()
    ended = bench.prove(*_only(bug.caught_by))
    assert ended.status == 1
    assert _not_proved(ended) == set(bug.caught_by)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("constant", "pattern", "caught_by"),
    [
        (
            "highest",
            0x7F7FFFFE,
            ("float32.extremes", "float32.widest_bounds_are_no_bound_repaired"),
        ),
        ("inf", 0x7F7FFFFF, ("float32.extremes", "float32.nan_max_is_no_bound")),
        ("-0", 0x00000000, ("float32.idempotent_bitwise_refuted", "float32.zero_sign_inhabited")),
    ],
)
def test_wrong_constant_is_caught(constant, pattern, caught_by, bench):
    right = whyml_printer.encode
    bench.render_anew()
    bench.monkeypatch.setattr(
        whyml_printer,
        "encode",
        lambda text, etype: (
            pattern if text == constant and etype.family != "real" else right(text, etype)
        ),
    )
    bench.limit_steps(STEPS)
    bench.generate()
    ended = bench.prove(*_only(caught_by))
    assert ended.status == 1
    assert _not_proved(ended) == set(caught_by)


@pytest.mark.nightly
@pytest.mark.parametrize("together", [True, False])
def test_same_obligations_hold_without_a_bug(together, bench):
    """The obligations fail because of the bugs, and not for want of steps."""
    few = {bug.caught_by[0] for bugs in TOGETHER.values() for bug in bugs}
    catchers = {id_ for bug in ALL for id_ in bug.caught_by if not id_.endswith(".bad")}
    bench.limit_steps(FEW_STEPS if together else STEPS)
    expected = few if together else catchers
    ended = bench.prove("--json", *_only(expected))
    assert ended.status == 0
    assert {id_: outcome["status"] for id_, outcome in ended.outcomes.items()} == dict.fromkeys(
        expected, "proved"
    )


def test_c_that_was_edited_by_hand_is_not_called_proved(bench):
    """It would be compiled and embedded; the proofs are of what Why3 extracts."""
    path = "generated/c/sonnx_clip_float32.c"
    text = C_FLOAT32.read_text(encoding="utf-8")
    wrong = text.replace("    if (x <= min) {", "    if (x <= min || x == 1.5625f) {")
    assert wrong != text
    (bench.root / path).write_text(wrong, encoding="utf-8")
    ended = bench.prove()
    assert ended.status == 2
    assert f"generated/ is stale: {path} differs" in ended.err
    assert not (bench.build / "proofs.json").exists()
