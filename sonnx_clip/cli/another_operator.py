"""The specification of another operator than Clip, which --spec names: docs/operators.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sonnx_clip.claims.evaluation import check_claims
from sonnx_clip.conform.checked_operator import CheckedOperator
from sonnx_clip.conform.evaluated_oracle import evaluated_oracle
from sonnx_clip.root.errors import UserError
from sonnx_clip.spec import check_spec, load_spec
from sonnx_clip.spec.expected import check_expected

if TYPE_CHECKING:
    from pathlib import Path

    from sonnx_clip.spec import Spec


def load_another(file: Path) -> Spec:
    """Load and check a specification.

    Raises:
        UserError: the file cannot be read, or what it states is wrong, with file, line and column; or the
            operator is Clip, which every command reads from spec/clip.yaml.
    """
    spec = load_spec(file)
    if spec.operator == "Clip":
        todo = "leave --spec out: Clip is read from spec/clip.yaml"
        raise UserError("--spec names another operator than Clip", str(file), todo)
    check_spec(spec)
    check_expected(spec)
    check_claims(spec)
    return spec


def operator_to_check(file: Path) -> CheckedOperator:
    """The operator of a specification, with an oracle that evaluates its cases; UserError as above."""
    spec = load_another(file)
    return CheckedOperator(spec, evaluated_oracle(spec))
