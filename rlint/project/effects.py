"""What evaluating an expression or calling a function does besides giving a value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Protocol

from rlint.project import facts
from rlint.project.effect import PURE, READS, Effect, Level
from rlint.project.kind import Kind, Tag
from rlint.project.kinds import Kinds, is_immutable
from rlint.project.names import Names
from rlint.syntax.scopes import Binding, How
from rlint.syntax.tree import FUNCTIONS, Function, Tree

_SUSPENDS = Effect(Level.EFFECTS, "suspends the function")
_FRESH_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_MUTABLE_TAGS = frozenset({Tag.LIST, Tag.DICT, Tag.SET, Tag.DEQUE, Tag.NDARRAY, Tag.TENSOR, Tag.UNKNOWN,
                           Tag.INSTANCE, Tag.STATE_DICT})  # fmt: skip


class EffectResolver(Protocol):
    """What the effects of one file ask the rest of the project."""

    def effect_at(self, path: str, module: str) -> Effect | None:
        """The effect of calling what stands at an access path; None where the project has no such thing."""


class Effects:
    """The effects in one file.

    Without a project, a call into other functions of the project is listed by `calls_of` as an
    access path, to be resolved once all files are known.
    """

    def __init__(self, tree: Tree, names: Names, kinds: Kinds, project: EffectResolver | None) -> None:
        self.tree = tree
        self.names = names
        self.kinds = kinds
        self.project = project

    def effect_of(self, expression: ast.expr) -> Effect:
        """The effect of evaluating an expression, all its parts included."""
        effect = PURE
        for node in _evaluated(expression):
            effect = effect.worst(self._own(node))
            if effect.level is Level.EFFECTS:
                break
        return effect

    def call_effect(self, call: ast.Call) -> Effect:
        """The effect of a call alone; its arguments are not counted."""
        effect, path = self._call(call)
        if path is None:
            return effect
        found = self.project.effect_at(path, self.names.module) if self.project is not None else None
        return found if found is not None else effect

    def function_effect(self, function: Function) -> tuple[Effect, tuple[str, ...]]:
        """The effect of calling a function of this file, as far as the file tells, and the access
        paths of the calls in it that others have to judge. Stores to locals are no effect.
        """
        if isinstance(function, ast.AsyncFunctionDef):
            return _SUSPENDS, ()
        effect = PURE
        paths: list[str] = []
        scope = self.tree.scopes[function]
        if scope.globals or scope.nonlocals:
            return Effect(Level.EFFECTS, f"`{function.name}` rebinds a name outside itself"), ()
        for node in _body_nodes(function):
            if isinstance(node, ast.Call):
                own, path = self._call(node)
                if path is not None:
                    paths.append(path)
                    own = PURE
            else:
                own = self._own(node)
            if own.level > effect.level:
                effect = own
            if effect.level is Level.EFFECTS:
                return effect, ()
        return effect, tuple(dict.fromkeys(paths))

    def _own(self, node: ast.AST) -> Effect:
        """The effect of one node, its children left out."""
        match node:
            case ast.Call():
                return self.call_effect(node)
            case ast.Yield() | ast.YieldFrom() | ast.Await():
                return _SUSPENDS
            case ast.NamedExpr():
                return Effect(Level.EFFECTS, f"binds `{node.target.id}`")
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                if self._is_fresh_local(node.value):
                    return PURE
                return Effect(Level.EFFECTS, f"sets the attribute `{node.attr}`")
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                if self._is_fresh_local(node.value):
                    return PURE
                return Effect(Level.EFFECTS, "stores an item")
            case ast.AugAssign(target=ast.Name() as name):
                # `x += 1` changes a list or an array in place
                if is_immutable(self.kinds.kind_of(node.value)) or self._is_fresh_local(name):
                    return PURE
                return Effect(Level.EFFECTS, f"may change `{name.id}` in place")
            case ast.Global() | ast.Nonlocal():
                return Effect(Level.EFFECTS, "rebinds a name outside the function")
            case ast.Attribute(ctx=ast.Load()):
                return PURE if self._is_callee(node) or self.names.qualified(node) else READS
            case ast.Subscript(ctx=ast.Load()):
                return PURE if self._is_fresh_local(node.value) else READS
            case ast.Name(ctx=ast.Load()):
                return self._name_effect(node)
        return PURE

    def _is_callee(self, node: ast.Attribute) -> bool:
        """Is this only the method of a call? What the call reads is the method's affair."""
        parent = self.tree.parents.get(node)
        return isinstance(parent, ast.Call) and parent.func is node

    def _name_effect(self, node: ast.Name) -> Effect:
        scope, bindings = self.names.bindings(node)
        if scope is None or scope.is_comprehension:
            return PURE
        if scope is not self.tree.scopes[self.tree.module]:
            return PURE
        fixed = all(binding.how in (How.IMPORT, How.FUNCTION, How.CLASS) for binding in bindings) or (
            len(bindings) == 1 and is_immutable(self.kinds.binding_kind(bindings[0]))
        )
        return PURE if fixed else READS

    def _call(self, call: ast.Call) -> tuple[Effect, str | None]:
        if any(keyword.arg in ("out", "inplace") for keyword in call.keywords):
            return Effect(Level.EFFECTS, "writes into an argument"), None
        unknown = Effect(Level.UNKNOWN, f"`{_shown(call.func)}` is not known to rlint")
        qualified = self.names.qualified(call.func)
        if qualified is not None:
            known = facts.callable_fact(qualified)
            if known is not None:
                return self._with_callbacks(call, known.effect), None
            return unknown, qualified
        if isinstance(call.func, ast.Attribute):
            return self._method(call, call.func, unknown)
        callee = self.kinds.kind_of(call.func)
        if callee.tag is Tag.MODULE:
            return Effect(Level.UNKNOWN, f"`{_shown(call.func)}` is a module, which may keep state"), None
        if callee.tag is Tag.TOKENIZER:
            return PURE, None
        if callee.of and callee.tag in (Tag.FUNCTION, Tag.CLASS, Tag.UNKNOWN):
            return unknown, callee.of
        return unknown, None

    def _method(self, call: ast.Call, func: ast.Attribute, unknown: Effect) -> tuple[Effect, str | None]:
        owner = self.kinds.kind_of(func.value)
        if owner:
            known = facts.method_fact(owner.tag, func.attr)
            if known is not None and owner.tag is not Tag.INSTANCE:
                if owner.tag in _MUTABLE_TAGS and self._is_fresh_local(func.value):
                    return PURE, None
                return known.effect, None
            return unknown, f"{owner.of}().{func.attr}" if owner.of else None
        if owner.of:
            return unknown, f"{owner.of}.{func.attr}"
        known = facts.method_on_unknown(func.attr, len(call.args) + len(call.keywords))
        return (known.effect, None) if known is not None else (unknown, None)

    def _with_callbacks(self, call: ast.Call, effect: Effect) -> Effect:
        """A pure function that is handed a function does what that function does (`map`, `sorted`)."""
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            if isinstance(argument, ast.Lambda):
                effect = effect.worst(self.effect_of(argument.body))
                continue
            kind = self.kinds.kind_of(argument) if isinstance(argument, (ast.Name, ast.Attribute)) else Kind()
            if kind.tag is Tag.FUNCTION and kind.of:
                known = facts.callable_fact(kind.of)
                if known is not None:
                    effect = effect.worst(known.effect)
                else:
                    found = self.project.effect_at(kind.of, self.names.module) if self.project else None
                    effect = effect.worst(
                        found or Effect(Level.UNKNOWN, f"`{_shown(argument)}` is not known to rlint")
                    )
        return effect

    def _is_fresh_local(self, expression: ast.expr) -> bool:
        """Is this a local name whose value the function itself made, so that no one else sees a change?"""
        if not isinstance(expression, ast.Name):
            return False
        scope, bindings = self.names.bindings(expression)
        if scope is None or not isinstance(scope.node, FUNCTIONS):
            return False
        if self.tree.function(expression) is not scope.node:
            return False
        return all(self._made_here(binding) for binding in bindings)

    def _made_here(self, binding: Binding) -> bool:
        if binding.how is How.AUGMENT:
            return True  # keeps what the other bindings made
        if binding.how is not How.ASSIGN or binding.value is None or binding.path:
            return False
        if isinstance(binding.value, _FRESH_DISPLAYS):
            return True
        kind = self.kinds.kind_of(binding.value)
        return kind.fresh or is_immutable(kind)


def _shown(expression: ast.expr) -> str:
    text = ast.unparse(expression)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _evaluated(expression: ast.AST) -> Iterator[ast.AST]:
    """The expression's nodes, lambda bodies left out: they run only when called."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.Lambda):
            continue
        stack.extend(ast.iter_child_nodes(node))


def _body_nodes(function: Function) -> Iterator[ast.AST]:
    """What runs when the function is called; nested functions only run when they are called."""
    stack: list[ast.AST] = list(reversed(function.body))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            continue
        stack.extend(ast.iter_child_nodes(node))
