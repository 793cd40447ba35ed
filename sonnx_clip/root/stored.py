"""What is stored or printed for machines: frozen data with a schema, of which a file may hold more or not."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Stored(BaseModel):
    """A part of a record, or of what a command prints as JSON: nothing else may stand in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Excerpt(BaseModel):
    """A part of a record of which only some is read: what else stands in it is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")
