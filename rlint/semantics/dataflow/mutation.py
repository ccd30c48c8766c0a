"""Whether a value stays the same between two places."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from rlint import models
from rlint.models.effect import EffectKind
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.dataflow.aliasing import MEMORY, lenders
from rlint.semantics.dataflow.escape import EscapeAnalysis, EscapeLevel
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.nn.optimizer_effects import OptimizerEffects
from rlint.semantics.types.algebra import is_immutable
from rlint.syntax.queries import iterated_by
from rlint.syntax.read_chain import read_chain
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import COMPREHENSIONS, FUNCTIONS
from rlint.syntax.walk import children, descendants, is_in, names_bound

_FIXED = frozenset({TypeTag.FUNCTION, TypeTag.CLASS, TypeTag.PYTHON_MODULE})
# side effects of library calls other than modifying their arguments
_HARMLESS = (
    EffectKind.WRITES_OUTPUT
    | EffectKind.WARNS
    | EffectKind.READS_CLOCK
    | EffectKind.DRAWS
    | EffectKind.SLEEPS
    | EffectKind.FILE_IO
    | EffectKind.RENDERS
)
# while these calls wait, other threads and processes run
_WAITS = EffectKind.WAITS | EffectKind.SLEEPS
_HELD = (TypeTag.LOCK, TypeTag.CONDITION, TypeTag.SEMAPHORE)
_RUNS_OTHER_CODE = (ast.Call, ast.MatchClass, ast.withitem, ast.alias)
"""May run code that rebinds a variable of an outer scope: generators, special methods, other threads."""
_OTHERS = (Driver.ENVIRONMENT_STEP, Driver.MESSAGE)
_PLACES = frozenset({ast.Name, ast.Attribute, ast.Subscript})
_KINDS_WITH_EFFECTS = frozenset(
    {ast.Call, ast.AugAssign, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal}
    | {ast.alias, ast.ExceptHandler, ast.ClassDef, ast.MatchClass, *FUNCTIONS}
    | {ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.withitem, ast.AsyncFor, ast.comprehension}
    | {ast.For, ast.Starred, ast.Assign, ast.Compare}
)
_REFLECTS = models.having(Trait.REFLECTS, "builtins")
_SETS_WITHIN = models.having(Trait.SETS_WITHIN, "decimal", "numpy", "torch", "torch.amp", "torch.cuda.amp")
_MOST_COMPARED = 50_000
"""A file with more nodes than this between its repeated expressions is generated code, and is not analysed
further.
"""


class Mutations:
    """Mutations that may happen between two places of one file."""

    def __init__(self, analysis: FileAnalysis, uses: EscapeAnalysis) -> None:
        self.analysis = analysis
        self._uses = uses
        self._training = OptimizerEffects(analysis)
        self._compared = 0

    @property
    def gives_up(self) -> bool:
        """Whether the file is so repetitive that mutations between two places are not analysed."""
        return self._compared > _MOST_COMPARED

    def unchanged_between(self, expression: ast.expr, first: ast.AST, second: ast.AST) -> bool:
        """Whether `expression` always has the same value at `second` as at `first`, which runs before it.

        False if in doubt: `first` does not always run before `second`, a name in the expression may be
        rebound, or a mutable value in it may be modified, on any path in between.
        """
        nodes = self._between(first, second)
        watched = _Watched(expression, self.analysis, self._uses)
        return nodes is not None and not any(
            (watched.changed_by(node) or watched.may_alias(node) or self._is_trained(expression, node))
            and not watched.is_out_of_reach(node)
            for node in nodes
        )

    def doubts_between(
        self, expression: ast.expr, first: ast.AST, second: ast.AST
    ) -> tuple[ast.AST, ...] | None:
        """Return the nodes between `first` and `second` that could change the value of `expression` only
        indirectly: through objects that they are not passed, or through an alias. Empty if the value surely
        is the same; None if it is not, or if `first` does not always run first.
        """
        if self.gives_up:
            return None
        nodes = self._between(first, second)
        if nodes is None:
            return None
        return self._doubts(expression, _Watched(expression, self.analysis, self._uses), nodes)

    def _doubts(
        self, expression: ast.expr, watched: _Watched, nodes: Iterable[ast.AST]
    ) -> tuple[ast.AST, ...] | None:
        doubts: list[ast.AST] = []
        far: list[ast.AST] = []
        trained: list[ast.AST] = []
        for node in nodes:
            if watched.lets_others_change(node):
                return None
            is_trained = self._is_trained(expression, node)
            if is_trained and not self._training.is_likely_data(expression):
                return None
            may_alias = watched.may_alias(node)
            if not may_alias and watched.changed_by(node) and not watched.is_unrelated(node):
                return None
            if is_trained:
                trained.append(node)
            elif (may_alias or watched.changed_by(node)) and not watched.is_out_of_reach(node):
                (far if watched.is_likely_out_of_reach(node) else doubts).append(_with_place(node))
        # a training step is one doubt, however many calls it makes: the value may be a weight; all calls that
        # could change it only if they kept a reference are also one doubt
        return (*doubts, *far[-1:], *trained[-1:])

    def doubts_within(self, expression: ast.expr, parts: Iterable[ast.AST]) -> tuple[ast.AST, ...] | None:
        """Return the nodes evaluated within some parts of the file, besides `expression`, that could change
        its value only indirectly; None if a node changes it, or may change it directly.
        """
        if self.gives_up:
            return None
        own = set(descendants(expression))
        nodes = [node for part in parts for node in descendants(part) if node not in own]
        self._compared += len(nodes)
        hidden = self.analysis.effects.hidden
        watched = _Watched(expression, self.analysis, self._uses)
        return self._doubts(
            expression,
            watched,
            [n for n in nodes if _does_something(n) or (hidden.may_run and not hidden.effect(n).quiet)],
        )

    def _settings_around(self, node: ast.AST) -> list[ast.withitem]:
        """Return the context managers around a node within which library functions compute otherwise."""
        found = []
        for around in self.analysis.syntax.ancestors(node):
            if isinstance(around, FUNCTIONS):
                break
            for item in around.items if isinstance(around, (ast.With, ast.AsyncWith)) else ():
                called = item.context_expr
                name = self.analysis.names.qualified(called.func) if isinstance(called, ast.Call) else None
                if name in _SETS_WITHIN and not is_in(node, item):
                    found.append(item)
        return found

    def _is_trained(self, expression: ast.expr, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self._training.changes(expression, node)

    def _between(self, first: ast.AST, second: ast.AST) -> list[ast.AST] | None:
        """Return the nodes that may be evaluated in between; None if `first` does not always run before
        `second`, or if library functions compute otherwise in one of the places.
        """
        parts = self.analysis.definitions.between(first, second)
        if parts is None or self._settings_around(first) != self._settings_around(second):
            return None
        tree = self.analysis.syntax
        first_statement, second_statement = tree.statement(first), tree.statement(second)
        nodes = [node for part in parts for node in descendants(part)]
        self._compared += len(nodes)
        is_passed = second_statement in nodes
        # everything else that the two statements themselves evaluate
        for statement in dict.fromkeys((first_statement, second_statement)):
            nodes += _own_nodes(statement)
        if isinstance(first_statement, ast.AugAssign):
            nodes.append(first_statement)  # `total -= row.item()`, where `row` may be a view of `total`
        skipped = {node for end in (first, second) for node in descendants(end)}
        if not is_passed:
            # what is computed from `second`, and its store, come after it; in a loop around both, also before
            # it
            skipped.update(self._around(first, second, second_statement))
            skipped.update(_targets(second_statement, second))
        hidden = self.analysis.effects.hidden
        return [
            node
            for node in nodes
            if (_does_something(node) or (hidden.may_run and not hidden.effect(node).quiet))
            and node not in skipped
        ]

    def _around(self, first: ast.AST, second: ast.AST, statement: ast.stmt) -> list[ast.AST]:
        """Return the ancestors of `second` that are evaluated after it for good, and are not ancestors of
        `first`.
        """
        found: list[ast.AST] = []
        for node in self.analysis.syntax.ancestors(second):
            if node is statement:
                break
            found.append(node)
            if isinstance(node, COMPREHENSIONS) and not any(child is first for child in descendants(node)):
                found.clear()
        return found


class _Watched:
    """The names and attributes that the value of an expression depends on."""

    def __init__(self, expression: ast.expr, analysis: FileAnalysis, uses: EscapeAnalysis) -> None:
        self.analysis = analysis
        self._uses = uses
        self._held: list[ast.Name] = []
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.mutable: set[str] = set()
        self._whole: set[str] = set()
        """Those of `mutable` whose object the value depends on as a whole, not only on some attributes."""
        self.reads_state = False  # it calls project functions that read more than their arguments
        self.globals = False
        self.rebound = False  # some function rebinds a variable in it
        self.shared = False  # a mutable value in it was not created in this function
        unread: set[ast.AST] = set()
        bound_inside = {
            name
            for node in descendants(expression)
            if node in analysis.syntax.scopes
            for name in analysis.syntax.scopes[node].bindings
        }
        for node in descendants(expression):
            if isinstance(node, ast.Call) and not self.analysis.is_library_call(node):
                pure = analysis.effects.call_effect(node).pure and not self._reads_variables(node)
                self.reads_state = self.reads_state or not pure
                if pure:
                    unread.update(descendants(node.func))
            elif isinstance(node, ast.Name) and node.id not in bound_inside:
                kind = analysis.types.type_of(node)
                scope, _ = analysis.names.bindings(node)
                if analysis.names.qualified(node) is not None or kind.tag in _FIXED:
                    self.rebound = self.rebound or self._is_changing_variable(node)
                    continue
                self.names.add(node.id)
                # a call of a function that declares it `global` or `nonlocal` may rebind it
                self.rebound = self.rebound or node.id in analysis.syntax.declared
                self.globals = self.globals or (scope is not None and scope.parent is None)
                if not is_immutable(kind) and node not in unread:
                    self._held.append(node)
                    lending = lenders(node, analysis)
                    self.mutable |= {node.id, *lending}
                    self._whole |= lending if self._is_read_by_attribute(node) else {node.id, *lending}
                    self.shared = self.shared or not analysis.effects.is_made_here(node)
            elif isinstance(node, ast.Attribute) and self._is_read(node):
                self.attributes.add(node.attr)
        self.reads_state = self.reads_state or self.rebound

    def _reads_variables(self, call: ast.Call) -> bool:
        """Whether a function of the project reads variables besides its arguments."""
        path, index = self.analysis.effects.path_of(call), self.analysis.index
        return path is not None and index is not None and index.reads_variables(path, self.analysis.name)

    def _is_changing_variable(self, name: ast.Name) -> bool:
        """Whether an imported name, with its attributes, is a variable that may change: `config.STRICT`."""
        index = self.analysis.index
        if index is None:
            return False
        path = self.analysis.names.qualified(read_chain(name, self.analysis.syntax))
        if path is None or models.is_library(path):
            return False
        return index.is_changing_variable(path, self.analysis.name)

    def _is_read(self, node: ast.Attribute) -> bool:
        return self.analysis.syntax.call_of(node) is None and self.analysis.names.qualified(node) is None

    def _is_read_by_attribute(self, name: ast.Name) -> bool:
        """Whether only an attribute of `self` is read that its class stores: `self.returns`."""
        attribute = self.analysis.syntax.parents.get(name)
        cls = self.analysis.names.class_of_self(name)
        return (
            cls is not None
            and isinstance(attribute, ast.Attribute)
            and self._is_read(attribute)
            and not any(isinstance(part, FUNCTIONS) and part.name == attribute.attr for part in cls.body)
            and any(
                store.attr == attribute.attr
                and isinstance(store.value, ast.Name)
                and self.analysis.names.class_of_self(store.value) is cls
                for store in self.analysis.syntax.written.attribute_stores
            )
        )

    def _is_other_attribute(self, node: ast.AST) -> bool:
        """Whether a node is an attribute, or part of one, of an object of which the value only depends on
        other attributes: `self.writer`, or `self.sums[0]`.
        """
        owner, attribute = node, ""
        while isinstance(owner, (ast.Attribute, ast.Subscript)):
            attribute = owner.attr if isinstance(owner, ast.Attribute) else ""
            owner = owner.value
        return (
            isinstance(owner, ast.Name)
            and bool(attribute)
            and owner.id in self.mutable
            and owner.id not in self._whole
            and attribute not in self.attributes
        )

    def changed_by(self, node: ast.AST) -> bool:
        """Whether running this node (without its children) may change the value."""
        tree = self.analysis.syntax
        if not self.analysis.effects.hidden.effect(node).quiet or any(
            map(self._may_run_generator, iterated_by(node))
        ):
            return bool(self.mutable or self.attributes or self.reads_state)
        if self.rebound and isinstance(node, _RUNS_OTHER_CODE):
            return not self._runs_only_known_code(node)
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                parent = tree.parents.get(node)
                own = tree.scope(node).is_comprehension and not isinstance(parent, ast.NamedExpr)
                return name in self.names and not own and not _is_bound_to_itself(name, parent)
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                return name in self.attributes or _root(node.value) in self.mutable
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                root = _root(node.value)
                return root in self.mutable or bool(self.attributes & _attributes(node.value))
            case ast.AugAssign(target=ast.Name(id=name)):
                return name in self.mutable
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                return bool(self.names & set(names))
            case ast.Call():
                return self._changed_by_call(node)
            case ast.withitem(context_expr=entered):
                unknown = self._is_suspended_by(node) or self._is_unknown(entered)
                return unknown and bool(self.mutable or self.attributes or self.reads_state)
        if self._is_suspended_by(node):
            return bool(self.mutable or self.attributes or self.reads_state)
        return any(name in self.names for name in names_bound(node))

    def _runs_only_known_code(self, node: ast.AST) -> bool:
        """Whether a node is a call without effects whose arguments have no methods of their own."""
        if not isinstance(node, ast.Call) or not self.analysis.effects.call_effect(node).quiet:
            return False
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        return all(is_immutable(self.analysis.types.type_of(each)) for each in given)

    @property
    def _harmless(self) -> EffectKind:
        """Return the effects of library calls that change no value: they run no code of the project."""
        index = self.analysis.index
        return _HARMLESS if index is None else _HARMLESS & ~index.indirect_runs.run_by_output

    def _may_run_generator(self, iterated: ast.expr) -> bool:
        """Whether iterating over a value may run the code of a generator that was made elsewhere."""
        if not isinstance(iterated, (ast.Name, ast.Attribute, ast.Subscript)):
            return False
        tag = self.analysis.types.type_of(iterated).tag
        return tag in (TypeTag.ITERATOR, TypeTag.LOADER) or (
            tag is TypeTag.UNKNOWN
            and self.analysis.index is not None
            and self.analysis.index.indirect_runs.generators_act
        )

    @cached_property
    def _reach(self) -> EscapeLevel:
        """Return how far the objects of the value escape. READ: the function allocated them, and no other
        code holds or modifies them. HANDED: the function allocated them, and passes them to calls.
        """
        if self.shared or self.attributes or self.reads_state or self.globals or not self._held:
            return EscapeLevel.KEPT
        return max(map(self._reach_of, {name.id: name for name in self._held}.values()))

    def _reach_of(self, name: ast.Name) -> EscapeLevel:
        found = EscapeLevel.READ
        for binding in self.analysis.names.bindings(name)[1]:
            value = binding.value
            if binding.kind is not BindingKind.ASSIGN or binding.path or value is None:
                return EscapeLevel.KEPT
            kind = self.analysis.types.type_of(value)
            if not kind.fresh:
                return EscapeLevel.KEPT
            # other code may hold the items of a list
            found = max(
                found,
                self._uses.of(value).escape_level,
                EscapeLevel.READ if kind.tag in MEMORY else EscapeLevel.HANDED,
            )
        return found

    def is_out_of_reach(self, node: ast.AST) -> bool:
        """Whether the value is in memory that only this function holds, and the node is a call that does not
        name it, or modifies another object. Such a node cannot modify the value.
        """
        return self._is_in_other_function(node) and self._reach is EscapeLevel.READ

    def is_likely_out_of_reach(self, node: ast.AST) -> bool:
        """Whether the same likely holds for objects passed to calls: no call keeps them, and this one is not
        passed them.
        """
        if not self._is_in_other_function(node) or self._reach > EscapeLevel.HANDED:
            return False
        own = {name.id for name in self._held}
        return not any(isinstance(part, ast.Name) and part.id in own for part in descendants(node))

    def _is_in_other_function(self, node: ast.AST) -> bool:
        match node:
            case ast.Call():
                known = self.analysis.names.qualified(node.func) in _REFLECTS
                return not known and not self._starts_worker(node) and not self._resumes(node)
            case ast.Yield() | ast.YieldFrom() | ast.Await():
                return True
            case ast.Subscript() | ast.Attribute():
                return _root(node.value) not in self.names
        return False

    def is_unrelated(self, node: ast.AST) -> bool:
        """Whether a node that may change the value is a call whose arguments do not include what the value
        depends on, and the value is not reachable from every function.
        """
        if self._is_suspended_by(node):
            return not (self.mutable or self.attributes or self.reads_state)
        if isinstance(node, ast.withitem):
            return not self.reads_state
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return self._is_other_attribute(node)
        if not isinstance(node, ast.Call):
            return False
        if (
            (self.reads_state or self.globals)
            and not self.analysis.is_library_call(node)
            and self._runs_project_function(node)
        ):
            return False
        if any(isinstance(child, ast.Name) and child.id in self.mutable for child in self._handed(node)):
            return False
        if self._starts_worker(node):
            return False
        if not isinstance(node.func, ast.Name):
            return True
        _, bindings = self.analysis.names.bindings(node.func)
        return not any(
            b.kind is BindingKind.FUNCTION and self.analysis.syntax.function(b.node) for b in bindings
        )

    def _starts_worker(self, call: ast.Call) -> bool:
        """Whether a call starts a thread that was passed what the value depends on, or waits for it:
        `worker = Thread(target=fill, args=(values,))`, `worker.start()`.
        """
        match call.func:
            case ast.Attribute(value=ast.Name() as worker):
                if self.analysis.types.type_of(worker).tag is not TypeTag.THREAD:
                    return False
            case _:
                return False
        return self._was_passed(worker)

    def _resumes(self, call: ast.Call) -> bool:
        """Whether a call advances a generator or a lazy `map` that was passed what the value depends on."""
        return self.analysis.names.qualified(call.func) == "builtins.next" and any(
            isinstance(given, ast.Name) and self._was_passed(given) for given in call.args
        )

    def _was_passed(self, holder: ast.Name) -> bool:
        """Whether an object was made with what the value depends on, or with a function that uses it."""
        return any(
            self._uses_value(binding.value)
            for binding in self.analysis.names.bindings(holder)[1]
            if binding.value is not None
        )

    def _uses_value(self, code: ast.AST) -> bool:
        names = [part for part in descendants(code) if isinstance(part, ast.Name)]
        if any(name.id in self.mutable for name in names):
            return True
        return any(
            isinstance(part, ast.Name) and part.id in self.mutable
            for name in names
            for binding in self.analysis.names.bindings(name)[1]
            if binding.kind is BindingKind.FUNCTION
            for part in descendants(binding.node)
        )

    def _handed(self, call: ast.Call) -> Iterator[ast.AST]:
        """Yield the parts of a call whose values the callee receives, without the operands of values computed
        for it.
        """
        called = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        stack: list[ast.AST] = [called, *call.args, *(keyword.value for keyword in call.keywords)]
        while stack:
            node = stack.pop()
            if self._is_other_attribute(node):
                continue
            yield node
            if node is not call and isinstance(node, ast.Call):
                kind = self.analysis.types.type_of(node)
                effect = self.analysis.effects.call_effect(node)
                if kind.fresh or is_immutable(kind) or (effect.quiet and self.analysis.is_library_call(node)):
                    continue
            stack.extend(children(node))

    def lets_others_change(self, node: ast.AST) -> bool:
        """Whether other code may hold the value and the node either waits for other threads, or steps an
        environment, which writes to arrays that it returned before.
        """
        if not (self.shared or self.attributes or self.rebound):
            return False
        if isinstance(node, ast.withitem):
            return self.analysis.types.type_of(node.context_expr).tag in _HELD
        if not isinstance(node, ast.Call):
            return False
        waits = self.analysis.effects.call_effect(node).kind & _WAITS
        return bool(waits) or self.analysis.loops.driver_of(node) in _OTHERS

    def may_alias(self, node: ast.AST) -> bool:
        """Whether the node modifies a value of another name that may be the same object."""
        if self._is_suspended_by(node):
            return not self.changed_by(node)
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                return self.reads_state and name not in self.names and self._is_read_in_other_function(node)
            case (
                ast.Attribute(value=owner, ctx=ast.Store() | ast.Del())
                | ast.Subscript(value=owner, ctx=ast.Store() | ast.Del())
                | ast.AugAssign(target=ast.Name() as owner)
            ):
                pass
            case ast.Call(func=ast.Attribute(value=owner)):
                effect = self.analysis.effects.call_effect(node)
                if not effect.acts or effect.does_only(self._harmless):
                    return False
            case _:
                return False
        if not (self.mutable or self.attributes or self.reads_state) or self.changed_by(node):
            return False
        if self.reads_state and isinstance(owner, ast.Name) and self._is_read_in_other_function(owner):
            return True
        if isinstance(node, ast.AugAssign) and is_immutable(self.analysis.types.type_of(owner)):
            return False
        is_augmented = isinstance(self.analysis.syntax.parents.get(node), ast.AugAssign)
        if isinstance(node, ast.Attribute) and not self.reads_state:
            # an attribute of another name is another attribute, but `holder.rows += 1` changes its value
            changes = is_augmented and not is_immutable(self.analysis.types.type_of(node))
            return changes and self._may_hold(owner)
        if not self.analysis.effects.is_made_here(owner):
            return True
        return is_augmented and self._may_hold(owner)

    def _is_suspended_by(self, node: ast.AST) -> bool:
        """Whether a function yields or awaits at a node."""
        match node:
            case ast.Yield() | ast.YieldFrom() | ast.Await() | ast.AsyncFor() | ast.comprehension(is_async=1):
                return True
            case ast.withitem():
                return isinstance(self.analysis.syntax.parents.get(node), ast.AsyncWith)
        return False

    def _is_unknown(self, entered: ast.expr) -> bool:
        """Whether entering or leaving a context manager may have any effect. For a context manager created by
        a call, the effect of the call decides.
        """
        kind = self.analysis.types.type_of(entered)
        return not isinstance(entered, ast.Call) and kind.tag in (TypeTag.UNKNOWN, TypeTag.INSTANCE)

    def _is_read_in_other_function(self, name: ast.Name) -> bool:
        """Whether the variable is read by another function than the one that binds it."""
        scope = self.analysis.syntax.scope(name).lookup(name.id)
        return (scope, name.id) in self.analysis.syntax.read_from_within

    def _may_hold(self, container: ast.expr) -> bool:
        """Whether a container created by the function may contain the objects that the value depends on, as
        in `rows[0] += 1`.
        """
        named = self.analysis.syntax.names_in_statements
        adjacent = named.get(_root(container) or "", set())
        return any(not adjacent.isdisjoint(named.get(name, set())) for name in self.mutable)

    def _runs_project_function(self, call: ast.Call) -> bool:
        """Whether the call runs a function of the project."""
        path, index = self.analysis.effects.path_of(call), self.analysis.index
        return path is not None and index is not None and bool(index.callables(path, self.analysis.name))

    def _changed_by_call(self, call: ast.Call) -> bool:
        if not (self.mutable or self.attributes or self.reads_state):
            return False
        effect = self.analysis.effects.call_effect(call)
        if effect.quiet:
            return False
        if effect.does_only(self._harmless):
            return False
        if effect.kind & (_HARMLESS & ~self._harmless | EffectKind.UNKNOWN):
            return True
        if effect.acts and not effect.kind & EffectKind.INDIRECT and self.analysis.is_library_call(call):
            if self._starts_worker(call) or self._resumes(call):
                return True
            touched = {_root(argument) for argument in (*call.args, *(k.value for k in call.keywords))}
            attributes: set[str] = set()
            if isinstance(call.func, ast.Attribute):
                touched.add(_root(call.func.value))
                attributes = _attributes(call.func.value)
            generates = effect.kind & EffectKind.CONSUMES and bool(self.attributes)
            return bool(touched & self.mutable) or bool(attributes & self.attributes) or bool(generates)
        return True


def _does_something(node: ast.AST) -> bool:
    """Whether evaluating this node, without its children, may change anything."""
    kind = type(node)
    if kind in _PLACES:
        return type(node.ctx) is not ast.Load  # type: ignore[attr-defined]
    return kind in _KINDS_WITH_EFFECTS


def _with_place(node: ast.AST) -> ast.AST:
    """Return the node, or its first part that has a position in the file."""
    match node:
        case ast.withitem(context_expr=part) | ast.comprehension(iter=part):
            return part
    return node


def _is_bound_to_itself(name: str, statement: ast.AST | None) -> bool:
    """Whether a statement assigns a variable to itself: `x = x`."""
    match statement:
        case ast.Assign(value=ast.Name(id=other)) | ast.AnnAssign(value=ast.Name(id=other)):
            return other == name
    return False


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes that a statement evaluates itself, without the blocks of a compound statement."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if node is not statement:
            yield node
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        stack += [child for child in children(node) if not isinstance(child, (ast.stmt, ast.ExceptHandler))]


def _targets(statement: ast.stmt, value: ast.AST) -> Iterator[ast.AST]:
    """Yield the targets that a statement binds to a value, or tests."""
    targets: Sequence[ast.AST] = ()
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets = [statement.target]
    elif isinstance(statement, ast.Match) and is_in(value, statement.subject):
        targets = statement.cases
    for target in targets:
        yield from descendants(target)


def _root(expression: ast.AST) -> str | None:
    while isinstance(expression, (ast.Attribute, ast.Subscript, ast.Call, ast.Starred)):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return expression.id if isinstance(expression, ast.Name) else None


def _attributes(expression: ast.AST) -> set[str]:
    return {node.attr for node in descendants(expression) if isinstance(node, ast.Attribute)}
