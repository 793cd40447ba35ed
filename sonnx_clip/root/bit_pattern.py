"""The bits of a number in a record: a number for who computes with it, hex text where it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import core_schema

_FORM = "^0x[0-9a-f]+$"
_BITS_OF_A_DIGIT = 4


class BitPattern(int):
    """Bits as an unsigned integer that knows their number: ``BitPattern(0, 32)`` is ``0x00000000``.

    In JSON it is this text, and a text of another form is no bit pattern.
    """

    width: int

    def __new__(cls, bits: int, width: int) -> Self:
        """Bits of a number of `width` bits."""
        pattern = super().__new__(cls, bits)
        pattern.width = width
        return pattern

    @classmethod
    def from_text(cls, text: str) -> Self:
        """A bit pattern from its text; ValueError for any other text."""
        digits = text.removeprefix("0x")
        return cls(int(digits, 16), _BITS_OF_A_DIGIT * len(digits))

    def __str__(self) -> str:
        """Hex text with all its digits."""
        digits = self.width // _BITS_OF_A_DIGIT
        return f"0x{int(self):0{digits}x}"

    def __reduce__(self) -> tuple[type[BitPattern], tuple[int, int]]:
        """For pickle: results come from the processes that judge."""
        return BitPattern, (int(self), self.width)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, _source: type[Any], _handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Read from its text and written as its text; a pattern itself is taken as it is."""
        # Here, since the library, which reads no records, has no need of it.
        from pydantic_core import core_schema

        text = core_schema.str_schema(pattern=_FORM)

        def read(value: Any, parse: core_schema.ValidatorFunctionWrapHandler) -> BitPattern:
            return value if isinstance(value, BitPattern) else cls.from_text(parse(value))

        return core_schema.no_info_wrap_validator_function(
            read,
            text,
            # Always, since pages turn records into dictionaries first and into JSON later.
            serialization=core_schema.plain_serializer_function_ser_schema(
                str, return_schema=text, when_used="always"
            ),
        )
