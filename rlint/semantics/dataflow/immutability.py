"""Attributes that are set during construction and then stay constant, such as the settings of a program."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlint.findings import Heat
from rlint.models.vocabulary import INITIALISES
from rlint.semantics.types.algebra import OPTIONS

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis
    from rlint.semantics.frequency.heat import HeatMap
    from rlint.semantics.interprocedural.project_index import ProjectIndex
    from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary

_MAKERS = frozenset({"__init__", "__post_init__", "__attrs_post_init__", "__new__"})
_DEPTH = 5
_BY_NAME = ("setattr", "delattr")


def sets(analysis: FileAnalysis) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the attributes that each function of a file sets or deletes, by the function's qualified name:
    the class (or access path) of the object, "" if unknown, and the attribute. Assignments of a constructor
    to its own object are left out.
    """
    found: dict[str, dict[tuple[str, str], None]] = {}
    for owner, attribute, node in _written(analysis):
        function = analysis.syntax.function(node)
        name = analysis.syntax.qualname(function) if function is not None else ""
        path = path_of_object(owner, analysis)
        own = name.rpartition(".")[2] in _MAKERS and analysis.names.is_self(owner)
        if not own:
            found.setdefault(name, {})[path, attribute] = None
    return {name: tuple(every) for name, every in found.items()}


def _written(analysis: FileAnalysis) -> Iterator[tuple[ast.expr, str, ast.AST]]:
    for node in analysis.syntax.written.attribute_stores:
        yield node.value, node.attr, node
    for call in analysis.syntax.written.calls_of(_BY_NAME):
        match call:
            case ast.Call(func=ast.Name(), args=[owner, ast.Constant(value=str(attribute)), *_]):
                yield owner, attribute, call


def path_of_object(owner: ast.expr, analysis: FileAnalysis) -> str:
    """Return the access path of an object; "" if it is unknown, `=tensor` or the like if it is of a type
    without attributes of the project.
    """
    if isinstance(owner, ast.Name):
        cls = analysis.names.class_of_self(owner)
        if cls is not None:
            return f"{analysis.name}.{analysis.syntax.qualname(cls)}()"
    kind = analysis.types.type_of(owner)
    if kind.of:
        return f"{kind.of}()" if kind else kind.of
    return f"={kind.tag.value}" if kind else ""


def is_construction(function: FunctionSummary, heat: HeatMap, depth: int = _DEPTH) -> bool:
    """Whether a function is a constructor, or only ever runs as part of one."""
    if function.name in _MAKERS:
        return True
    callers = heat.graph.callers(function.path)
    return (
        depth > 0 and bool(callers) and all(is_construction(edge.caller, heat, depth - 1) for edge in callers)
    )


class Immutability:
    """Which attributes keep the value from construction, over all files."""

    def __init__(self, index: ProjectIndex, heat: HeatMap) -> None:
        self._index = index
        self._heat = heat
        self._known: dict[tuple[str, str], bool] = {}

    def is_settled(self, owner: ClassSummary | None, attribute: str) -> bool:
        """Whether an attribute of objects of this class is only set by the constructor, and by functions that
        only the constructor calls, and no hot code creates such objects. None means an object of an unknown
        class: then no function may set the attribute at all.
        """
        key = (owner.path if owner is not None else "", attribute)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._find(owner, attribute)
        return known

    def is_likely_settled(self, owner: ClassSummary | None, attribute: str) -> bool:
        """Whether an attribute is immutable, ignoring functions that run once and set an attribute of this
        name on objects of unknown classes, as option parsing does, or complete the construction of an object:
        `self.agent = agent` in `initialize`.
        """
        return self._find(owner, attribute, but_for_cold_code=True)

    def is_only_set_at_start(self, attribute: str) -> bool:
        """Whether only constructors, code of modules and functions without loops that run once set an
        attribute of this name, of objects of any class.
        """
        return all(
            not function.qualname
            or (self._is_cold(path, function) and all(loop.bounded for loop in function.loops))
            for path, function in self._index.setters(attribute)
        )

    def _is_cold(self, path: str, function: FunctionSummary) -> bool:
        """Whether an attribute of an object of an unknown class is set in code that runs once, or one of any
        object by a method that completes a construction.
        """
        if self._heat.of_function(function.path).level is not Heat.COLD:
            return False
        if not INITIALISES.isdisjoint(function.name.lower().split("_")):
            return True
        cls = self._index.class_of(self._index.resolve(path, function.module)) if path else None
        return cls is None or (cls.qualname == OPTIONS and not function.loops)

    def _find(self, owner: ClassSummary | None, attribute: str, *, but_for_cold_code: bool = False) -> bool:
        writers = self._index.setters(attribute)
        is_set = bool(writers)
        if but_for_cold_code:
            writers = [writer for writer in writers if not self._is_cold(*writer)]
        if owner is None:
            return not any(self._concerns(path, function, None) for path, function in writers)
        family = [cls for cls in self._index.ancestry(owner) if not isinstance(cls, str)]
        if not any(attribute in cls.attributes for cls in family):
            # an option that the program adds to those of the command line: `args.n_actions = env.n_actions`
            return but_for_cold_code and owner.qualname == OPTIONS and not writers and is_set
        family += self._index.subclasses(owner)
        if any(attribute in cls.methods for cls in family):
            return False
        made = self._index.method(owner, "__init__")
        if made is not None and self._heat.of_function(made.path).level is Heat.HOT:
            return False
        paths = {cls.path for cls in family}
        return all(
            not self._concerns(path, function, paths) or is_construction(function, self._heat)
            for path, function in writers
        )

    def _concerns(self, path: str, function: FunctionSummary, family: set[str] | None) -> bool:
        """Whether an access path may hold an object of one of these classes (or of an unknown one)."""
        if not path:
            return True
        if path.startswith("="):
            return False  # a tensor, a module of a library …
        kind = self._index.resolve(path, function.module)
        cls = self._index.class_of(kind)
        if cls is not None:
            return family is None or cls.path in family
        return not kind
