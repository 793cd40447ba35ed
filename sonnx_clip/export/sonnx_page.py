"""The page of an operator in the structure that the SONNX group requires: `ops/clip.md`.

Formulas, tables and examples come from the YAML; sentences, permanent tags and further examples from the page
file beside it, such as spec/clip.page.yaml; sentences that hold for every operator from page_texts.yaml.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sonnx_clip.backends.templating import templates
from sonnx_clip.export.folded_conditions import folded
from sonnx_clip.export.latex import LatexPrinter, without, written_out
from sonnx_clip.export.page_file import (
    SHOWN_IN,
    common_texts,
    families_of,
    read_page_file,
    start_of_tags,
)
from sonnx_clip.language.show import show
from sonnx_clip.language.tree import Number as Constant
from sonnx_clip.language.tree import conjuncts
from sonnx_clip.language.values import encode
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import evaluator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sonnx_clip.export.page_file import PageFile
    from sonnx_clip.language.types import ElementType, FamilyId
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Case, Entries, Latitude

_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}


@dataclass(frozen=True)
class WorkedExample:
    """The operands of an example by their names, and the result, as numbers or in LaTeX."""

    operands: Mapping[str, Entries]
    result: Any


def page_text(spec: Spec) -> str:
    """The page, with the line ends of the group's documents (CRLF)."""
    file = read_page_file(spec)
    template = templates("sonnx_clip.export").get_template("sonnx_page.md.j2")
    families = [_Family(spec, file, family) for family in families_of(spec)]
    text = template.render(spec=spec, file=file, families=families)
    return text.replace("\n", "\r\n")


def in_formulas(names: Sequence[str], last: str) -> str:
    """Names as formulas with commas, and a word before the last one."""
    *others, final = [f"${name}$" for name in names]
    return f"{', '.join(others)} {last} {final}" if others else final


class _Family:
    """The section of a family, as the template reads it."""

    def __init__(self, spec: Spec, file: PageFile, id_: FamilyId) -> None:
        self.spec = spec
        self.file = file
        self.id = id_
        self.text = file.of_family(id_)
        self.common = common_texts().families[id_]
        self.tags = file.tags_of(id_)
        self.start = start_of_tags(spec, id_)
        self.tensors = spec.signature.tensors
        self.scalars = spec.signature.scalars
        # A is the other answer that a latitude accepts: an entry, as that of the result.
        entries = frozenset({*self.tensors, spec.signature.result.id, "A"})
        self.show = LatexPrinter(spec, id_, entries).show
        # ONNX's names in small letters, such as `double`.
        self.types = []
        for etype in spec.types_of(id_):
            name = etype.onnx or etype.id
            self.types.append(name.lower())
        self.is_signed_alone = not any(name.startswith("uint") for name in self.types)
        # The group writes the type of each operand behind the name: `Clip (float, float, float)`.
        self.heading = ", ".join([id_] * len(spec.signature.operands))
        self.restrictions = []
        for restriction in spec.restrictions:
            if restriction.id in file.restrictions and id_ in restriction.families:
                self.restrictions.append(restriction)
        self.latitude = spec.latitude if id_ == "float" else ()

    @property
    def one_semantics(self) -> str:
        """Why the types share one semantics; empty for the family of one type."""
        text = self.text.one_semantics or self.common.one_semantics
        count = len(self.types)
        return text.replace("{count}", _COUNTS.get(count, str(count)))

    @property
    def errors(self) -> dict[str, str]:
        """Each error condition and its disposition, without links."""
        return (self.text.errors or self.common.errors) | self.file.errors

    @property
    def links(self) -> dict[str, str]:
        """The tags that dispositions of errors name in braces."""
        links = {"{function}": self.tag("function")}
        if self.latitude:
            links["{latitude}"] = self.tag("latitude")
        # A constraint of several tensors is stated at the first, to which the link goes.
        for tags_of_tensor in self.constraint_tags.values():
            for entry, tag in tags_of_tensor.items():
                links.setdefault(f"{{{entry}}}", tag)
        return links

    @property
    def constraint_tags(self) -> dict[str, dict[str, str]]:
        """The tags of constraints by tensor and entry, in the order of the page."""
        tags = {}
        for tensor in self.file.operands:
            numbers = self.file.constraints_of(self.id, tensor)
            tags_of_tensor = {}
            for entry, tag_number in numbers.items():
                tags_of_tensor[entry] = f"{self.start}_CONSTR_{tensor}_{tag_number}"
            tags[tensor] = tags_of_tensor
        return tags

    def tag(self, zone: str) -> str:
        """The tag of the function or of the latitude."""
        return f"{self.start}_FUNC_{getattr(self.tags, zone)}"

    def accepts(self, latitude: Latitude) -> str:
        """Which other results a latitude accepts, less what holds wherever it applies."""
        holds = conjuncts(written_out(self.spec, latitude.when))
        accepted = written_out(self.spec, latitude.accepts)
        return self.show(without(accepted, holds))

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The cases: result and condition, which is empty if it always holds."""
        rows = []
        for case in self.spec.cases:
            when = folded(written_out(self.spec, case.when), self.id)
            # A case that no operands of the family meet, such as one about NaN, has no row.
            if when is False or self.id in case.not_for:
                continue
            condition = "" if when is True else self.show(when)
            rows.append((self._result(case), condition))
        return rows

    def _result(self, case: Case) -> str:
        # The printer of conditions knows no sign of a zero, which a result has.
        if isinstance(case.result, Constant):
            return number(case.result_text, self.id)
        return self.show(case.result)

    @property
    def has_opposites(self) -> bool:
        """Whether a result is the opposite of an operand."""
        for result, _ in self.rows:
            is_of_operand = "[" in result  # with its index; a number has none
            if result.startswith("-") and is_of_operand:
                return True
        return False

    @property
    def explained(self) -> list[str]:
        """What the signs in the formula mean."""
        # Only what a reader of these formulas meets is explained, by the signs that are printed.
        conditions = " ".join(when for _, when in self.rows)
        texts = []
        if conditions:
            texts.append(self.text.comparisons or self.common.comparisons)
        if "=_{" in conditions:
            texts.append(self.common.equal)
        if r"\equiv" in conditions:
            texts.append(self.common.identical)
        if self.has_opposites:
            texts.append(self.common.opposite)
        return texts

    @property
    def selected(self) -> str:
        """The operands of which the result is one; empty if it may be another number."""
        # As the printer shows them, because the results of the rows are printed.
        operands = [f"{name}[i]" for name in self.tensors]
        operands += self.scalars
        for result, _ in self.rows:
            if result not in operands:
                return ""
        return in_formulas(operands, "or")

    @property
    def entries(self) -> str:
        """What the names in the formula are."""
        tensors = [self.spec.signature.result.id, *self.tensors]
        entries = [f"{name}[i]" for name in tensors]
        listed = in_formulas(entries, "and")
        text = f"{listed} are the entries of {in_formulas(tensors, 'and')} at index $i$"
        if self.scalars:
            scalars = in_formulas(self.scalars, "and")
            text += f", and {scalars} stand for the single entries of these scalars"
        return f"{text}."

    @property
    def shapes(self) -> str:
        """The shapes of the operands and of the result."""
        first = self.tensors[0]
        result = self.spec.signature.result.id
        if len(self.tensors) > 1:
            names = in_formulas(self.tensors, "and")
            text = f"Tensors {names} have one shape, of any rank; there is no broadcasting."
        else:
            text = f"Tensor ${first}$ has any rank."
        if self.scalars:
            scalars = in_formulas(self.scalars, "and")
            text += f" {scalars} are scalars; they apply to every entry of ${first}$;"
            text += " there is no other broadcasting."
        return (
            f"{text} If ${first}$ has no dimensions, neither has ${result}$, and its only entry is the one"
            f" defined above. If ${first}$ has a zero-sized dimension, ${result}$ is empty."
        )

    def constraints(self, tensor: str) -> Iterator[dict[str, Any]]:
        """The constraints of a tensor: stated at the first tensor that has them, linked at others."""
        tags = self.constraint_tags
        for entry, tag in tags[tensor].items():
            first = next(name for name, tags_there in tags.items() if entry in tags_there)
            constraint = self.file.constraints[entry]
            statement = constraint.statement
            rationale = ""
            if not statement:  # as the YAML states it, not in words of the page
                statement, rationale = self._printed(entry)
            is_link = first != tensor
            yield {
                "tag": tag,
                "title": constraint.title,
                "at": first if is_link else None,
                "first": tags[first][entry],
                "statement": statement,
                "rationale": rationale,
                # With latitude more than Y conforms: the constraint is of the function alone.
                "of_function": not constraint.statement and bool(self.latitude),
            }

    def _printed(self, entry: str) -> tuple[str, str]:
        """The condition of a constraint, and why it is restricted, if it is."""
        constraint = self.spec.constraint(entry)
        holds = self.show(constraint.holds)
        if self.id not in constraint.refuted_for:
            return f"${holds}$.", ""

        # As written it is refuted for the family: the page states what is proved.
        where = self.show(constraint.repaired[self.id])
        counterexample = constraint.refuted_for[self.id]
        numbers = []
        for name, text in counterexample.texts().items():
            value = number(text, self.id)
            numbers.append(f"${name} = {value}$")
        rationale = f"elsewhere it does not hold, for example for {', '.join(numbers)}."
        return f"if ${where}$, then ${holds}$.", rationale

    @property
    def examples(self) -> Iterator[WorkedExample]:
        """The worked examples in LaTeX."""
        for example in examples_of(self.spec, self.file, self.id):
            shown = {}
            for name, values in example.operands.items():
                shown[name] = _in_latex(values, self.id)
            yield WorkedExample(shown, row(example.result, self.id))


def examples_of(spec: Spec, file: PageFile, family: FamilyId) -> Iterator[WorkedExample]:
    """The worked examples with computed results: of the YAML, then further ones of the page file."""
    etype = spec.element_type(SHOWN_IN[family])
    examples: list[Mapping[str, Entries]] = []
    for stated in spec.examples:
        if stated.family == family:
            examples.append(stated.values)
    for further in file.of_family(family).examples:
        examples.append(further.operands)
    for shared in file.examples:
        with suppress(UserError):  # where the family lacks a number
            encoded(shared.operands.values(), etype)
            examples.append(shared.operands)

    for values in examples:
        # In the order of the signature: a file may have them in any.
        operands = {name: values[name] for name in spec.signature.ids}
        yield WorkedExample(operands, _results(spec, etype, operands))


def _results(spec: Spec, etype: ElementType, operands: Mapping[str, Entries]) -> tuple[str, ...]:
    """The result of each entry of the first operand; a scalar is that of all entries."""
    length = len(next(iter(operands.values())))
    columns = []
    for operand in encoded(operands.values(), etype):
        if isinstance(operand, list):
            columns.append(operand)
        else:
            columns.append([operand] * length)
    evaluate = evaluator(spec, etype)
    results = []
    for entries in zip(*columns, strict=True):
        result = evaluate.result(*entries)
        results.append(show(result, etype))
    return tuple(results)


def encoded(operands: Iterable[Entries], etype: ElementType) -> list[Any]:
    """Entries of tensors and numbers of scalars; UserError where the type lacks a number."""
    values: list[Any] = []
    for operand in operands:
        if isinstance(operand, str):
            values.append(encode(operand, etype))
        else:
            values.append([encode(entry, etype) for entry in operand])
    return values


def _in_latex(operand: Entries, family: str) -> str:
    return number(operand, family) if isinstance(operand, str) else row(operand, family)


def row(numbers: Sequence[str], family: str) -> str:
    """A tensor of one dimension."""
    entries = " & ".join(number(text, family) for text in numbers)
    return rf"\begin{{bmatrix}} {entries} \end{{bmatrix}}"


def number(text: str, family: str) -> str:
    """A number in LaTeX; of floats, zeros and infinities with their sign."""
    sign = "-" if text.startswith("-") else ""
    name = text.removeprefix("-")
    if name == "nan":
        return r"\text{NaN}"
    # Of floats both zeros and both infinities occur, and a reader has to tell them apart.
    if family == "float" and name in {"0", "inf"} and not sign:
        sign = "+"
    if name == "inf":
        name = r"\infty"
    return sign + name
