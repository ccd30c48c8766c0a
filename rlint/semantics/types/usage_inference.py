"""Type inference from uses: only strings can be stripped or searched, and functions of torch take tensors."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import PLAIN, UNKNOWN, Type, TypeTag
from rlint.semantics.dataflow.reaching_definitions import ReachingDefinitions
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import SyntaxIndex

_TEXT_METHODS = models.having(Trait.ONLY_TEXT, TypeTag.STR) | {"encode"}
_SPLITS = frozenset({"partition", "rpartition", "rsplit", "split"})
_SEARCHES = models.having(Trait.SEARCHES, "re", "regex")
_TAKES_TENSOR = models.having(
    Trait.ELEMENTWISE
    | Trait.REDUCES
    | Trait.SAME_KIND
    | Trait.PERMUTES
    | Trait.KEEPS_ORDER
    | Trait.MIRRORS
    | Trait.LIKE,
    "torch",
) | models.giving(TypeTag.TENSOR, "torch.nn.functional")
"""Functions that raise for anything but a tensor as their first argument."""
_TAKES_OTHER = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch", "numpy") | {"torch.from_numpy"}
"""Functions that convert other values to a tensor or an array."""
_TESTS = frozenset({"isinstance", "is_tensor", "type"}) | models.names_having(Trait.REFLECTS, "builtins")
_REPLACES = frozenset({"re.sub", "re.subn", "regex.sub", "regex.subn"})
BOUND_ONCE = frozenset({BindingKind.PARAMETER, BindingKind.FOR, BindingKind.COMPREHENSION})
"""Kinds of bindings of variables whose uses imply a type."""

INFERRED_FROM_USE = BOUND_ONCE | {BindingKind.ASSIGN}
"""Kinds of bindings of variables whose uses may imply that they are tensors."""

ParameterKind = Callable[[ast.Call, str], Type]
"""The type of the parameter that receives an argument (a position or a keyword) of a call into the
project.
"""


Defines = Callable[[str], bool]
"""Whether a class of the project defines a method of this name."""


class _Uses(NamedTuple):
    """The uses of a variable: methods that of all library types only strings have, and the calls that it is
    passed to.
    """

    of_text: bool = False
    text_methods: frozenset[str] = frozenset()
    of_tensor: bool = False
    may_be_text: bool = False
    may_be_tensor: bool = False
    handed: tuple[tuple[ast.Call, str], ...] = ()


class UsageInference:
    """Types of the variables of one file, by their uses."""

    def __init__(self, syntax: SyntaxIndex, names: QualifiedNames, definitions: ReachingDefinitions) -> None:
        self.syntax = syntax
        self.names = names
        self.definitions = definitions
        self._uses: dict[Binding, _Uses] = {}

    def type_of(
        self, binding: Binding, parameter_kind: ParameterKind | None, defines: Defines | None = None
    ) -> Type:
        """Return the type of a parameter or loop variable that nothing else binds, or UNKNOWN. Methods of
        strings that a class of the project also defines imply nothing.
        """
        if binding.kind not in INFERRED_FROM_USE or binding.name in ("self", "cls"):
            return UNKNOWN
        if binding.kind not in BOUND_ONCE and binding.name not in self._given_to_torch:
            return UNKNOWN
        uses = self._uses.get(binding)
        if uses is None:
            uses = self._uses[binding] = self._find_uses(binding)
        if binding.kind in BOUND_ONCE and (uses.of_text or self._only_texts_have(uses.text_methods, defines)):
            return PLAIN[TypeTag.STR]
        if uses.of_tensor:
            return PLAIN[TypeTag.TENSOR]
        if parameter_kind is not None:
            for call, argument in uses.handed:
                kind = parameter_kind(call, argument)
                if kind.tag is TypeTag.STR and uses.may_be_text:
                    return PLAIN[TypeTag.STR]
                if kind.tag is TypeTag.TENSOR and uses.may_be_tensor:
                    return Type(TypeTag.TENSOR, optional=kind.optional)
        return UNKNOWN

    def _only_texts_have(self, methods: frozenset[str], defines: Defines | None) -> bool:
        """Whether one of some methods is only defined by strings."""
        return any(
            method not in self.syntax.methods_by_name and not (defines is not None and defines(method))
            for method in sorted(methods)
        )

    def _find_uses(self, binding: Binding) -> _Uses:
        scope = self.syntax.scopes.get(binding.statement) or self.syntax.scope(binding.node).lookup(
            binding.name
        )
        if scope is None or binding.name in self._tested:
            return _Uses()  # if it is tested at run time, it may have either type
        named = self.syntax.variables.uses(binding.name, scope)
        is_bound_once = len(scope.bindings.get(binding.name, ())) == 1 and binding.kind in BOUND_ONCE
        if not is_bound_once:
            named = [name for name in named if self._reads(name, binding)]
        is_tensor = self._is_tensor(named)
        if is_tensor:
            return _Uses(of_tensor=True)
        handed = []
        methods = set()
        for name in named:
            use = self._use(name)
            if use is True and is_bound_once:
                return _Uses(of_text=True)
            if isinstance(use, str) and is_bound_once:
                methods.add(use)
            if isinstance(use, tuple):
                handed.append(use)
        return _Uses(
            text_methods=frozenset(methods),
            handed=tuple(handed),
            may_be_text=is_bound_once,
            may_be_tensor=is_tensor is False,
        )

    @cached_property
    def _given_to_torch(self) -> frozenset[str]:
        """Return the names that are passed first to a function that only takes tensors."""
        return frozenset(
            call.args[0].id
            for call in self.syntax.of_type(ast.Call)
            if call.args
            and isinstance(call.args[0], ast.Name)
            and self.names.qualified(call.func) in _TAKES_TENSOR
        )

    def _reads(self, name: ast.Name, binding: Binding) -> bool:
        """Whether a place reads this binding, and no other."""
        return isinstance(name.ctx, ast.Load) and self.definitions.reaching(name) == [binding]

    def _is_tensor(self, named: list[ast.Name]) -> bool | None:
        """Whether one of the uses of a value only accepts a tensor; None if another accepts other types."""
        found = False
        for name in named:
            parent = self.syntax.parents.get(name)
            if not isinstance(parent, ast.Call):
                continue
            function = self.names.qualified(parent.func)
            if function is None:
                if last_name(parent.func) in _TESTS:
                    return None
                continue
            first = parent.args[:1] == [name]
            if (
                function in _TAKES_OTHER
                or function.startswith("numpy.")
                or (first and function.rpartition(".")[2] in _TESTS)
            ):
                return None
            found = found or (first and function in _TAKES_TENSOR)
        return found

    @cached_property
    def _tested(self) -> frozenset[str]:
        """Return the names that are tested for other classes than that of strings."""
        return frozenset(
            call.args[0].id
            for call in self.syntax.of_type(ast.Call)
            if len(call.args) == 2
            and isinstance(call.args[0], ast.Name)
            and self.names.qualified(call.func) == "builtins.isinstance"
            and self.names.qualified(call.args[1]) != "builtins.str"
        )

    def _use(self, name: ast.Name) -> bool | str | tuple[ast.Call, str]:
        """Whether the value is a string at one of its uses. If that depends on the classes of the project:
        the method; if it depends on the call that it is passed to: this call, and the argument.
        """
        parent = self.syntax.parents.get(name)
        if isinstance(parent, ast.Attribute):
            call = self.syntax.call_of(parent)
            if call is None:
                return False
            if parent.attr in _SPLITS and call.args:
                is_text = isinstance(getattr(call.args[0], "value", None), str)
            else:
                is_text = parent.attr in _SPLITS or parent.attr in _TEXT_METHODS
            return parent.attr if is_text else False
        if isinstance(parent, ast.keyword):
            around = self.syntax.parents.get(parent)
            return isinstance(around, ast.Call) and (around, parent.arg or "")
        if isinstance(parent, ast.Call) and name in parent.args:
            position = parent.args.index(name)
            if any(isinstance(argument, ast.Starred) for argument in parent.args[:position]):
                return False
            if position in (1, 2):
                searches = _SEARCHES if position == 1 else _REPLACES
                if self.names.qualified(parent.func) in searches:
                    return True
            return parent, str(position)
        return False
