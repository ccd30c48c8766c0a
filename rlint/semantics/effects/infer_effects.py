"""Infer the effects of evaluating an expression or calling a function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator
from typing import ClassVar, Protocol

from rlint import models
from rlint.models.effect import PURE, READS, USES_UP, Effect, EffectKind
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.dataflow.ownership import CHANGES, holds_own_items
from rlint.semantics.effects.implicit_calls import ImplicitCalls, ImplicitEffects
from rlint.semantics.effects.optional_numbers import is_optional_number
from rlint.semantics.effects.parsed_data import is_parsed, lookup
from rlint.semantics.effects.tensor_use import is_move_of_tensor
from rlint.semantics.interprocedural.call_targets import arguments_of, called_back
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.semantics.types.algebra import draws_on_iteration, is_immutable
from rlint.semantics.types.infer import TypeInference
from rlint.semantics.types.likely.notes import Noted
from rlint.syntax.queries import argument_count, is_constant
from rlint.syntax.scopes import Binding, BindingKind, Scope
from rlint.syntax.syntax_index import FUNCTIONS, Function, SyntaxIndex
from rlint.syntax.walk import RUN_LATER, children, descendants, end_in_order, running, size_of

_WRITES = Effect(EffectKind.MUTATES, "writes into an argument")
_WRITES_TO = Effect(EffectKind.FILE_IO, "writes to a stream")
_STREAMS = frozenset({"file", "stream"})
"""Parameters for the object to which output is written."""
_LOADS = Effect(EffectKind.DRAWS | EffectKind.UNKNOWN, "draws random numbers and runs the code of a data set")
_SUSPENDS = Effect(EffectKind.OTHER, "suspends the function")
_ON_OWN_VALUE = EffectKind.READS | EffectKind.MUTATES
_ITERATIONS = frozenset({ast.For, ast.comprehension})
_READING = frozenset({ast.Attribute, ast.Name, ast.Subscript})
_FRESH_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_MUTABLE_TAGS = frozenset(
    {TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.DEQUE, TypeTag.NDARRAY, TypeTag.TENSOR, TypeTag.UNKNOWN,
     TypeTag.INSTANCE, TypeTag.STATE_DICT}
)  # fmt: skip
# decorators that add no effect to those of the function
_ADD_NOTHING = models.having(
    Trait.MARKS | Trait.CACHES,
    "abc",
    "builtins",
    "torch",
    "torch.jit",
    "typing",
    "typing_extensions",
    "functools",
    "numba",
)
_WRAPPERS = frozenset({"functools.cmp_to_key", "functools.partial"})
"""Functions that return a callable which calls their first argument."""
_GETTERS = models.having(Trait.REFLECTS, "operator")
"""Functions that return a callable which reads or calls an attribute by its name."""


class EffectResolver(ImplicitEffects, Protocol):
    """Resolves effects of code of other files of the project."""

    def effect_at(self, path: str, module: str) -> Effect | None:
        """Return the effect of calling an access path; None if the project does not define it."""


_SMALL = 60
"""Maximum number of nodes of an expression that is examined on every query. Larger expressions may be nested
in one another, so their effects are kept.
"""


class EffectInference:
    """The effects in one file.

    Without a project, a call into other functions of the project counts as unknown; `function_effect` lists
    such calls as access paths, which are resolved once all files are known.
    """

    def __init__(
        self, syntax: SyntaxIndex, names: QualifiedNames, types: TypeInference, project: EffectResolver | None
    ) -> None:
        self.syntax = syntax
        self.names = names
        self.types = types
        self.project = project
        self.hidden = ImplicitCalls(syntax, names, types, self._effect_of_body, project)
        self._calls: dict[tuple[ast.Call, bool], tuple[tuple[Effect, str | None], Noted]] = {}
        self._of_large: dict[ast.AST, Effect] = {}
        self._own_methods: dict[str, Effect] = {}
        self._immutable: dict[tuple[Scope | None, str], bool] = {}

    def effect_of(self, expression: ast.AST) -> Effect:
        """Return the effect of evaluating an expression, all its parts included."""
        if size_of(expression) <= _SMALL:
            effect = PURE
            for node in _evaluated(expression):
                own = self._own(node)
                if own.kind:
                    effect = effect.joined(own)
            return effect
        if expression not in self._of_large:
            for node in reversed(descendants(expression)):  # parts come before the whole
                if node not in self._of_large and size_of(node) > _SMALL:
                    self._of_large[node] = self._of_parts(node)
        return self._of_large[expression]

    def _of_parts(self, node: ast.AST) -> Effect:
        effect = self._own(node)
        for child in () if isinstance(node, ast.Lambda) else reversed(children(node)):
            effect = effect.joined(self.effect_of(child))
        return effect

    def call_effect(self, call: ast.Call) -> Effect:
        """Return the effect of a call without its arguments, including effects on the enclosing function."""
        return self._judged(*self._call(call))

    def effect_outside(self, call: ast.Call) -> Effect:
        """Return the effect of a call as a caller of the function observes it, without changes to values that
        the function created.
        """
        return self._judged(*self._call(call, by_caller=True))

    def _judged(self, effect: Effect, path: str | None) -> Effect:
        if path is None:
            return effect
        found = self.project.effect_at(path, self.names.module) if self.project is not None else None
        return found if found is not None else effect

    def path_of(self, call: ast.Call) -> str | None:
        """Return the access path of the called function, if that may be a function of the project."""
        return self._call(call)[1]

    def function_effect(self, function: Function) -> tuple[Effect, tuple[tuple[str, Effect], ...]]:
        """Return the effect of calling a function of this file, as far as the file determines it, and the
        access paths of its calls that other files must resolve, each with the effect to assume if they
        cannot. Assignments to locals are not effects.
        """
        if isinstance(function, ast.AsyncFunctionDef):
            return _SUSPENDS, ()
        effect = self._decorated(function)
        paths: list[tuple[str, Effect]] = []
        scope = self.syntax.scopes[function]
        if scope.globals or scope.nonlocals:
            effect = effect.joined(Effect(EffectKind.MUTATES, "rebinds a name outside itself"))
        has_hidden = self.hidden.may_run
        for node in _running_in(function, None if has_hidden else _MAY_DO):
            kind = type(node)
            if isinstance(node, ast.Call):
                own, path = self._call(node, by_caller=True)
                if has_hidden:
                    own = own.joined(self.hidden.effect(node))
                if path is not None:
                    paths.append((path, own))
                    own = PURE
            elif kind in _READING and effect.kind and not has_hidden and _is_read(node):
                continue  # whose reads are known
            elif kind is ast.NamedExpr:
                continue  # binds a local
            elif kind in _ITERATIONS and self.is_made_here(node.iter):  # type: ignore[attr-defined]
                continue  # no other code has the iterator
            else:
                own = self._own(node) if has_hidden else self._LOOKS[kind](self, node)
            if own.kind:
                effect = effect.joined(own)
        return effect, tuple(dict.fromkeys(paths))

    def _decorated(self, function: Function) -> Effect:
        """Return the effects that unknown decorators may add to a function."""
        for decorator in function.decorator_list:
            named = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self.names.qualified(named) not in _ADD_NOTHING:
                return Effect(EffectKind.UNKNOWN, f"`@{ast.unparse(named)}` is not known to rlint")
        return PURE

    def _effect_of_body(self, function: Function) -> Effect:
        effect, paths = self.function_effect(function)
        for path, unknown in paths:
            effect = effect.joined(self._judged(unknown, path))
        return effect

    def _own(self, node: ast.AST) -> Effect:
        """Return the effect of one node, without its children."""
        if self.hidden.may_run:
            hidden = self.hidden.effect(node)
            if hidden.acts:
                return hidden
        look = self._LOOKS.get(type(node))
        return look(self, node) if look is not None else PURE

    def _of_suspension(self, _: ast.Yield | ast.YieldFrom | ast.Await) -> Effect:
        return _SUSPENDS

    def _of_walrus(self, node: ast.NamedExpr) -> Effect:
        return Effect(EffectKind.OTHER, f"binds `{node.target.id}`")

    def _of_declaration(self, _: ast.Global | ast.Nonlocal) -> Effect:
        return Effect(EffectKind.MUTATES, "rebinds a name outside the function")

    def _of_iteration(self, node: ast.For | ast.comprehension) -> Effect:
        return self._of_iterated(node.iter)

    def _of_attribute(self, node: ast.Attribute) -> Effect:
        if isinstance(node.ctx, ast.Load):
            return PURE if self._is_callee(node) or self.names.qualified(node) else READS
        if self.is_made_here(node.value):
            return PURE
        return Effect(EffectKind.MUTATES, f"sets the attribute `{node.attr}`")

    def _of_subscript(self, node: ast.Subscript) -> Effect:
        if isinstance(node.ctx, ast.Load):
            kind = self.types.type_of(node.value)
            unchanging = kind.fresh or is_immutable(kind) or self.is_made_here(node.value)
            return PURE if unchanging or self._is_own_item(node.value) else READS
        if self.is_made_here(node.value) or self._is_own_item(node.value):
            return PURE
        return Effect(EffectKind.MUTATES, "stores an item")

    def _of_augmented(self, node: ast.AugAssign) -> Effect:
        name = node.target
        # `x += 1` changes a list or an array in place
        if not isinstance(name, ast.Name) or self._holds_immutable(name) or self.is_made_here(name):
            return PURE
        kind = EffectKind.MUTATES if self.types.type_of(name) else EffectKind.UNKNOWN
        return Effect(kind, f"may change `{name.id}` in place")

    def _is_callee(self, node: ast.Attribute) -> bool:
        """Whether this is only the method of a call. The reads of the call count for the method."""
        return self.syntax.call_of(node) is not None

    def _of_name(self, node: ast.Name) -> Effect:
        if not isinstance(node.ctx, ast.Load):
            return PURE
        scope, bindings = self.names.bindings(node)
        if scope is None or scope.parent is not None:
            return PURE
        fixed = all(
            binding.kind in (BindingKind.IMPORT, BindingKind.FUNCTION, BindingKind.CLASS)
            for binding in bindings
        ) or (len(bindings) == 1 and is_immutable(self.types.binding_kind(bindings[0])))
        return PURE if fixed else READS

    def _call(self, call: ast.Call, *, by_caller: bool = False) -> tuple[Effect, str | None]:
        """Return the effect of a call, or an access path that other files must resolve, with the effect to
        assume if they cannot; `by_caller`: as the caller of the enclosing function observes it, without
        changes to objects that the function created.
        """
        return self.types.notes.kept(
            self._calls, (call, by_caller), lambda: self._looked_at(call, by_caller=by_caller)
        )

    def _looked_at(self, call: ast.Call, *, by_caller: bool) -> tuple[Effect, str | None]:
        for keyword in call.keywords:
            if keyword.arg in models.MUTATING_KEYWORDS or (
                keyword.arg == "copy" and is_constant(keyword.value, value=False)
            ):
                return _WRITES, None
        for value in arguments_of(call):
            if self._is_iterator(value):
                return USES_UP, None
        qualified = self.names.qualified(call.func)
        if qualified is not None:
            known = models.callable_fact(qualified, argument_count(call))
            if models.consumes_iterators(qualified):
                effects = [self._of_iterated(value) for value in call.args]
                for effect in (USES_UP, _LOADS):
                    if effect in effects:
                        return effect, None
            if known is not None:
                effect = known.effect
                if effect.kind & EffectKind.WRITES_OUTPUT and any(k.arg in _STREAMS for k in call.keywords):
                    effect = effect.joined(_WRITES_TO)
                return self._with_callbacks(call, qualified, effect), None
            return self._unknown(call.func), qualified
        if isinstance(call.func, ast.Attribute):
            return self._method(call, call.func, by_caller=by_caller)
        callee = self.types.type_of(call.func)
        if callee.tag is TypeTag.MODULE:
            return Effect(
                EffectKind.UNKNOWN, f"`{self._shown(call.func)}` is a module, which may keep state"
            ), None
        if callee.tag is TypeTag.TOKENIZER:
            return PURE, None
        if callee.of and callee.tag in (TypeTag.FUNCTION, TypeTag.CLASS, TypeTag.UNKNOWN):
            return self._unknown(call.func), callee.of
        return self._unknown(call.func), None

    def _method(self, call: ast.Call, func: ast.Attribute, *, by_caller: bool) -> tuple[Effect, str | None]:
        # `torch.Tensor.to = traced`, `re.match = traced` in the same file
        if func.attr in self.names.replaced_methods or func.attr in self.names.replaced_functions:
            return self._unknown(func), None
        owner = self.types.type_of(func.value)
        if by_caller and func.attr in CHANGES and self._is_own_item(func.value):
            return PURE, None
        if owner.tag is not TypeTag.UNKNOWN:
            known = models.method_fact(owner.tag, func.attr, argument_count(call))
            if known is not None and owner.tag is not TypeTag.INSTANCE:
                on_owner = by_caller and owner.tag in _MUTABLE_TAGS and known.effect.kind & _ON_OWN_VALUE
                if on_owner and self.is_made_here(func.value):
                    return known.effect.without(_ON_OWN_VALUE), None
                if owner.tag is TypeTag.PATTERN and func.attr in ("sub", "subn"):
                    return self._calling_back(called_back(call, "re.Pattern.sub"), known.effect), None
                return known.effect, None
            return self._unknown(func), f"{owner.of}().{func.attr}" if owner.of else None
        text_first = bool(call.args) and self.types.type_of(call.args[0]).tag is TypeTag.STR
        count = len(call.args) + len(call.keywords)
        known = models.method_on_unknown(func.attr, count, text_first=text_first)
        if known is None and is_parsed(func.value, self.names):
            known = lookup(func.attr, count)
        if known is not None:
            own = self._own_method(func.attr)
            effect = own if own.acts else known.effect
        else:
            effect = PURE if is_move_of_tensor(call, self.types) else self._unknown(func)
        return effect, f"{owner.of}.{func.attr}" if owner.of else None

    def _own_method(self, name: str) -> Effect:
        """Return the effect of the methods of this name that classes of the file define, which an object of
        unknown class may have. Empty while it is being computed.
        """
        known = self._own_methods.get(name)
        if known is None:
            known = self._own_methods[name] = PURE
            for method in self.syntax.methods_by_name.get(name, ()):
                known = known.joined(self._effect_of_body(method))
            self._own_methods[name] = known
        return known

    def _is_own_item(self, value: ast.expr) -> bool:
        """Whether an expression is an item of a local container that holds only objects created by the
        function.
        """
        match value:
            case ast.Subscript(value=ast.Name() as owner):
                return self.is_made_here(owner) and holds_own_items(owner, self.syntax, self.names)
        return False

    def _of_iterated(self, value: ast.expr) -> Effect:
        """Return the effect of iterating over a value."""
        if self._is_iterator(value, files=True):
            return USES_UP
        return _LOADS if draws_on_iteration(self.types.type_of(value)) else PURE

    def _is_iterator(self, value: ast.expr, *, files: bool = False) -> bool:
        """Whether a variable holds an iterator (or a file, which is read line by line); one created in the
        same expression, as in `sum(x for x in y)`, is not shared.
        """
        if not isinstance(value, (ast.Name, ast.Attribute)):
            return False
        tag = self.types.type_of(value).tag
        return tag is TypeTag.ITERATOR or (files and tag is TypeTag.FILE)

    def _with_callbacks(self, call: ast.Call, qualified: str, effect: Effect) -> Effect:
        """Return the effect of a pure function that calls its argument (`map`, `sorted(key=)`): that of the
        argument.
        """
        return (
            self._calling_back(called_back(call, qualified), effect)
            if models.calls_back(qualified)
            else effect
        )

    def _calling_back(self, arguments: list[ast.expr], effect: Effect) -> Effect:
        for argument in arguments:
            if isinstance(argument, ast.Lambda):
                effect = effect.joined(self.effect_of(argument.body))
            elif isinstance(argument, ast.Call):
                effect = effect.joined(self._made_callback(argument))
            elif isinstance(argument, (ast.Name, ast.Attribute)):
                effect = effect.joined(self._callback_effect(argument))
        return effect

    def _made_callback(self, made: ast.Call) -> Effect:
        """Return the effect of calling a function that is made of another: `partial(self.score, 1)`."""
        maker = self.names.qualified(made.func)
        if maker in _WRAPPERS and made.args:
            return self._calling_back(made.args[:1], PURE)
        return self._unknown(made) if maker in _GETTERS else PURE

    def _callback_effect(self, argument: ast.expr) -> Effect:
        qualified = self.names.qualified(argument)
        kind = self.types.type_of(argument)
        if qualified is None and kind.tag is not TypeTag.FUNCTION:
            # data, or a callable that was passed in
            return PURE if kind else self._unknown(argument)
        path = qualified or kind.of
        known = models.callable_fact(path)
        if known is not None:
            return known.effect
        found = self.project.effect_at(path, self.names.module) if self.project is not None else None
        return found or self._unknown(argument)

    def _unknown(self, called: ast.expr) -> Effect:
        return Effect(EffectKind.UNKNOWN, f"`{self._shown(called)}` is not known to rlint")

    def _shown(self, expression: ast.expr) -> str:
        start, end = self.syntax.positions.span(expression)
        text = " ".join(self.syntax.text[start : min(end, start + 80)].split())
        return text if len(text) <= 40 else f"{text[:37]}..."

    def is_made_here(self, expression: ast.expr) -> bool:
        """Whether an expression is a local name whose value the function itself created, so that no other
        code observes changes.
        """
        if not isinstance(expression, ast.Name):
            return False
        scope, bindings = self.names.bindings(expression)
        if scope is None or not isinstance(scope.node, FUNCTIONS):
            return False
        if self.syntax.function(expression) is not scope.node:
            return False
        return all(self._made_here(binding) for binding in bindings)

    def _holds_immutable(self, name: ast.Name) -> bool:
        """Whether the variable has only values that `+=` cannot modify in place. The result of a call of
        unknown type counts as new.
        """
        scope, bindings = self.names.bindings(name)
        known = self._immutable.get((scope, name.id))
        if known is None:
            known = self._immutable[scope, name.id] = all(
                binding.kind is BindingKind.AUGMENT
                or is_immutable(self.types.binding_kind(binding))
                or isinstance(binding.value, (ast.Call, ast.BinOp, ast.UnaryOp))
                for binding in bindings
            ) or is_optional_number(name, self.syntax)
        return known

    def _made_here(self, binding: Binding) -> bool:
        if binding.kind is BindingKind.AUGMENT:
            return True  # keeps what the other bindings created
        if binding.kind is not BindingKind.ASSIGN or binding.value is None or binding.path:
            return False
        if isinstance(binding.value, _FRESH_DISPLAYS):
            return True
        kind = self.types.type_of(binding.value)
        return kind.fresh or is_immutable(kind)

    _LOOKS: ClassVar[dict[type[ast.AST], Callable[..., Effect]]] = {
        ast.Attribute: _of_attribute,
        ast.AugAssign: _of_augmented,
        ast.Await: _of_suspension,
        ast.Call: call_effect,
        ast.For: _of_iteration,
        ast.Global: _of_declaration,
        ast.Name: _of_name,
        ast.NamedExpr: _of_walrus,
        ast.Nonlocal: _of_declaration,
        ast.Subscript: _of_subscript,
        ast.Yield: _of_suspension,
        ast.YieldFrom: _of_suspension,
        ast.comprehension: _of_iteration,
    }
    """Maps the type of a node that may have an effect to the method that determines it."""


def _is_read(node: ast.AST) -> bool:
    return isinstance(node.ctx, ast.Load)  # type: ignore[attr-defined]


def _evaluated(expression: ast.AST) -> Iterator[ast.AST]:
    """Yield the expression's nodes, lambda bodies left out: they run only when called."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.Lambda):
            continue
        stack.extend(children(node))


_MAY_DO = frozenset(EffectInference._LOOKS)


def _running_in(function: Function, types: Container[type[ast.AST]] | None) -> Iterator[ast.AST]:
    """Yield the nodes that run when the function is called, of some types if they are given; nested functions
    run only when called. Each node comes before its parts, and the last part comes first.
    """
    for statement in function.body:
        nodes = descendants(statement)
        if not RUN_LATER.isdisjoint(map(type, nodes)):
            nodes = running(statement)
        if types is not None:
            nodes = [node for node in nodes if type(node) in types]
        yield from sorted(nodes, key=end_in_order, reverse=True)
