"""Results that are the same each time: of library functions whose inputs the constructor fixed, and of
functions of the project that only read such values.

Whether a result may be shared without a copy does not matter here: it only concerns the fix.
"""

from __future__ import annotations

import ast

from rlint.rule import (
    FUNCTIONS,
    Binding,
    BindingKind,
    Effect,
    EscapeLevel,
    Function,
    FunctionSummary,
    SemanticModel,
    Trait,
    TypeTag,
    algebra,
    defaults_of,
    descendants,
    last_name,
    models,
    size_of,
)
from rlint.rules.networks.rl315_recomputed_constant.constant import constant_at
from rlint.rules.networks.rl315_recomputed_constant.gradient_hooks import gradient_of
from rlint.rules.networks.rl315_recomputed_constant.makers import is_maker
from rlint.rules.networks.rl315_recomputed_constant.passed_constants import is_passed_list, is_passed_number
from rlint.rules.networks.rl315_recomputed_constant.result_inputs import RepeatedResult, ResultInputs
from rlint.rules.networks.rl315_recomputed_constant.unchanging_data import is_unchanging_data

_LIBRARIES = ("torch.", "numpy.", "scipy.")
_PLAIN = ("math.", "itertools.", "builtins.")
_ARRAYS = (TypeTag.TENSOR, TypeTag.NDARRAY)
_RESULTS = frozenset({*_ARRAYS, TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.TUPLE})
_MAY_BE_DATA = _RESULTS | {TypeTag.UNKNOWN}
_CHEAP = (
    Trait.MIRRORS
    | Trait.FILLS
    | Trait.FILLS_LIKE
    | Trait.COPIES
    | Trait.KEEPS_ORDER
    | Trait.PERMUTES
    | Trait.FROM_DATA
)
_LIKE = models.names_having(Trait.FILLS_LIKE, "numpy", "torch")
_CONVERTS = models.having(Trait.FROM_DATA, "numpy", "torch")
_NO_WORK = models.having(_CHEAP | Trait.LEGACY | Trait.MEASURES, "numpy", "torch")
_DEPTH = 4
_MOST = 400


def may_be_repeated(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call may compute the same value each time, judging by its text."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="self")) | ast.Name():
            return not any(isinstance(each, (ast.Lambda, ast.Dict, ast.JoinedStr)) for each in call.args)
        case ast.Attribute():
            return (model.names.qualified(call.func) or "").startswith(_LIBRARIES)
    return False


def explains_itself(function: Function, model: SemanticModel) -> bool:
    """Whether a function of this file contains a computation that is found on its own."""
    for part in descendants(function):
        if not isinstance(part, ast.Call) or model.types.call_targets(part):
            continue
        if is_maker(part, model) and constant_at(part, model) is not None:
            return True
        if may_be_repeated(part, model) and repeated_result(part, model) is not None:
            return True
    return False


def repeated_result(call: ast.Call, model: SemanticModel) -> RepeatedResult | None:
    """Return the largest expression around a call, which is its first costly one, whose value is the same
    each time that it runs, with what it depends on.
    """
    reader = _Reader(model)
    if not reader.is_costly(call):
        return None
    inputs = ResultInputs()
    if not reader.is_same(call, inputs, _DEPTH):
        return None
    whole: ast.expr = call
    for around in model.ancestors(call):
        if not isinstance(around, ast.expr) or size_of(around) > _MOST:
            break
        if isinstance(around, (ast.Tuple, ast.List, ast.Dict, ast.Lambda)):
            break
        wider = ResultInputs()
        if not reader.is_same(around, wider, _DEPTH):
            break
        whole, inputs = around, wider
    first = [part for part in descendants(whole) if isinstance(part, ast.Call) and reader.is_costly(part)]
    if min(first, key=lambda part: (part.lineno, part.col_offset)) is not call:
        return None
    if not inputs.data and not inputs.functions and not inputs.shapes:
        return None  # of constants only, which the other analysis looks at
    if model.types.type_of(whole).tag not in _RESULTS:
        whole = call
    if _is_found_otherwise(whole, inputs, model):
        return None
    return RepeatedResult(whole, call, inputs) if _is_shared(whole, model) else None


def _is_found_otherwise(whole: ast.expr, inputs: ResultInputs, model: SemanticModel) -> bool:
    """Whether a part of an expression, or of a function that it calls, is found on its own."""
    for called in inputs.functions:
        for target in model.types.call_targets(called):
            definition = model.types.definition(target)
            if definition is not None and model.once(explains_itself, definition):
                return True
    parts = [part for part in descendants(whole) if isinstance(part, ast.Call) and is_maker(part, model)]
    return any(constant_at(part, model) is not None for part in parts)


def _is_shared(whole: ast.expr, model: SemanticModel) -> bool:
    """Whether no code writes into the result, as into a board that begins as a copy of a template."""
    return model.dataflow.use_of(whole).escape_level is not EscapeLevel.CHANGED


class _Reader:
    """Decides which expressions have the same value each time."""

    def __init__(self, model: SemanticModel) -> None:
        self._model = model

    def is_costly(self, call: ast.Call) -> bool:
        """Whether a call is that of a library function that computes with arrays, or of a function of the
        project that computes something and has no effect.
        """
        qualified = self._model.names.qualified(call.func)
        if qualified is not None and qualified.startswith(_LIBRARIES):
            return (
                self._takes_time(call, qualified)
                and self._model.effects.call_effect(call).pure
                and self._model.types.type_of(call).tag in _MAY_BE_DATA
            )
        return self._function_of(call) is not None

    def _takes_time(self, call: ast.Call, qualified: str) -> bool:
        if qualified in _CONVERTS and call.args:
            return isinstance(call.args[0], (ast.Call, ast.ListComp))  # a list of computed items
        return qualified not in _NO_WORK

    def _gradient_like(self, call: ast.Call) -> ast.Name | None:
        """Return the gradient in `torch.zeros_like(grad[:-2])`, whose result depends on its shape alone."""
        if last_name(call.func) not in _LIKE or not call.args:
            return None
        of = call.args[0]
        while isinstance(of, ast.Subscript):
            of = of.value
        return of if isinstance(of, ast.Name) and gradient_of(of, self._model) else None

    def _function_of(self, call: ast.Call) -> FunctionSummary | None:
        """Return the function of the project that a call runs, if its result depends on its arguments and on
        what the constructor of its object fixed.
        """
        targets = self._model.types.call_targets(call)
        if len(targets) != 1:
            return None
        target = targets[0]
        if not self._model.effects.is_worth_caching(target) and not self._calls_table(target):
            return None
        definition = self._model.types.definition(target)
        if not self._returns_data(target, definition):
            return None
        if definition is not None and self._model.function(definition) is not None:
            return None  # it may read variables of the function around it
        if not target.has_receiver:
            is_closed = not self._model.index.reads_variables(target.path, target.module)
            return target if is_closed else None
        if definition is None or not isinstance(call.func, ast.Attribute):
            return None
        if not self._model.names.is_self(call.func.value):
            return None
        return target if self._reads_only_fixed(definition, _DEPTH) else None

    def _calls_table(self, target: FunctionSummary) -> bool:
        """Whether a function of this file loops, and all that is not known about it is which lambda of a
        table of the module it calls: `transform = TRANSFORMS[number]`.
        """
        definition = self._model.types.definition(target)
        if definition is None or target.remembers or self._model.index.effect_of(target).acts:
            return False
        is_loop = is_table = False
        for node in descendants(definition):
            is_loop = is_loop or isinstance(node, ast.For)
            if not isinstance(node, ast.Call) or self._model.effects.call_effect(node).quiet:
                continue
            if not isinstance(node.func, ast.Name) or not self._is_from_table(node.func):
                return False
            is_table = True
        return is_loop and is_table

    def _is_from_table(self, function: ast.Name) -> bool:
        match self._model.dataflow.definitions(function):
            case [Binding(path=(), value=ast.Subscript(value=ast.Name() as table))]:
                pass
            case _:
                return False
        match self._model.names.bindings(table):
            case [Binding(value=ast.List(elts=items) | ast.Dict(values=items))]:
                return all(
                    isinstance(item, ast.Lambda) and self._model.effects.effect_of(item.body).quiet
                    for item in items
                )
        return False

    def _returns_data(self, target: FunctionSummary, definition: Function | None) -> bool:
        """Whether a function returns an array or a container, rather than a number."""
        kinds = [
            self._model.index.resolve(kind.of, target.module) if kind.of and not kind else kind
            for kind in target.returns
        ]
        if kinds and all(kind.tag in _RESULTS for kind in kinds):
            return True
        if any(kinds) or definition is None:
            return False
        results = [node.value for node in descendants(definition) if isinstance(node, ast.Return)]
        return bool(results) and all(
            isinstance(value, ast.Call)
            and (self._model.names.qualified(value.func) or "").startswith(_LIBRARIES)
            for value in results
        )

    def _reads_only_fixed(self, method: Function, depth: int) -> bool:
        """Whether a method only reads attributes of its object that keep their value from construction."""
        if depth == 0:
            return False
        return self._model.once(_reads_fixed, (method, depth - 1))

    # -- values --------------------------------------------------------------------------------

    def is_same(self, node: ast.AST, found: ResultInputs, depth: int) -> bool:
        """Whether an expression has the same value each time that it is evaluated."""
        match node:
            case ast.Constant():
                return True
            case ast.Name():
                return self._name(node, found, depth)
            case ast.Attribute():
                return self._attribute(node, found, depth)
            case ast.Call():
                return self._call(node, found, depth)
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.BoolOp() | ast.IfExp() | ast.Subscript():
                pass
            case ast.Tuple() | ast.List() | ast.Slice() | ast.Starred() | ast.keyword():
                pass
            case ast.ListComp() | ast.GeneratorExp() | ast.comprehension():
                pass
            case ast.operator() | ast.unaryop() | ast.cmpop() | ast.boolop() | ast.expr_context():
                return True
            case _:
                return False
        return all(self.is_same(child, found, depth) for child in ast.iter_child_nodes(node))

    def _call(self, call: ast.Call, found: ResultInputs, depth: int) -> bool:
        gradient = self._gradient_like(call)
        if gradient is not None:
            found.shapes.append(gradient)
            return True
        given = [*call.args, *call.keywords]
        if not all(self.is_same(argument, found, depth) for argument in given):
            return False
        qualified = self._model.names.qualified(call.func)
        if qualified is not None and qualified.startswith((*_LIBRARIES, *_PLAIN)):
            return self._model.effects.call_effect(call).pure
        if self._function_of(call) is not None:
            found.functions.append(call)
            return True
        match call.func:
            case ast.Attribute(value=owner) if qualified is None:
                is_array = self._model.types.type_of(owner).tag in _ARRAYS
                effect: Effect = self._model.effects.call_effect(call)
                return is_array and effect.quiet and self.is_same(owner, found, depth)
        return False

    def _attribute(self, node: ast.Attribute, found: ResultInputs, depth: int) -> bool:
        if self._model.names.qualified(node) is not None:
            return True
        kind = self._model.types.type_of(node)
        if self._model.names.is_self(node.value):
            if algebra.is_immutable(kind):
                return self._model.types.is_setting(node)
            if is_unchanging_data(node, self._model):
                (found.data if kind else found.settings).append(node)
                return True
            return False
        if algebra.is_immutable(kind) and self._model.types.is_setting(node):
            return True
        if node.attr in ("device", "dtype", "shape") and isinstance(node.value, ast.Name):
            return gradient_of(node.value, self._model) or self.is_same(node.value, found, depth)
        return self._model.types.type_of(node.value).tag in _ARRAYS and self.is_same(node.value, found, depth)

    def _name(self, name: ast.Name, found: ResultInputs, depth: int) -> bool:
        if isinstance(name.ctx, ast.Store):
            return True  # of a comprehension
        scope = self._model.names.scope(name).lookup(name.id)
        if self._model.names.qualified(name) is not None:
            kind = self._model.types.type_of(name)
            return (
                algebra.is_immutable(kind)
                or kind.tag in (TypeTag.FUNCTION, TypeTag.CLASS)
                or name.id.isupper()
            )
        if scope is None:
            return False
        if scope.is_comprehension:
            clauses = getattr(scope.node, "generators", ())
            return depth > 0 and all(self.is_same(each.iter, found, depth - 1) for each in clauses)
        bindings = self._model.dataflow.definitions(name)
        if scope.parent is None:
            return len(self._model.names.bindings(name)) == 1 and algebra.is_immutable(
                self._model.types.type_of(name)
            )
        if len(bindings) != 1 or depth == 0:
            return False
        binding = bindings[0]
        if binding.kind is BindingKind.ASSIGN and not binding.path and binding.value is not None:
            return self.is_same(binding.value, found, depth - 1) and _is_shared(binding.value, self._model)
        if binding.kind is BindingKind.FOR and not binding.path and binding.value is not None:
            found.few.append(name)
            return _is_literal(binding.value)
        if binding.kind is BindingKind.PARAMETER and self._is_passed(name):
            found.few.append(name)
            return True
        return False

    def _is_passed(self, name: ast.Name) -> bool:
        def is_constant(given: ast.expr) -> bool:
            return self.is_same(given, ResultInputs(), 1)

        return bool(is_passed_number(name, self._model, is_constant) or is_passed_list(name, self._model))


def _is_literal(iterable: ast.expr) -> bool:
    """Whether a loop iterates over a few constants: `for k in (1, 2, 3)`, `for k in range(8)`."""
    match iterable:
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return all(isinstance(item, ast.Constant) for item in items)
        case ast.Call(func=ast.Name(id="range"), args=[*ends]):
            return all(isinstance(end, ast.Constant) for end in ends)
    return False


def _reads_fixed(key: tuple[Function, int], model: SemanticModel) -> bool:
    """Whether a method, and those of its object that it calls, only read attributes that keep their value,
    and no variables that change.
    """
    method, depth = key
    if depth == 0 or any(
        isinstance(each, (ast.List, ast.Dict)) for each in defaults_of(method.args).values()
    ):
        return False
    reader = _Reader(model)
    for node in descendants(method):
        if not isinstance(node, ast.Attribute) or not model.names.is_self(node.value):
            continue
        called = model.syntax.call_of(node)
        if called is not None:
            targets = [model.types.definition(each) for each in model.types.call_targets(called)]
            if not targets or not all(
                isinstance(each, FUNCTIONS)
                and (each is method or model.once(_reads_fixed, (each, depth - 1)))
                for each in targets
            ):
                return False
        elif not reader.is_same(node, ResultInputs(), 1):
            return False
    summary = model.symbols.function_at(method.body[0])
    return summary is not None and not any(
        model.index.is_changing_variable(path, summary.module) for path in summary.outside_reads
    )
