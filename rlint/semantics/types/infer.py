"""Type inference of expressions: from the values that flow into them, and the functions that create them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from rlint import models
from rlint.models.value_type import UNKNOWN, Choice, Type, TypeTag, deferred, unpacked, with_choice
from rlint.regex import regex
from rlint.semantics.dataflow.reaching_definitions import MAX_DEFINITIONS, ReachingDefinitions
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.semantics.interprocedural.trampoline import Step, run
from rlint.semantics.types import batches
from rlint.semantics.types.algebra import along, arithmetic, each_of, is_hdf5, item_of, refines, with_default
from rlint.semantics.types.annotations import annotation_kind
from rlint.semantics.types.container_insertions import HOLD, with_items_added
from rlint.semantics.types.infer_base import ITERATES, Handlers, TypeResolver
from rlint.semantics.types.infer_calls import CallInference
from rlint.semantics.types.infer_literals import LiteralInference
from rlint.semantics.types.likely.choices import marked
from rlint.semantics.types.likely.evidence import UseEvidence
from rlint.semantics.types.likely.notes import NOTHING, Noted
from rlint.semantics.types.results import networks
from rlint.semantics.types.usage_inference import INFERRED_FROM_USE, UsageInference
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import defaults_of, is_classmethod
from rlint.syntax.scopes import Binding, BindingKind, Scope
from rlint.syntax.syntax_index import FUNCTIONS, Function, SyntaxIndex
from rlint.syntax.walk import descendants

_SAME_ITEMS = ITERATES | {"builtins.sorted", "builtins.list", "tqdm.rich.tqdm", "rich.progress.track"}
_WRAPS_ITERABLES = _SAME_ITEMS | {"builtins.enumerate", "builtins.zip"}
_LOADER = regex(r"loader$|dataloader")
_ENTER_AS_THEMSELVES = frozenset(
    {
        TypeTag.FILE,
        TypeTag.POOL,
        TypeTag.LOCK,
        TypeTag.CONNECTION,
        TypeTag.WRITER,
        TypeTag.ITERATOR,
        TypeTag.PYTHON_MODULE,
    }
)
MOST_STARRED = 16
"""Maximum number of arguments for `*args` that are distinguished."""
MOST_CALLS = 24
"""Uses of the variable of a lambda; with more, the types of its parameters are unknown."""
_MADE_PRECISE = frozenset(TypeTag[name] for name in "DICT LOADER NDARRAY TENSOR TUPLE".split())
"""Types of annotations that say little: callers determine dtypes, devices and the parts of containers."""
_SEQUENCES = frozenset({TypeTag.LIST, TypeTag.DEQUE})
_DEPTH = 40
_PASSES = 3  # iterations within which a recursive definition must converge to one type
_DEFERRED_PASSES = 2  # the same where the values' classes are not known yet
_MOST_PARTS = 200
_BINDS = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)


class TypeInference(CallInference, LiteralInference):
    """The types in one file.

    An unknown type may carry in `of` the access path that leads to it (`buffers.Replay().storage`), which the
    project resolves once all files are known.
    """

    def __init__(
        self,
        syntax: SyntaxIndex,
        names: QualifiedNames,
        definitions: ReachingDefinitions,
        project: TypeResolver | None,
        by_use: UsageInference | None = None,
        evidence: UseEvidence | None = None,
    ) -> None:
        super().__init__(syntax, names, definitions, project)
        self._cache: dict[ast.AST, Type] = {}
        self._bindings: dict[Binding, Type] = {}
        self._depth = 0
        self._assuming: set[Binding] = set()
        self._reads_of_itself: dict[Binding, list[ast.expr]] = {}
        self.by_use = by_use or UsageInference(syntax, names, definitions)
        self.evidence = evidence or UseEvidence(syntax, names, definitions)

    def linked(self, project: TypeResolver) -> TypeInference:
        """Return the types in the same file, with the project's knowledge of them."""
        linked = TypeInference(self.syntax, self.names, self.definitions, project, self.by_use, self.evidence)
        linked.open_device = self.open_device
        return linked

    def type_of(self, expression: ast.expr) -> Type:
        """Return the type of an expression at its place."""
        known = self._cache.get(expression)
        if known is not None:
            if known.caveat is not None:
                self.notes.add(known.caveat)
            return known
        handler = self._HANDLERS.get(type(expression))
        if handler is None or self._depth > _DEPTH:
            return UNKNOWN
        self._cache[expression] = UNKNOWN  # a value that depends on itself is unknown
        self._depth += 1
        notes = self.notes
        around, notes.state = notes.state, NOTHING
        try:
            kind = handler(self, expression)
        finally:
            self._depth -= 1
        if kind.of and kind.tag is TypeTag.UNKNOWN:
            kind = self.resolved(kind)
        if kind.tag is TypeTag.UNKNOWN and self.evidence.class_tests.places:
            kind = self._tested_kind(expression) or kind
        if kind.tag is TypeTag.UNKNOWN:
            shown = self.evidence.of(expression)
            if shown is not None:
                kind = with_choice(kind, shown)
        if kind.caveat is not None or notes.state is not NOTHING:
            kind = marked(self.judged(kind, expression), notes.state)
        notes.state = around
        if kind.caveat is not None:
            notes.add(kind.caveat)
        self._cache[expression] = kind
        return kind

    def found_before(self, expression: ast.expr) -> Type | None:
        """Return the type of an expression as inferred by an earlier query; None if there was none."""
        return self._cache.get(expression)

    def _tested_kind(self, expression: ast.expr) -> Type:
        """Return the type that a test of its class implies for an expression."""
        kind = self.evidence.class_tests.kind_of(expression)
        return self.resolved(kind) if kind.of else kind

    def judged(self, kind: Type, place: ast.expr | Binding) -> Type:  # noqa: ARG002 - for what is likely
        """Return the accepted part of the type inferred for an expression or a binding."""
        return kind

    def binding_kind(self, binding: Binding) -> Type:
        """Return the type of the value that one binding assigns."""
        known = self._bindings.get(binding)
        if known is None:
            if binding.kind is BindingKind.AUGMENT:
                return run(self._augmented_kind(binding))
            return self._found_kind(binding)
        if known.caveat is not None:
            self.notes.add(known.caveat)
        return known

    def _augmented_kind(self, binding: Binding) -> Step[Type]:
        """Return the same for augmented assignments, of which thousands may follow one another."""
        if binding.kind is not BindingKind.AUGMENT or binding in self._bindings:
            return self.binding_kind(binding)
        self._bindings[binding] = UNKNOWN
        around, self.notes.state = self.notes.state, NOTHING
        augmented: Type = yield self._augmented(binding)
        return self._settled_kind(binding, augmented.aged(), around)

    def _found_kind(self, binding: Binding) -> Type:
        self._bindings[binding] = UNKNOWN
        around, self.notes.state = self.notes.state, NOTHING
        look = self._BOUND.get(binding.kind)
        kind = look(self, binding).aged() if look is not None else UNKNOWN
        return self._settled_kind(binding, kind, around)

    def _settled_kind(self, binding: Binding, kind: Type, around: Noted) -> Type:
        """Return the type of a binding once its value is resolved, and cache it."""
        notes = self.notes
        if kind.of and kind.tag is TypeTag.UNKNOWN:
            kind = self.resolved(kind)
        self._bindings[binding] = kind
        if kind.tag is TypeTag.UNKNOWN:
            if binding.kind in INFERRED_FROM_USE:
                kind = self._kind_by_use(binding) or kind
        elif kind.tag in HOLD:
            kind = with_items_added(kind, binding, self.syntax, self.type_of, self.names.qualified)
        if kind.caveat is not None or notes.state is not NOTHING:
            kind = marked(self.judged(kind, binding), notes.state)
        notes.state = around
        if kind.caveat is not None:
            notes.add(kind.caveat)
        self._bindings[binding] = kind
        return kind

    def used_as(self, name: str, scope: Scope) -> Type:
        """Return the type that the uses of a variable of `scope` imply, or UNKNOWN."""
        bindings = scope.bindings.get(name)
        return self._kind_by_use(bindings[0]) if bindings else UNKNOWN

    def _kind_by_use(self, binding: Binding) -> Type:
        project = self.project
        kind = self.by_use.type_of(
            binding,
            self._parameter_kind if project is not None else None,
            project.defines_method if project is not None else None,
        )
        parameter, function = binding.node, binding.statement
        if kind and isinstance(parameter, ast.arg) and isinstance(function, FUNCTIONS):
            default = defaults_of(function.args).get(parameter.arg)
            return kind if default is None else with_default(kind, self.type_of(default))
        return kind

    def _parameter_kind(self, call: ast.Call, argument: str) -> Type:
        assert self.project is not None
        path = self.names.qualified(call.func)
        if path is None and argument == "0" and networks.takes_tensor(self.type_of(call.func)):
            return Type(TypeTag.TENSOR)
        if path is None and isinstance(call.func, ast.Attribute):
            owner = self.type_of(call.func.value)
            path = f"{owner.of}().{call.func.attr}" if owner and owner.of else None
        return self.project.parameter_kind(path, self.names.module, argument) if path else UNKNOWN

    # -- names ---------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> Type:
        scope, bindings = self.names.bindings(node)
        if scope is None:
            qualified = self.names.qualified(node)
            return Type(TypeTag.FUNCTION, of=qualified) if qualified else UNKNOWN
        if scope.parent is None and self.names.is_set_by_text(node):
            return UNKNOWN
        if len(bindings) > 1 or bindings[0].kind is BindingKind.ANNOTATE:
            bindings = self.definitions.reaching(node)
            if not bindings or len(bindings) > MAX_DEFINITIONS:
                return UNKNOWN
        kind = self._of_bindings(node.id, bindings)
        if kind.tag is TypeTag.TENSOR and kind.assumes and self.evidence.class_tests.exclude_tensor(node):
            return UNKNOWN
        if kind.tag is TypeTag.BATCH and self._is_tested_tensor(node):
            return batches.part_of(kind)
        return kind

    def _of_bindings(self, name: str, bindings: list[Binding]) -> Type:
        """Return the type of a variable that may have the value of any of these bindings. A binding that
        computes the next value from the last (`state = state.cuda()` in a loop) has the type that it computes
        from the other bindings' type, if that is a fixed point.
        """
        again = (
            [(b, read) for b in bindings if (read := self._own_reads(name, b))] if len(bindings) > 1 else []
        )
        if not again:
            return self._of_each(bindings)
        first = [binding for binding in bindings if all(binding is not other for other, _ in again)]
        if not first:
            return self._of_each(bindings)
        start = self._of_each(first)
        if not start or any(binding in self._assuming for binding, _ in again):
            return self._of_each(bindings)
        self._assuming.update(binding for binding, _ in again)
        try:
            return self.least_kind(
                start, [(b.value, b.path, read) for b, read in again if b.value is not None]
            )
        finally:
            self._assuming.difference_update(binding for binding, _ in again)

    def _of_each(self, bindings: list[Binding]) -> Type:
        kind = self.binding_kind(bindings[0])
        for binding in bindings[1:]:
            kind = kind.joined(self.binding_kind(binding))
        is_likely = kind.tag is TypeTag.UNKNOWN and kind.caveat is not None and kind.caveat.choices
        if is_likely and any(map(self._rests_on_test, bindings)):
            return UNKNOWN  # a test narrows the type in its own branch only
        return kind

    def _rests_on_test(self, binding: Binding) -> bool:
        """Whether a variable is bound to a value computed from itself where a test of its class holds: `x =
        x.cpu()`.
        """
        if binding.value is None or binding.kind is not BindingKind.ASSIGN:
            return False
        return self.evidence.class_tests.narrows(binding.name) and any(
            isinstance(part, ast.Name)
            and part.id == binding.name
            and bool(self.evidence.class_tests.kind_of(part))
            for part in descendants(binding.value)
        )

    def _own_reads(self, name: str, binding: Binding) -> list[ast.expr]:
        """Return the nodes in the value of an assignment that may read its previous result."""
        if binding.kind is not BindingKind.ASSIGN or binding.value is None:
            return []
        known = self._reads_of_itself.get(binding)
        if known is None:
            known = self._reads_of_itself[binding] = [
                node
                for node in descendants(binding.value)
                if isinstance(node, ast.Name)
                and node.id == name
                and binding in self.definitions.reaching(node)
            ]
        return known

    def least_kind(
        self, start: Type, steps: Sequence[tuple[ast.expr, tuple[int, ...], Sequence[ast.expr]]]
    ) -> Type:
        """Return the type of a value that begins as `start` and is then computed by one of the steps: an
        expression, the path to the value in its result, and its parts that read the value. UNKNOWN if the
        type does not stay the same. What is known only to other files is joined over the first steps.
        """
        kind = start
        for _ in range(_PASSES if start else _DEFERRED_PASSES):
            wider = kind
            for value, path, reads in steps:
                wider = wider.joined(along(self._kind_if(value, dict.fromkeys(reads, kind)), path).aged())
            if wider == kind or wider._replace(caveat=None) == kind._replace(caveat=None):
                return wider
            kind = wider
        return UNKNOWN if start else kind

    def _kind_if(self, value: ast.expr, assumed: Mapping[ast.expr, Type]) -> Type:
        """Return the type of an expression if these parts of it have these types."""
        parts = list(descendants(value))
        handler = self._HANDLERS.get(type(value))
        if handler is None or len(parts) > _MOST_PARTS or any(isinstance(part, _BINDS) for part in parts):
            return UNKNOWN
        known = {part: self._cache.pop(part) for part in parts if part in self._cache}
        for read, kind in assumed.items():
            self._cache[read] = kind
        try:
            found = assumed[value] if value in assumed else handler(self, value)
            return self.resolved(found) if found.of else found
        finally:
            for part in parts:
                self._cache.pop(part, None)
            self._cache.update(known)

    def _is_tested_tensor(self, name: ast.Name) -> bool:
        """Whether `name` is read where `isinstance(name, torch.Tensor)` or `torch.is_tensor(name)` holds."""
        child: ast.AST = name
        for parent in self.syntax.ancestors(name):
            chosen = parent.body if isinstance(parent, (ast.If, ast.IfExp)) else []
            if child is chosen or (isinstance(chosen, list) and child in chosen):
                match getattr(parent, "test", None):
                    case ast.Call(func=test, args=[ast.Name(id=tested), *classes]) if tested == name.id:
                        return self.names.qualified(test) in (
                            "builtins.isinstance",
                            "torch.is_tensor",
                        ) and all(self.names.qualified(cls) == "torch.Tensor" for cls in classes)
            child = parent
        return False

    def _assigned(self, binding: Binding) -> Type:
        if binding.value is None:
            return UNKNOWN
        kind = self.type_of(binding.value)
        if kind.tag is TypeTag.UNKNOWN:
            annotation = getattr(binding.statement, "annotation", None)
            if annotation is not None:
                kind = annotation_kind(annotation, self.names) or kind
        match binding.statement:
            case ast.Assign(targets=[ast.Tuple(elts=targets)]) if kind.tag is TypeTag.TUPLE:
                if not any(isinstance(target, ast.Starred) for target in targets):
                    kind = unpacked(kind, len(targets))
            case _ if binding.path and kind.tag is TypeTag.INSTANCE and kind.of:
                kind = self.found_at(f"{kind.of}().__iter__()") or kind
        return along(kind, binding.path)

    def _augmented(self, binding: Binding) -> Step[Type]:
        if binding.value is None or not isinstance(binding.statement, ast.AugAssign):
            return UNKNOWN
        scope = self.syntax.scope(binding.statement)
        prior = UNKNOWN
        for index, earlier in enumerate(self.definitions.before(binding.name, binding.statement, scope)):
            if earlier is not binding:
                kind = yield self._augmented_kind(earlier)
                prior = kind if index == 0 or not prior else prior.joined(kind)
        if prior.tag in (
            TypeTag.TENSOR,
            TypeTag.NDARRAY,
            TypeTag.LIST,
            TypeTag.SET,
            TypeTag.DEQUE,
            TypeTag.DICT,
        ):
            return prior
        return arithmetic(prior, self.type_of(binding.value), binding.statement.op)

    def _looped(self, binding: Binding) -> Type:
        return self.iterated(binding.value, binding.path) if binding.value is not None else UNKNOWN

    def _entered(self, binding: Binding) -> Type:
        kind = self.type_of(binding.value) if binding.value is not None else UNKNOWN
        return kind if kind.tag in _ENTER_AS_THEMSELVES or is_hdf5(kind) else UNKNOWN

    def _imported(self, binding: Binding) -> Type:
        return deferred(models.canonical(binding.target))

    def _function(self, binding: Binding) -> Type:
        return Type(TypeTag.FUNCTION, of=f"{self.names.module}.{self.syntax.qualname(binding.node)}")

    def _class(self, binding: Binding) -> Type:
        return Type(TypeTag.CLASS, of=f"{self.names.module}.{self.syntax.qualname(binding.node)}")

    def _parameter(self, binding: Binding) -> Type:
        parameter = binding.node
        function = binding.statement
        if isinstance(parameter, ast.arg) and isinstance(function, ast.Lambda):
            return self._passed_to_lambda(parameter, function)
        if not isinstance(parameter, ast.arg) or not isinstance(function, FUNCTIONS):
            return UNKNOWN
        owner = self.names.receiver_class(parameter, function)
        if owner is not None:
            path = f"{self.names.module}.{self.syntax.qualname(owner)}"
            return deferred(f"{path}()" if not is_classmethod(function) else path)
        if function.args.vararg is parameter:
            return Type(TypeTag.TUPLE)
        if function.args.kwarg is parameter:
            return Type(TypeTag.DICT)
        if parameter.annotation is not None:
            kind = self.promised(parameter, function)
            if kind.tag in _MADE_PRECISE:
                passed = self.resolved(self._passed(parameter, function))
                return passed if refines(passed, kind) else kind
            if kind.tag in _SEQUENCES and kind.item is None and not kind.parts:
                passed = self.resolved(self._passed(parameter, function))
                return (
                    kind._replace(item=passed.item, caveat=passed.caveat) if refines(passed, kind) else kind
                )
            if kind.of or kind.tag is not TypeTag.UNKNOWN:
                return kind
            found = self._passed_or_default(parameter, function)
            likely = kind.caveat.choices[:1] if kind.caveat is not None else ()
            return with_choice(found, likely[0]) if likely and not self.resolved(found) else found
        return self._passed_or_default(parameter, function)

    def _passed_to_lambda(self, parameter: ast.arg, function: ast.Lambda) -> Type:
        """Return the type passed to a lambda through the variable that holds it: `move = lambda x: …`."""
        match self.syntax.parents.get(function):
            case ast.Assign(targets=[ast.Name(id=name) as target]) if parameter in function.args.args:
                scope = self.syntax.scope(target).lookup(name)
            case _:
                return UNKNOWN
        if scope is None or scope.parent is None:
            return UNKNOWN
        place = function.args.args.index(parameter)
        found: Type | None = None
        uses = self.syntax.variables.uses(name, scope)
        for use in uses if len(uses) <= MOST_CALLS else ():
            call = self.syntax.parents[use]
            if not isinstance(use.ctx, ast.Load):
                continue
            if not isinstance(call, ast.Call) or call.func is not use or len(call.args) <= place:
                return UNKNOWN
            kind = self.type_of(call.args[place]).aged()
            found = kind if found is None else found.joined(kind)
        return found or UNKNOWN

    def _passed_or_default(self, parameter: ast.arg, function: Function) -> Type:
        """Return what callers pass; if no caller is known, a parameter likely has the type of its default."""
        passed = self._passed(parameter, function)
        default = defaults_of(function.args).get(parameter.arg)
        if default is None:
            return passed
        found = self.resolved(passed)
        kind = self.type_of(default) if not found else UNKNOWN
        return with_choice(found, Choice(kind)) if kind and kind.tag is not TypeTag.NONE else found

    def promised(self, parameter: ast.arg, function: Function) -> Type:
        """Return the type that the annotation of a parameter declares, as far as its default does not
        contradict it.
        """
        if parameter.annotation is None:
            return UNKNOWN
        kind = annotation_kind(parameter.annotation, self.names)
        default = defaults_of(function.args).get(parameter.arg) if kind or kind.of else None
        return kind if default is None else with_default(kind, self.type_of(default))

    def _passed(self, parameter: ast.arg, function: Function) -> Type:
        return deferred(f"{self.names.module}.{self.syntax.qualname(function)}@{parameter.arg}")

    def given(self, expression: ast.expr) -> Type:
        """Return the type of an argument; of `args` in `f(*args)`, what callers of the enclosing function
        pass.
        """
        kind = self.type_of(expression)
        if kind.tag is not TypeTag.TUPLE or kind.parts or not isinstance(expression, ast.Name):
            return kind
        made = self.definitions.reaching(expression)
        function = made[0].statement if len(made) == 1 else None
        if not isinstance(function, FUNCTIONS) or function.args.vararg is not made[0].node:
            return kind
        path = f"{self.names.module}.{self.syntax.qualname(function)}@*"
        passed = [deferred(f"{path}{place}") for place in range(MOST_STARRED)]
        return kind._replace(parts=tuple(passed))

    def iterated(self, iterable: ast.expr, path: tuple[int, ...]) -> Type:
        """Return the type that a loop over `iterable` binds at a path through its target."""
        if isinstance(iterable, ast.Call):
            callee = self.names.qualified(iterable.func)
            if callee == "builtins.enumerate" and iterable.args and path:
                return Type(TypeTag.INT) if path[0] == 0 else self.iterated(iterable.args[0], path[1:])
            if callee == "builtins.zip" and path and 0 <= path[0] < len(iterable.args):
                return self.iterated(iterable.args[path[0]], path[1:])
            if callee in _SAME_ITEMS and iterable.args:
                return self.iterated(iterable.args[0], path)
            if isinstance(iterable.func, ast.Attribute) and iterable.func.attr in ("items", "values", "keys"):
                owner = self.type_of(iterable.func.value)
                if iterable.func.attr == "keys" or (iterable.func.attr == "items" and path[:1] == (0,)):
                    return Type(TypeTag.STR) if owner.tag is TypeTag.STATE_DICT else UNKNOWN
                rest = path[1:] if iterable.func.attr == "items" else path
                known = owner.tag in (TypeTag.DICT, TypeTag.STATE_DICT, TypeTag.BATCH)
                return along(item_of(owner), rest) if known else UNKNOWN
        if isinstance(iterable, ast.Name):
            # `bar = tqdm(enumerate(loader))`
            made = self.definitions.reaching(iterable)
            if len(made) == 1 and made[0].kind in (BindingKind.ASSIGN, BindingKind.WITH) and not made[0].path:
                value = made[0].value
                if isinstance(value, ast.Call) and self.names.qualified(value.func) in _WRAPS_ITERABLES:
                    return self.iterated(value, path)
        kind = self.type_of(iterable)
        if self.project is not None and self._is_called_loader(iterable, kind):
            return along(batches.BATCH_ON_HOST, path)
        if kind.tag is TypeTag.INSTANCE and kind.item is not None:
            return along(kind.item, path)  # a sampler's lists
        if kind.tag in (TypeTag.INSTANCE, TypeTag.DATASET, TypeTag.REPLAY_BUFFER) and kind.of:
            iterator = f"{kind.of}().__iter__()"
            kind = self.found_at(iterator) or deferred(iterator)
        return along(each_of(kind), path)

    def _is_called_loader(self, iterable: ast.expr, kind: Type) -> bool:
        """Whether this is a parameter, or an attribute that holds one, whose name says that it is a
        loader.
        """
        if kind or not _LOADER.search((last_name(iterable) or "").lower()):
            return False
        if isinstance(iterable, ast.Attribute):
            stored = [
                parent.value
                for store in self.syntax.of_type(ast.Attribute)
                if store.attr == iterable.attr
                and isinstance(store.ctx, ast.Store)
                and isinstance(parent := self.syntax.parents[store], (ast.Assign, ast.AnnAssign))
            ]
            return bool(stored) and all(value is not None and self._is_parameter(value) for value in stored)
        return self._is_parameter(iterable)

    def _is_parameter(self, expression: ast.expr) -> bool:
        made = self.definitions.reaching(expression) if isinstance(expression, ast.Name) else []
        return bool(made) and all(binding.kind is BindingKind.PARAMETER for binding in made)

    _BOUND: ClassVar[dict[BindingKind, Callable[..., Type]]] = {
        BindingKind.ASSIGN: _assigned,
        BindingKind.WALRUS: _assigned,
        BindingKind.FOR: _looped,
        BindingKind.COMPREHENSION: _looped,
        BindingKind.WITH: _entered,
        BindingKind.PARAMETER: _parameter,
        BindingKind.IMPORT: _imported,
        BindingKind.FUNCTION: _function,
        BindingKind.CLASS: _class,
    }
    _HANDLERS: ClassVar[Handlers] = {ast.Name: _name, **CallInference.HANDLERS, **LiteralInference.HANDLERS}
