"""Queries about values: types, devices, constants, and the functions that calls run."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

from rlint.models.value_type import INSTANCES, Device, Type, TypeTag
from rlint.semantics.dataflow.immutability import Immutability
from rlint.semantics.dataflow.item_origins import ItemOrigin, maker_of, place_of
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.lambda_summaries import name_of_lambda
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary
from rlint.semantics.interprocedural.whole_program import WholeProgram
from rlint.semantics.model_names import NameQueries
from rlint.semantics.model_symbols import FileSymbols
from rlint.semantics.types.algebra import is_immutable
from rlint.semantics.types.constants import Constant, Constants
from rlint.semantics.types.devices import is_device, means_accelerator, tests_device
from rlint.semantics.types.likely.notes import Noted
from rlint.semantics.types.sure_devices import SureDevices
from rlint.syntax.syntax_index import FUNCTIONS, Function


class TypeQueries:
    """Answers what expressions evaluate to. Unknown values have the tag UNKNOWN; predicates then return
    False.
    """

    def __init__(
        self, analysis: FileAnalysis, program: WholeProgram, names: NameQueries, symbols: FileSymbols
    ) -> None:
        self._analysis = analysis
        self._syntax = analysis.syntax
        self._index = program.index
        self._names = names
        self._symbols = symbols
        self.type_of = analysis.types.type_of
        """Return the type of an expression: tensor (and its device), ndarray, module, lock, str …"""
        self._sure_devices = SureDevices(analysis)
        self._constants = Constants(analysis.syntax, analysis.names, analysis.definitions)
        self._settled = Immutability(program.index, program.heat)
        self._call_targets: dict[ast.Call, tuple[list[FunctionSummary], Noted]] = {}

    def device_of(self, named: ast.expr | Type) -> Device:
        """Return the device that an expression, or a value of this type, names in a position where a device
        is expected (`"cuda"`, `self.device`, `0`).
        """
        if isinstance(named, Type):
            return self._analysis.types.device_named_by(named)
        return self._analysis.types.device_of(named)

    def constant(
        self, expression: ast.expr, known: Mapping[str, int] = MappingProxyType({})
    ) -> Constant | None:
        """Return the constant that an expression is (a literal, concatenated literals, a name bound to one),
        with its source for module level. `known` adds library constants by their qualified names.
        """
        return self._constants.written(expression, known)

    def is_device(self, expression: ast.expr) -> bool:
        """Whether an expression names a device rather than a dtype or a tensor, where any of them is
        allowed.
        """
        return is_device(expression, self.type_of(expression))

    def excludes_tensor(self, expression: ast.expr) -> bool:
        """Whether an `isinstance` test around an expression shows that the variable is not a tensor."""
        tests = self._analysis.types.evidence.class_tests
        return isinstance(expression, ast.Name) and tests.exclude_tensor(expression)

    def is_surely_device(self, expression: ast.expr) -> bool:
        """Whether an expression is always a device, so that it may be used where only a device is
        accepted.
        """
        return self._sure_devices.surely(expression)

    def tests_device(self, test: ast.expr) -> bool:
        """Whether a condition only tests whether the program runs on an accelerator, or on which one."""
        return tests_device(test, self._names.qualified)

    def is_on_cpu(self, node: ast.AST) -> bool:
        """Whether a node runs only if a condition found that the program is not on a CUDA device, or on no
        accelerator: `if device.type == "cuda": … else:`.
        """
        child: ast.AST = node
        for parent in self._syntax.ancestors(node):
            if isinstance(parent, FUNCTIONS):
                return False
            if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
                body = parent.body if isinstance(parent.body, list) else [parent.body]
                means = means_accelerator(parent.test, self._names.qualified)
                if means is not None and means is not any(part is child for part in body):
                    return True
            child = parent
        return False

    def class_of_value(self, expression: ast.expr) -> ClassSummary | None:
        """Return the class of the project of which an expression's value is an instance."""
        return self._index.class_of(self.type_of(expression))

    def may_override(self, expression: ast.expr, *methods: str) -> bool:
        """Whether one of these methods of a library object may be overridden, by a class of the project or by
        an assignment to the object.
        """
        return any(map(self._sets_method, methods)) or self._index.classes.may_override(
            self.type_of(expression), methods
        )

    def _sets_method(self, name: str) -> bool:
        written = self._syntax.written
        return any(isinstance(use.ctx, ast.Store) for use in written.attributes.get(name, ())) or any(
            write.name == name and write.owner is not None for write in self._analysis.names.writes
        )

    def call_targets(self, call: ast.Call) -> list[FunctionSummary]:
        """Return the functions of the project that a call may run (several if a method is overridden)."""
        return self._analysis.notes.kept(self._call_targets, call, lambda: self._find_callables(call))

    def definition(self, function: FunctionSummary) -> Function | None:
        """Return the def of a function of the project if it is in this file."""
        return self._analysis.definition(function)

    def _find_callables(self, call: ast.Call) -> list[FunctionSummary]:
        qualified = self._names.qualified(call.func)
        path = qualified or ""
        if not path and isinstance(call.func, ast.Attribute):
            owner = self.type_of(call.func.value)
            path = (
                (f"{owner.of}().{call.func.attr}" if owner else f"{owner.of}.{call.func.attr}")
                if owner.of
                else ""
            )
        elif not path:
            called = self.type_of(call.func)
            path = f"{called.of}()" if called.tag in INSTANCES and called.of else called.of
            if not path and called.tag is TypeTag.FUNCTION and isinstance(call.func, ast.Name):
                path = self._lambda_held_by(call.func)
        found = self._index.callables(path, self._analysis.name) if path else []
        return self._that_fit(call, found) if len(found) > 1 else found

    def _that_fit(self, call: ast.Call, functions: list[FunctionSummary]) -> list[FunctionSummary]:
        """Return the functions whose results have as many items as a call's result is unpacked to, if any
        of several does.
        """
        match self._analysis.syntax.parents.get(call):
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value) if value is call:
                pass
            case _:
                return functions
        if any(isinstance(target, ast.Starred) for target in targets):
            return functions
        fitting = [each for each in functions if _may_return(each, len(targets))]
        return fitting or functions

    def _lambda_held_by(self, variable: ast.Name) -> str:
        """Return the path of the lambda that a variable holds; "" if it may hold another value."""
        scope, bindings = self._analysis.names.bindings(variable)
        if scope is None or len(bindings) != 1:
            return ""
        name = name_of_lambda(bindings[0], scope)
        return f"{self._analysis.name}.{name}" if name is not None else ""

    def origin_of(self, expression: ast.expr) -> ItemOrigin | None:
        """Return the origin of a variable: itself, or an item of a list that a loop iterates over."""
        return place_of(expression, self._analysis)

    def maker_of(self, expression: ast.expr, *, items: bool) -> ast.expr | None:
        """Return the call that created a value (or each of its items), or the function that was mapped."""
        return maker_of(expression, int(items), self._analysis)

    def is_setting(self, attribute: ast.Attribute) -> bool:
        """Whether `self.x` (or `self.config.x`) keeps the value that construction gave it. False for objects
        that hot code creates.
        """
        if self._names.is_self(attribute.value):
            owner = self._symbols.class_at(attribute)
        elif isinstance(attribute.value, ast.Attribute) and self.is_setting(attribute.value):
            owner = self.class_of_value(attribute.value)
        else:
            return False
        if not self._settled.is_settled(owner, attribute.attr):
            return False
        if owner is not None and self._index.restored_classes.is_restored(owner):
            self._analysis.notes.doubt()
        return True

    def is_likely_setting(self, attribute: ast.Attribute | str) -> bool:
        """Whether `self.x` or `self.args.x` is a setting, ignoring assignments to objects of unknown classes
        in cold code, such as code that parses options before training. A name stands for the attribute of
        objects of any class.
        """
        if isinstance(attribute, str):
            return self._settled.is_only_set_at_start(attribute)
        if self._names.is_self(attribute.value):
            owner = self._symbols.class_at(attribute)
            return owner is not None and self._settled.is_likely_settled(owner, attribute.attr)
        holder = attribute.value
        if not isinstance(holder, ast.Attribute) or not self.is_likely_setting(holder):
            return False
        return self._settled.is_likely_settled(self.class_of_value(holder), attribute.attr)

    def is_immutable(self, call: ast.expr) -> bool:
        """Whether every value that an expression may have is immutable."""
        if is_immutable(self.type_of(call)):
            return True
        match call:
            case ast.Call(func=ast.Attribute(attr="item"), args=[]):
                return True  # of an array or a tensor, the Python number
        targets = self.call_targets(call) if isinstance(call, ast.Call) else []
        return bool(targets) and all(self._index.returns_immutable(target) for target in targets)


def _may_return(function: FunctionSummary, count: int) -> bool:
    """Whether a function may return a tuple of a length: each of its results may have another type, or has
    that length.
    """
    results = function.returns
    known = bool(results) and all(kind.tag is TypeTag.TUPLE and kind.parts for kind in results)
    return not known or any(len(kind.parts) == count for kind in results)
