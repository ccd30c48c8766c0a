"""Tests whose outcome the constants and the calls of a project determine."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Container, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Final

from rlint.models.value_type import TypeTag
from rlint.semantics.frequency.branches.branch_tests import is_connective, outcome_of_connective
from rlint.semantics.frequency.branches.environment_variables import of_environment
from rlint.semantics.frequency.branches.option_choices import holds_options
from rlint.semantics.frequency.branches.visible_calls import ANY_CALLER, MOST_CALLS, visible_calls
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import arguments_by_name, defaults_of
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import Function

if TYPE_CHECKING:
    from rlint.models.value_type import Type
    from rlint.semantics.frequency.heat import HeatMap
    from rlint.semantics.interprocedural.call_graph import CallEdge
    from rlint.semantics.interprocedural.mentions.program_usage import ProgramUsage
    from rlint.semantics.interprocedural.summary import CallSite, FunctionSummary
    from rlint.semantics.model import SemanticModel

_DEPTH = 8
"""Maximum number of names, attributes and calls through which a value is followed."""
_FALSE_ISH: Final = frozenset({"False", "None"})
_COMPARISONS: dict[type[ast.cmpop], Callable[[object, object], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: lambda left, right: left is right or (left == right and type(left) is type(right)),
    ast.IsNot: lambda left, right: not (left is right or (left == right and type(left) is type(right))),
    ast.Lt: operator.lt,  # type: ignore[dict-item] # of numbers only
    ast.LtE: operator.le,  # type: ignore[dict-item]
    ast.Gt: operator.gt,  # type: ignore[dict-item]
    ast.GtE: operator.ge,  # type: ignore[dict-item]
    ast.In: lambda left, right: operator.contains(right, left),  # type: ignore[arg-type]
    ast.NotIn: lambda left, right: not operator.contains(right, left),  # type: ignore[arg-type]
}
Values = frozenset[object]
"""All values that an expression may have; None as a whole stands for "not known"."""


class SettledTests:
    """The outcomes of the tests of one file, as far as every value in them is a constant: a literal, a name
    or a setting bound to one, or a parameter to which all calls of the project pass one (or nothing). With
    `defaults`, switches that are off by default count as constants, and so do choices of strings.
    """

    def __init__(self, model: SemanticModel, heat: HeatMap, defaults: ProgramUsage | None = None) -> None:
        self._model = model
        self._heat = heat
        self._defaults = defaults
        self._parameters: dict[tuple[str, str], Values | None] = {}
        self._arguments: dict[tuple[Function, str], Values | None] = {}
        self._names: dict[tuple[ast.Name, int], Values | None] = {}
        self._left_out: dict[tuple[ast.AST, int], bool] = {}

    def at_call(self, call: ast.Call, target: FunctionSummary, function: Function) -> SettledTests:
        """Return the outcomes of tests for one call of a function of this file, given its arguments."""
        found = SettledTests(self._model, self._heat, self._defaults)
        for name, value in (arguments_by_name(call, target.call_parameters) or {}).items():
            found._arguments[function, name] = self._values(value, _DEPTH)
        return found

    def outcome(self, test: ast.expr, depth: int = _DEPTH) -> bool | None:
        """Return whether a test is always true, or always false; None if it may be either."""
        if is_connective(test):
            return outcome_of_connective(test, lambda part: self.outcome(part, depth))
        match test:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                return self._compared(left, op, right, depth)
        known = self._values(test, depth)
        return _common(map(bool, known)) if known else None

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr, depth: int) -> bool | None:
        is_member = isinstance(op, (ast.In, ast.NotIn))
        lefts = self._values(left, depth)
        rights = _members(right) if is_member else self._values(right, depth)
        if not lefts or not rights:
            return None
        compare = _COMPARISONS[type(op)]
        try:
            return _common(compare(one, other) for one in lefts for other in rights)
        except TypeError:
            return None

    def values_of(self, expression: ast.expr) -> Values | None:
        """Return all values that an expression may have; None if they are not known."""
        return self._values(expression, _DEPTH)

    def _values(self, expression: ast.expr, depth: int) -> Values | None:
        if depth <= 0:
            return None
        known = self._flowing(expression, depth)
        return known if known is not None or self._defaults is None else self._by_default(expression, depth)

    def _by_default(self, expression: ast.expr, depth: int) -> Values | None:
        """Return the values of an option: `args.use_per`, `config["use_per"]`, a setting of an object, a
        parameter of its constructor, or a variable of the environment.
        """
        assert self._defaults is not None
        if isinstance(expression, ast.Call):
            known = of_environment(
                expression, self._model.names.qualified, lambda part: self._values(part, depth - 1)
            )
            if known is not None:
                return known
        otherwise: list[ast.expr] = []  # what the code takes where nothing gives the option
        match expression:
            case (
                ast.Attribute(value=owner, attr=name)
                | ast.Subscript(value=owner, slice=ast.Constant(value=str(name)))
            ):
                is_known = holds_options(owner) or (
                    isinstance(expression, ast.Attribute) and self._is_kept_option(expression)
                )
            case (
                ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *rest])
                | ast.Call(
                    func=ast.Attribute(value=owner, attr="get"), args=[ast.Constant(value=str(name)), *rest]
                )
            ):
                is_known = holds_options(owner)
                otherwise = rest
            case ast.Name(id=name):
                function = self._model.function(expression)
                bindings = self._model.dataflow.definitions(expression)
                is_parameter = len(bindings) == 1 and bindings[0].kind is BindingKind.PARAMETER
                is_known = is_parameter and function is not None and function.name == "__init__"
            case _:
                return None
        values = self._defaults.default_values(name, self._model.module.module) if is_known else None
        return values if values is None or all(_is_off_or_in(each, values) for each in otherwise) else None

    def _is_kept_option(self, attribute: ast.Attribute) -> bool:
        """Whether an attribute of `self` is a setting that the constructor takes from an option or parameter
        of the same name.
        """
        if not self._model.names.is_self(attribute.value):
            return False
        stored = self.stored_values(attribute)
        return len(stored) == 1 and last_name(_item_or_itself(stored[0])) == attribute.attr.lstrip("_")

    def _flowing(self, expression: ast.expr, depth: int) -> Values | None:
        match expression:
            case ast.Constant(value=value):
                return frozenset({value})
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return frozenset({-number})
            case ast.Compare() | ast.UnaryOp(op=ast.Not()):
                outcome = self.outcome(expression, depth - 1)
                return frozenset({outcome}) if outcome is not None else None
            case ast.IfExp(test=test, body=body, orelse=orelse):
                outcome = self.outcome(test, depth - 1)
                parts = [body, orelse] if outcome is None else [body if outcome else orelse]
                return _union(self._values(part, depth - 1) for part in parts)
            case ast.Name():
                if (expression, depth) not in self._names:
                    self._names[expression, depth] = self._of_name(expression, depth)
                return self._names[expression, depth]
            case ast.Attribute() if self._model.names.is_self(expression.value):
                return self._stored(expression, depth)
        return None

    def _of_name(self, name: ast.Name, depth: int) -> Values | None:
        bindings = self._model.dataflow.definitions(name)
        made = [each for each in bindings[:MOST_CALLS] if not self._is_left_out(each, depth // 2)]
        return _union(self._bound(name, each, depth) for each in made)

    def _is_left_out(self, binding: Binding, depth: int) -> bool:
        """Whether a variable is never assigned at a place, as a test around that has the other outcome."""
        statement = binding.statement
        if binding.kind is not BindingKind.ASSIGN:
            return False
        known = self._left_out.get((statement, depth))
        if known is None:
            tests = self._model.analysis.branch_tests.of(statement)
            known = any(self.outcome(test, depth) is (not taken) for test, taken in tests)
            self._left_out[statement, depth] = known
        return known

    def _bound(self, name: ast.Name, binding: Binding, depth: int) -> Values | None:
        if binding.kind is BindingKind.PARAMETER:
            function = self._model.function(name)
            if function is None:
                return None
            given = self._arguments.get((function, name.id))
            return given if given is not None else self._passed(function, name.id, depth)
        if binding.kind is not BindingKind.ASSIGN or binding.path or binding.value is None:
            return None
        own = self._model.names.scope(name)
        scope = own.lookup(name.id)
        if scope is None or (scope is not own and len(scope.bindings[name.id]) != 1):
            return None
        return self._values(binding.value, depth - 1)

    def _stored(self, attribute: ast.Attribute, depth: int) -> Values | None:
        """Return the values of an attribute that only the constructor stores."""
        stored = self.stored_values(attribute)
        return self._values(stored[0], depth - 1) if len(stored) == 1 else None

    def stored_values(self, attribute: ast.Attribute) -> list[ast.expr]:
        """Return the values that the constructor stores in a setting, if nothing else stores in it."""
        cls = self._model.class_of(attribute)
        maker = self._model.method(cls, "__init__") if cls is not None else None
        if maker is None or not self._is_setting(attribute):
            return []
        if any(
            isinstance(use.ctx, ast.Store) and self._model.function(use) is not maker
            for use in self._model.names.attribute_uses(attribute.attr)
        ):
            return []  # by a method that the constructor calls
        return [
            statement.value
            for statement in ast.walk(maker)
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None
            for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
            if isinstance(target, ast.Attribute) and target.attr == attribute.attr
        ]

    def _is_setting(self, attribute: ast.Attribute) -> bool:
        types = self._model.types
        return types.is_setting(attribute) or (
            self._defaults is not None and types.is_likely_setting(attribute)
        )

    def _passed(self, function: Function, name: str, depth: int) -> Values | None:
        """Return the values that all calls of a function of this file pass to a parameter."""
        summary = self._model.symbols.function_at(function.body[0])
        if summary is None or summary.name in ANY_CALLER:
            return None
        key = summary.path, name
        if key not in self._parameters:
            self._parameters[key] = None  # of recursive calls
            # a call without a required argument is one of another function
            default: ast.expr | Values = defaults_of(function.args).get(name) or frozenset()
            self._parameters[key] = self._of_calls(summary, name, default, depth)
        return self._parameters[key]

    def _of_calls(
        self, function: FunctionSummary, name: str, default: ast.expr | Values | None, depth: int
    ) -> Values | None:
        edges = [call.edge for call in self._heat.callers(function)]
        others = self._heat.calls_that_may_pass(function, name)
        if not edges and not others:
            edges = self._calls_of_namesakes(function, name)
        if not 0 < len(edges) + len(others) <= MOST_CALLS:
            return None
        found: set[object] = set()
        places = name, str(function.place_of(name))
        for site in others:
            literal = _literal(site, places)
            if literal is None:
                return None
            found |= literal
        for edge in edges:
            given = self._given(edge, name, default)
            if given is None and self._defaults is not None:
                given = self._of_caller(edge, name, depth - 1)
            values = self._values(given, depth - 1) if isinstance(given, ast.expr) else given
            if values is None:
                return None
            found |= values
        return frozenset(found)

    def _calls_of_namesakes(self, function: FunctionSummary, name: str) -> list[CallEdge]:
        """Return the calls of methods of the same name with such a parameter, for a method that no code of
        the project calls: one of several agents, of which each script of the project trains another one.
        """
        if not function.is_method:
            return []
        found = {
            (call.edge.caller.path, call.edge.site.line): call.edge
            for other in self._heat.index.methods_named(function.name)
            if name in other.parameters
            for call in self._heat.callers(other)
        }
        return list(found.values())

    def _of_caller(self, edge: CallEdge, name: str, depth: int) -> Values | None:
        """Return the default values of the option, or of the parameter of the caller, that a call of another
        file passes to a parameter, judging by its name.
        """
        assert self._defaults is not None
        names = dict(edge.site.names)
        given = names.get(name) or names.get(str(edge.target.place_of(name)))
        caller = edge.caller
        if not given or depth <= 0:
            return None
        if given not in caller.parameters:
            return self._defaults.default_values(given, caller.module)
        key = caller.path, given
        if key not in self._parameters:
            self._parameters[key] = None  # of recursive calls
            default = frozenset({None}) if given in caller.off else None
            self._parameters[key] = self._of_calls(caller, given, default, depth)
        return self._parameters[key]

    def _given(
        self, edge: CallEdge, name: str, default: ast.expr | Values | None
    ) -> ast.expr | Values | None:
        """Return what a call passes to a parameter: an expression of this file, the values, or None if they
        are not known.
        """
        site = edge.site
        places = name, str(edge.target.place_of(name))
        if "*" in dict(site.passes):
            return None
        kinds = [kind for given, kind in site.arguments if given in places]
        if not kinds:
            return default
        written = None
        if edge.caller.module == self._model.module.module:
            written = self._argument(site.line, edge.target, name)
        if written is not None:
            return written
        literal = _literal(site, places)
        if literal is None and self._is_none(kinds[0], edge.caller.module):
            return frozenset({None})
        return literal

    def _is_none(self, kind: Type, module: str) -> bool:
        """Whether an argument surely is `None`, such as a parameter of the caller that is `None` in all calls
        of that.
        """
        if kind.of and not kind:
            kind = self._heat.index.resolve(kind.of, module)
        return kind.tag is TypeTag.NONE and kind.caveat is None

    def _argument(self, line: int, target: FunctionSummary, name: str) -> ast.expr | None:
        """Return the expression that the call in a line of this file passes to a parameter."""
        call = self._call_of(target, line)
        arguments = arguments_by_name(call, target.call_parameters) if call is not None else None
        return arguments.get(name) if arguments is not None else None

    def calls_of(self, function: FunctionSummary) -> list[ast.Call]:
        """Return the calls of a function, if it is known that all of them are in this file; else none."""
        edges = visible_calls(function, self._heat)
        own = self._model.module.module
        found = [self._call_of(function, edge.site.line) for edge in edges if edge.caller.module == own]
        calls = [call for call in found if call is not None]
        return calls if len(calls) == len(edges) else []

    def _call_of(self, function: FunctionSummary, line: int) -> ast.Call | None:
        """Return the call of a function in a line of this file, if it is the only one there."""
        names = {function.name, function.qualname.rpartition(".")[0].rpartition(".")[2]}
        calls = [call for call in self._calls_by_line.get(line, ()) if last_name(call.func) in names]
        return calls[0] if len(calls) == 1 else None

    @cached_property
    def _calls_by_line(self) -> dict[int, list[ast.Call]]:
        found: dict[int, list[ast.Call]] = {}
        for call in self._model.syntax.of_type(ast.Call):
            found.setdefault(call.lineno, []).append(call)
        return found


def _is_off_or_in(value: ast.expr, values: Values) -> bool:
    """Whether a constant is among some values, or turns a switch off."""
    return isinstance(value, ast.Constant) and (not value.value or value.value in values)


def _members(display: ast.expr) -> Values | None:
    """Return the constants of a display as the only value: `("uniform", "entropy")`."""
    if not isinstance(display, (ast.Tuple, ast.List, ast.Set)):
        return None
    constants = [part.value for part in display.elts if isinstance(part, ast.Constant)]
    return frozenset({tuple(constants)}) if len(constants) == len(display.elts) else None


def _item_or_itself(value: ast.expr) -> ast.expr:
    """Return the key of `config["use_per"]` as a name, other values as they are."""
    match value:
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return ast.Name(key)
        case ast.Call(
            func=ast.Attribute(attr="get") | ast.Name(id="getattr"),
            args=[ast.Constant(value=str(key)), *_] | [_, ast.Constant(value=str(key)), *_],
        ):
            return ast.Name(key)
        case ast.Call(func=ast.Name(id="str" | "bool" | "int" | "float"), args=[converted]):
            return _item_or_itself(converted)
    return value


def _literal(site: CallSite, places: Container[str]) -> Values | None:
    """Return the literal `True`, `False` or `None` that a call passes to a parameter."""
    literals = [guards for place, guards in site.passes if place in places]
    if not literals:
        return None
    if not literals[0]:
        return frozenset({True})
    literal = literals[0][0].text if len(literals[0]) == 1 else ""
    return frozenset({False if literal == "False" else None}) if literal in _FALSE_ISH else None


def _union(parts: Iterable[Values | None]) -> Values | None:
    """Return all values of several expressions; None if one is not known, or if there are none."""
    found: set[object] = set()
    for part in parts:
        if part is None:
            return None
        found |= part
    return frozenset(found) or None


def _common(outcomes: Iterable[bool]) -> bool | None:
    distinct = set(outcomes)
    return distinct.pop() if len(distinct) == 1 else None
