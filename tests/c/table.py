"""generated/vectors -> a table in C that tests/c/check.c reads."""

import json
from pathlib import Path

from sonnx_clip.root.folders import repo_file

HEAD = """#include <stddef.h>
#include <stdint.h>

struct vector {
  const char *id;
  uint64_t x, min, max, due;
};

struct table {
  const char *type;
  size_t width;
  const struct vector *vectors;
  size_t count;
};
"""


def vectors(folder: Path | None = None) -> dict[str, list[dict[str, str]]]:
    """The vectors of each element type, those of the same bounds side by side."""
    found = {}
    for path in sorted((folder or repo_file("generated/vectors")).glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        if "vectors" in content:
            found[content["type"]] = sorted(content["vectors"], key=lambda v: (v["min"], v["max"]))
    return found


def table(found: dict[str, list[dict[str, str]]]) -> str:
    """The text of vectors.h."""
    parts = [HEAD]
    for type_id, of_type in found.items():
        rows = ",\n".join(f"  {_row(vector)}" for vector in of_type)
        parts.append(f"static const struct vector vectors_{type_id}[] = {{\n{rows}\n}};\n")
    rows = "\n".join(
        f'  {{"{type_id}", {_bytes(of_type)}, vectors_{type_id}, {len(of_type)}}},'
        for type_id, of_type in found.items()
    )
    return "\n".join([*parts, f"static const struct table tables[] = {{\n{rows}\n}};\n"])


def _bytes(of_type: list[dict[str, str]]) -> int:
    return (len(of_type[0]["x"]) - 2) // 2


def _row(vector: dict[str, str]) -> str:
    bits = ", ".join(f"UINT64_C({vector[name]})" for name in ("x", "min", "max", "expected"))
    return f'{{"{vector["id"]}", {bits}}}'
