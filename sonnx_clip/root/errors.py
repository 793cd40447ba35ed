"""The exceptions that users see: of the command line, the oracle and the dialects."""

from __future__ import annotations


class UserError(Exception):
    """Bad input or a missing tool: one message, exit status 2, never a traceback.

    Args:
        what: what is wrong, in one sentence.
        where: file, line and column, path in the YAML, or node name in a model.
        todo: how to fix it.
    """

    def __init__(self, what: str, where: str | None = None, todo: str | None = None) -> None:
        self.what = what
        self.where = where
        self.todo = todo
        super().__init__(str(self))  # so that a traceback or a log has all three

    def __str__(self) -> str:
        head = self.what
        if self.where:
            head = f"{self.where}: {self.what}"
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
    """A dialect of Clip rejects its arguments.

    Args:
        dialect: its id in spec/clip.yaml, for example ``onnx-6``.
        aspect: the violated aspect, for example ``element_types``.
        what: what was found, and what is accepted.
        words: the quotation from the source, if there is one.
    """

    def __init__(self, dialect: str, aspect: str, what: str, words: str | None = None) -> None:
        self.dialect = dialect
        self.aspect = aspect
        message = f"[{dialect}] {what}"
        if words:
            message += f' ("{words}")'
        super().__init__(message)


class UndefinedByDialectError(DialectError):
    """A dialect accepts its arguments, but its source leaves the result open."""
