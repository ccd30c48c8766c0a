"""Calls that a loop makes with one item of a data set, and which of them likely run a network."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from rlint import models
from rlint.models import vocabulary
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.frequency.guards import SHORT_ROLLOUT
from rlint.semantics.frequency.trip_count import is_number_of_parts, names_parts, names_settings
from rlint.semantics.types.infer import TypeInference
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import root_name
from rlint.syntax.syntax_index import COMPREHENSIONS, FUNCTIONS, Comprehension, Function, SyntaxIndex
from rlint.syntax.walk import descendants, running

_NO_NETWORK = regex(r"loss|criterion|metric|token|transform|optim|sched|augment")
_OF_KEYS = regex(r"_(ids?|idx|index|keys?)$")
_TRIES = regex(r"^_*(check|try|debug|sanity|smoke|profile|benchmark|plot|show|visuali[sz]e)(_|$)")
"""Functions that run a network to look at it, on few inputs."""
_SWEPT = regex(
    r"(^|_)(perc(ent(age)?)?|ratio|threshold|sigma|noise|level|temperature|alpha|beta|epsilon|scale|strength)"
    r"(_level)?(s|es)?$"
)
"""Names of numbers that a measurement varies."""
_CHOSEN = regex(r"(^|_)(subset|few|chosen|selected|demos?|sampled?_(idx|ind(ex|ices|exes)?))$")
"""Names of a few items that are chosen to be looked at."""
_BATCHES = regex(r"batch(es)?$|loaders?$")
_OPTIONS = regex(r"^(args|cfg|conf|config|opt|opts|options|flags|hparams)$")
_STORES = regex(r"buffer|memory|replay|storage")
_OF_TENSORS = models.methods_of(TypeTag.TENSOR)
_MOVES = frozenset({"to", "cuda", "xpu"})
_MODES = frozenset({"eval", "train", "parameters", "state_dict"})
_WITHOUT_GRAPH = ("torch.no_grad", "torch.inference_mode")
_WAITING = (ast.Yield, ast.YieldFrom, ast.Await)
_BINDING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor, ast.With, ast.NamedExpr)
_GIVES_FEW = vocabulary.FEW | vocabulary.PER_LAYER | {"children", "split"}
_DISPLAYS = (ast.Tuple, ast.List, ast.Set, ast.Dict)


class ItemRuns:
    """The loops of one file that pass their items to calls."""

    def __init__(self, syntax: SyntaxIndex, types: TypeInference) -> None:
        self._syntax = syntax
        self._types = types

    def of(self, loop: ast.AST) -> tuple[tuple[int, ...], bool]:
        """Return the lines of the calls to which a loop passes one item each time (a value that depends on
        no earlier iteration), and whether one of these likely is a network. Nothing for loops over a few
        items or the parts of an object, and for those that draw or yield each result.
        """
        if not isinstance(loop, (ast.For, *COMPREHENSIONS)):
            return (), False
        function = self._syntax.function(loop)
        if function is not None and _TRIES.search(function.name):
            return (), False
        clauses = loop.generators if isinstance(loop, COMPREHENSIONS) else [loop]
        if any(self._is_over_few(clause.target, clause.iter) for clause in clauses[:1]):
            return (), False
        body: Sequence[ast.AST] = loop.body if isinstance(loop, ast.For) else _parts(loop)
        nodes = [node for part in body for node in running(part)]
        calls = [node for node in nodes if isinstance(node, ast.Call) and (node.args or node.keywords)]
        if not calls or any(map(self._draws, calls)) or any(isinstance(node, _WAITING) for node in nodes):
            return (), False
        items = _Items(clauses[0].target, clauses[0].iter, nodes, self._types)
        found = [call for call in calls if items.is_passed_to(call)]
        return tuple(sorted({call.lineno for call in found})), any(map(self.is_network, found))

    def is_network(self, call: ast.Call) -> bool:
        """Whether a call runs a network, or an unknown value that is likely one: what runs without a graph,
        has a training mode, gets what was moved to a device, or has the name of a network.
        """
        name = last_name(call.func) or ""
        if isinstance(call.func, ast.Call) or _NO_NETWORK.search(name.lower()):
            return False
        if isinstance(call.func, ast.Attribute) and name in _OF_TENSORS:
            return False
        kind = self._types.type_of(call.func)
        if kind.tag is TypeTag.MODULE:
            return True
        if kind or "torch" not in self._syntax.text or not self._is_value(call.func):
            return False
        words = vocabulary.NETWORKS.intersection(name.lower().split("_"))
        return bool(words) or self._has_mode(call) or self._gets_moved(call) or self._is_without_graph(call)

    def runs_network(self, function: Function | None) -> bool:
        """Whether a function runs a network itself."""
        return function in self._running

    @cached_property
    def _running(self) -> frozenset[Function | None]:
        calls = (call for call in self._syntax.of_type(ast.Call) if call.args)
        return frozenset(self._syntax.function(call) for call in calls if self.is_network(call))

    def _is_value(self, func: ast.expr) -> bool:
        """Whether a callee is a parameter, a variable or an attribute, not a function, class or method."""
        if isinstance(func, ast.Name):
            return self._types.names.qualified(func) is None
        if not isinstance(func, ast.Attribute) or self._types.names.qualified(func) is not None:
            return False
        owner = self._syntax.class_of(func)
        return owner is None or not any(
            isinstance(each, FUNCTIONS) and each.name == func.attr for each in owner.body
        )

    def _has_mode(self, call: ast.Call) -> bool:
        """Whether the function around a call also calls `eval()` on the same value."""
        return _path(call.func) in self._with_modes.get(self._syntax.function(call), ())

    @cached_property
    def _with_modes(self) -> dict[Function | None, set[tuple[str, ...]]]:
        found: dict[Function | None, set[tuple[str, ...]]] = {}
        for call in self._syntax.written.calls_of(_MODES):
            path = _path(call.func.value) if isinstance(call.func, ast.Attribute) else ()
            if path:
                found.setdefault(self._syntax.function(call), set()).add(path)
        return found

    def _gets_moved(self, call: ast.Call) -> bool:
        """Whether a call gets what was moved to a device, and its result is used: a buffer stores it."""
        if isinstance(self._syntax.parents.get(call), ast.Expr):
            return False
        names = {node.id for part in call.args for node in descendants(part) if isinstance(node, ast.Name)}
        moved = self._moved.get(self._syntax.function(call), set())
        root = root_name(call.func)
        if root is None or root.id in moved:
            return False
        return bool(names & moved) or any(map(_moves, call.args))

    @cached_property
    def _moved(self) -> dict[Function | None, set[str]]:
        """Return the variables of each function to which it assigns what it moves to a device."""
        found: dict[Function | None, set[str]] = {}
        for node in self._syntax.of_type(ast.Assign):
            assert isinstance(node, ast.Assign)
            match node.targets:
                case [ast.Name(id=name)] if _moves(node.value):
                    found.setdefault(self._syntax.function(node), set()).add(name)
        return found

    def _is_without_graph(self, call: ast.Call) -> bool:
        """Whether a variable is called under `no_grad` or `inference_mode`."""
        if not _is_plain(call.func):
            return False
        for node in self._syntax.ancestors(call):
            if isinstance(node, (ast.With, ast.AsyncWith)):
                entered = [item.context_expr for item in node.items]
            elif isinstance(node, FUNCTIONS):
                entered = node.decorator_list
            else:
                continue
            if any(self._stops_gradient(each) for each in entered):
                return True
            if isinstance(node, FUNCTIONS):
                break
        return False

    def _stops_gradient(self, context: ast.expr) -> bool:
        func = context.func if isinstance(context, ast.Call) else context
        return self._types.names.qualified(func) in _WITHOUT_GRAPH

    def _draws(self, call: ast.Call) -> bool:
        return (self._types.names.qualified(call.func) or "").startswith("matplotlib.")

    def _is_over_few(self, target: ast.expr, iterable: ast.expr) -> bool:
        """Whether a loop iterates over a few items, the parts of an object, or compared settings."""
        names = [node.id.lower() for node in descendants(target) if isinstance(node, ast.Name)]
        return any(map(_names_few, names)) or self._has_few(iterable)

    def _has_few(self, iterable: ast.expr) -> bool:
        if isinstance(iterable, (*_DISPLAYS, ast.Constant)):
            return True
        if isinstance(iterable, ast.Subscript):
            return _is_short_slice(iterable.slice) or self._has_few(iterable.value)
        if isinstance(iterable, ast.Call):
            if isinstance(iterable.func, ast.Attribute):
                method = iterable.func.attr
                if _STORES.search((last_name(iterable.func.value) or "").lower()):
                    return True  # batches from which a training learns
                if method in _GIVES_FEW:
                    return True
            if self._types.names.qualified(iterable.func) == "builtins.range":
                return _counts_few(iterable)
            return any(self._has_few(argument) for argument in iterable.args)
        root = root_name(iterable)
        if _names_few((last_name(iterable) or "").lower()) or (root and _OPTIONS.search(root.id.lower())):
            return True
        return isinstance(iterable, ast.Name) and self._is_display(iterable)

    def _is_display(self, name: ast.Name) -> bool:
        """Whether a variable holds a list that is written out."""
        _, bindings = self._types.names.bindings(name)
        values = [binding.value for binding in bindings if not binding.path]
        return any(isinstance(value, _DISPLAYS) and _size(value) > 0 for value in values)


class _Items:
    """The variables of a loop that depend on its item, and those that depend on earlier iterations."""

    def __init__(
        self, target: ast.expr, iterable: ast.expr, nodes: Sequence[ast.AST], types: TypeInference
    ) -> None:
        counts = _counted(iterable, types)
        names = {node.id for node in descendants(target) if isinstance(node, ast.Name)}
        self._counts = names if counts else set()
        self._variables = frozenset(names)
        self._bindings = sorted(
            (node for node in nodes if isinstance(node, _BINDING)),
            key=lambda node: (node.lineno, node.col_offset),
        )
        self._items = set() if counts else set(names)
        for _ in range(2):
            for node in self._bindings:
                if any(self.holds(value) for value in _values(node)):
                    self._items.update(_bound(node))

    def holds(self, value: ast.AST) -> bool:
        """Whether an expression uses the item of the iteration."""
        for node in descendants(value):
            if isinstance(node, ast.Name) and node.id in self._items:
                return True
            if isinstance(node, ast.Subscript) and self._picks(node.slice):
                return True
        return False

    def _picks(self, index: ast.expr) -> bool:
        """Whether a subscript picks one item by the count of the loop."""
        return not isinstance(index, ast.Slice) and any(
            isinstance(node, ast.Name) and node.id in self._counts for node in descendants(index)
        )

    def is_passed_to(self, call: ast.Call) -> bool:
        """Whether a call gets an item, nothing from an earlier iteration, and is not of the item itself."""
        passed = [*call.args, *(keyword.value for keyword in call.keywords)]
        if not any(map(self.holds, passed)):
            return False
        if any(isinstance(node, ast.Name) and node.id in self._variables for node in descendants(call.func)):
            return False
        return not self._is_carried(call, passed)

    def _is_carried(self, call: ast.Call, passed: Sequence[ast.expr]) -> bool:
        """Whether an argument of a call comes from its result in the iteration before."""
        results: set[str] = set()
        for bound in self._bound_by.get(call, ()):
            results |= bound
        if not results:
            return False
        fresh: set[str] = set()
        for node, bound, used in self._uses:
            if used & results:
                results |= bound
            elif node.lineno < call.lineno:
                fresh |= bound
        named = {node.id for part in passed for node in descendants(part) if isinstance(node, ast.Name)}
        return bool((named & results) - fresh - self._variables)

    @cached_property
    def _uses(self) -> list[tuple[ast.stmt | ast.expr, frozenset[str], frozenset[str]]]:
        """Return each binding with the names that it binds, and those that its value reads."""
        return [
            (
                node,
                frozenset(_bound(node)),
                frozenset(
                    part.id
                    for value in _values(node)
                    for part in descendants(value)
                    if isinstance(part, ast.Name)
                ),
            )
            for node in self._bindings
        ]

    @cached_property
    def _bound_by(self) -> dict[ast.Call, list[frozenset[str]]]:
        """Return the names that are bound to values of which a call is part, by the call."""
        found: dict[ast.Call, list[frozenset[str]]] = {}
        for node, bound, _ in self._uses:
            for value in _values(node):
                for part in descendants(value):
                    if isinstance(part, ast.Call):
                        found.setdefault(part, []).append(bound)
        return found


def _values(node: ast.AST) -> list[ast.expr]:
    """Return the expressions that a statement binds names to."""
    match node:
        case ast.Assign(value=value) | ast.NamedExpr(value=value):
            return [value]
        case ast.AnnAssign(value=annotated) if annotated is not None:
            return [annotated]
        case ast.AugAssign(target=target, value=value):
            return [target, value]
        case ast.For(iter=iterable) | ast.AsyncFor(iter=iterable):
            return [iterable]
    return []


def _bound(node: ast.AST) -> Iterator[str]:
    targets: Sequence[ast.AST] = ()
    match node:
        case ast.Assign(targets=several):
            targets = several
        case ast.NamedExpr() | ast.AnnAssign() | ast.AugAssign() | ast.For() | ast.AsyncFor():
            targets = [node.target]
    for target in targets:
        for part in descendants(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id


def _parts(loop: Comprehension) -> list[ast.AST]:
    elements = [loop.key, loop.value] if isinstance(loop, ast.DictComp) else [loop.elt]
    return [*elements, *(test for clause in loop.generators for test in clause.ifs)]


def _moves(value: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES
        for node in descendants(value)
    )


def _path(value: ast.expr) -> tuple[str, ...]:
    """Return the names in `agent.model`, last first; none for other expressions."""
    names: list[str] = []
    while isinstance(value, ast.Attribute):
        names.append(value.attr)
        value = value.value
    return (*names, value.id) if isinstance(value, ast.Name) else ()


def _is_plain(func: ast.expr) -> bool:
    """Whether a callee is a variable, or an attribute of `self`."""
    return isinstance(func, ast.Name) or (
        isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"
    )


def _counted(iterable: ast.expr, types: TypeInference) -> bool:
    """Whether the variable of a loop is a count: `range(n)`, also behind a progress bar."""
    while isinstance(iterable, ast.Call):
        if types.names.qualified(iterable.func) == "builtins.range":
            return True
        if not iterable.args:
            return False
        iterable = iterable.args[0]
    return False


def _counts_few(ranged: ast.Call) -> bool:
    """Whether `range(…)` counts few iterations, the starts of batches, or the parts of an object."""
    if len(ranged.args) > 2:
        return True
    end = ranged.args[-1] if ranged.args else None
    if isinstance(end, ast.Constant):
        return not isinstance(end.value, int) or end.value < SHORT_ROLLOUT
    if isinstance(end, ast.Call) and end.args and last_name(end.func) == "len":
        return _names_few((last_name(end.args[0]) or "").lower())
    name = (last_name(end) or "").lower() if end is not None else ""
    return _names_few(name) or is_number_of_parts(name)


def _names_few(name: str) -> bool:
    """Whether a lower-case name is that of parts of an object, of their keys, of compared settings, or of
    batches, each of which holds many items.
    """
    parts = _OF_KEYS.sub("", name)
    if any(pattern.search(name) for pattern in (_SWEPT, _CHOSEN, _BATCHES)) or names_settings(name):
        return True
    return names_parts(name) or (parts != name and names_parts(parts))


def _is_short_slice(index: ast.expr) -> bool:
    match index:
        case ast.Slice(lower=lower, upper=ast.Constant(value=int(end))):
            start = lower.value if isinstance(lower, ast.Constant) and isinstance(lower.value, int) else 0
            return 0 <= end - start < SHORT_ROLLOUT
    return False


def _size(display: ast.AST) -> int:
    return len(display.keys) if isinstance(display, ast.Dict) else len(getattr(display, "elts", ()))
