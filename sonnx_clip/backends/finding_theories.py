"""Renders the claims of the findings: for each element type that some speak of, a theory of their own."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from sonnx_clip.backends.reading_theories import THEORIES
from sonnx_clip.backends.templating import template
from sonnx_clip.backends.theory import declare, header, obligations_of, smoke
from sonnx_clip.backends.why3 import (
    declared_cases,
    declared_reading,
    definition,
    definitions_used,
    result_of_cases,
)
from sonnx_clip.backends.whyml_printer import WhymlPrinter, element_printer, tensor_printer
from sonnx_clip.backends.whyml_printer import goals as printed
from sonnx_clip.claims.all_claims import finding_claims
from sonnx_clip.claims.nodes import free_names
from sonnx_clip.language.tree import Call, CasesResult, Use, subtrees
from sonnx_clip.spec.claims import claim_names, types_of_claim
from sonnx_clip.spec.dialects import defaults

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sonnx_clip.backends.theory import Goal
    from sonnx_clip.claims.claim import Obligation
    from sonnx_clip.language import ElementType
    from sonnx_clip.language.tree import Expr
    from sonnx_clip.spec import Spec
    from sonnx_clip.spec.entries import Constraint, Property
    from sonnx_clip.spec.findings import SourceFinding, Theorem

    Part = tuple[SourceFinding, Theorem]


def finding_theories(spec: Spec) -> tuple[Mapping[str, str], tuple[Obligation, ...]]:
    """The theories of the findings by their path in the repository, and their obligations."""
    files: dict[str, str] = {}
    obligations: list[Obligation] = []
    for etype in spec.element_types:
        parts = [
            (finding, part)
            for finding in spec.findings
            for part in finding.theorems
            if etype in types_of_claim(spec, part)
        ]
        if not parts:
            continue
        path = f"{THEORIES}/findings_{etype.id}.mlw"
        claims = ClaimsOfType(spec, etype, parts)
        files[path] = template("findings.mlw.j2").render(header=header(spec), etype=etype, **claims.modules())
        for theory, goals, name in (
            ("Findings", claims.of_elements, "smoke_findings"),
            ("TensorFindings", claims.of_tensors, "smoke_tensor_findings"),
        ):
            if goals:
                obligations += obligations_of(etype.id, path, theory, [*goals, smoke(name)])
    return files, tuple(obligations)


class ClaimsOfType:
    """What is claimed in one element type."""

    def __init__(self, spec: Spec, etype: ElementType, parts: Sequence[Part]) -> None:
        self.spec = spec
        self.etype = etype
        self.elements = [(finding, part) for finding, part in parts if not part.tensors]
        self.tensors = [(finding, part) for finding, part in parts if part.tensors]
        self.used = {node.id for _, part in parts for node in subtrees(part.holds) if isinstance(node, Use)}

    def modules(self) -> dict[str, object]:
        """What the template prints."""
        known = claim_names(self.spec)
        named = [name for name in known if name in self.used]
        decide = {known[name].reading for name in named}
        readings = [r for r in self.spec.readings if r.id in decide]
        properties = [p for p in self.spec.properties if p.id in self.used]
        constraints = [c for c in self.spec.constraints if c.id in self.used]
        trees: list[Expr] = [part.holds for _, part in self.elements]
        trees += [r.returns for r in readings] + [p.claim for p in properties]
        of_constraints = [part.holds for _, part in self.tensors] + [c.holds for c in constraints]
        printer = self._printer()
        used = definitions_used(self.spec, trees)
        of_cases = _speak_of_cases(self.spec, [*trees, *(d.is_ for d in used)])
        return {
            "goals": self.of_elements,
            "tensor_goals": self.of_tensors,
            "converts": any(
                isinstance(node, Call) and node.function == "becomes"
                for _, part in self.elements
                for node in subtrees(part.holds)
            ),
            "cases": declared_cases(self.spec, printer) if of_cases else [],
            "result": result_of_cases(self.spec, printer) if of_cases else "",
            "definitions": [definition(self.spec, d, self.etype) for d in used],
            "general": [
                definition(self.spec, d, self.etype) for d in definitions_used(self.spec, of_constraints)
            ],
            "readings": [declared_reading(self.spec, r, printer) for r in readings],
            "dialects": [self._dialect(name) for name in named if known[name].dialect is not None],
            "properties": [self._property(p) for p in properties],
            "constraints": [self._constraint(c) for c in constraints],
        }

    @cached_property
    def of_elements(self) -> list[Goal]:
        """The goals on elements."""
        return list(printed(finding_claims(self.spec, self.etype, tensors=False), self._printer()))

    @cached_property
    def of_tensors(self) -> list[Goal]:
        """The goals on tensors."""
        return list(printed(finding_claims(self.spec, self.etype, tensors=True), self._tensor_printer()))

    def _printer(self) -> WhymlPrinter:
        return element_printer(self.spec, self.etype, self.spec.element_type("float32"))

    def _tensor_printer(self) -> WhymlPrinter:
        plain = tensor_printer(self.spec, self.etype)
        return replace(plain, of_result=True, prefix="stated_")

    def _property(self, p: Property) -> dict[str, str]:
        claim = self._printer().show(p.claim)
        given = self.spec.head.arguments
        body = f"let y = cases {given} in {claim}" if "Y" in free_names(p.claim) else claim
        return declare(p.id, given, "t", body, p.title)

    def _constraint(self, c: Constraint) -> dict[str, str]:
        return declare(
            f"stated_{c.id}",
            self.spec.head.arguments_and_result,
            "tensor",
            tensor_printer(self.spec, self.etype).show(c.holds),
            c.title,
        )

    def _dialect(self, name: str) -> dict[str, str]:
        of = claim_names(self.spec)[name]
        assert of.dialect is not None
        dialect = self.spec.dialect(of.dialect)
        given = {variable: variable.lower() for variable in of.parameters}
        title = f"{dialect.id} allows the answer y"
        head = self.spec.head
        variables = head.all
        if len(given) < len(variables):
            ends = defaults(self.spec, dialect, self.etype)
            assert ends is not None
            given = dict(zip(head.scalars, map(self._printer().value, ends), strict=True)) | given
            title += f", without {name.rpartition('_')[2]}"
        body = " ".join((self.spec.reading(of.reading).predicate, *(given[v] for v in variables)))
        return declare(name, " ".join(v.lower() for v in of.parameters), "t", body, title)


def _speak_of_cases(spec: Spec, trees: Sequence[Expr]) -> bool:
    """Whether trees speak of the cases or of their result."""
    cases = {case.id for case in spec.cases}
    properties = {p.id for p in spec.properties}  # each is printed with the result of the cases
    return any(
        isinstance(node, CasesResult) or (isinstance(node, Use) and node.id in cases | properties)
        for tree in trees
        for node in subtrees(tree)
    )
