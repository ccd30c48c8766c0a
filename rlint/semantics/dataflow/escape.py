"""What becomes of a value: is it only looked at, kept, or changed in place?"""

from __future__ import annotations

import ast

from rlint import models
from rlint.enums import IntEnum
from rlint.frozen import frozen
from rlint.models.effect import EffectKind
from rlint.models.value_type import TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.types.algebra import is_immutable
from rlint.syntax.queries import argument_count
from rlint.syntax.syntax_index import FUNCTIONS

_DEPTH = 12
_CHANGES = frozenset(
    """append appendleft clear difference_update discard extend fill insert intersection_update partition pop
    popitem popleft put remove resize reverse rotate setdefault setflags sort subtract update""".split()
)
_STORES = frozenset(
    "add append appendleft insert push put put_nowait remember send setdefault store write".split()
)
_CONTAINERS = frozenset({TypeTag.LIST, TypeTag.DEQUE, TypeTag.SET, TypeTag.DICT})
_PUTS = _STORES | {"extend", "extendleft", "update"}
_PLAIN = frozenset({TypeTag.BOOL, TypeTag.INT, TypeTag.FLOAT, TypeTag.STR, TypeTag.BYTES, TypeTag.NONE})


class Fate(IntEnum):
    """Ordered: the fate of a value is the worst of all that is done with it."""

    READ = 0
    """Looked at where it stands; afterwards nobody holds it."""
    HANDED = 1
    """Handed to a call that may keep or change it."""
    KEPT = 2
    """Stored or returned."""
    CHANGED = 3
    """Surely changed in place."""


@frozen
class ValueUse:
    """The fate of a value, whether it goes into further computation (which a gradient would retrace), and
    whether a variable holds it for a while.
    """

    fate: Fate
    computes: bool = False
    held: bool = False

    def worst(self, other: ValueUse) -> ValueUse:
        """The fate of a value that both happens to."""
        return ValueUse(
            max(self.fate, other.fate), self.computes or other.computes, held=self.held or other.held
        )


_HANDS_ON = frozenset(f"builtins.{name}" for name in "enumerate iter reversed zip".split())
"""What these give is new, but holds the very items, or views of the rows, of what they are given."""
_LOOKED_AT = ValueUse(Fate.READ)
_COMPUTED = ValueUse(Fate.READ, computes=True)
_HANDED = ValueUse(Fate.HANDED, computes=True)
_KEPT = ValueUse(Fate.KEPT, computes=True)
_CHANGED = ValueUse(Fate.CHANGED, computes=True)


class EscapeAnalysis:
    """What becomes of the values in one file."""

    def __init__(self, analysis: FileAnalysis) -> None:
        self.analysis = analysis
        self.syntax = analysis.syntax

    def of(self, node: ast.AST) -> ValueUse:
        """What becomes of the value of an expression, and of the variables that it is bound to."""
        return self._of(node, _DEPTH)

    def _of(self, node: ast.AST, depth: int) -> ValueUse:
        if depth <= 0:
            return _KEPT
        parent = self.syntax.parents[node]
        match parent:
            case ast.Attribute():
                return self._attribute(parent, depth)
            case ast.Subscript():
                return self._subscript(node, parent, depth)
            case ast.BinOp() | ast.AugAssign():
                return _COMPUTED if node is not getattr(parent, "target", None) else _CHANGED
            case ast.UnaryOp(op=op):
                return _LOOKED_AT if isinstance(op, ast.Not) else _COMPUTED
            case ast.Compare() | ast.FormattedValue() | ast.Expr() | ast.Assert() | ast.Slice() | ast.Raise():
                return _LOOKED_AT
            case ast.If(test=test) | ast.While(test=test) if test is node:
                return _LOOKED_AT
            case ast.IfExp():
                return _LOOKED_AT if node is parent.test else self._of(parent, depth - 1)
            case ast.BoolOp() | ast.Starred() | ast.keyword(arg=None):
                return self._of(parent, depth - 1)
            case ast.keyword():
                return self._argument(self.syntax.parents[parent], depth)
            case ast.Call():
                return self._argument(parent, depth)
            case ast.comprehension():
                return self._in_comprehension(node, parent, depth)
            case ast.For(target=target, iter=iterable) if iterable is node:
                return self._bound(target, depth)
            case ast.Assign(targets=targets):
                return self._worst([self._bound(target, depth) for target in targets])
            case ast.AnnAssign(target=target):
                return self._bound(target, depth)
            case ast.NamedExpr(target=target):
                return self._bound(target, depth).worst(self._of(parent, depth - 1))
            case ast.List() if self._is_joined(parent):
                return _KEPT
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                return self._of(parent, depth - 1)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._of(parent, depth - 1)
        return _KEPT

    def _attribute(self, attribute: ast.Attribute, depth: int) -> ValueUse:
        if not isinstance(attribute.ctx, ast.Load):
            return _CHANGED
        call = self.syntax.parents[attribute]
        if not isinstance(call, ast.Call) or call.func is not attribute:
            return self._derived(attribute, depth)
        owner = self.analysis.types.type_of(attribute.value)
        known = models.method_fact(owner.tag, attribute.attr, argument_count(call)) if owner else None
        if known is not None and known.effect.acts:
            return _CHANGED if known.effect.kind & EffectKind.MUTATES else _KEPT
        if known is not None:
            return self._derived(call, depth)
        if attribute.attr in _CHANGES or (attribute.attr.endswith("_") and not attribute.attr.endswith("__")):
            return _CHANGED
        effect = self.analysis.effects.call_effect(call)
        return self._derived(call, depth) if effect.quiet else _KEPT

    def _subscript(self, node: ast.AST, subscript: ast.Subscript, depth: int) -> ValueUse:
        if node is subscript.slice:
            return _COMPUTED
        if not isinstance(subscript.ctx, ast.Load):
            return _CHANGED
        return self._derived(subscript, depth)

    def _derived(self, part: ast.expr, depth: int) -> ValueUse:
        """The use of something made of the value: it may be a part of it, or a view of it."""
        kind = self.analysis.types.type_of(part)
        if is_immutable(kind):
            return _LOOKED_AT if kind.tag in _PLAIN else _COMPUTED
        use = self._of(part, depth - 1)
        return ValueUse(Fate.READ, use.computes, held=use.held) if kind.fresh else use

    def _argument(self, call: ast.AST, depth: int) -> ValueUse:
        if not isinstance(call, ast.Call):
            return _KEPT  # a keyword of a class
        qualified = self.analysis.names.qualified(call.func)
        if qualified in models.INPLACE_FUNCTIONS:
            return _CHANGED
        if qualified in _HANDS_ON:
            return self._of(call, depth - 1)
        effect = self.analysis.effects.effect_outside(call)
        if effect.quiet and self._is_put(call):
            return _KEPT  # by a container that was made here, so that nobody else sees the change
        if effect.quiet:
            return self._derived(call, depth)
        if effect.does_only(EffectKind.TELLS):
            return _LOOKED_AT
        stores = isinstance(call.func, ast.Attribute) and call.func.attr in _STORES
        return _KEPT if stores else _HANDED

    def _is_put(self, call: ast.Call) -> bool:
        """`items.append(value)`"""
        match call.func:
            case ast.Attribute(value=owner, attr=method) if method in _PUTS:
                return self.analysis.types.type_of(owner).tag in _CONTAINERS
        return False

    def _is_joined(self, display: ast.List) -> bool:
        """`items += [value]`, `items + [value]`"""
        around = self.syntax.parents[display]
        return isinstance(around, (ast.BinOp, ast.AugAssign)) and isinstance(around.op, ast.Add)

    def _in_comprehension(self, node: ast.AST, part: ast.comprehension, depth: int) -> ValueUse:
        if node is part.iter:
            return self._bound(part.target, depth)
        return _LOOKED_AT

    def _bound(self, target: ast.expr, depth: int) -> ValueUse:
        """The use of what is bound to a target (or, item by item, of what is iterated over)."""
        match target:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return self._worst([self._bound(element, depth) for element in elements])
            case ast.Starred(value=value):
                return self._bound(value, depth)
            case ast.Name():
                return self._variable(target, depth)
        return _KEPT

    def _variable(self, name: ast.Name, depth: int) -> ValueUse:
        scope = self.syntax.scope(name).lookup(name.id)
        if scope is None or not (scope.is_comprehension or isinstance(scope.node, FUNCTIONS)):
            return _KEPT
        if is_immutable(self.analysis.types.type_of(name)):
            return _COMPUTED
        found = ValueUse(Fate.READ, held=True)
        for read in self.syntax.variables.uses(name.id, scope):
            if isinstance(read.ctx, ast.Load):
                inner = self.syntax.scope(read)
                while inner is not scope and inner.is_comprehension and inner.parent is not None:
                    inner = inner.parent
                if inner is not scope:
                    return _KEPT  # a nested function has it, for how long nobody knows
                found = found.worst(self._of(read, depth - 1))
            elif isinstance(self.syntax.parents[read], ast.AugAssign):
                found = found.worst(_CHANGED)
        return found

    def _worst(self, uses: list[ValueUse]) -> ValueUse:
        found = _LOOKED_AT
        for use in uses:
            found = found.worst(use)
        return found
