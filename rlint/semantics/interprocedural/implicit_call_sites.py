"""Methods that run without being called by name, on objects that code enters, iterates over, indexes,
measures or adds to, and properties that it reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import Type, TypeTag
from rlint.semantics.dataflow.reaching_definitions import MAX_DEFINITIONS
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.symbols import GETTER
from rlint.syntax.queries import is_property
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import SyntaxIndex

_OF_PROJECT = frozenset(
    {TypeTag.INSTANCE, TypeTag.MODULE, TypeTag.DATASET, TypeTag.REPLAY_BUFFER, TypeTag.ENVIRONMENT}
)
_OF_BUILTINS = {"len": "__len__", "next": "__next__"}
_ITERATE = models.having(Trait.ITERATES, "builtins", "itertools", "tqdm")

_Place = ast.expr | ast.stmt
_NAMED = (ast.Name, ast.Attribute)


def implicit_calls(analysis: FileAnalysis) -> Iterator[tuple[_Place, str]]:
    """Yield expressions, each with the access path of a method that runs when they are evaluated; for
    methods that run in each iteration of a loop, the first statement of its body.
    """
    syntax = analysis.syntax
    for block in (*syntax.of_type(ast.With), *syntax.of_type(ast.AsyncWith)):
        assert isinstance(block, (ast.With, ast.AsyncWith))
        for item in block.items:
            yield from _methods(item.context_expr, analysis, "__enter__", "__exit__")
    for loop in syntax.of_type(ast.For):
        assert isinstance(loop, ast.For)
        for iterated in _iterated(loop.iter, analysis):
            yield from _methods(iterated, analysis, "__iter__")
            yield from _methods(iterated, analysis, "__next__", at=loop.body[0])
    for subscript in syntax.of_type(ast.Subscript):
        assert isinstance(subscript, ast.Subscript)
        if isinstance(subscript.value, (ast.Name, ast.Attribute)):
            method = "__getitem__" if isinstance(subscript.ctx, ast.Load) else "__setitem__"
            yield from _methods(subscript.value, analysis, method, at=subscript)
    for call in syntax.written.calls_of(_OF_BUILTINS):
        if isinstance(call.func, ast.Name) and call.args:
            yield from _methods(call.args[0], analysis, _OF_BUILTINS[call.func.id], at=call)
    for change in syntax.of_type(ast.AugAssign):
        assert isinstance(change, ast.AugAssign)
        if isinstance(change.op, ast.Add) and isinstance(change.value, (ast.Tuple, ast.Name)):
            for value in _augmented(change.target, analysis):
                yield from _methods(value, analysis, "__iadd__", "__add__", at=change)
    yield from _properties(analysis)


def _properties(analysis: FileAnalysis) -> Iterator[tuple[_Place, str]]:
    """Yield the attributes read that may be properties: those of this file, and attributes of objects whose
    classes are defined elsewhere. Of several reads in a function, the one in the innermost loop counts.
    """
    syntax = analysis.syntax
    own = {function.name for function in syntax.of_type(ast.FunctionDef) if is_property(function)}
    classes = {cls.name for cls in syntax.of_type(ast.ClassDef)}
    found: dict[tuple[ast.AST | None, str], tuple[int, ast.Attribute]] = {}
    for name, reads in syntax.written.attributes.items():
        for read in reads:
            if not isinstance(read.ctx, ast.Load) or _is_called(read, syntax):
                continue
            if name not in own and (not isinstance(read.value, _NAMED) or analysis.names.is_self(read.value)):
                continue
            owner = _instance(analysis.types.type_of(read.value))
            is_own = owner.removesuffix("()").rpartition(".")[2] in classes
            if not owner or (is_own and name not in own):
                continue
            key = syntax.function(read), f"{owner}.{name}{GETTER}"
            depth = len(analysis.loops.around(read))
            if key not in found or depth > found[key][0]:
                found[key] = depth, read
    for (_, path), (_, read) in found.items():
        yield read, path


def _is_called(attribute: ast.Attribute, syntax: SyntaxIndex) -> bool:
    parent = syntax.parents.get(attribute)
    return isinstance(parent, ast.Call) and parent.func is attribute


def _iterated(iterable: ast.expr, analysis: FileAnalysis) -> Iterator[ast.expr]:
    """Yield what a loop iterates over, also with `enumerate`, `tqdm` and `zip`."""
    if isinstance(iterable, ast.Call) and analysis.names.qualified(iterable.func) in _ITERATE:
        yield from iterable.args
    else:
        yield iterable


def _augmented(target: ast.expr, analysis: FileAnalysis) -> Iterator[ast.expr]:
    """Yield the expressions that give a variable or attribute its value before `target += value`."""
    if not isinstance(target, ast.Name):
        yield target
        return
    _, bindings = analysis.names.bindings(target)
    for binding in bindings if len(bindings) <= MAX_DEFINITIONS else ():
        if binding.kind is BindingKind.ASSIGN and not binding.path and binding.value is not None:
            yield binding.value


def store_path(subscript: ast.Subscript, analysis: FileAnalysis) -> str:
    """Return the access path of the method that sets an item of an object; "" if there is none."""
    owner = _instance(analysis.types.type_of(subscript.value))
    return f"{owner}.__setitem__" if owner else ""


def _methods(
    value: ast.expr, analysis: FileAnalysis, *methods: str, at: _Place | None = None
) -> Iterator[tuple[_Place, str]]:
    kind = analysis.types.type_of(value)
    owner = _instance(kind)
    if owner:
        for method in methods:
            yield at or value, f"{owner}.{method}"


def _instance(kind: Type) -> str:
    """Return the access path of an object whose class may be one of the project; "" for other objects."""
    if kind.tag in _OF_PROJECT and kind.of:
        return f"{kind.of}()"
    made = kind.of.removesuffix("()") if kind.tag is TypeTag.UNKNOWN else kind.of
    named_like_a_class = made != kind.of and made.rpartition(".")[2][:1].isupper()
    return kind.of if named_like_a_class else ""
