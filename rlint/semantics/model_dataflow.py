"""What flows where: variables, attributes, what changes between two places, what is computed again."""

from __future__ import annotations

import ast
from functools import cached_property

from rlint.models.kind import Tag
from rlint.semantics.dataflow.common_subexpressions import Repeats, Repetition
from rlint.semantics.dataflow.escape import Use, Uses
from rlint.semantics.dataflow.mutation import Changes
from rlint.semantics.effects.reflection import OF_THE_FUNCTION, lookups
from rlint.semantics.file_analysis import Knowledge
from rlint.semantics.frequency.intervals import last_name
from rlint.semantics.interprocedural.whole_program import Linked
from rlint.semantics.model_types import SiteValues
from rlint.semantics.types.algebra import is_immutable
from rlint.syntax.scopes import Binding, Scope

_STATE_HOOKS = (
    "_register_load_state_dict_pre_hook",
    "register_load_state_dict_pre_hook",
    "register_load_state_dict_post_hook",
    "_register_state_dict_hook",
    "register_state_dict_pre_hook",
    "register_state_dict_post_hook",
)


class SiteFlow(SiteValues):
    """What flows where: variables, attributes, what changes between two places, what is computed again."""

    def __init__(self, path: str, knowledge: Knowledge, linked: Linked) -> None:
        super().__init__(path, knowledge, linked)
        self._reads: dict[tuple[str, Scope], list[ast.Name]] = {}
        self._shapes_asked: dict[str | None, set[str]] = {}  # as `ast.dump` writes them
        self._captured: dict[tuple[str, Scope], bool] = {}
        self._changes = Changes(knowledge)
        self._uses = Uses(knowledge)
        self._repeats = Repeats(self.tree, self._changes, self.order)

    def definitions(self, name: ast.Name) -> list[Binding]:
        """The bindings whose value a name may have where it stands; never one too few."""
        return self.knowledge.flow.reaching(name)

    def bindings(self, name: ast.Name) -> list[Binding]:
        """Everything that binds this variable, anywhere in its scope; empty for a builtin."""
        return self.knowledge.names.bindings(name)[1]

    def scope(self, node: ast.AST) -> Scope:
        """The scope in which a node is evaluated."""
        return self.tree.scope(node)

    def keeps(self, name: ast.Name, first: ast.AST, second: ast.AST) -> bool:
        """Is a variable surely bound to nothing else after `first` and before `second`? The same bindings may
        reach both, and yet one of them may lie between, in a loop. False where in doubt.
        """
        return self.knowledge.flow.keeps(name, first, second)

    def bindings_before(self, name: str, node: ast.AST, scope: Scope) -> list[Binding]:
        """The bindings of a variable that may hold when the statement of `node` begins."""
        return self.knowledge.flow.before(name, self.tree.statement(node), scope)

    def uses(self, name: str, scope: Scope) -> list[ast.Name]:
        """All nodes that read, bind or delete the variable `name` of `scope`, nested functions included."""
        return self.tree.variables.uses(name, scope)

    def reads(self, name: str, scope: Scope) -> list[ast.Name]:
        """The nodes that read the variable `name` of `scope`, nested functions included."""
        known = self._reads.get((name, scope))
        if known is None:
            uses = self.uses(name, scope)
            known = self._reads[name, scope] = [node for node in uses if isinstance(node.ctx, ast.Load)]
        return list(known)

    def captured(self, name: str, scope: Scope) -> bool:
        """Is the variable used by a nested function, lambda or class, declared global, or may it be
        looked up by name (`locals()`, `exec`, `eval`)?
        """
        known = self._captured.get((name, scope))
        if known is None:
            known = self._captured[name, scope] = self._is_captured(name, scope)
        return known

    def _is_captured(self, name: str, scope: Scope) -> bool:
        if name in self.tree.declared:
            return True
        for node in self.uses(name, scope):
            inner = self.tree.scope(node)
            while inner.is_comprehension and inner.parent is not None:
                inner = inner.parent
            if inner is not scope:
                return True
        return any(self.tree.scope(call).function is scope for call in self._dynamic_lookups)

    def attribute_uses(self, attribute: str) -> list[ast.Attribute]:
        """All nodes of this file that read, set or delete an attribute of this name, on any object."""
        return self.tree.written.attributes.get(attribute, [])

    def is_asked_for_weights(self, expression: ast.expr) -> bool:
        """Does this file ask what reads the same for its parameters or its state dict?"""
        name = last_name(expression)
        shapes = self._shapes_asked.get(name)
        if shapes is None:
            shapes = self._shapes_asked[name] = set(map(ast.dump, self._asked_for_weights.get(name, ())))
        return bool(shapes) and ast.dump(expression) in shapes

    @cached_property
    def _asked_for_weights(self) -> dict[str | None, list[ast.expr]]:
        """What is asked, by its last name."""
        found: dict[str | None, list[ast.expr]] = {}
        for name in ("parameters", "named_parameters", "state_dict", "load_state_dict", "zero_grad"):
            for use in self.attribute_uses(name):
                found.setdefault(last_name(use.value), []).append(use.value)
        return found

    def is_attribute_read(self, attribute: str) -> bool:
        """Does any file of the project read an attribute of this name, on any object?"""
        return self._linked.words.is_attribute_read(attribute)

    def changes_what_it_loads(self) -> bool:
        """Whether a module of the project may change the state dict that it is given to load, or what
        `state_dict` returns, by a hook or a method of its own.
        """
        methods = ("_load_from_state_dict", "_save_to_state_dict")
        return any(map(self.index.defines_method, methods)) or any(map(self.is_attribute_read, _STATE_HOOKS))

    def is_set_up(self, *settings: str) -> bool:
        """Does the program that this file belongs to read or import one of these names: functions that set
        something for the whole process, as `set_default_device`? What only tests set counts for tests.
        """
        return self._linked.words.program_names(settings, self.module.module)

    def is_only_fed(self, attribute: str) -> bool:
        """Are all things of this name only added to, and maybe emptied, in all files of the project?"""
        return self._linked.words.is_only_fed(attribute)

    def is_told(self, speedup: str) -> bool:
        """Whether any file of the project sets how torch computes: a word of `nn.torch_settings`."""
        return self._linked.words.is_told(speedup)

    def is_imported_anywhere(self, path: str) -> bool:
        """Does any file of the project import what stands at a dotted path?"""
        return self._linked.words.is_imported(path)

    def attribute_tags(self, attribute: str) -> frozenset[Tag]:
        """What the classes of the project say that their attributes of this name are, where they do."""
        return self._linked.words.attribute_tags(attribute)

    def is_imported(self, name: str) -> bool:
        """Does another file of the project import a name of this module, or all of its names?"""
        return self._linked.words.imports(name, self.module.module)

    def is_starred(self) -> bool:
        """Does another file of the project import all names of this module?"""
        return self._linked.words.is_starred(self.module.module)

    def is_read_elsewhere(self, attribute: str) -> bool:
        """Does another file of the project read an attribute of this name, on any object?"""
        return self._linked.words.is_read_elsewhere(attribute, self.module.module)

    def function_names(self, known_bases: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
        """The names of the functions of the project, tests left out, and of the methods of classes that have
        no bases of libraries but those that are known, each with how often it is defined.
        """
        return self._linked.words.function_names(known_bases)

    def between(self, first: ast.AST, second: ast.AST) -> list[ast.AST] | None:
        """The statements and expressions that may run after `first` and before `second`; None where
        `first` does not always run before `second`.
        """
        return self.knowledge.flow.between(first, second)

    def unchanged_between(self, expression: ast.expr, first: ast.AST, second: ast.AST) -> bool:
        """Has `expression` surely the same value at `second` as at `first`? False where in doubt."""
        put_off = self.order.is_put_off(second, first)
        return not put_off and self._changes.unchanged_between(expression, first, second)

    def doubts_between(
        self, expression: ast.expr, first: ast.AST, second: ast.AST
    ) -> tuple[ast.AST, ...] | None:
        """What could change the value of `expression` between the two places only behind its back: by
        another name, or in a function that is not handed it. None where it is not surely unchanged else.
        """
        if self.order.is_put_off(second, first):
            return None
        return self._changes.doubts_between(expression, first, second)

    def equal_to(self, call: ast.expr) -> list[ast.expr]:
        """The calls of the same function that read like this one, itself included, in the order of
        evaluation. Whether they give the same is another question.
        """
        return self._repeats.equal_to(call)

    def repetition(self, expression: ast.expr) -> Repetition | None:
        """The calls (or comprehensions) of the same function that read like this one, are evaluated after
        it with the same arguments, and only when it was evaluated; None where there are none.
        """
        return self._repeats.repetition(expression)

    def repeated(self, expression: ast.expr) -> Repetition | None:
        """The repetition that has this expression among the later evaluations."""
        return self._repeats.repeated(expression)

    def use_of(self, expression: ast.expr) -> Use:
        """What becomes of an expression's value: looked at, kept or changed, and computed with or not."""
        return self._uses.of(expression)

    def gives_immutable(self, call: ast.expr) -> bool:
        """Is what an expression gives surely a value that nobody can change, whichever it is?"""
        if is_immutable(self.kind_of(call)):
            return True
        match call:
            case ast.Call(func=ast.Attribute(attr="item"), args=[]):
                return True  # of an array or a tensor, the Python number
        targets = self.callables(call) if isinstance(call, ast.Call) else []
        return bool(targets) and all(self.index.returns_immutable(target) for target in targets)

    @cached_property
    def _dynamic_lookups(self) -> list[ast.Call]:
        return list(lookups(self.tree, {**OF_THE_FUNCTION, "globals": 9}))
