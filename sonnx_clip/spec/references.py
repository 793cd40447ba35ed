"""Checks on ids and on what refers to them: an id is unique, and every reference finds its entry."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from sonnx_clip.language.parse import THEORY_NAMES, VARIABLES
from sonnx_clip.spec.document import Diagnostic, Way, unknown
from sonnx_clip.spec.model import SECTIONS, Spec, entries_with, unknown_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sonnx_clip.spec.entries import Example


NAMES_IN_REPRODUCERS = frozenset({"b", "d", "o", "p", "s", "v", "z", "np"})

REFERENCES: Final = (
    ("families", "families"),
    ("holds_for", "families"),
    ("family", "families"),
    ("case", "cases"),
    ("shows", "constraints"),
    ("given_by", "readings"),
    ("false_for", "wrong_operators"),
    ("dialect", "dialects"),
    ("type", "element_types"),
    ("element_types", "element_types"),
    ("reading", "readings"),
    ("answers", "readings"),
    ("page", "sources"),
    ("node_of", "dialects"),
)
"""The keys of entries that hold ids, one or a list, with the section to which these belong."""


def check_references(spec: Spec) -> Iterator[Diagnostic]:
    """Ids that are there twice, and references to missing entries."""
    yield from _check_head(spec)
    # Ids of most sections are one name space: obligations, evidence and answers of texts name entries
    # by their ids alone.
    shared_ids: dict[str, str] = {}  # the entry of each id
    for section in SECTIONS:
        ids: dict[str, str] = {} if section.own_ids else shared_ids
        for index, entry in enumerate(getattr(spec, section.name)):
            if entry.id in ids:
                message = f"the id `{entry.id}` is taken by {ids[entry.id]}"
                todo = "an id is permanent and belongs to one entry"
                yield Diagnostic((section.name, index, "id"), message, todo)
            ids.setdefault(entry.id, f"{section.name}[{index}]")
    for key, target in REFERENCES:
        yield from _check_ids(spec, key, target)
    # What the table cannot say: keys of mappings, and relations between several keys.
    yield from _check_declared(spec)
    yield from _check_families(spec)
    yield from _check_refutations(spec)
    yield from _check_examples(spec)
    yield from _check_wrong_operators(spec)
    yield from _check_theorems(spec)


def _check_ids(spec: Spec, key: str, target: str) -> Iterator[Diagnostic]:
    """References by a key to missing entries of a section."""
    for name, index, entry in entries_with(spec, key):
        ids = getattr(entry, key)
        way = (name, index, key)
        if isinstance(ids, tuple):
            for position, id_ in enumerate(ids):
                yield from unknown_in(spec, target, (*way, position), id_)
        elif ids:  # one id; some entries may leave it out
            yield from unknown_in(spec, target, way, ids)


def _check_head(spec: Spec) -> Iterator[Diagnostic]:
    """Names of operands and result that mean something else, and operands in a wrong order."""
    operands = spec.signature.ids
    result = spec.result.id
    way: Way = ("result", "id")
    if result in operands:
        yield Diagnostic(way, f"`{result}` is an operand", "the result has a name of its own")
    elif result != "Y":
        yield Diagnostic(way, f"the result is called `{result}`", "conditions know it as Y")
    meanings = {
        "variable of the language": VARIABLES - {result},
        "name of the rendered theories": THEORY_NAMES | {spec.signature.second},
        "name of reproducing lines": NAMES_IN_REPRODUCERS,
    }
    for index, name in enumerate(operands):
        for meaning, names in meanings.items():
            # Theories write operands in small letters.
            if name in names or name.lower() in names:
                message = f"`{name}` is a {meaning}"
                yield Diagnostic(("operands", index, "id"), message, "choose another name")
    ids_of_readings = [reading.id for reading in spec.readings]
    if spec.readings and "cases" not in ids_of_readings:
        message = "there is no reading `cases`"
        yield Diagnostic(("readings",), message, "all others are compared with it")
    way = ("operands",)
    roles = [operand.role for operand in spec.operands]
    if roles[0] == "scalar":
        todo = "the result has the entries of a tensor"
        yield Diagnostic(way, "no operand is a tensor", todo)
    elif roles != sorted(roles, reverse=True):  # `tensor` comes after `scalar` in the alphabet
        yield Diagnostic(way, "a tensor follows a scalar", "name the tensors first")


def _check_declared(spec: Spec) -> Iterator[Diagnostic]:
    """A declared example names every tensor, and a change of it one of them; their types are there."""
    example = spec.declared_example
    known = spec.signature.all_ids
    for way, declared in _declarations(spec):
        name = way[-1]
        if name not in known:
            message = f"there is no tensor `{name}`"
            yield Diagnostic(way, message, f"there are {', '.join(known)}", of_key=True)
        # A tensor may be absent, and a change may leave the type as it is.
        type_ = getattr(declared, "type", None)
        if type_:
            yield from unknown_in(spec, "element_types", (*way, "type"), type_)
    if example is not None:
        missing = [name for name in known if name not in example]
        for name in missing[:1]:  # all of them have one place
            message = f"the tensor `{name}` is not declared"
            yield Diagnostic(("declared_example",), message, f"add `{name}: …`")
    elif spec.restrictions:
        message = "there is no `declared_example`, which restrictions change"
        yield Diagnostic((), message, "give a node that meets every restriction")


def _declarations(spec: Spec) -> Iterator[tuple[Way, Any]]:
    """The tensors of the declared example and the changes of it, with their places."""
    for name, tensor in (spec.declared_example or {}).items():
        yield ("declared_example", name), tensor
    for key in ("broken_alone_by", "aliases"):
        for section, index, entry in entries_with(spec, key):
            for name, change in getattr(entry, key).items():
                yield (section, index, key, name), change


def _check_families(spec: Spec) -> Iterator[Diagnostic]:
    """A family has element types; a statement covers every family, or gives a reason."""
    known = [family.id for family in spec.families]
    for index, id_ in enumerate(known):
        if not spec.types_of(id_):
            message = f"no element type belongs to the family `{id_}`"
            yield Diagnostic(("families", index, "id"), message)
    for index, case in enumerate(spec.cases):
        for family in case.not_for:
            way: Way = ("cases", index, "not_for", family)
            yield from unknown(way, family, known, "family")
    for section, index, entry in entries_with(spec, "not_for"):
        if section == "cases":
            continue  # a case is about every family
        way = (section, index, "id")
        # Every family is answered for, so that none is left out by mistake.
        for family in known:
            is_stated = family in entry.families
            is_excused = family in entry.not_for
            if is_stated and is_excused:
                message = f"`{entry.id}` is stated for {family} and excused from it"
                yield Diagnostic(way, message, "remove one of the two")
            elif not is_stated and not is_excused:
                message = f"`{entry.id}` leaves out {family}"
                todo = f"name it, or write not_for: {{{family}: why}}"
                yield Diagnostic(way, message, todo)


def _check_refutations(spec: Spec) -> Iterator[Diagnostic]:
    """A claim holds or is refuted in a family, never both; where refuted, it is repaired."""
    for section, index, entry in entries_with(spec, "refuted_for"):
        # Of both, each once: a repair without a refutation is a mistake as well.
        for family in dict.fromkeys((*entry.refuted_for, *entry.repaired)):
            way: Way = (section, index, "refuted_for", family)
            if family not in entry.refuted_for:
                way_to_repair = (section, index, "repaired", family)
                message = f"it is not refuted for `{family}`, so there is nothing to repair"
                yield Diagnostic(way_to_repair, message, of_key=True)
            elif family in entry.holds_for:
                message = f"`{family}` is under `holds_for` and under `refuted_for`"
                yield Diagnostic(way, message, "it is one or the other", of_key=True)
            elif family not in entry.families:
                message = f"the constraint is not stated for the family `{family}`"
                yield Diagnostic(way, message, "add it to `families`, or drop it here", of_key=True)
            elif family not in entry.repaired:
                message = (
                    f"it is refuted for `{family}`, and no condition is given under which it holds"
                )
                todo = f"add to `repaired`: {{{family}: …}}"
                yield Diagnostic(way, message, todo, of_key=True)


def _check_examples(spec: Spec) -> Iterator[Diagnostic]:
    """Tensors and the result have entries, as many as the first tensor; scalars have a number."""
    for index, example in enumerate(spec.examples):
        types = [etype.id for etype in spec.types_of(example.family)]
        noun = f"element type of {example.family}"
        for position, type_ in enumerate(example.not_representable_in):
            way = ("examples", index, "not_representable_in", position)
            yield from unknown(way, type_, types, noun)
        yield from _check_entries(spec, index, example)


def _check_entries(spec: Spec, index: int, example: Example) -> Iterator[Diagnostic]:
    """Operands of an example with another number of entries than they have to have."""
    first = spec.operands[0].id  # a tensor, by `_check_head`
    length = len(example.values[first])
    for name, value in example.values.items():
        way = ("examples", index, name)
        is_scalar = name in spec.signature.scalars
        if isinstance(value, str):
            if not is_scalar:
                yield Diagnostic(way, f"{name} is a tensor", "list its entries: [a, b]")
        elif is_scalar:
            yield Diagnostic(way, f"{name} is a scalar", "give one number")
        elif len(value) != length:
            message = f"{first} has {length} entries, {name} has {len(value)}"
            yield Diagnostic(way, message, f"the result has the shape of {first}")


def _check_wrong_operators(spec: Spec) -> Iterator[Diagnostic]:
    """Each wrong operator is used, and replaces an existing definition."""
    # A wrong operator has canaries by the properties that are false for it, and by nothing else.
    excluded = {entry.false_for for entry in spec.properties}
    # In the place of one with parameters an operator on the operands would mean nothing.
    definitions = [definition.id for definition in spec.definitions if not definition.parameters]
    for index, wrong in enumerate(spec.wrong_operators):
        way = ("wrong_operators", index)
        if wrong.id not in excluded:
            message = f"nothing is false of `{wrong.id}`"
            yield Diagnostic((*way, "id"), message, "remove it")
        if wrong.of is not None:
            noun = "definition without parameters"
            yield from unknown((*way, "of"), wrong.of, definitions, noun)


def _check_theorems(spec: Spec) -> Iterator[Diagnostic]:
    """Theorems of one finding have different names and existing element types."""
    for index, finding in enumerate(spec.findings):
        way_to_claim = ("findings", index, "claim")
        for position, part in enumerate(finding.claim):
            types = getattr(part, "types", None) or ()  # a claim on the texts has none
            for place, id_ in enumerate(types):
                way: Way = (*way_to_claim, position, "types", place)
                yield from unknown_in(spec, "element_types", way, id_)
        # Of one finding: the id of the finding tells those of different findings apart.
        counts = Counter(finding.goal(part) for part in finding.theorems)
        for name, count in counts.items():
            if count > 1:
                message = f"two theorems are called {name}"
                yield Diagnostic(way_to_claim, message, "give them different ids")
