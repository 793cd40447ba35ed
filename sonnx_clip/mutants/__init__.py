"""Mutants: small mistakes in conditions, kernels and rewrites, and what kills each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A change in one place; the record counts mutants by kind."""

    kind: str
    name: str
    change: str

    @property
    def key(self) -> str:
        """Place and change."""
        return f"{self.name}: {self.change}"
