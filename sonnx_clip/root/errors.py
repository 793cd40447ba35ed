"""The errors that users of the project meet: of the command line, of the oracle, of a dialect."""

from __future__ import annotations


class UserError(Exception):
    """Bad input or a missing tool: one message, exit status 2, never a traceback.

    Args:
        what: what is wrong, in one sentence.
        where: file, line and column, path in the YAML, or node name in a model.
        todo: what the person can do about it.
    """

    def __init__(self, what: str, where: str | None = None, todo: str | None = None) -> None:
        self.what = what
        self.where = where
        self.todo = todo
        super().__init__(str(self))

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}\n  {self.todo}" if self.todo else head


class RestrictionError(ValueError):
    """A restriction of the SONNX profile is violated by a call of `sonnx_clip.clip`.

    Args:
        tag: the id of the violated restriction in spec/clip.yaml, for example ``R5``.
        message: what was found and what is required.
    """

    def __init__(self, tag: str, message: str) -> None:
        self.tag = tag
        super().__init__(f"[{tag}] {message}")


class DialectError(ValueError):
    """A dialect of Clip does not take what it is given.

    Args:
        dialect: its id in spec/clip.yaml, for example ``onnx-6``.
        aspect: what it concerns, for example ``element_types``.
        what: what was found and what is taken.
        words: what the source says of it, if it can be quoted.
    """

    def __init__(self, dialect: str, aspect: str, what: str, words: str | None = None) -> None:
        self.dialect = dialect
        self.aspect = aspect
        super().__init__(f"[{dialect}] {what}" + (f' ("{words}")' if words else ""))


class UndefinedByDialectError(DialectError):
    """A dialect takes what it is given, and its source does not say what the result is."""
