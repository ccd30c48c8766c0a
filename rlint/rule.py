"""The only import of rule modules: all of rlint that a rule may use, besides its package and `_shared`."""

from rlint import models
from rlint.base_rule import Rule, last_names
from rlint.edit.lazy_libcst import cst
from rlint.enums import Enum
from rlint.findings import (
    Applicability,
    CodeExtent,
    Confidence,
    Edit,
    Finding,
    Fix,
    Heat,
    Impact,
    ImpactLevel,
    OtherFileEdits,
    ProgramScale,
    Requirement,
    TrainingStep,
)
from rlint.frozen import frozen, mutable
from rlint.models import element_types, gradient_rules, output_words, parameters, vocabulary, waiting_words
from rlint.models.effect import Effect, EffectKind
from rlint.models.trait import Trait
from rlint.models.value_type import Device, Type, TypeTag
from rlint.regex import regex
from rlint.semantics.dataflow import array_growth, extract_variable, hoist_points, loop_carried, write_only
from rlint.semantics.dataflow.array_growth import ArrayGrowth
from rlint.semantics.dataflow.common_subexpressions import Repetition
from rlint.semantics.dataflow.escape import EscapeLevel, ValueUse
from rlint.semantics.dataflow.item_origins import ItemOrigin
from rlint.semantics.dataflow.loop_carried import LoopCarried
from rlint.semantics.dataflow.reaching_definitions import MAX_DEFINITIONS
from rlint.semantics.dataflow.value_flow import Cause
from rlint.semantics.dataflow.value_uses import Use
from rlint.semantics.frequency import loop_variables, roles, trip_count
from rlint.semantics.frequency.answer import Granularity
from rlint.semantics.frequency.cadence import Cadence
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import Guard, GuardKind
from rlint.semantics.frequency.loop_variables import ItemKind, LoopItem
from rlint.semantics.frequency.loops import AnyLoop
from rlint.semantics.frequency.phases.constructions import why_once_per_object
from rlint.semantics.interprocedural.call_graph import CallEdge
from rlint.semantics.interprocedural.call_targets import (
    arguments_of,
    calls_in_file,
    only_callee,
    parameter_of,
)
from rlint.semantics.interprocedural.mentions import reference
from rlint.semantics.interprocedural.mentions.reference import Reference, ReferenceKind
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import (
    Application,
    CallSite,
    ClassSummary,
    FunctionSummary,
    ModuleSummary,
)
from rlint.semantics.model import SemanticModel
from rlint.semantics.nn import gradient_sinks, made_networks, separate_outputs, torch_settings, weight_sync
from rlint.semantics.nn.autograd import Autograd
from rlint.semantics.nn.gradient_sinks import SinkKind
from rlint.semantics.nn.gradient_sources import GradientSources
from rlint.semantics.nn.module_graph import MODULE_METHODS, Architecture
from rlint.semantics.nn.weight_sync import StateCopy, StateLoad
from rlint.semantics.threads import queues, spawn
from rlint.semantics.threads.contexts import WorkerStart
from rlint.semantics.threads.locks import LockSection
from rlint.semantics.threads.queues import ChannelMaker
from rlint.semantics.types import (
    algebra,
    batches,
    containers,
    dtypes,
    environments,
    integers,
    legacy_tensors,
    numbers,
    observations,
    one_row_batches,
)
from rlint.semantics.types.constants import Constant, ConstantValue
from rlint.semantics.types.likely.annotated import rests_on_annotation
from rlint.semantics.types.numbers import Number
from rlint.semantics.types.results.tensor_from_either import array_of_either
from rlint.semantics.types.unpacked_arguments import unpacked_options
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import (
    argument_count,
    arguments_by_name,
    axes_of,
    counted_by_hand,
    counts_by_one,
    defaults_of,
    dump_as_read,
    element_at,
    has_key,
    is_classmethod,
    is_constant,
    is_dotted_name,
    is_staticmethod,
    root_name,
    root_of,
    same_code,
    target_of_move,
    variable_names,
)
from rlint.syntax.scopes import Binding, BindingKind, Scope
from rlint.syntax.syntax_index import COMPREHENSIONS, FUNCTIONS, LOOPS, TRIES, Function, Loop, SyntaxIndex
from rlint.syntax.value_use import UseKind, use_of
from rlint.syntax.walk import children, descendants, is_in, is_in_block, names_bound, size_of

__all__ = [
    "COMPREHENSIONS",
    "FUNCTIONS",
    "LOOPS",
    "MAX_DEFINITIONS",
    "MODULE_METHODS",
    "TRIES",
    "AnyLoop",
    "Applicability",
    "Application",
    "Architecture",
    "ArrayGrowth",
    "Autograd",
    "Binding",
    "BindingKind",
    "Cadence",
    "CallEdge",
    "CallSite",
    "Cause",
    "ChannelMaker",
    "ClassSummary",
    "CodeExtent",
    "Confidence",
    "Constant",
    "ConstantValue",
    "Device",
    "Driver",
    "Edit",
    "Effect",
    "EffectKind",
    "Enum",
    "EscapeLevel",
    "Finding",
    "Fix",
    "Function",
    "FunctionSummary",
    "GradientSources",
    "Granularity",
    "Guard",
    "GuardKind",
    "Heat",
    "Impact",
    "ImpactLevel",
    "ItemKind",
    "ItemOrigin",
    "LockSection",
    "Loop",
    "LoopCarried",
    "LoopItem",
    "ModuleSummary",
    "Number",
    "OtherFileEdits",
    "ProgramScale",
    "ProjectIndex",
    "Reference",
    "ReferenceKind",
    "Repetition",
    "Requirement",
    "Rule",
    "Scope",
    "SemanticModel",
    "SinkKind",
    "StateCopy",
    "StateLoad",
    "SyntaxIndex",
    "TrainingStep",
    "Trait",
    "Type",
    "TypeTag",
    "Use",
    "UseKind",
    "ValueUse",
    "WorkerStart",
    "algebra",
    "argument_count",
    "arguments_by_name",
    "arguments_of",
    "array_growth",
    "array_of_either",
    "axes_of",
    "batches",
    "calls_in_file",
    "children",
    "containers",
    "counted_by_hand",
    "counts_by_one",
    "cst",
    "defaults_of",
    "descendants",
    "dtypes",
    "dump_as_read",
    "element_at",
    "element_types",
    "environments",
    "extract_variable",
    "frozen",
    "gradient_rules",
    "gradient_sinks",
    "has_key",
    "hoist_points",
    "integers",
    "is_classmethod",
    "is_constant",
    "is_dotted_name",
    "is_in",
    "is_in_block",
    "is_staticmethod",
    "last_name",
    "last_names",
    "legacy_tensors",
    "loop_carried",
    "loop_variables",
    "made_networks",
    "models",
    "mutable",
    "names_bound",
    "numbers",
    "observations",
    "one_row_batches",
    "only_callee",
    "output_words",
    "parameter_of",
    "parameters",
    "queues",
    "reference",
    "regex",
    "rests_on_annotation",
    "roles",
    "root_name",
    "root_of",
    "same_code",
    "separate_outputs",
    "size_of",
    "spawn",
    "target_of_move",
    "torch_settings",
    "trip_count",
    "unpacked_options",
    "use_of",
    "variable_names",
    "vocabulary",
    "waiting_words",
    "weight_sync",
    "why_once_per_object",
    "write_only",
]
