"""Summarise the analysis of one file for other files."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple

from rlint import models
from rlint.findings import digest_of
from rlint.models import effect
from rlint.models.trait import Trait
from rlint.models.value_type import UNKNOWN, Caveat, Choice, Device, Type, TypeTag, deferred, with_choice
from rlint.notebook.layout import cell_lines
from rlint.regex import regex
from rlint.semantics.dataflow.external_writes import doubt_attributes
from rlint.semantics.dataflow.immutability import sets
from rlint.semantics.dataflow.induction_variables import follows_from_itself
from rlint.semantics.dataflow.item_origins import applications
from rlint.semantics.dataflow.iterator_consumption import IteratorUses
from rlint.semantics.dataflow.sum_trees.sum_tree import SumTreeWalks
from rlint.semantics.dataflow.sum_trees.sum_tree_uses import storage_of
from rlint.semantics.dataflow.termination import may_fall_through
from rlint.semantics.dataflow.write_only import looked_up, write_only_attributes
from rlint.semantics.effects.array_searches import parameter_searched_for
from rlint.semantics.effects.attributes_by_name import set_by_name
from rlint.semantics.effects.borrowed_methods import borrowed_methods
from rlint.semantics.effects.errors_read import reads_errors
from rlint.semantics.effects.log_writes import log_guards, relaying
from rlint.semantics.effects.observed_code import observed_in
from rlint.semantics.effects.outside_reads import outside_reads
from rlint.semantics.effects.passed_modules import may_be_any, passed_modules
from rlint.semantics.effects.purity import does_work, remembers, watches_others
from rlint.semantics.effects.replaced_functions import replaced_in
from rlint.semantics.effects.shown_values import shown_names
from rlint.semantics.effects.stored_parts import stored_parts
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.branches.class_registries import registry_lookups
from rlint.semantics.frequency.branches.declared_options import options_of
from rlint.semantics.frequency.branches.switched_classes import switched_classes
from rlint.semantics.frequency.driver_calls import OPTIMIZING
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.handed_lengths import stores_of, whole
from rlint.semantics.frequency.program_settings import settings_of
from rlint.semantics.imports.test_files import is_for_a_runner, is_test_file
from rlint.semantics.interprocedural.call_sites import calls_by_function
from rlint.semantics.interprocedural.compaction import Interner
from rlint.semantics.interprocedural.given_attributes import given_attributes
from rlint.semantics.interprocedural.lambda_summaries import reading_lambdas
from rlint.semantics.interprocedural.mentions.classes_used import classes_used
from rlint.semantics.interprocedural.mentions.definition_uses import definition_uses
from rlint.semantics.interprocedural.mentions.references import looks_up_names, mentions_of
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.registered_attributes import registered_attributes
from rlint.semantics.interprocedural.stored_callables import registered_callables, stored_callables
from rlint.semantics.interprocedural.summary import (
    COLLECTS_WARNINGS,
    RAISES_WARNINGS,
    CallSite,
    ClassSummary,
    FunctionSummary,
    ModuleSummary,
)
from rlint.semantics.nn.architecture import NetworkParts
from rlint.semantics.nn.architecture_summary import parts_of_file
from rlint.semantics.nn.checkpoints import functions_that_save
from rlint.semantics.nn.forward.forward_summary import forward_summaries
from rlint.semantics.nn.forward.scaled_inputs import frame_networks
from rlint.semantics.nn.gradient_summary import GradientSummaries
from rlint.semantics.nn.separate_outputs import (
    conditional_outputs,
    outputs_of,
    run_each,
    switched_outputs,
)
from rlint.semantics.nn.torch_settings import speedups_of
from rlint.semantics.threads.queues import carried_in, made_in
from rlint.semantics.types.algebra import (
    OPTIONS,
    after_placeholder,
    along,
    completed,
    each_of,
    refines,
    with_default,
)
from rlint.semantics.types.annotations import annotation_kind, container_kind
from rlint.semantics.types.container_insertions import (
    HOLD,
    Added,
    in_doubt_if_shared,
    is_empty,
    put_in,
    with_added,
)
from rlint.semantics.types.device_reads import parameters_read, parameters_tested
from rlint.semantics.types.infer import TypeInference
from rlint.semantics.types.results.call_results import returns_call_results
from rlint.semantics.types.results.command_line import option_kinds, stored_options
from rlint.semantics.types.results.device_copies import items_copied, parameters_copied
from rlint.semantics.types.results.one_row_parameters import parameters_made_rows
from rlint.semantics.types.results.tensor_from_either import parameter_of_either
from rlint.source.files import NOTEBOOK
from rlint.syntax.assignments import place_assigned, value_assigned
from rlint.syntax.queries import defaults_of, is_classmethod, is_property, is_staticmethod
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, Function, SyntaxIndex
from rlint.syntax.walk import descendants, is_in, place_in_order

_OF_DISTRIBUTIONS = regex(r"dist|normal|cls|class|make|build|fn$", re.IGNORECASE)
_CONTAINERS = frozenset({TypeTag.TUPLE, TypeTag.LIST, TypeTag.DICT, TypeTag.ITERATOR})
_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_FromItself = dict[tuple[str, str], list[tuple[ast.Attribute, list[ast.expr]]]]
"""Assignments of attributes, by class and name, that read the attribute itself; with these reads."""
# decorators that pass on the function's result, and keep nothing of it
_HAND_ON = models.having(Trait.MARKS, "abc", "builtins", "torch", "torch.jit", "typing", "typing_extensions")


_SHOWN = ("print", "log", "call")
"""Settings of numpy with which each numerical error is noticed, not the first one of a line only."""
_SETS_BY_NAME = regex(r"setattr|__dict__|\bvars\(")
"""What code needs to set attributes of objects of other files by names known only at run time."""


def summarise(analysis: FileAnalysis, path: str, intern: Interner | None = None) -> ModuleSummary:
    """Build the summary of a file. `path` is the displayed path; `intern` is an interner shared by many
    summaries.
    """
    syntax = analysis.syntax
    intern = intern or Interner()
    summary = ModuleSummary(
        analysis.name, path, syntax.package, is_test_file(path, analysis.name, syntax.text)
    )
    if path.endswith(NOTEBOOK):
        summary.cells = cell_lines(syntax.text)
    root = syntax.scopes[syntax.module]
    for name, bindings in root.bindings.items():
        imports = [binding.target for binding in bindings if binding.kind is BindingKind.IMPORT]
        if imports:
            summary.imports[name] = imports[0]
        elif len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN:
            kind = analysis.types.binding_kind(bindings[0])
            if kind or kind.of:
                summary.constants[name] = kind
    summary.star_imports = tuple(root.star_imports)
    summary.settings = settings_of(syntax)
    summary.options = options_of(syntax, analysis.branch_tests)
    summary.stored = stored_callables(analysis)
    summary.registered = registered_callables(analysis)
    gradients = GradientSummaries(analysis)
    _add_functions(summary, analysis, gradients, intern)
    for node in syntax.of_type(ast.ClassDef):
        described = _class(node, analysis)
        summary.classes[described.qualname] = described
    _add_attributes(summary, analysis)
    if summary.classes or _SETS_BY_NAME.search(syntax.text):
        summary.set_by_name = set_by_name(analysis)
    _look_into_containers(summary, analysis)
    summary.given = given_attributes(analysis, lambda attribute: _stored_kind(attribute, analysis))
    summary.attributes_read, summary.attributes_only_called = _attributes_read(analysis)
    summary.classes_used, summary.classes_created = classes_used(analysis, summary.star_imports)
    summary.definition_uses = definition_uses(analysis, summary.star_imports)
    summary.switched = switched_classes(analysis)
    summary.registries = registry_lookups(analysis)
    summary.stored_parts = stored_parts(analysis)
    _describe_observers(summary, analysis)
    summary.mentions = mentions_of(analysis, summary.attributes_read)
    summary.looks_up_names = looks_up_names(analysis)
    summary.digest = digest_of(syntax.text) if summary.mentions else ""
    summary.write_only_attributes = write_only_attributes(analysis)
    summary.speedups = speedups_of(analysis)
    summary.frame_networks = frame_networks(syntax)
    reader = NetworkParts(analysis)
    summary.parts = parts_of_file(analysis, reader)
    summary.forward_summaries = forward_summaries(
        analysis, reader, has_tests=is_for_a_runner(path, analysis.name, syntax.text)
    )
    summary.frozen = gradients.frozen()
    summary.made = made_in(analysis)
    summary.carried = carried_in(analysis)
    _describe_functions(summary, analysis)
    return summary


def summarise_loader(analysis: FileAnalysis, path: str) -> ModuleSummary:
    """Build the summary of a file that only counts for what it does to modules whose names are known only at
    run time.
    """
    names, syntax = analysis.names, analysis.syntax
    summary = ModuleSummary(
        analysis.name, path, syntax.package, is_test_file(path, analysis.name, syntax.text)
    )
    passed = passed_modules(syntax, analysis.name)
    summary.passed_modules = frozenset(each for each in passed if may_be_any(each, passed))
    summary.replaced = frozenset(each for each in names.replaced if may_be_any(each, passed))
    summary.set_in_modules = frozenset(each for each in names.set_in_modules() if may_be_any(each, passed))
    summary.observed = frozenset(each for each in observed_in(syntax, names) if may_be_any(each, passed))
    return summary


def _describe_observers(summary: ModuleSummary, analysis: FileAnalysis) -> None:
    """Add what the file sets or observes in other code."""
    summary.replaced = replaced_in(analysis)
    summary.borrowed = borrowed_methods(analysis)
    summary.set_in_modules = analysis.names.set_in_modules()
    summary.passed_modules = passed_modules(analysis.syntax, analysis.name)
    summary.observed = observed_in(analysis.syntax, analysis.names)
    summary.reads_errors = reads_errors(analysis, summary.imports.values())
    summary.shown = shown_names(analysis)


def _describe_functions(summary: ModuleSummary, analysis: FileAnalysis) -> None:
    """Add to the summaries of functions what is found for a whole file at once."""
    for saving in functions_that_save(analysis):
        summary.functions[saving].saves = True
    for name, guards in log_guards(analysis).items():
        summary.functions[name].log_guards = guards
    for name in relaying(analysis):
        summary.functions[name].relays_log = True
    for maker, stores in stores_of(analysis.syntax).items():
        summary.functions[analysis.syntax.qualname(maker)].stores = stores
    for name, attributes in sets(analysis).items():
        summary.functions[name].sets = attributes
    for name, parameters in parameters_made_rows(analysis).items():
        summary.functions[name].rows = parameters


def _add_functions(
    summary: ModuleSummary, analysis: FileAnalysis, gradients: GradientSummaries, intern: Interner
) -> None:
    """Summarise the functions of a file, and its module-level code as a function without a name."""
    syntax = analysis.syntax
    is_run = is_for_a_runner(summary.path, analysis.name, syntax.text)
    # calls in tests show neither how often code runs nor which arguments it gets
    calls = {} if is_run else calls_by_function(analysis, gradients, intern)
    applied, removed = applications(analysis), IteratorUses(analysis)
    walks = SumTreeWalks(syntax)
    for node in (*syntax.of_type(ast.FunctionDef), *syntax.of_type(ast.AsyncFunctionDef)):
        assert isinstance(node, FUNCTIONS)
        if is_run and node.name.startswith("test"):
            function = _test(node, analysis)
        else:
            function = _function(node, analysis, calls.get(node, []), intern)
            function.applications = applied.get(node, ())
            function.through = removed.summary(node) if function.effect.quiet else ()
            gradients.describe(node, function)
            below = walks.of(node)
            function.walks_down = storage_of(below, analysis) if below is not None else None
            written = walks.updated_by(node)
            function.walks_up = storage_of(written, analysis) if written is not None else None
        summary.functions[function.qualname] = function
    for function in reading_lambdas(analysis):
        summary.functions.setdefault(function.qualname, function)
    summary.functions[""] = FunctionSummary(
        analysis.name,
        "",
        1,
        calls=tuple(calls.get(None, ())),
        loops=analysis.loops.summaries(None),
        drivers=intern(analysis.loops.function_drivers(None)),
        update_intervals=analysis.loops.update_intervals(None),
        update_conditions=analysis.loops.update_conditions(None),
        steps_optimizers=analysis.loops.steps_optimizers(None),
        turns_autograd=gradients.turned_in_module(),
    )


def _test(node: Function, analysis: FileAnalysis) -> FunctionSummary:
    """Return the summary of a test: only that it exists. Its runner calls it, and other callers must assume
    any effect.
    """
    return FunctionSummary(
        analysis.name,
        analysis.syntax.qualname(node),
        node.lineno,
        effect=effect.UNKNOWN,
        gradient_from=("",),
        keeps_gradient=True,
    )


def _function(
    node: Function, analysis: FileAnalysis, calls: list[CallSite], intern: Interner
) -> FunctionSummary:
    syntax = analysis.syntax
    effect, paths = analysis.effects.function_effect(node)
    arguments = node.args
    defaults = defaults_of(arguments)
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    types = {}
    for parameter in every:
        kind = analysis.types.promised(parameter, node)
        if kind.tag is TypeTag.UNKNOWN:
            kind = analysis.types.used_as(parameter.arg, syntax.scopes[node]) or kind
        if kind.tag is not TypeTag.UNKNOWN or kind.of:
            types[parameter.arg] = intern(kind)
    returned = [each.value for each in syntax.written.returns.get(node, ()) if each.value is not None]
    is_method = isinstance(syntax.parents.get(node), ast.ClassDef)
    may_run_networks = is_method and bool(returned) and "torch" in syntax.text
    outputs = outputs_of(node, returned) if may_run_networks else ()
    conditional = conditional_outputs(node) if any(outputs) else ()
    copied: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    if "torch" in syntax.text:
        copied = parameters_copied(node, syntax, analysis.types, analysis.definitions.reaching)
    return FunctionSummary(
        analysis.name,
        syntax.qualname(node),
        node.lineno,
        intern(tuple(parameter.arg for parameter in every)),
        types,
        intern(_returns(node, analysis.types, analysis.exported_type)),
        effect,
        paths,
        intern(outside_reads(node, analysis)),
        tuple(calls),
        analysis.loops.summaries(node),
        intern(analysis.loops.function_drivers(node)),
        is_method,
        is_property(node),
        is_staticmethod(node),
        is_classmethod(node),
        effect.quiet and does_work(node, analysis),
        effect.quiet and watches_others(node, analysis),
        remembers(node, analysis),
        update_intervals=analysis.loops.update_intervals(node),
        update_conditions=analysis.loops.update_conditions(node),
        steps_optimizers=analysis.loops.steps_optimizers(node),
        runs_network=analysis.loops.item_runs.runs_network(node),
        reads=parameters_read(node, syntax),
        tests=parameters_tested(node),
        searches=parameter_searched_for(
            node, {parameter.arg for parameter in every}, analysis.names.qualified
        )
        if "np." in syntax.text or "numpy" in syntax.text
        else ("", ""),
        copies=copied[0],
        converts=copied[1],
        copied_items=items_copied(node, syntax, analysis.types, analysis.definitions.reaching)
        if "torch" in syntax.text
        else (),
        makes_tensor_of=parameter_of_either(
            node, returned, analysis.definitions.reaching, analysis.types.type_of
        )
        if "torch" in syntax.text
        else "",
        updates=_updates(node, analysis),
        takes_more=arguments.vararg is not None or arguments.kwarg is not None,
        needs=_needs(node, analysis),
        returns_values=bool(returned),
        promised=intern(_promised(node, analysis.types)),
        hands_back=tuple(sorted({len(value.elts) for value in returned if isinstance(value, ast.Tuple)})),
        returns_call_results=returns_call_results(node, returned, analysis.definitions.reaching),
        outputs=intern(outputs),
        conditional_outputs=conditional,
        switched_outputs=switched_outputs(node, returned) if conditional else (),
        runs_each=run_each(node, returned) if may_run_networks else "",
        off=tuple(
            name
            for name, default in defaults.items()
            if isinstance(default, ast.Constant) and not default.value
        ),
        ones=tuple(
            name
            for name, default in defaults.items()
            if isinstance(default, ast.Constant) and type(default.value) is int and default.value == 1
        ),
        numbers=tuple(
            (name, number) for name, default in defaults.items() if (number := whole(default)) is not None
        ),
    )


def _needs(function: Function, analysis: FileAnalysis) -> int:
    """Return the number of arguments that a call has to pass, besides the receiver; 0 if decorators may add
    some.
    """
    decorators = [getattr(each, "func", each) for each in function.decorator_list]
    if any(analysis.names.qualified(each) not in _HAND_ON for each in decorators):
        return 0
    arguments = function.args
    needed = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    is_method = isinstance(analysis.syntax.parents.get(function), ast.ClassDef)
    return max(needed - (is_method and not is_staticmethod(function)), 0)


def _updates(function: Function, analysis: FileAnalysis) -> bool:
    """Whether a function takes a step of an optimizer that it did not create, once per call: one that only
    calls `backward` inspects gradients, and one with an optimizer of its own is an example.
    """
    if Driver.GRADIENT_STEP not in analysis.loops.function_drivers(function):
        return False
    steps = analysis.syntax.written.calls_of(OPTIMIZING)
    return any(
        isinstance(step.func, ast.Attribute)
        and analysis.loops.driver_of(step) is Driver.GRADIENT_STEP
        and not _is_made_in(step.func.value, function, analysis)
        for step in steps
        if analysis.syntax.function(step) is function
    )


def _is_made_in(value: ast.expr, function: Function, analysis: FileAnalysis) -> bool:
    if not isinstance(value, ast.Name):
        return False
    bindings = analysis.definitions.reaching(value)
    return any(isinstance(binding.value, ast.Call) and is_in(binding.value, function) for binding in bindings)


def _look_into_containers(summary: ModuleSummary, analysis: FileAnalysis) -> None:
    """Infer the item types of containers that functions return: `return self.states[i], self.actions[i]`. The
    types of attributes are known only after all methods of the file were read.
    """
    linked: FileAnalysis | None = None
    for node in (*analysis.syntax.of_type(ast.FunctionDef), *analysis.syntax.of_type(ast.AsyncFunctionDef)):
        assert isinstance(node, FUNCTIONS)
        function = summary.functions[analysis.syntax.qualname(node)]
        if any(_is_vague(kind) for kind in function.returns):
            linked = linked or analysis.linked(ProjectIndex([summary]))
            function.returns = _returns(node, linked.types, linked.exported_type)
    if linked is not None:
        linked.release_analyses()


def _is_vague(kind: Type) -> bool:
    """Whether a type is a container of unknown items, an array of unknown dtype, or a tensor on an unknown
    device.
    """
    if kind.parts:
        return any(not part or _is_vague(part) for part in kind.parts)
    if kind.tag in _CONTAINERS:
        return kind.item is None or _is_vague(kind.item)
    if kind.tag is TypeTag.NDARRAY:
        return not kind.dtype
    return kind.tag is TypeTag.TENSOR and kind.device is Device.UNKNOWN


def _returns(
    node: Function, types: TypeInference, exported_type: Callable[[ast.expr], Type]
) -> tuple[Type, ...]:
    """Return the joined type of all returned values, or that of the annotation if it is more precise."""
    annotated = annotation_kind(node.returns, types.names) if node.returns is not None else UNKNOWN
    if annotated and not _is_vague(annotated):
        return (annotated,)
    if not annotated and any(_may_change_results(decorator, types) for decorator in node.decorator_list):
        return ()
    found = _returned(node, types, exported_type)
    if not _hands_on(node, types):
        found = tuple(map(_held, found))
    if not annotated:
        return found
    values = [kind for kind in found if not (annotated.optional and kind.tag is TypeTag.NONE)]
    value = annotated._replace(optional=False) if len(values) < len(found) else annotated
    return found if values and all(_may_refine(kind, value) for kind in values) else (annotated,)


def _may_refine(found: Type, annotated: Type) -> bool:
    """Whether an inferred type may agree with an annotation once other files are known."""
    if found.parts and any(part.of and not part for part in found.parts):
        return found.tag is annotated.tag and found.optional is annotated.optional
    return refines(completed(found, annotated), annotated)


def _promised(node: Function, types: TypeInference) -> Type:
    """Return the type that a rough annotation declares for the result, of which more may be inferred."""
    kind = annotation_kind(node.returns, types.names) if node.returns is not None else UNKNOWN
    return kind if kind and _is_vague(kind) else UNKNOWN


def _may_change_results(decorator: ast.expr, types: TypeInference) -> bool:
    """Whether a decorator may replace the function's result. Known decorators of libraries do not; those of
    the project may.
    """
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(named, ast.Attribute) and named.attr in ("setter", "getter", "deleter", "register"):
        return False
    qualified = types.names.qualified(named)
    own = types.names.module.partition(".")[0]
    return qualified is None or qualified.partition(".")[0] == own


def _hands_on(function: Function, types: TypeInference) -> bool:
    """Whether only the caller gets the result of a function: no decorator, such as a cache, keeps it."""
    decorators = (each.func if isinstance(each, ast.Call) else each for each in function.decorator_list)
    return all(types.names.qualified(each) in _HAND_ON for each in decorators)


def _held(kind: Type) -> Type:
    """Return the same type, marked as possibly held by other code, with its items."""
    item = _held(kind.item) if kind.item is not None else None
    return kind._replace(fresh=False, item=item, parts=tuple(map(_held, kind.parts)))


def _returned(
    node: Function, types: TypeInference, exported_type: Callable[[ast.expr], Type]
) -> tuple[Type, ...]:
    """Return the types of all returned values; empty if one of them is unknown."""
    yields = _yields_of(node, types.syntax)
    if yields:
        return () if node.decorator_list else (_iterator(yields, types),)
    found: list[Type] = []
    unknown = False
    for returned in reversed(types.syntax.written.returns.get(node, ())):
        kind = Type(TypeTag.NONE)
        if returned.value is not None:
            kind = types.type_of(returned.value)
            kind = exported_type(returned.value) if kind.short else kind
        found.append(kind)
        unknown |= not kind and not kind.of
    if unknown:
        joined = reduce(Type.joined, found)
        return (Type(caveat=joined.caveat),) if joined.caveat is not None and joined.caveat.choices else ()
    if found and may_fall_through(node.body):
        found.append(Type(TypeTag.NONE))
    return tuple(dict.fromkeys(found))


def _yields_of(function: Function, syntax: SyntaxIndex) -> list[ast.Yield | ast.YieldFrom]:
    """Return the `yield` expressions that make a function a generator."""
    every: list[ast.Yield | ast.YieldFrom] = [*syntax.of_type(ast.Yield), *syntax.of_type(ast.YieldFrom)]
    return [node for node in every if is_in(node, function) and syntax.function(node) is function]


def _iterator(yields: list[ast.Yield | ast.YieldFrom], types: TypeInference) -> Type:
    """Return the type of a generator, with its item type if that is always the same."""
    given = [
        types.type_of(node.value).aged() if node.value is not None else Type(TypeTag.NONE) for node in yields
    ]
    given = [
        each_of(kind) if isinstance(node, ast.YieldFrom) else kind
        for node, kind in zip(yields, given, strict=True)
    ]
    item = given[0]
    for kind in given[1:]:
        item = item.joined(kind)
    return Type(TypeTag.ITERATOR, item=item if item or item.of else None, fresh=True)


def _class(node: ast.ClassDef, analysis: FileAnalysis) -> ClassSummary:
    bases = []
    for base in node.bases:
        unsubscripted = base.value if isinstance(base, ast.Subscript) else base
        qualified = analysis.names.qualified(unsubscripted)
        if qualified:
            bases.append(qualified)
    methods = tuple(child.name for child in node.body if isinstance(child, FUNCTIONS))
    return ClassSummary(analysis.name, analysis.syntax.qualname(node), tuple(bases), methods)


def _attributes_read(analysis: FileAnalysis) -> tuple[frozenset[str], frozenset[str]]:
    """Return the attributes that a file reads, including those looked up by name (`getattr(agent,
    "steps")`), and those of them that it does nothing with but call them.
    """
    syntax = analysis.syntax
    read = {
        name
        for name, nodes in syntax.written.attributes.items()
        if any(isinstance(node.ctx, ast.Load) for node in nodes)
    }
    by_name = looked_up(syntax)
    only_called = {name for name in read if _is_only_called(syntax.written.attributes[name], syntax)}
    every = read | by_name | _collecting(syntax) | _raising(syntax)
    return frozenset(every), frozenset(only_called - by_name)


def _is_only_called(uses: Sequence[ast.AST], syntax: SyntaxIndex) -> bool:
    for use in uses:  # no generator expression, which would be resumed for each of many attributes
        call = syntax.parents[use]
        if not isinstance(call, ast.Call) or call.func is not use:
            return False
    return True


def _collecting(syntax: SyntaxIndex) -> frozenset[str]:
    """Return `COLLECTS_WARNINGS` if a file keeps the warnings that are given in a block, or has numpy print,
    log or pass on each numerical error. `seterr(**before)` only restores the settings.
    """
    calls = syntax.written.calls_of(("catch_warnings",))
    keeps = any(keyword.arg == "record" for call in calls for keyword in call.keywords)
    settings = [
        value
        for call in syntax.written.calls_of(("seterr", "errstate"))
        for value in (*call.args, *(keyword.value for keyword in call.keywords if keyword.arg))
    ]
    shows = any(not isinstance(value, ast.Constant) or value.value in _SHOWN for value in settings)
    return frozenset({COLLECTS_WARNINGS}) if keeps or shows else frozenset()


def _raising(syntax: SyntaxIndex) -> frozenset[str]:
    """Return `RAISES_WARNINGS` if a file has a filter for warnings that may turn them into errors."""
    calls = syntax.written.calls_of(("simplefilter", "filterwarnings", "catch_warnings"))
    named = (keyword.value for call in calls for keyword in call.keywords if keyword.arg in ("action", None))
    actions = (*named, *(call.args[0] for call in calls if call.args))
    raises = any(not isinstance(each, ast.Constant) or each.value == "error" for each in actions)
    return frozenset({RAISES_WARNINGS}) if raises else frozenset()


def _add_attributes(summary: ModuleSummary, analysis: FileAnalysis) -> None:
    """Add the types that a class stores in its attributes, in its body and through `self` in its methods."""
    syntax = analysis.syntax
    for node in syntax.of_type(ast.ClassDef):
        attributes: dict[str, Type] = {}
        declared: dict[str, Type] = {}
        scope = syntax.scopes[node]
        for name, bindings in scope.bindings.items():
            for binding in bindings:
                annotation = getattr(binding.statement, "annotation", None)
                if annotation is not None:
                    promised = annotation_kind(annotation, analysis.names)
                    default = analysis.types.type_of(binding.value) if binding.value is not None else UNKNOWN
                    declared[name] = with_default(promised, default)
                if binding.kind in (BindingKind.ASSIGN, BindingKind.ANNOTATE):
                    kind = (
                        analysis.types.binding_kind(binding)
                        if binding.kind is BindingKind.ASSIGN
                        else UNKNOWN
                    )
                    if annotation is not None and kind.tag in (TypeTag.UNKNOWN, TypeTag.NONE):
                        kind = with_default(annotation_kind(annotation, analysis.names), kind)
                    elif annotation is not None:
                        kind = _of_field(kind, annotation, analysis)
                    _join_attribute(attributes, name, kind)
        described = summary.classes[syntax.qualname(node)]
        described.attributes, described.declared = attributes, declared
    empty = _EmptyContainers(set(), set())
    _add_options(summary, analysis)
    _add_trained(summary, analysis)
    for cls, name, kind in registered_attributes(analysis):
        _join_attribute(summary.classes[syntax.qualname(cls)].attributes, name, kind)
    again: _FromItself = {}
    open_stores: list[tuple[ClassSummary, ast.Attribute, Type]] = []
    for attribute in syntax.written.attribute_stores:
        if isinstance(attribute.ctx, ast.Store) and isinstance(attribute.value, ast.Name):
            owner = analysis.names.class_of_self(attribute.value)
            if owner is not None:
                described = summary.classes[syntax.qualname(owner)]
                reads = _own_reads(attribute, analysis)
                if reads:
                    again.setdefault((described.qualname, attribute.attr), []).append((attribute, reads))
                    continue
                stored = _stored_kind(attribute, analysis)
                if stored is not None and stored.tag in _ARRAYS and _is_vague(stored):
                    open_stores.append((described, attribute, stored))
                elif stored is not None:
                    _join_stored(described, attribute, stored, empty, analysis)
    _add_open(open_stores, again, analysis)
    _add_from_itself(summary, again, analysis)
    _add_evidence(summary, analysis)
    _add_items(summary, analysis, empty)
    if summary.classes or _SETS_BY_NAME.search(syntax.text):
        doubt_attributes(
            summary,
            analysis,
            analysis.names.class_of_self,
            lambda attribute: _stored_kind(attribute, analysis),
        )


def _add_open(
    stores: list[tuple[ClassSummary, ast.Attribute, Type]], again: _FromItself, analysis: FileAnalysis
) -> None:
    """Add the arrays and tensors of unknown dtype or device that attributes hold."""
    placeholders = []
    for owner, attribute, stored in stores:
        if _is_placeholder(attribute, analysis):
            placeholders.append((owner, attribute.attr, stored))
            continue
        is_start = (owner.qualname, attribute.attr) in again
        parameter = None if is_start else _parameter_stored(attribute, analysis)
        _join_attribute(owner.attributes, attribute.attr, stored if parameter is None else parameter)
    for owner, name, promised in placeholders:
        known = owner.attributes.get(name)
        owner.attributes[name] = promised if known is None else after_placeholder(known, promised)


def _add_from_itself(summary: ModuleSummary, again: _FromItself, analysis: FileAnalysis) -> None:
    """Add the types of attributes that are computed from their last value."""
    for (qualname, name), stores in again.items():
        attributes = summary.classes[qualname].attributes
        start = attributes.get(name, UNKNOWN)
        steps = [
            (given, (), reads)
            for attribute, reads in stores
            if (given := value_assigned(attribute, analysis.syntax.parents)) is not None
        ]
        is_known = bool(start) or (bool(start.of) and all(_is_own_method(step[0], step[2]) for step in steps))
        found = analysis.types.least_kind(start, steps) if is_known else UNKNOWN
        is_found = bool(found or found.of)
        for attribute, _ in stores if not is_found else ():
            stored = _stored_kind(attribute, analysis)
            if stored is not None:
                _join_attribute(attributes, name, stored)
        if is_found:
            attributes[name] = found


def _of_field(default: Type, annotation: ast.expr, analysis: FileAnalysis) -> Type:
    """Return the type of a field with a default value; doubtful if the annotation allows others."""
    if default.tag is TypeTag.STR:
        default = Type(TypeTag.STR)  # its values are not known
    if annotation_kind(annotation, analysis.names).tag is default.tag:
        return default
    return default._replace(caveat=(default.caveat or Caveat())._replace(doubtful=True))


def _add_evidence(summary: ModuleSummary, analysis: FileAnalysis) -> None:
    """Infer the likely types of untyped attributes from their uses in the methods of their classes."""
    for node in analysis.syntax.of_type(ast.ClassDef):
        attributes = summary.classes[analysis.syntax.qualname(node)].attributes
        for name, kind in attributes.items():
            shown = analysis.types.evidence.of_attribute(node, name) if not kind else None
            if shown is not None:
                attributes[name] = with_choice(kind, Choice(shown[0], _place(summary, shown[1])))


def _place(summary: ModuleSummary, line: int) -> str:
    """Return a place in the form that messages about other files use; lines of notebooks are counted per
    cell.
    """
    return f"`{summary.path}`" if summary.cells else f"`{summary.path}:{line}`"


def _add_trained(summary: ModuleSummary, analysis: FileAnalysis) -> None:
    """Record the attributes of `self` whose `parameters()` are read, which only networks have."""
    for call in analysis.syntax.written.calls_of(("parameters",)):
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(value=ast.Name() as owner, attr=name)),
                args=[],
                keywords=[],
            ):
                cls = analysis.names.class_of_self(owner)
                if cls is not None:
                    described = summary.classes[analysis.syntax.qualname(cls)]
                    described.trained |= {name}
    for use in analysis.syntax.written.attributes.get("rsample", ()):
        _add_sampled(use.value, summary, analysis)


def _add_sampled(distribution: ast.expr, summary: ModuleSummary, analysis: FileAnalysis) -> None:
    """Record an attribute of `self` that returns distributions with reparametrised samples for one value:
    `self.actor(states).rsample()`. It learns, and is likely a network, unless it is a class of distributions.
    """
    if isinstance(distribution, ast.Name):
        bound = analysis.definitions.reaching(distribution)
        value = bound[0].value if len(bound) == 1 and bound[0].kind is BindingKind.ASSIGN else None
        if value is None:
            return
        distribution = value
    match distribution:
        case ast.Call(func=ast.Attribute(value=ast.Name() as owner, attr=name), args=[_]) if (
            not _OF_DISTRIBUTIONS.search(name)
        ):
            cls = analysis.names.class_of_self(owner)
            if cls is not None:
                described = summary.classes[analysis.syntax.qualname(cls)]
                if name not in described.methods:
                    described.trained |= {name}


def _add_options(summary: ModuleSummary, analysis: FileAnalysis) -> None:
    """Add the command-line options that a file declares, as a class."""
    options = option_kinds(analysis)
    if not options:
        return
    described = summary.classes[OPTIONS] = ClassSummary(analysis.name, OPTIONS, attributes=options)
    for attribute in stored_options(analysis):
        stored = _stored_kind(attribute, analysis)
        if stored is not None and attribute.attr not in options:
            _join_attribute(described.attributes, attribute.attr, stored)


class _EmptyContainers(NamedTuple):
    """The attributes, as class and name, that are `only` assigned empty containers, and those of which an
    annotation has `promised` the type of their items.
    """

    only: set[tuple[str, str]]
    promised: set[tuple[str, str]]


def _join_stored(
    owner: ClassSummary,
    attribute: ast.Attribute,
    stored: Type,
    empty: _EmptyContainers,
    analysis: FileAnalysis,
) -> None:
    """Join the type stored in an attribute with its known type. Empty containers do not determine an item
    type: attributes with no other values, and those whose annotation does, are collected in `empty`.
    """
    key = owner.qualname, attribute.attr
    if _is_item_promised(owner, attribute, stored, analysis):
        empty.promised.add(key)
    known = owner.attributes.get(attribute.attr)
    if stored.tag in HOLD and is_empty(value_assigned(attribute, analysis.syntax.parents)):
        if known is None or known.tag is TypeTag.NONE:
            empty.only.add(key)
        elif known.tag is stored.tag:
            return  # a container of the same type, emptied
    elif key in empty.only and known is not None and known.tag is stored.tag:
        empty.only.discard(key)
        owner.attributes[attribute.attr] = stored._replace(optional=known.optional)
        return
    _join_attribute(owner.attributes, attribute.attr, stored)


def _is_item_promised(
    owner: ClassSummary, attribute: ast.Attribute, stored: Type, analysis: FileAnalysis
) -> bool:
    """Whether an annotation says of which type the items of an attribute are: `self.nets: dict[str, Net] =
    {}`, or `nets: dict[str, Net]` in the body of the class.
    """
    if not is_empty(value_assigned(attribute, analysis.syntax.parents)):
        return False
    annotated = isinstance(analysis.syntax.parents[attribute], ast.AnnAssign)
    declared = stored if annotated else owner.declared.get(attribute.attr, UNKNOWN)
    return declared.tag is stored.tag and declared.item is not None


def _add_items(summary: ModuleSummary, analysis: FileAnalysis, empty: _EmptyContainers) -> None:
    """Add the values that a file puts into lists and dictionaries to the items of all attributes of that
    name. Items of unknown type add nothing to those that an annotation promises.
    """
    holders: dict[str, list[ClassSummary]] = {}
    for owner in summary.classes.values():
        for name, kind in owner.attributes.items():
            if kind.tag in HOLD and (
                kind.item is not None or kind.keys or (owner.qualname, name) in empty.only
            ):
                holders.setdefault(name, []).append(owner)
    attributes = analysis.syntax.written.attributes
    for name, owners in holders.items():
        added: list[Added] = []
        uses = [
            use
            for use in sorted(attributes.get(name, ()), key=place_in_order)
            if not _holds_object(use, summary, analysis)
        ]
        for attribute in uses:
            added += put_in(attribute, analysis.syntax, analysis.types.type_of)
        for owner in owners:
            kind = owner.attributes[name]
            starts_empty = (owner.qualname, name) in empty.only
            # an annotation says of which type the items are whose own type is not known
            is_promised = (owner.qualname, name) in empty.promised
            given = [each for each in added if each.kind] if is_promised else added
            held = with_added(kind, given, starts_empty=starts_empty)
            reads = [use for use in uses if isinstance(use.ctx, ast.Load)]
            owner.attributes[name] = in_doubt_if_shared(
                held, reads, analysis.syntax, analysis.names.qualified
            )


def _holds_object(attribute: ast.Attribute, summary: ModuleSummary, analysis: FileAnalysis) -> bool:
    """Whether an attribute of `self` surely is an object of a class, not a container: `self.memory` of an
    agent is a `Memory`, whatever name its own list has.
    """
    owner = attribute.value
    cls = analysis.names.class_of_self(owner) if isinstance(owner, ast.Name) else None
    kind = summary.classes[analysis.syntax.qualname(cls)].attributes.get(attribute.attr) if cls else None
    if kind is None:
        return False
    if kind:
        return kind.tag not in HOLD and kind.tag is not TypeTag.NONE
    return kind.of.endswith("()") and kind.of[:-2].removeprefix(f"{summary.module}.") in summary.classes


def _is_own_method(value: ast.expr, reads: list[ast.expr]) -> bool:
    """Whether a value is the result of a method of what is read: `self.state.update(action)`."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.value in reads


def _own_reads(attribute: ast.Attribute, analysis: FileAnalysis) -> list[ast.expr]:
    """Return the reads of an attribute of `self` in the value assigned to it."""
    given = value_assigned(attribute, analysis.syntax.parents)
    if given is None or not isinstance(attribute.value, ast.Name):
        return []
    return [
        node
        for node in descendants(given)
        if isinstance(node, ast.Attribute)
        and node.attr == attribute.attr
        and isinstance(node.value, ast.Name)
        and node.value.id == attribute.value.id
    ]


def _stored_kind(attribute: ast.Attribute, analysis: FileAnalysis) -> Type | None:
    parent = analysis.syntax.parents[attribute]
    if isinstance(parent, ast.AnnAssign):
        kind = container_kind(parent.annotation, analysis.names)
        if parent.value is None:
            return kind
        value = analysis.types.type_of(parent.value).aged()
        if is_empty(parent.value) and value.tag is kind.tag and kind.item is not None:
            return kind
        return value if value and value.tag is not TypeTag.NONE else with_default(kind, value)
    if isinstance(parent, ast.AugAssign):
        return None  # keeps its type
    given = value_assigned(attribute, analysis.syntax.parents)
    if given is None:
        unpacked = place_assigned(attribute, analysis.syntax.parents)
        return along(analysis.types.type_of(unpacked[0]), unpacked[1]).aged() if unpacked else UNKNOWN
    kind = analysis.exported_type(given)
    keeps_its_kind = not kind and follows_from_itself(attribute, given, analysis.names)
    return None if keeps_its_kind else kind


def _is_placeholder(attribute: ast.Attribute, analysis: FileAnalysis) -> bool:
    """Whether an annotation declares an attribute before it has a value: `self.x: Tensor = None`."""
    match analysis.syntax.parents[attribute]:
        case ast.AnnAssign(value=None | ast.Constant(value=None)):
            return True
    return False


def _parameter_stored(attribute: ast.Attribute, analysis: FileAnalysis) -> Type | None:
    """Return the type, to be resolved, of the parameter that an attribute stores: callers show the dtypes and
    devices of arrays and tensors, where an annotation or its uses do not.
    """
    given = value_assigned(attribute, analysis.syntax.parents)
    if not isinstance(given, ast.Name):
        return None
    match analysis.definitions.reaching(given):
        case [Binding(kind=BindingKind.PARAMETER, node=ast.arg(arg=name), statement=function)]:
            if isinstance(function, FUNCTIONS):
                return deferred(f"{analysis.name}.{analysis.syntax.qualname(function)}@{name}")
    return None


def _join_attribute(attributes: dict[str, Type], name: str, kind: Type) -> None:
    known = attributes.get(name)
    attributes[name] = kind if known is None else known.joined(kind)
