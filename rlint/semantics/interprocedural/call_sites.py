"""The calls of the functions of a file, as other files need them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from rlint import models
from rlint.findings import Heat
from rlint.models.trait import Trait
from rlint.models.value_type import UNKNOWN, Device, Type, TypeTag, either
from rlint.regex import regex
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.branches.option_choices import OptionChoice, choices_of
from rlint.semantics.frequency.conditions import is_observation
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import Guard, GuardKind
from rlint.semantics.frequency.handed_lengths import whole
from rlint.semantics.interprocedural.compaction import Interner
from rlint.semantics.interprocedural.decorator_sites import decorated
from rlint.semantics.interprocedural.implicit_call_sites import implicit_calls
from rlint.semantics.interprocedural.items_read import items_read, items_unpacked
from rlint.semantics.interprocedural.stored_callables import (
    callables_in,
    called_by_library,
    called_by_wrapper,
    source_of,
)
from rlint.semantics.interprocedural.summary import CallSite
from rlint.semantics.nn.autograd import UNSTATED
from rlint.semantics.nn.gradient_summary import GradientSummaries
from rlint.semantics.threads.spawn import handed_over
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.walk import descendants

_NOT_PROJECT = frozenset(
    TypeTag[name]
    for name in """TENSOR NDARRAY STR LIST DICT TUPLE SET INT FLOAT BOOL BYTES PATTERN MATCH PATH FILE DTYPE
    DEVICE STATE_DICT PARAMETERS DEQUE LOCK LOGGER""".split()
)
"""Types whose methods belong to a library."""
_PARSER = "argparse.ArgumentParser"
"""Another such type: a third of the calls in a script may declare options of the command line."""
_RARELY_CALLED = regex(
    r"(.*\.)?_*(save|load|checkpoint|evaluat|eval_|plot|dump|restore|export|close|setup|build|make_|create_|seed)"
)
"""Functions that a loop usually calls at intervals, under a condition that is not understood."""
_MAKES = regex(r"(.*\.)?_*(build|make_|create_)")
"""Of these, functions that may also compute the inputs of each step: `self._build_inputs(batch, t)`."""
_KEEPS_STEP = regex(
    r"(.*\.)?_*save_(next_|new_|last_|prev_)?(obs|observations?|actions?|rewards?(_dones?)?|dones?|transitions?"
    r"|experiences?|timesteps?)$"
)
"""Functions that keep a part of the current step in memory: `robot.save_action(action)`."""
_COMPUTES_INPUT = regex(
    r"(.*\.)?_*(build|make|create)_(\w+_)?(map|grid|masks?|obs|observations?|features?|inputs?|batch|matrix"
    r"|images?|frames?)(_(with|from|for|of)_\w+)?$"
)
"""Functions that compute what a step needs, whatever they are passed: `self._build_map()`."""
_FILE = regex(r"(^|_)(paths?|file|filename|folder|dir|directory)$")
_MAKES_UP = Trait.ALLOCATES | Trait.DRAWS_SHAPE | Trait.DRAWS_LIKE
_MAY_BE_CONDITIONS = (ast.Name, ast.Attribute, ast.Compare, ast.BoolOp, ast.UnaryOp)
_OBSERVED = regex(r"(^|_)(obs|observations?|states?|actions?|batch|batches|transitions?)(_|$|\d)")


def calls_by_function(
    analysis: FileAnalysis, gradients: GradientSummaries, intern: Interner
) -> dict[ast.AST | None, list[CallSite]]:
    """Return the calls in a file that may lead to functions of its project, by the calling function."""
    tree = analysis.syntax
    calls: dict[ast.AST | None, list[CallSite]] = {}
    for call in tree.of_type(ast.Call):
        for func in _called(call):
            site = _call_site(call, func, analysis, gradients, intern)
            if site is not None:
                sites = calls.setdefault(tree.function(call), [])
                sites.append(site)
                others = _imported_otherwise(call, site.path, analysis)
                sites += [replace(site, path=intern(other)) for other in others]
        handed = handed_over(call, analysis)
        for later in handed:
            calls.setdefault(tree.function(call), []).append(later)
        later_called = called_by_library(call, analysis) if not handed else ()
        for path in (*later_called, *called_by_wrapper(call, analysis)):
            calls.setdefault(tree.function(call), []).append(_plain_site(path, call, analysis, gradients))
    for node, path in implicit_calls(analysis):
        calls.setdefault(tree.function(node), []).append(_plain_site(path, node, analysis, gradients))
    for decorator, path, kind in decorated(analysis):
        site = _plain_site(path, decorator, analysis, gradients)
        calls.setdefault(tree.function(decorator), []).append(replace(site, arguments=(("0", intern(kind)),)))
    return calls


def _imported_otherwise(call: ast.Call, path: str, analysis: FileAnalysis) -> Iterable[str]:
    """Return the other functions that a name may mean if it is imported in several branches: `from ppo import
    learn` or `from trpo import learn`, depending on a setting; likewise the methods of an object whose class
    is imported so: `agent = Agent(env)`, `agent.run()`.
    """
    if not path:
        return ()
    match call.func:
        case ast.Name() as func:
            return [other for other in _imports_of(func, analysis) if other != path]
        case ast.Attribute(value=ast.Name() | ast.Attribute() as owner, attr=method):
            classes = dict.fromkeys(
                other
                for made in _makers(owner, analysis)
                if isinstance(made.func, ast.Name)
                for other in _imports_of(made.func, analysis)
            )
            methods = (f"{other}().{method}" for other in classes)
            return [other for other in methods if other != path]
    return ()


def _imports_of(name: ast.Name, analysis: FileAnalysis) -> list[str]:
    """Return the dotted paths that several imports bind to a name; none for a single import."""
    _, bindings = analysis.names.bindings(name)
    if len(bindings) < 2 or any(binding.kind is not BindingKind.IMPORT for binding in bindings):
        return []
    return list(dict.fromkeys(binding.target for binding in bindings if binding.target))


def _makers(owner: ast.Name | ast.Attribute, analysis: FileAnalysis) -> Iterator[ast.Call]:
    """Yield the calls whose result is assigned to a variable, or to an attribute of `self`."""
    values: list[ast.expr | None] = []
    if isinstance(owner, ast.Name):
        _, bindings = analysis.names.bindings(owner)
        values = [each.value for each in bindings if each.kind is BindingKind.ASSIGN and not each.path]
    elif analysis.names.is_self(owner.value):
        uses = analysis.syntax.written.attributes.get(owner.attr, ())
        stores = [analysis.syntax.parents.get(use) for use in uses if isinstance(use.ctx, ast.Store)]
        values = [each.value for each in stores if isinstance(each, ast.Assign)]
    yield from (value for value in values if isinstance(value, ast.Call))


def _plain_site(
    path: str, node: ast.expr | ast.stmt, analysis: FileAnalysis, gradients: GradientSummaries
) -> CallSite:
    """Return a call site for an implicit call, whose arguments are not known."""
    loop = analysis.loops.innermost(node)
    said = gradients.here.stated_at(node) if gradients.concerned else UNSTATED
    return CallSite(
        path,
        "",
        node.lineno,
        analysis.loops.index[loop] if loop is not None else -1,
        each_pass=analysis.loops.iteration_frequency.each_pass(node),
        autograd=said.autograd,
        entered=said.entered,
        guards=analysis.loops.conditions.of(node),
        locked=bool(analysis.locks.held(node)),
    )


def _call_site(
    call: ast.Call, func: ast.expr, analysis: FileAnalysis, gradients: GradientSummaries, intern: Interner
) -> CallSite | None:
    path = method = receiver = ""
    are_its_own = True  # the arguments of this call, not those of an enclosing one
    qualified = analysis.names.qualified(func)
    if qualified is not None:
        if models.callable_fact(qualified) is not None or qualified.startswith("builtins."):
            return None
        path = qualified
    elif isinstance(func, ast.Attribute):
        method = func.attr
        receiver = last_name(func.value) or ""
        if isinstance(func.value, ast.Call) and receiver == "super":
            path = _super_path(call, method, analysis)
        else:
            owner = analysis.types.type_of(func.value)
            if owner.tag in _NOT_PROJECT or owner.of == _PARSER:
                return None
            if owner.of:
                path = f"{owner.of}().{method}" if owner else f"{owner.of}.{method}"
    else:
        kind = analysis.types.type_of(func)
        if kind.of:
            path = f"{kind.of}()" if kind.tag in (TypeTag.MODULE, TypeTag.INSTANCE) else kind.of
        elif held := callables_in(func, analysis):
            path = either(*held)
            are_its_own = False
        source = source_of(func, analysis)
        if source is not None:
            method, receiver = source.attr, last_name(source.value) or ""
    if not path and not method:
        return None
    loops = analysis.loops
    loop = loops.innermost(call)
    values = [(str(position), value) for position, value in enumerate(call.args)]
    values += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
    are_exported = (
        bool(path) and are_its_own
    )  # if the callee is unknown, its arguments reach no known function
    arguments = [
        (name, _passed_type(value, call, path, analysis) if are_exported else UNKNOWN)
        for name, value in values
    ]
    said = gradients.here.stated_at(call) if gradients.concerned else UNSTATED
    guards = loops.conditions.of(call)
    return CallSite(
        intern(path),
        method,
        call.lineno,
        loops.index[loop] if loop is not None else -1,
        intern(tuple([intern(argument) for argument in arguments])),
        Heat.WARM if _is_rarely_called(method or path, call, guards, analysis) else Heat.HOT,
        receiver,
        loops.iteration_frequency.each_pass(call),
        intern(tuple(_named(values))),
        said.autograd,
        said.entered,
        guards,
        bool(analysis.locks.held(call)),
        passes=intern(tuple(_passed(values, call, analysis))),
        numbers=tuple([(name, number) for name, value in values if (number := whole(value)) is not None]),
        ends=gradients.ends_of(call) if gradients.concerned else (),
        reads=items_read(call, analysis),
        unpacks=items_unpacked(call, analysis),
        unpacked=tuple(_unpacked(call, analysis)) if are_exported else (),
        is_learned=gradients.concerned and gradients.is_learned(call),
        choices=intern(tuple(_choices(call, analysis))) if guards else (),
    )


def _choices(call: ast.Call, analysis: FileAnalysis) -> Iterator[OptionChoice]:
    """Yield the values of options without which a call does not run."""
    for test, taken in analysis.branch_tests.of(call):
        yield from choices_of(test, taken=taken)


def _passed_type(value: ast.expr, call: ast.Call, path: str, analysis: FileAnalysis) -> Type:
    """Return the type of an argument as the callee knows it. A tensor of constants or random numbers that a
    file passes once, at module level, to a class or function of its own is only there to try it:
    `Net()(torch.randn(1, 4))`. It says nothing of the device that others use.
    """
    kind = analysis.exported_type(value)
    if (
        kind.tag is TypeTag.TENSOR
        and kind.device is Device.HOST
        and analysis.syntax.function(call) is None
        and path.startswith(f"{analysis.name}.")
        and analysis.loops.innermost(call) is None
        and all(_is_made_up(each, analysis) for each in _values_of(value, analysis))
    ):
        return kind._replace(device=Device.UNKNOWN)
    return kind


def _values_of(value: ast.expr, analysis: FileAnalysis) -> list[ast.expr | None]:
    """Return what may be assigned to a variable, or the expression itself."""
    if not isinstance(value, ast.Name):
        return [value]
    return [each.value for each in analysis.names.bindings(value)[1]]


def _is_made_up(value: ast.expr | None, analysis: FileAnalysis) -> bool:
    """Whether an expression creates a tensor of constants or random numbers."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        fact = models.callable_fact(analysis.names.qualified(value.func) or "")
        if fact is not None:
            return bool(fact.traits & _MAKES_UP)
        value = value.func.value
    return False


def _unpacked(call: ast.Call, analysis: FileAnalysis) -> Iterator[tuple[str, Type]]:
    """Yield the arguments of a call that are unpacked: `learn(*batch, **options)`."""
    for position, value in enumerate(call.args):
        if isinstance(value, ast.Starred):
            yield str(position), analysis.exported_type(value.value)
    for keyword in call.keywords:
        if keyword.arg is None:
            yield "**", analysis.exported_type(keyword.value)


def _called(call: ast.Call) -> Iterator[ast.expr]:
    """Yield what a call runs: `worker.method.remote(...)`, of Ray, runs the method in another process."""
    yield call.func
    match call.func:
        case ast.Attribute(value=ast.Name() | ast.Attribute() as func, attr="remote"):
            yield func


def _passed(
    values: Iterable[tuple[str, ast.expr]], call: ast.Call, analysis: FileAnalysis
) -> Iterator[tuple[str, tuple[Guard, ...]]]:
    """Yield the switches among the arguments of a call, with the conditions under which they are on."""
    if any(not keyword.arg for keyword in call.keywords) or any(
        isinstance(value, ast.Starred) for value in call.args
    ):
        yield "*", ()
    for place, given in values:
        value = _constant_of(given, analysis)
        if isinstance(value, ast.Constant):
            if value.value is None or isinstance(value.value, bool):
                yield place, tuple(analysis.loops.conditions.of_test(value, taken=True))
        elif isinstance(value, _MAY_BE_CONDITIONS) and not _is_number(value):
            guards = tuple(analysis.loops.conditions.of_test(value, taken=True))
            if any(guard.may_cool and _is_switch(guard, place) for guard in guards):
                yield place, guards


def _constant_of(value: ast.expr, analysis: FileAnalysis) -> ast.expr:
    """Return the `None` that a variable always holds (`writer = None`, `agent.train(batch, writer)`), or the
    expression itself.
    """
    if not isinstance(value, ast.Name):
        return value
    scope, bindings = analysis.names.bindings(value)
    if scope is None or len(bindings) != 1 or analysis.names.is_set_by_text(value):
        return value
    match bindings[0]:
        case Binding(kind=BindingKind.ASSIGN, path=(), value=ast.Constant(value=None) as nothing):
            return nothing
    return value


def _is_number(value: ast.expr) -> bool:
    return isinstance(value, ast.UnaryOp) and not isinstance(value.op, ast.Not)


def _is_switch(guard: Guard, place: str) -> bool:
    """Whether a guard is passed on to callees; for parameters, whether the name is that of a switch."""
    return (
        not guard.is_parameter
        or guard.kind is GuardKind.INTERVAL
        or guard.decider == place
        or is_observation(guard.decider)
    )


def _named(values: Iterable[tuple[str, ast.expr]]) -> Iterator[tuple[str, str]]:
    """Yield the last names in the arguments of a call, also of `int(args.size)`; for a subscript, also the
    name of the index.
    """
    for place, value in values:
        match value:
            case ast.Call(func=ast.Name(id="int"), args=[converted], keywords=[]):
                name = last_name(converted)
            case _:
                name = last_name(value)
        if name:
            yield place, name
        if isinstance(value, ast.Subscript) and (index := last_name(value.slice)):
            yield f"{place}[]", index


def _is_rarely_called(name: str, call: ast.Call, guards: tuple[Guard, ...], analysis: FileAnalysis) -> bool:
    """Whether a function is called less often than the loop around the call runs, judging by its name. A
    function that evaluates states and actions, or tensors, is not: it is a policy, evaluated for a loss or
    to act. Nor is one that always creates tensors, or a batch: the inputs of a network; nor one that is
    passed a part of the current step to keep it, or is named like an input of a network.
    """
    if not _sounds_rare(name):
        return False
    evaluates = name.rpartition(".")[2].lstrip("_").startswith("eval")
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    if _KEEPS_STEP.match(name) and given and not guards:
        return any(_names_file(value, analysis) for value in given)
    if _COMPUTES_INPUT.match(name):
        return False
    if not evaluates and (guards or not _MAKES.match(name)):
        return True
    if any(
        _OBSERVED.search(last_name(value) or "") or analysis.types.type_of(value).tag is TypeTag.TENSOR
        for value in given
    ):
        return False
    return not (evaluates and _chooses_action(call, analysis))


def _names_file(value: ast.expr, analysis: FileAnalysis) -> bool:
    named = _FILE.search(last_name(value) or "")
    return bool(named) or analysis.types.type_of(value).tag is TypeTag.STR


def _chooses_action(call: ast.Call, analysis: FileAnalysis) -> bool:
    """Whether an environment takes the result of a call as its action in the same loop:
    `a = agent.evaluate(s)`, then `env.step(a)` or `env.step(2 * a)`.
    """
    loop = analysis.loops.innermost(call)
    if loop is None:
        return False
    names: set[str] = set()

    def comes_from_call(value: ast.AST) -> bool:
        return any(
            part is call or (isinstance(part, ast.Name) and part.id in names) for part in descendants(value)
        )

    for node in descendants(loop):
        match node:
            case ast.Assign(targets=targets, value=value) if comes_from_call(value):
                names |= {
                    name.id
                    for target in targets
                    for name in descendants(target)
                    if isinstance(name, ast.Name)
                }
            case ast.Call(args=given) if analysis.loops.driver_of(node) is Driver.ENVIRONMENT_STEP:
                if any(comes_from_call(value) for value in given):
                    return True
    return False


@lru_cache(maxsize=4096)
def _sounds_rare(name: str) -> bool:
    return _RARELY_CALLED.match(name) is not None


def _super_path(call: ast.Call, method: str, analysis: FileAnalysis) -> str:
    owner = analysis.syntax.class_of(call)
    if owner is None or not owner.bases:
        return ""
    base = analysis.names.qualified(owner.bases[0])
    return f"{base}.{method}" if base else ""
