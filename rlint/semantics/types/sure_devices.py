"""Expressions that surely are devices, so that they may be used where only a device is accepted.

`tensor.to(…)` also accepts a dtype or another tensor; `device=` does not. The name of an expression proves
nothing.
"""

from __future__ import annotations

import ast
from functools import cached_property

from rlint.models.value_type import Device, Type, TypeTag
from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import defaults_of
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import FUNCTIONS

_NAMES_A_DEVICE = frozenset({TypeTag.DEVICE, TypeTag.STR, TypeTag.INT})
_TAKES_A_DEVICE = frozenset({"device", "map_location"})
_DEPTH = 6


class SureDevices:
    """The device expressions of one file."""

    def __init__(self, analysis: FileAnalysis) -> None:
        self._knowledge = analysis
        self._tree = analysis.syntax

    def surely(self, expression: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether the value of an expression is a `torch.device`, or a string or number that
        `torch.device` accepts, wherever the program continues after it.
        """
        if self._knowledge.types.type_of(expression).tag in _NAMES_A_DEVICE:
            return True
        if depth == 0:
            return False
        match expression:
            case ast.IfExp(body=body, orelse=orelse):
                return self.surely(body, depth - 1) and self.surely(orelse, depth - 1)
            case ast.BoolOp(op=ast.Or(), values=values):
                return all(self.surely(value, depth - 1) for value in values)
            case ast.Name():
                return self._is_used_as_device(expression) or self._all_bound(expression, depth)
            case ast.Attribute(value=ast.Name() as owner):
                return (
                    self._is_used_as_device(expression)
                    or self._all_stored(expression, owner, depth)
                    or self._is_parsed(expression, owner, depth)
                )
        return False

    def _all_bound(self, name: ast.Name, depth: int) -> bool:
        made = self._knowledge.definitions.reaching(name)
        return bool(made) and all(self._bound(binding, depth) for binding in made)

    def _bound(self, binding: Binding, depth: int) -> bool:
        if binding.kind is BindingKind.PARAMETER:
            return self._names_one_by_default(binding)
        assigned = (
            binding.kind in (BindingKind.ASSIGN, BindingKind.WALRUS)
            and binding.value is not None
            and not binding.path
        )
        return assigned and binding.value is not None and self.surely(binding.value, depth - 1)

    def _names_one_by_default(self, binding: Binding) -> bool:
        """Whether a parameter has a device as default (`def act(obs, device="cuda")`): what is passed instead
        is a device, too.
        """
        function = binding.statement
        if not isinstance(function, FUNCTIONS):
            return False
        default = defaults_of(function.args).get(binding.name)
        kind = self._knowledge.types.type_of(default) if default is not None else Type()
        return kind.tag is TypeTag.DEVICE or (kind.tag is TypeTag.STR and kind.device is not Device.UNKNOWN)

    def _all_stored(self, attribute: ast.Attribute, owner: ast.Name, depth: int) -> bool:
        """Whether every value that a class stores in its own attribute is a device."""
        cls = self._knowledge.names.class_of_self(owner)
        if cls is None:
            return False
        values = [
            getattr(self._tree.parents[store], "value", None)
            for store in self._stores.get(attribute.attr, ())
            if isinstance(store.value, ast.Name) and self._knowledge.names.class_of_self(store.value) is cls
        ]
        return bool(values) and all(value is not None and self.surely(value, depth - 1) for value in values)

    @cached_property
    def _stores(self) -> dict[str, list[ast.Attribute]]:
        found: dict[str, list[ast.Attribute]] = {}
        for node in self._tree.of_type(ast.Attribute):
            if isinstance(node.ctx, ast.Store) and isinstance(
                self._tree.parents[node], (ast.Assign, ast.AnnAssign)
            ):
                found.setdefault(node.attr, []).append(node)
        return found

    def _is_used_as_device(self, expression: ast.Name | ast.Attribute) -> bool:
        """Whether the same code passes the same variable to torch where only a device is accepted."""
        wanted = last_name(expression)
        return any(
            type(used) is type(expression) and self._is_same(used, expression)
            for used in self._used.get(wanted or "", ())
            if used is not expression
        )

    def _is_same(self, used: ast.expr, expression: ast.expr) -> bool:
        if isinstance(used, ast.Attribute) and isinstance(expression, ast.Attribute):
            if isinstance(used.value, ast.Name) and isinstance(expression.value, ast.Name):
                cls = self._knowledge.names.class_of_self(expression.value)
                if cls is not None:
                    return self._knowledge.names.class_of_self(used.value) is cls
                return self._is_same(used.value, expression.value)
            return False
        if not isinstance(used, ast.Name) or not isinstance(expression, ast.Name):
            return False
        reaching = self._knowledge.definitions.reaching
        made = reaching(expression)
        return bool(made) and all(binding in reaching(used) for binding in made)

    @cached_property
    def _used(self) -> dict[str, list[ast.expr]]:
        found: dict[str, list[ast.expr]] = {}
        for call in self._tree.of_type(ast.Call):
            given = [keyword.value for keyword in call.keywords if keyword.arg in _TAKES_A_DEVICE]
            if not given and (last_name(call.func) != "device" or len(call.args) != 1):
                continue
            qualified = self._knowledge.names.qualified(call.func) or ""
            if qualified == "torch.device":
                given = [*given, *call.args]
            if qualified.startswith("torch."):
                for value in given:
                    found.setdefault(last_name(value) or "", []).append(value)
        return found

    def _is_parsed(self, attribute: ast.Attribute, owner: ast.Name, depth: int) -> bool:
        """Whether this is a command-line option (`parser.parse_args().device`) that takes a string."""
        made = self._knowledge.definitions.reaching(owner)
        if not made or not all(
            binding.kind is BindingKind.ASSIGN and is_parsing(binding.value) for binding in made
        ):
            return False
        values = [
            getattr(self._tree.parents[store], "value", None)
            for store in self._stores.get(attribute.attr, ())
            if last_name(store.value) == owner.id
        ]
        if not all(value is not None and self.surely(value, depth - 1) for value in values):
            return False
        options = [
            call
            for call in self._tree.of_type(ast.Call)
            if last_name(call.func) == "add_argument" and attribute.attr in option_names(call)
        ]
        return bool(options) and all(self._takes_a_name(call, depth) for call in options)

    def _takes_a_name(self, call: ast.Call, depth: int) -> bool:
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if given.keys() & {"action", "nargs", "const"} or None in given:
            return False
        kind = self._knowledge.names.qualified(given["type"]) if "type" in given else "builtins.str"
        if kind not in ("builtins.str", "builtins.int", "torch.device"):
            return False
        default = given.get("default")  # `.to()` refuses a string with any other meaning as well
        return kind != "builtins.str" or default is None or self.surely(default, depth - 1)


def is_parsing(value: ast.expr | None) -> bool:
    """Whether an expression is `parser.parse_args()` or `parse_known_args()[0]`."""
    if isinstance(value, ast.Subscript):
        value = value.value
    return isinstance(value, ast.Call) and last_name(value.func) in ("parse_args", "parse_known_args")


def option_names(call: ast.Call) -> list[str]:
    """Return the attribute that an `add_argument` fills: by `dest`, else by the first long option."""
    for keyword in call.keywords:
        if keyword.arg == "dest":
            name = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            return [name] if isinstance(name, str) else []
    names = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    texts = [name for name in names if isinstance(name, str)]
    long = [name for name in texts if name.startswith("--")] or texts
    return [long[0].lstrip("-").replace("-", "_")] if long else []
