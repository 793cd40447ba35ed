"""What names mean in a module: its declarations, those that it uses, and copies of those that it clones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.folders import repo_file
from sonnx_clip.whyml.declarations import parse_modules
from sonnx_clip.whyml.natives import native, native_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sonnx_clip.whyml.declarations import Module, WhymlDeclaration
    from sonnx_clip.whyml.node import Node

Key: TypeAlias = "tuple[str, str]"
"""A declaration: the module, ``stem.Module``, and its name there."""

STDLIB = frozenset({"int.Int", "map.Map", "real.RealInfix", "real.Abs"})


@dataclass(frozen=True)
class Closure:
    """A function, predicate, constant or program with a body.

    Args:
        key: the declaration.
        parameters: their names.
        body: what it is.
        scope: what the names in the body mean.
    """

    key: Key
    parameters: tuple[str, ...]
    body: Node
    scope: ModuleScope


@dataclass(frozen=True)
class Native:
    """A symbol that is given by Python: of a machine type, or of a model of an abstract one."""

    name: str
    run: Callable[..., Any]
    key: Key = ("", "")


@dataclass(frozen=True)
class Constructor:
    """A constructor of an algebraic type."""

    name: str
    types: tuple[str, ...]


@dataclass
class ModuleScope:
    """What the names of a module mean.

    Args:
        module: its name, ``stem.Module``.
        symbols: by name, qualified where they have to be.
        types: by name: the id of an element type, ``bool``, ``int``, or the key of a declaration.
        exported: the names that a module that uses this one gets.
    """

    module: str
    symbols: dict[str, Closure | Native | Constructor] = field(default_factory=dict)
    types: dict[str, Any] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    axioms: list[WhymlDeclaration] = field(default_factory=list)


class TheoryLibrary:
    """Theories by the names of their modules, read once; `texts` stand for files that are not on disk.

    Args:
        texts: theory files by their path in the repository; others are read.
        models: what stands for the abstract symbols of a theory that nobody clones, by name.
    """

    def __init__(self, texts: Mapping[str, str], models: Mapping[str, Any]) -> None:
        self.texts, self.models = texts, models
        self._modules: dict[str, Module] = {}
        self._files: set[str] = set()
        self._scopes: dict[str, ModuleScope] = {}

    def module(self, name: str) -> Module:
        """A module by ``stem.Module``."""
        stem = name.partition(".")[0]
        if stem not in self._files:
            self._files.add(stem)
            for module in parse_modules(*self._text(stem)):
                self._modules[f"{stem}.{module.name}"] = module
        if name not in self._modules:
            raise UserError(f"there is no module {name}", f"why3/{stem}.mlw", "correct the name")
        return self._modules[name]

    def modules_of(self, stem: str) -> list[str]:
        """The modules of a file, in its order."""
        return [f"{stem}.{m.name}" for m in parse_modules(*self._text(stem))]

    def _text(self, stem: str) -> tuple[str, str]:
        for path in (f"generated/why3/{stem}.mlw", f"why3/{stem}.mlw"):
            if path in self.texts:
                return self.texts[path], path
        path = f"why3/{stem}.mlw"
        if not repo_file(path).is_file():
            path = f"generated/why3/{stem}.mlw"
        return repo_file(path).read_text(encoding="utf-8"), path

    def scope(self, name: str) -> ModuleScope:
        """What names mean in a module that stands for itself: what is abstract is taken from the models."""
        if name not in self._scopes:
            self._scopes[name] = self.instantiate(name, {}, {})
        return self._scopes[name]

    def instantiate(self, name: str, symbols: Mapping[str, Any], types: Mapping[str, Any]) -> ModuleScope:
        """A copy of a module, with symbols and types put for abstract ones."""
        scope = ModuleScope(name)
        stem = name.partition(".")[0]
        for d in self.module(name).declarations:
            if d.kind in ("use", "clone"):
                self._import(scope, stem, d, symbols, types)
            else:
                self._declare(scope, name, d, symbols, types)
        if stem == "elements":  # the patterns of a width, read as those of the element type
            scope.types["t"] = native_type(name, "t")
        return scope

    def _import(
        self,
        scope: ModuleScope,
        stem: str,
        d: WhymlDeclaration,
        symbols: Mapping[str, Any],
        types: Mapping[str, Any],
    ) -> None:
        if d.name in STDLIB:
            return
        target = d.name if "." in d.name else f"{stem}.{d.name}"
        if d.kind == "use":
            # A module that is used is one and the same everywhere; only what is cloned is copied.
            found = self.scope(target)
        else:
            given = {old: scope.symbols[by] for kind, old, by in d.given if kind in _SYMBOLS}
            of = {old: scope.types[by] for kind, old, by in d.given if kind == "type"}
            # What the copied module leaves abstract may be given to the copier in turn.
            found = self.instantiate(target, {**symbols, **given}, {**types, **of})
            scope.axioms += found.axioms
        short = d.way.removeprefix("as ") if d.way.startswith("as ") else d.name.rpartition(".")[2]
        names = found.exported
        for name in names:
            named = d.way.startswith("as ")
            put = [f"{short}.{name}"] if named else [name, f"{short}.{name}"]
            if named:
                scope.exported.add(f"{short}.{name}")
            for here in put:
                if name in found.symbols:
                    scope.symbols[here] = found.symbols[name]
                if name in found.types:
                    scope.types[here] = found.types[name]
        if d.way == "export":
            scope.exported |= names

    def _declare(
        self,
        scope: ModuleScope,
        module: str,
        d: WhymlDeclaration,
        symbols: Mapping[str, Any],
        types: Mapping[str, Any],
    ) -> None:
        name = d.name
        scope.exported.add(name)
        if d.kind == "type":
            _declare_type(scope, module, d, types, self.models)
        elif d.kind == "axiom":
            scope.axioms.append(d)
        elif d.kind.startswith("val"):
            scope.symbols[name] = symbols.get(name) or self._val(scope, module, d)
        elif d.kind.startswith(("predicate", "function", "constant", "let")) and "lemma" not in d.kind:
            if d.body is not None:
                parameters = tuple(p for p, _ in d.parameters)
                scope.symbols[name] = Closure((module, name), parameters, d.body, scope)
            else:
                scope.symbols[name] = self._abstract(module, name, symbols)

    def _abstract(self, module: str, name: str, symbols: Mapping[str, Any]) -> Any:
        if name in symbols:
            return symbols[name]
        found = native(module, name)
        if found is None and name in self.models:
            found = self.models[name]
        if found is None:
            raise UserError(f"nothing says what {name} is", f"why3 {module}", "add it to the models")
        return (
            found
            if isinstance(found, Native | Closure) or not callable(found)
            else Native(name, found, (module, name))
        )

    def _val(self, scope: ModuleScope, module: str, d: WhymlDeclaration) -> Any:
        """What a contract promises, where it says what the result is."""
        for promise in d.ensures:
            if (
                promise.kind == "binary"
                and promise.text in ("=", "<->")
                and promise.parts[0].text == "result"
            ):
                parameters = tuple(p for p, _ in d.parameters)
                return Closure((module, d.name), parameters, promise.parts[1], scope)
        return Native(d.name, self.models[d.name])


_SYMBOLS = ("function", "predicate", "constant", "val")


def _declare_type(
    scope: ModuleScope, module: str, d: WhymlDeclaration, types: Mapping[str, Any], models: Mapping[str, Any]
) -> None:
    words = d.text.split()
    if "=" not in words:
        scope.types[d.name] = types.get(d.name) or native_type(module, d.name) or models.get(f"type {d.name}")
        return
    after = words[words.index("=") + 1 :]
    if after[0] in ("{", "abstract"):
        fields = " ".join(after).replace("abstract", "").strip("{} ")
        pairs = [part.split(":") for part in fields.split(";") if ":" in part]
        scope.types[d.name] = (
            "record",
            {a.replace("mutable", "").strip(): b.strip() for a, b in pairs},
            scope,
        )
    elif after[0] == "<":
        scope.types[d.name] = native_type(module, d.name)
    elif "|" in after or after[0][0].isupper():
        options = [part.split() for part in " ".join(after).split("|") if part.strip()]
        for constructor, *fields_ in options:
            scope.symbols[constructor] = Constructor(constructor, tuple(fields_))
            scope.exported.add(constructor)
        scope.types[d.name] = ("variants", options, scope)
    else:
        scope.types[d.name] = native_type(module, d.name) or after[0]
