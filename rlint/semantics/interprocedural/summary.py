"""Summary of one file for other files: plain data, small, without syntax trees."""

from __future__ import annotations

from dataclasses import field

from rlint.findings import Heat
from rlint.frozen import frozen, mutable
from rlint.models.effect import PURE, Effect
from rlint.models.value_type import UNKNOWN, Type, TypeTag
from rlint.semantics.effects.stored_parts import StoredPart
from rlint.semantics.frequency.branches.declared_options import Given
from rlint.semantics.frequency.branches.option_choices import OptionChoice
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import Guard
from rlint.semantics.interprocedural.mentions.reference import Reference
from rlint.semantics.nn.architecture import NetworkPart
from rlint.semantics.nn.autograd import Autograd
from rlint.semantics.nn.forward.forward_summary import ForwardSummary
from rlint.semantics.nn.separate_outputs import OutputSwitch
from rlint.semantics.threads.queues import ChannelMaker
from rlint.syntax.redefinitions import shown

COLLECTS_WARNINGS = "catch_warnings(record=True)"
"""Stands among the attributes that a file reads, if it keeps the warnings that are given in a block."""
RAISES_WARNINGS = "simplefilter('error')"
"""Stands there if it turns warnings into errors."""
ANY_CLASS = "*"
"""The class of an object of unknown class."""


@frozen
class LoopSummary:
    """A loop or comprehension in a function. `drivers` are what its body does directly (see heat.py);
    `bounded` says that it runs a small constant number of times.
    """

    line: int
    header: str
    parent: int  # index of the enclosing loop in the same function, -1 for none
    drivers: frozenset[Driver] = frozenset()
    bounded: bool = False
    each_pass: bool | None = (
        None  # whether it runs in each iteration of the enclosing loop (see iteration_frequency.py)
    )
    guards: tuple[Guard, ...] = ()  # the conditions that guard it (see path_conditions.py)
    length: Guard | None = None  # its number of iterations, as the interval at which it ends
    works: bool = False  # its body runs a network, samples, or steps an object
    # lines of calls that get one item of many each time, and whether one is a network (see over_items)
    item_calls: tuple[int, ...] = ()
    runs_on_items: bool = False
    yields: bool = False  # each iteration yields a value, and so waits for an iteration of another loop
    begins: str = ""  # the name of its number of iterations, if it comes before the main loop of its function
    pauses: bool = (
        False  # each iteration pauses long enough for a person to watch (see phases/watching_pauses.py)
    )


@frozen
class CallSite:
    """A call whose target may be a function of the project.

    `path` is the access path of the callee, "" if only the method's name is known. `loop` is the index of the
    innermost loop around it, -1 for none.
    """

    path: str
    method: str
    line: int
    loop: int
    arguments: tuple[tuple[str, Type], ...] = ()  # position ("0", "1") or keyword, with the argument's type
    cap: Heat = Heat.HOT  # the highest heat of the callee, whatever the conditions around it
    receiver: str = ""  # the last name of the method's receiver
    each_pass: bool | None = (
        None  # whether the call runs in each iteration of its loop (see iteration_frequency.py)
    )
    # position or keyword, with the last name in the argument, and that of its index after `[]`
    names: tuple[tuple[str, str], ...] = ()
    autograd: Autograd | None = None  # what the enclosing function determines about autograd there …
    entered: tuple[str, ...] = ()  # … if none of these contexts and decorators changes it
    guards: tuple[Guard, ...] = ()  # the conditions that guard it (see path_conditions.py)
    locked: bool = False  # whether a lock is held around it in the same function (see locks.py)
    starts: str = ""  # "process" or "thread", if a worker of this kind makes the call (see spawn.py)
    many: bool = False  # whether several workers started by this line may run at once
    # position or keyword of switches, with the condition for them to be on; "*" if star arguments pass others
    passes: tuple[tuple[str, tuple[Guard, ...]], ...] = ()
    numbers: tuple[tuple[str, int], ...] = ()  # position or keyword of literal numbers, truncated to integers
    ends: tuple[int, ...] = ()  # items of the result whose gradient ends in the caller; -1 for all of it
    # the items and fields of the result that the caller reads; None if not known
    reads: tuple[int | str, ...] | None = None
    unpacks: int = 0  # the number of variables that its result is unpacked to
    # position of `*values`, or "**" of `**options`, with the type of what is unpacked
    unpacked: tuple[tuple[str, Type], ...] = ()
    is_learned: bool = False  # does the gradient of its result reach what the file calls `backward` on?
    choices: tuple[OptionChoice, ...] = ()  # values of options without which it does not run


@frozen
class Application:
    """A function passes its `parameter` (or each item of it), and no other argument, to the function at the
    access path `path`.
    """

    path: str
    parameter: str
    items: bool


@frozen
class IteratedParameter:
    """A function iterates over its `parameter` (or, if "", over another value of this type), itself or, with
    a `path`, by passing it to that function as this `argument`.
    """

    parameter: str
    kind: Type
    path: str = ""
    argument: str = ""
    again: bool = False  # it is also used as no iterator could be: `len(values)`


@mutable
class FunctionSummary:
    """A def: its signature, its result and effects, and its calls."""

    module: str
    qualname: str
    line: int
    parameters: tuple[str, ...] = ()
    parameter_kinds: dict[str, Type] = field(default_factory=dict)
    returns: tuple[Type, ...] = ()
    effect: Effect = PURE
    effect_paths: tuple[tuple[str, Effect], ...] = ()  # called paths, with the effect to assume if unknown
    outside_reads: tuple[str, ...] = ()  # variables of modules and other functions (see outside_reads.py)
    calls: tuple[CallSite, ...] = ()
    loops: tuple[LoopSummary, ...] = ()
    drivers: frozenset[Driver] = frozenset()  # done directly, outside all loops of the function
    is_method: bool = False
    is_property: bool = False
    is_static: bool = False
    is_of_class: bool = False  # a class method, whose first parameter is the class
    works: bool = False  # if without side effects: its own body does more than look-ups
    watches_others: bool = False  # if without side effects: its own body reads state that other code changes
    remembers: bool = False  # caches its results by arguments
    applications: tuple[Application, ...] = ()
    through: tuple[
        IteratedParameter, ...
    ] = ()  # if without side effects: the parameters that it iterates over and that may be iterators
    turns_autograd: bool = False  # leaves autograd turned on or off for the code after the call
    concerns_autograd: bool = False  # may turn autograd on or off while other code runs inside, by its text
    gradient_from: tuple[str, ...] = ()  # called paths whose gradient its results may carry ("" unknown)
    runs: tuple[str, ...] = ()  # parameters that it calls, whose gradient its results may carry
    keeps_gradient: bool = False  # uses results of calls in a loss, or stores them, besides returning values
    releases: tuple[str, ...] = ()  # parameters whose gradient does not leave the function
    carries: tuple[str, ...] = ()  # parameters whose gradient only reaches its results …
    # … unless a function that receives one does more with it: parameter, path, position or keyword
    passed_gradients: tuple[tuple[str, str, str], ...] = ()
    only_passed_on: tuple[str, ...] = ()  # those that reach the results only through these calls
    # parameters of which no gradient leaves if they are tensors, as far as these functions let none leave: as
    # `passed_gradients`, or with an empty path if it ends here
    ends_tensors: tuple[tuple[str, str, str], ...] = ()
    plain_results: tuple[int, ...] = ()  # items of the tuples that it returns which carry no gradient …
    # … and those that only hold results of these steps of environments: rewards
    stepped_results: tuple[tuple[int, str], ...] = ()
    saves: bool = False  # writes a checkpoint in each call (see checkpoints.py)
    sets: tuple[tuple[str, str], ...] = ()  # attributes that it sets, and their objects (see immutability.py)
    update_intervals: tuple[int, ...] = ()  # the lines of intervals at which it takes a gradient step itself
    update_conditions: tuple[int, ...] = ()  # the lines of the conditions of all gradient steps that it takes
    steps_optimizers: tuple[
        int, ...
    ] = ()  # the loop around each step of another network's optimizer (-1: none)
    off: tuple[str, ...] = ()  # parameters that default to False, None or 0
    ones: tuple[str, ...] = ()  # parameters that default to 1
    numbers: tuple[tuple[str, int], ...] = ()  # parameters with their defaults
    stores: tuple[tuple[str, str | int], ...] = ()  # of a constructor: attributes (see handed_lengths.py)
    log_guards: tuple[Guard, ...] | None = (
        None  # conditions under which it writes to a log (see log_writes.py)
    )
    relays_log: bool = False  # only writes its parameters to a log
    reads: tuple[str, ...] = ()  # parameters whose numbers it copies to the host and returns
    tests: tuple[str, ...] = ()  # parameters of which it only tells whether they are finite
    # the parameter whose place in an array is all that it finds, and the attribute that holds the array
    searches: tuple[str, str] = ("", "")
    copies: tuple[str, ...] = ()  # parameters that it copies to a device (see device_copies.py) …
    converts: tuple[str, ...] = ()  # … and those that it copies to one only if they are no tensors
    copied_items: tuple[str, ...] = ()  # access paths of items from other files that it copies to one
    rows: tuple[str, ...] = ()  # parameters that it makes a batch of one of (see one_row_parameters.py)
    makes_tensor_of: str = (
        ""  # the parameter that it returns as a host tensor if it is an array, else as it is
    )
    hands_back: tuple[int, ...] = ()  # the lengths of the tuples that it returns
    returns_call_results: bool = False  # each value that it returns is the result of a call in it
    outputs: tuple[tuple[str, ...], ...] = ()  # attributes called for each item (see separate_outputs.py)
    conditional_outputs: tuple[str, ...] = ()  # those of them that only run under a condition
    switched_outputs: tuple[OutputSwitch, ...] = ()  # those that a parameter turns on or off
    runs_each: str = ""  # the attribute whose items it runs for the list that it returns (see there)
    updates: bool = False  # takes a step of an optimizer parameter, once per call
    learned: tuple[str, ...] = ()  # parameters on which it calls `backward`
    # items of its results, by position or key (-1 for the whole), on whose graph it has called `backward`,
    # each with the called paths whose gradient it carries
    learned_results: tuple[tuple[int | str, tuple[str, ...]], ...] = ()
    weights_read: tuple[str, ...] = ()  # parameters whose own parameters or state dict it reads: networks
    takes_more: bool = False  # by `*args` or `**kwargs`
    needs: int = 0  # minimum number of arguments, as far as no decorator changes that
    returns_values: bool = False  # returns a value to its callers, known or not
    promised: Type = UNKNOWN  # what a rough annotation declares for the result
    runs_network: bool = False  # calls a network, or what likely is one, itself (see item_runs.py)
    walks_down: Type | None = None  # the container of the sum tree that it descends (see sum_tree.py)
    walks_up: Type | None = None  # the container of the sum tree that it updates from a leaf to the root
    path: str = field(init=False, compare=False, repr=False)
    """The qualified name across the project."""

    def __post_init__(self) -> None:
        self.path = f"{self.module}.{self.qualname}" if self.qualname else self.module

    def __hash__(self) -> int:
        return hash(self.path)

    def place_of(self, parameter: str) -> int:
        """Return the position of the argument that a call passes to a parameter; -1 if there is none."""
        if parameter not in self.parameters:
            return -1
        return self.parameters.index(parameter) - (self.is_method and not self.is_static)

    def loops_from(self, loop: int) -> list[int]:
        """Return the index of a loop and those of its enclosing loops, innermost first; empty for -1."""
        found = []
        while 0 <= loop < len(self.loops):
            found.append(loop)
            loop = self.loops[loop].parent
        return found

    @property
    def name(self) -> str:
        """Return the last part of the qualified name."""
        return shown(self.qualname).rpartition(".")[2]

    @property
    def may_return_iterator(self) -> bool:
        """Whether it may return an iterator, as a generator does."""
        return any(kind.tag is TypeTag.ITERATOR for kind in self.returns)

    @property
    def has_receiver(self) -> bool:
        """Whether its first parameter is the receiver of a method call."""
        return self.is_method and not self.is_static

    @property
    def is_closure(self) -> bool:
        """Whether it is defined in another function, so that no other file calls it by its name."""
        return not self.is_method and "." in self.qualname

    @property
    def call_parameters(self) -> tuple[str, ...]:
        """Return the parameters without the receiver."""
        return self.parameters[1:] if self.has_receiver else self.parameters

    def parameter_at(self, argument: str) -> str:
        """Return the parameter that receives an argument, given by position or name; "" if there is none."""
        if not argument.isdigit():
            return argument
        parameters = self.call_parameters
        return parameters[int(argument)] if int(argument) < len(parameters) else ""

    def takes(self, site: CallSite) -> bool:
        """Whether a call passes all required arguments, and none without a parameter."""
        if len(site.arguments) < self.needs and all(place != "*" for place, _ in site.passes):
            return False
        if self.takes_more:
            return True
        parameters = self.call_parameters
        return all(
            (int(place) < len(parameters)) if place.isdigit() else place in parameters
            for place, _ in site.arguments
        )

    @property
    def shown(self) -> str:
        """Return the qualified name in the form of Python code."""
        return shown(self.qualname)


@mutable
class ClassSummary:
    """A class: its bases as dotted names, its methods' names, the types of its attributes.

    `restored` says that a method other than its constructor sets attributes by names known only at run time,
    `constructs_by_name` that its constructor does.
    `declared` are the types that annotations in its body declare for attributes, whatever is stored there.
    `trained` are the attributes whose parameters it reads: `self.net.parameters()`.
    """

    module: str
    qualname: str
    bases: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    attributes: dict[str, Type] = field(default_factory=dict)
    restored: bool = False
    constructs_by_name: bool = False
    declared: dict[str, Type] = field(default_factory=dict)
    trained: frozenset[str] = frozenset()
    path: str = field(init=False, compare=False, repr=False)
    """The qualified name across the project."""

    def __post_init__(self) -> None:
        self.path = f"{self.module}.{self.qualname}"

    def __hash__(self) -> int:
        return hash(self.path)


@mutable
class ModuleSummary:
    """A file: its definitions and imports. `functions[""]` is the code at module level."""

    module: str
    path: str
    package: str
    is_test: bool = False
    is_configuration: bool = False  # no Python, but a file with `options` and `settings` only
    cells: tuple[tuple[int, int], ...] = ()  # of a notebook: the first line of each, and its number
    functions: dict[str, FunctionSummary] = field(default_factory=dict)
    classes: dict[str, ClassSummary] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    star_imports: tuple[str, ...] = ()
    attributes_read: frozenset[str] = frozenset()  # the names of all attributes that the file reads
    attributes_only_called: frozenset[str] = frozenset()  # those of them that it uses for nothing but calls
    classes_used: frozenset[str] = frozenset()  # their last names (see classes_used.py)
    classes_created: frozenset[str] = frozenset()  # those of which it may create objects
    # names that each definition at the top level uses (see definition_uses.py)
    definition_uses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    replaced: frozenset[str] = (
        frozenset()
    )  # functions and methods that the file replaces (see replaced_functions.py)
    borrowed: frozenset[tuple[str, str]] = frozenset()  # read from classes (see borrowed_methods.py)
    set_in_modules: frozenset[str] = frozenset()  # dotted names of the project, constants included
    passed_modules: frozenset[str] = frozenset()  # imports that it uses as values (see passed_modules.py)
    observed: frozenset[str] = frozenset()  # modules and functions (see observed_code.py)
    reads_errors: bool = False  # (see errors_read.py)
    shown: frozenset[str] = frozenset()  # names of functions and attributes (see shown_values.py)
    write_only_attributes: frozenset[str] = (
        frozenset()
    )  # those of them that it only adds to (see write_only.py)
    speedups: frozenset[str] = frozenset()  # how the file has torch compute (see torch_settings.py)
    frame_networks: frozenset[str] = frozenset()  # classes of networks (see scaled_inputs.py)
    constants: dict[str, Type] = field(default_factory=dict)
    parts: dict[str, tuple[NetworkPart, ...]] = field(
        default_factory=dict
    )  # of networks (see architecture_summary.py)
    forward_summaries: dict[str, ForwardSummary] = field(
        default_factory=dict
    )  # by the function's qualified name
    frozen: frozenset[str] = frozenset()  # last names of networks whose weights may not require grad
    made: tuple[ChannelMaker, ...] = ()  # queues, events and shared values (see queues.py)
    carried: tuple[tuple[str, str], ...] = ()  # last names of queues, with what is put into them
    measured: tuple[tuple[str, Heat, str], ...] = ()  # functions that a profile saw, how often, and why
    # declarations in comments or the configuration: a function, the index of a loop in it (-1 for all of it),
    # how often that runs, and the origin of the declaration
    declared: tuple[tuple[str, int, Heat, str], ...] = ()
    has_entries: bool = False  # are the entry points of the program declared, so that other scripts are none?
    is_next_to_programs: bool = False  # do programs train that share no import with it?
    entries: tuple[str, ...] = ()  # those in this file, by their names; "" for its module-level code
    mentions: tuple[Reference, ...] = ()  # of functions with accessor names (see references.py)
    # what it puts into objects that may be networks (see stored_parts.py)
    stored_parts: tuple[StoredPart, ...] = ()
    set_by_name: tuple[tuple[str, str], ...] = ()  # objects and attributes (see attributes_by_name.py)
    restores: bool = False  # sets attributes of unknown objects by names known only at run time
    settings: dict[str, tuple[bool | int | None, ...]] = field(
        default_factory=dict
    )  # (see program_settings.py)
    # settings, with the constants that the file gives to them (see declared_options.py)
    options: dict[str, tuple[Given, ...]] = field(default_factory=dict)
    # classes that it uses only under conditions, with those around each use (see switched_classes.py)
    switched: dict[str, tuple[tuple[OptionChoice, ...], ...]] = field(default_factory=dict)
    # dicts of classes, with the options by which it looks classes up (see class_registries.py)
    registries: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stored: tuple[tuple[str, tuple[str, ...]], ...] = ()  # attributes, with functions that they may hold
    given: tuple[tuple[str, str, Type], ...] = ()  # attributes set on known objects (see given_attributes.py)
    registered: tuple[tuple[str, str], ...] = ()  # functions that libraries call, with the purpose
    looks_up_names: bool = False  # by names known only at run time
    digest: str = ""  # a digest of the text, if there are mentions

    @property
    def packages(self) -> frozenset[str]:
        """Return the packages that the file imports from: the first parts of the dotted names."""
        return frozenset(target.partition(".")[0] for target in (*self.imports.values(), *self.star_imports))
