"""What a variable holds, told by what is done with it: only text can be stripped or searched."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import PLAIN, UNKNOWN, Type, TypeTag
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import SyntaxIndex

_TEXT_METHODS = models.having(Trait.ONLY_TEXT, TypeTag.STR) | {"encode"}
_SPLITS = frozenset({"partition", "rpartition", "rsplit", "split"})
_SEARCHES = models.having(Trait.SEARCHES, "re", "regex")
_REPLACES = frozenset({"re.sub", "re.subn", "regex.sub", "regex.subn"})
BOUND_ONCE = frozenset({BindingKind.PARAMETER, BindingKind.FOR, BindingKind.COMPREHENSION})
"""How the variables are bound that their uses tell anything about."""

ParameterKind = Callable[[ast.Call, str], Type]
"""The kind of the parameter that takes an argument (a position or a keyword) of a call into the project."""


class _Uses(NamedTuple):
    """What is done with a variable: what only text can do, or else the calls that it is handed to."""

    of_text: bool = False
    handed: tuple[tuple[ast.Call, str], ...] = ()


class UsageInference:
    """Kinds of the variables of one file, by their uses."""

    def __init__(self, syntax: SyntaxIndex, names: QualifiedNames) -> None:
        self.syntax = syntax
        self.names = names
        self._uses: dict[Binding, _Uses] = {}

    def type_of(self, binding: Binding, parameter_kind: ParameterKind | None) -> Type:
        """The kind of a parameter or loop variable that nothing else binds, or UNKNOWN."""
        if binding.kind not in BOUND_ONCE or binding.name in ("self", "cls"):
            return UNKNOWN
        uses = self._uses.get(binding)
        if uses is None:
            uses = self._uses[binding] = self._find_uses(binding)
        if uses.of_text:
            return PLAIN[TypeTag.STR]
        if parameter_kind is not None:
            for call, argument in uses.handed:
                if parameter_kind(call, argument).tag is TypeTag.STR:
                    return PLAIN[TypeTag.STR]
        return UNKNOWN

    def _find_uses(self, binding: Binding) -> _Uses:
        scope = self.syntax.scopes.get(binding.statement) or self.syntax.scope(binding.node).lookup(
            binding.name
        )
        if scope is None or len(scope.bindings.get(binding.name, ())) != 1:
            return _Uses()
        if binding.name in self._tested:
            return _Uses()  # it is told apart at run time: it may be this or that
        handed = []
        for name in self.syntax.variables.uses(binding.name, scope):
            use = self._use(name)
            if use is True:
                return _Uses(of_text=True)
            if use:
                handed.append(use)
        return _Uses(handed=tuple(handed))

    @cached_property
    def _tested(self) -> frozenset[str]:
        """The names that are asked for other classes than that of text."""
        return frozenset(
            call.args[0].id
            for call in self.syntax.of_type(ast.Call)
            if len(call.args) == 2
            and isinstance(call.args[0], ast.Name)
            and self.names.qualified(call.func) == "builtins.isinstance"
            and self.names.qualified(call.args[1]) != "builtins.str"
        )

    def _use(self, name: ast.Name) -> bool | tuple[ast.Call, str]:
        """Is it text where it is named? If that hangs on the call that it is handed to: this, and where."""
        parent = self.syntax.parents.get(name)
        if isinstance(parent, ast.Attribute):
            call = self.syntax.parents.get(parent)
            if not isinstance(call, ast.Call) or call.func is not parent:
                return False
            if parent.attr in _SPLITS:
                return not call.args or isinstance(getattr(call.args[0], "value", None), str)
            return parent.attr in _TEXT_METHODS
        if isinstance(parent, ast.keyword):
            call = self.syntax.parents.get(parent)
            return isinstance(call, ast.Call) and (call, parent.arg or "")
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
