"""Tensors and arrays that are created from constants and configuration only."""

from __future__ import annotations

import ast
from dataclasses import field

from rlint.rule import (
    Binding,
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    defaults_of,
    descendants,
    integers,
    last_name,
    models,
    mutable,
    numbers,
    size_of,
)
from rlint.rules.networks.rl315_recomputed_constant.grids import is_grid
from rlint.rules.networks.rl315_recomputed_constant.input_shapes import is_size, sized_by
from rlint.rules.networks.rl315_recomputed_constant.library_bases import is_set_by_library_base
from rlint.rules.networks.rl315_recomputed_constant.makers import (
    ARRAYS,
    MAKERS,
    OF_DATA,
    around,
    indexes_tensor,
    is_helper,
    is_maker,
    takes_time,
)
from rlint.rules.networks.rl315_recomputed_constant.passed_constants import (
    is_passed_list,
    is_passed_number,
    is_setting_name,
    varies,
)

_UNCHANGING = frozenset(
    TypeTag[name] for name in "INT FLOAT BOOL STR NONE DEVICE DTYPE NUMPY_SCALAR TUPLE RANGE".split()
)
# objects with settings as attributes
_HOLDERS = frozenset({TypeTag.INSTANCE, TypeTag.ENVIRONMENT, TypeTag.SPACE, TypeTag.CLASS, TypeTag.UNKNOWN})
_SIZED = frozenset({TypeTag.TUPLE, TypeTag.STR, TypeTag.RANGE})
_BUILTINS = models.having(Trait.OF_NUMBERS, "builtins") | {
    "builtins.list",
    "builtins.reversed",
    "builtins.tuple",
}
_LIBRARIES = ("torch.", "numpy.", "math.")
_NOT_WITH = frozenset({"requires_grad", "out", "pin_memory", "generator", None})
_SHAPES = models.having(
    Trait.CASTS_TO | Trait.RESHAPES | Trait.REPEATS | Trait.MIRRORS, TypeTag.TENSOR, TypeTag.NDARRAY
)
_COPY = frozenset(name for name in OF_DATA if name.startswith("torch."))
_OF_LISTS = frozenset({"numpy.array", "numpy.asarray", "torch.tensor"})
_DATA = (TypeTag.UNKNOWN, TypeTag.NDARRAY, TypeTag.LIST, TypeTag.TUPLE)
_OF_SPACES = frozenset({"n", "shape", "nvec", "high", "low"})
_NUMBERS = (TypeTag.INT, TypeTag.FLOAT)
_MOST_CALLERS = 3
_MOST_AROUND = 400
"""An expression with more nodes around the call than this is a table rather than a formula, and every item of
it would be examined.
"""


@mutable
class Hoisted:
    """An expression that creates the same tensor or array each time.

    It reads the attributes `settings` of `self`, the variables `globals` of the module, the variables `names`
    of the function, the attributes `loose` of one of those, and through the names in `inlined` other constant
    expressions. `devices` are `x.device`, where `x` is an input of a method, and variables
    that hold it.
    """

    node: ast.expr
    settings: list[ast.Attribute] = field(default_factory=list)
    globals: list[ast.Name] = field(default_factory=list)
    names: list[ast.Name] = field(default_factory=list)
    loose: list[ast.Attribute] = field(default_factory=list)
    inlined: dict[ast.Name, ast.expr] = field(default_factory=dict)
    devices: list[ast.Attribute | ast.Name] = field(default_factory=list)
    assumed: list[ast.Attribute] = field(default_factory=list)
    """Settings of objects that this program does not define, which only cold code visibly sets, and devices
    of inputs of other methods.
    """
    defaults: list[ast.Name] = field(default_factory=list)
    """Parameters of the constructor that count as constant because they have a default."""
    passed: list[ast.Name] = field(default_factory=list)
    """Parameters to which every caller passes a constant."""
    selected: list[ast.Name] = field(default_factory=list)
    """Indices of spaces, of which there are a few: `agent` of `self.spaces[agent].n`."""
    helpers: list[ast.Call] = field(default_factory=list)
    """Calls of functions of the program that create a tensor from their arguments."""
    sized: list[ast.expr] = field(default_factory=list)
    """Tensors whose shape it depends on."""

    @property
    def is_sure(self) -> bool:
        """Whether it is constant without assumptions."""
        return not (self.assumed or self.defaults or self.passed or self.helpers or self.sized)

    def take(self, other: Hoisted) -> None:
        """Add the reads of a part."""
        self.settings += other.settings
        self.globals += other.globals
        self.names += other.names
        self.loose += other.loose
        self.inlined |= other.inlined
        self.devices += other.devices
        self.assumed += other.assumed
        self.defaults += other.defaults
        self.passed += other.passed
        self.selected += other.selected
        self.helpers += other.helpers
        self.sized += other.sized


def constant_at(call: ast.Call, model: SemanticModel, *, may_read_names: bool = True) -> Hoisted | None:
    """Return the largest constant expression whose first constructor is `call`, if building it is
    expensive.
    """
    if not is_maker(call, model):
        return None
    reader = _Reader(model, by_shape=is_grid(call, model))
    found = reader.read(call)
    if found is None or (found.names and not may_read_names):
        model.silent("{} is not known to be created only from constants and settings", call)
        return None
    for whole in around(call, model):
        if size_of(whole) > size_of(call) + _MOST_AROUND:
            break
        wider = reader.read(whole)
        if wider is None or (wider.names and not may_read_names):
            break
        if model.types.type_of(whole).tag in ARRAYS:
            found = wider
    makers = [
        node for node in descendants(found.node) if isinstance(node, ast.Call) and is_maker(node, model)
    ]
    if min(makers, key=lambda node: model.source.span(node)[0]) is not call:
        return None  # reported at the first
    if any(takes_time(maker, model) or is_grid(maker, model) for maker in makers):
        return found
    # filled tensors count if they are inputs of a computation, or if their size is a setting
    computed = any(_is_computed(node, model) for node in descendants(found.node) if node not in makers)
    sized = bool(found.settings) and model.types.type_of(call).tag is TypeTag.TENSOR
    if computed or sized or (found.settings and indexes_tensor(found.node, model)):
        return found
    model.silent("{} takes little time", found.node)
    return None


def _is_computed(node: ast.AST, model: SemanticModel) -> bool:
    """Whether it is an operand of an operator, or an argument of a library function: a method may only change
    the shape.
    """
    computes = isinstance(node, ast.BinOp) or (
        isinstance(node, ast.Call) and model.names.qualified(node.func) is not None
    )
    return computes and isinstance(node, ast.expr) and model.types.type_of(node).tag in ARRAYS


def _is_value(call: ast.Call, qualified: str | None, position: int) -> bool:
    """Whether an argument is an operand, which may be a tensor with gradient, rather than a size, a bound or
    a device.
    """
    if qualified is None:
        return isinstance(call.func, ast.Attribute) and call.func.attr not in _SHAPES
    if qualified in MAKERS:
        return (qualified in OF_DATA and position == 0) or (qualified.endswith(".full") and position == 1)
    return qualified.startswith(("torch.", "numpy."))


def _creates_from_display(call: ast.Call, qualified: str | None) -> bool:
    """Whether a call creates an array of numpy from a list written in it: its items are no trained tensors,
    which numpy cannot read.
    """
    is_of_data = qualified in OF_DATA and (qualified or "").startswith("numpy.")
    return is_of_data and bool(call.args) and isinstance(call.args[0], (ast.List, ast.Tuple))


class _Reader:
    """Reads expressions: whether they are constant, and their inputs."""

    def __init__(self, model: SemanticModel, *, by_shape: bool = False, callers: int = _MOST_CALLERS) -> None:
        self.model = model
        self._by_shape = by_shape
        self._callers = callers if by_shape or callers < _MOST_CALLERS else 0
        """Over how many calls constants are followed back from parameters."""
        self._in_display = False
        self._of_data = False
        self._of_arrays = False

    def read(self, expression: ast.expr) -> Hoisted | None:
        """Return the inputs of a constant expression; None for one that is not constant."""
        found = Hoisted(expression)
        return found if self._constant(expression, found) else None

    def _constant(self, node: ast.expr, found: Hoisted, *, value: bool = False) -> bool:
        """Return whether it is constant. `value`: it becomes an element, and might be an array or a tensor,
        too.
        """
        if self._by_shape and (of := sized_by(node, self.model)) is not None:
            found.sized.append(of)
            return True
        if self._by_shape and isinstance(node, ast.Name) and is_size(node, self.model):
            found.defaults.append(node)
            return True
        match node:
            case ast.Constant():
                return True
            case ast.Name():
                return self._name(node, found, value=value)
            case ast.Attribute():
                return self._attribute(node, found, value=value)
            case ast.UnaryOp(operand=operand):
                return self._constant(operand, found, value=value)
            case ast.BinOp(left=left, right=right):
                value = value or any(self.model.types.type_of(part).tag in ARRAYS for part in (left, right))
                return all(self._constant(part, found, value=value) for part in (left, right))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return all(self._constant(element, found, value=value) for element in elements)
            case ast.Subscript(value=ast.Attribute() as of, slice=ast.Name() as index) if (
                of.attr in _OF_SPACES and self._list_of_spaces(of) is not None
            ):
                found.selected.append(index)
                return self._constant(of, found, value=value)
            case ast.Subscript(value=of, slice=index):
                return self._constant(of, found, value=value) and self._index(index, found)
            case ast.ListComp(elt=element, generators=[ast.comprehension(ifs=[], is_async=0) as part]):
                return self._repeated(part, found) and self._constant(element, found)
            case ast.Call():
                return self._call(node, found)
        return False

    def _repeated(self, part: ast.comprehension, found: Hoisted) -> bool:
        """Return whether the iterable of `for k in range(n)` is constant."""
        if not isinstance(part.target, ast.Name):
            return False
        match part.iter:
            case ast.Call(func=func):
                in_order = self.model.names.qualified(func) in ("builtins.range", "builtins.reversed")
                return in_order and self._constant(part.iter, found)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return all(isinstance(element, ast.Constant) for element in elements)
        return False

    def _index(self, index: ast.expr, found: Hoisted) -> bool:
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        bounds: list[ast.expr | None] = []
        for part in parts:
            bounds += [part.lower, part.upper, part.step] if isinstance(part, ast.Slice) else [part]
        return all(bound is None or self._constant(bound, found) for bound in bounds)

    # -- calls ---------------------------------------------------------------------------------

    def _call(self, call: ast.Call, found: Hoisted) -> bool:
        if any(keyword.arg in _NOT_WITH for keyword in call.keywords):
            return False
        qualified = self.model.names.qualified(call.func)
        if qualified is None:
            if not isinstance(call.func, ast.Attribute) or not self._method(call, call.func, found):
                return False
        elif is_helper(call, self.model):
            found.helpers.append(call)
        elif not self._function(call, qualified):
            return False
        before = self._in_display, self._of_data, self._of_arrays
        self._in_display, self._of_data = _creates_from_display(call, qualified), qualified in _COPY
        self._of_arrays = qualified in _OF_LISTS
        try:
            return self._arguments(call, qualified, found)
        finally:
            self._in_display, self._of_data, self._of_arrays = before

    def _arguments(self, call: ast.Call, qualified: str | None, found: Hoisted) -> bool:
        device = qualified is None
        converts = call in found.helpers
        for position, argument in enumerate(call.args):
            value = _is_value(call, qualified, position) or (converts and isinstance(argument, ast.Name))
            if not self._argument(argument, found, value=value, device=device):
                return False
        return all(
            (given.arg == "dtype" and self._dtype(given.value, found))
            or self._argument(
                given.value, found, value=given.arg in ("data", "fill_value"), device=given.arg == "device"
            )
            for given in call.keywords
        )

    def _function(self, call: ast.Call, qualified: str) -> bool:
        if qualified == "builtins.len" and self.model.types.type_of(call.args[0]).tag not in _SIZED:
            return False
        if not self.model.effects.call_effect(call).pure:
            return False
        return qualified in _BUILTINS or qualified.startswith(_LIBRARIES)

    def _method(self, call: ast.Call, func: ast.Attribute, found: Hoisted) -> bool:
        """Return whether a method call converts a constant: `constant.to(device)`."""
        makes = (
            self.model.types.type_of(func.value).tag in ARRAYS
            and self.model.types.type_of(call).tag in ARRAYS
        )
        return makes and self.model.effects.call_effect(call).quiet and self._constant(func.value, found)

    def _argument(self, argument: ast.expr, found: Hoisted, *, value: bool, device: bool) -> bool:
        match argument:
            case ast.Attribute(value=of, attr="device") if device:
                if self.model.types.type_of(of).tag is TypeTag.TENSOR or not self.model.types.is_setting(
                    argument
                ):
                    return self._device(argument, of, found)
            case ast.Name() if device and self._stands_for_device(argument, found):
                return True
        return self._constant(argument, found, value=value)

    def _stands_for_device(self, name: ast.Name, found: Hoisted) -> bool:
        """Return whether a variable is assigned the constant device of an input once in the function:
        `device = x.device`.
        """
        value = self._assigned_once(name)
        if not isinstance(value, ast.Attribute) or value.attr != "device":
            return False
        inner = Hoisted(value)
        if not self._argument(value, inner, value=False, device=True) or inner.names:
            return False
        if value in inner.devices:
            found.devices.append(name)
            found.assumed += inner.assumed
        else:
            found.take(inner)
            found.inlined[name] = value
        return True

    def _device(self, device: ast.Attribute, of: ast.expr, found: Hoisted) -> bool:
        """Return whether a device is constant: in a network, inputs have the device of the network;
        elsewhere, an input's device is constant within a loop.
        """
        if self.model.types.type_of(of).tag is TypeTag.MODULE or self._of_network(device):
            found.devices.append(device)
            return isinstance(of, (ast.Name, ast.Attribute))
        if not isinstance(of, ast.Name):
            return self._constant(device, found) or self._is_of_first_weight(device, of, found)
        is_input = self._by_shape or (self._is_passed_tensor(of) and not self.model.frequency.loops(device))
        if self._is_passed_in(of) or is_input:
            found.devices.append(device)
            found.assumed.append(device)
            return True
        if self.model.types.type_of(of).tag is not TypeTag.TENSOR:
            return False
        found.names.append(of)
        return self._is_local(of)

    def _is_of_first_weight(self, device: ast.Attribute, of: ast.expr, found: Hoisted) -> bool:
        """Return whether it is the device of a weight: `self.param_groups[0]["params"][0].device`."""
        if not isinstance(of, ast.Subscript) or self.model.class_of(device) is None:
            return False
        if self.model.types.type_of(of).tag not in (TypeTag.UNKNOWN, TypeTag.TENSOR):
            return False
        found.devices.append(device)
        found.assumed.append(device)
        return True

    def _dtype(self, dtype: ast.expr, found: Hoisted) -> bool:
        """Return whether it is the dtype of an input of a method, which likely is the same each time."""
        match dtype:
            case ast.Attribute(value=ast.Name() as of, attr="dtype"):
                is_input = self._by_shape or self._is_passed_tensor(of)
            case _:
                return False
        if is_input:
            found.devices.append(dtype)
            found.assumed.append(dtype)
        return is_input

    def _is_passed_in(self, name: ast.Name) -> bool:
        """Whether it is a batch or the like that a method receives, without a more precise type."""
        is_batch = self.model.types.type_of(name).tag in (TypeTag.UNKNOWN, TypeTag.INSTANCE)
        return is_batch and self._is_parameter(name)

    def _is_passed_tensor(self, name: ast.Name) -> bool:
        return self.model.types.type_of(name).tag is TypeTag.TENSOR and self._is_parameter(name)

    def _is_parameter(self, name: ast.Name) -> bool:
        """Whether it is a parameter of a method that is not bound again."""
        bindings = self.model.names.bindings(name)
        return self.model.class_of(name) is not None and all(
            binding.kind is BindingKind.PARAMETER for binding in bindings
        )

    def _of_network(self, node: ast.AST) -> bool:
        cls = self.model.class_of(node)
        summary = self.model.module.classes.get(self.model.syntax.qualname(cls)) if cls is not None else None
        return summary is not None and self.model.index.class_kind(summary).tag is TypeTag.MODULE

    # -- names ---------------------------------------------------------------------------------

    def _fits(self, node: ast.expr, *, value: bool) -> bool:
        """Return whether no code can change the value. Unknown values may become elements only if they are
        numbers.
        """
        kind = self.model.types.type_of(node)
        if kind:
            return kind.tag in _UNCHANGING
        return (
            not value or numbers.is_number(node, self.model) or integers.is_integer(node, self.model) is True
        )

    def _attribute(self, node: ast.Attribute, found: Hoisted, *, value: bool) -> bool:
        if self.model.names.qualified(node) is not None:
            return True
        if node.attr in ("T", "mT") and self.model.types.type_of(node.value).tag in ARRAYS:
            return self._constant(node.value, found)
        if not self._fits(node, value=value):
            if not self._is_kept_data(node) and (not self._in_display or self.model.types.type_of(node)):
                return False
            found.assumed.append(node)
        holder = self._holder_of_space(node)
        if holder is not None:
            found.assumed.append(node)
            return self._holder(holder, found)
        spaces = self._list_of_spaces(node)
        if spaces is not None:
            found.settings.append(node)
            found.assumed.append(node)
            if isinstance(node.value, ast.Subscript) and isinstance(node.value.slice, ast.Name):
                found.selected.append(node.value.slice)
            return self.model.types.is_likely_setting(spaces)
        chain = [node]
        while isinstance(chain[-1].value, ast.Attribute):
            chain.append(chain[-1].value)
        if not all(self._holds_settings(holder, node) for holder in chain[1:]):
            return False
        if any(self.model.types.type_of(holder).tag is TypeTag.MODULE for holder in chain[1:]):
            found.assumed.append(node)  # a network may be moved
        if len(chain) > 1 and node.attr in ("shape", "ndim", "size") and not self._is_space(node.value):
            return False  # of arguments, as far as is known
        root = chain[-1].value
        if self.model.names.is_self(root):
            found.settings.append(node)
            if self.model.types.is_setting(node):
                return True
            found.assumed.append(node)
            # objects stay on their device, even those whose class is not known, and spaces keep their bounds
            return (
                self.model.types.is_likely_setting(node)
                or (len(chain) > 1 and (node.attr == "device" or self._is_bound_of_space(node)))
                or is_set_by_library_base(node, self.model)
            )
        if (
            not isinstance(root, ast.Name)
            or len(chain) > 1
            or self.model.types.type_of(root).tag not in _HOLDERS
        ):
            return False
        found.loose.append(node)
        return self._holder(root, found) and self._only_set_here(node)

    def _is_kept_data(self, node: ast.Attribute) -> bool:
        """Return whether it is an attribute of `self` that holds numbers given to the constructor, which the
        file neither replaces nor writes to.
        """
        if not self._of_data:
            return False
        if node.attr in ("high", "low") and isinstance(node.value, ast.Attribute):
            return self._is_bound_of_space(node)
        if not self.model.names.is_self(node.value):
            return False
        if self.model.types.type_of(node).tag not in _DATA or not self.model.types.is_setting(node):
            return False
        given = False
        for use in self.model.names.attribute_uses(node.attr):
            parent = self.model.parent(use)
            if isinstance(use.ctx, ast.Load):
                if isinstance(parent, ast.AugAssign) or not isinstance(
                    getattr(parent, "ctx", ast.Load()), ast.Load
                ):
                    return False
            elif self.model.class_of(use) is self.model.class_of(node):
                given = self._is_given(self.model.names.assigned(use))
                if not given:
                    return False
        return given

    def _is_given(self, value: ast.expr | None) -> bool:
        """Return whether a value is a parameter, or an attribute of one."""
        while isinstance(value, ast.Attribute):
            value = value.value
        if not isinstance(value, ast.Name) or self.model.names.is_self(value):
            return False
        bindings = self.model.dataflow.definitions(value)
        return bool(bindings) and all(binding.kind is BindingKind.PARAMETER for binding in bindings)

    def _holder_of_space(self, node: ast.Attribute) -> ast.Name | None:
        """Return the variable of an environment of whose space it is the size or a bound: `env` of
        `env.action_space.n` and `env.action_space[0].n`.
        """
        space = node.value
        if isinstance(space, ast.Subscript) and isinstance(space.slice, ast.Constant):
            space = space.value
        match space:
            case ast.Attribute(value=ast.Name() as owner, attr="action_space" | "observation_space"):
                is_size = node.attr in _OF_SPACES and not self.model.names.is_self(owner)
                return owner if is_size else None
        return None

    def _list_of_spaces(self, node: ast.Attribute) -> ast.Attribute | None:
        """Return `self.envs.action_space` for `self.envs.action_space[agent].n`, of one agent."""
        match node.value:
            case ast.Subscript(
                value=ast.Attribute(attr=name) as spaces, slice=ast.Constant() | ast.Name()
            ) if node.attr in _OF_SPACES and name.endswith(("space", "spaces")):
                return spaces
        return None

    def _holds_settings(self, holder: ast.expr, read: ast.Attribute) -> bool:
        """Return whether an object may hold settings as attributes; of a network, only its device and what is
        known to be immutable.
        """
        tag = self.model.types.type_of(holder).tag
        if tag is TypeTag.MODULE:
            return read.attr == "device" or self.model.types.type_of(read).tag in _UNCHANGING
        return tag in _HOLDERS

    def _is_bound_of_space(self, node: ast.Attribute) -> bool:
        """Return whether it is a size or a bound of a space which no code visibly replaces."""
        space = node.value
        if not isinstance(space, ast.Attribute) or node.attr not in _OF_SPACES or not self._is_space(space):
            return False
        return self.model.types.is_likely_setting(space) or not self.model.index.setters(space.attr)

    def _is_space(self, node: ast.expr) -> bool:
        return self.model.types.type_of(node).tag is TypeTag.SPACE or (last_name(node) or "").endswith(
            "space"
        )

    def _only_set_here(self, attribute: ast.Attribute) -> bool:
        """Whether only the function that reads an attribute sets it: `args.batch_size`."""
        function = self.model.function(attribute)
        here = self.model.syntax.qualname(function) if function is not None else ""
        setters = self.model.index.setters(attribute.attr)
        return all(s.module == self.model.module.module and s.qualname in ("", here) for _, s in setters)

    def _name(self, name: ast.Name, found: Hoisted, *, value: bool) -> bool:
        scope = self.model.names.scope(name).lookup(name.id)
        if scope is not None and scope.is_comprehension:
            return any(inner is scope.node for inner in descendants(found.node))
        if self.model.names.qualified(name) is not None:
            kind = self.model.types.type_of(name)
            return not kind or kind.tag in _UNCHANGING | {TypeTag.CLASS, TypeTag.FUNCTION}
        if scope is not None and self._is_passed_constant(name, value=value):
            found.passed.append(name)
            return True
        if scope is not None and (
            self._is_default(name) or (not value and self._is_setting_of_callers(name))
        ):
            found.defaults.append(name)
            return True
        if scope is None or not self._fits(name, value=value):
            return False
        return self._stands_for_constant(name, found, value=value) or self._holder(name, found)

    def _is_default(self, name: ast.Name) -> bool:
        """Return whether a name is a parameter of a constructor that has a constant as its default."""
        function = self.model.function(name)
        if function is None or function.name != "__init__":
            return False
        default = defaults_of(function.args).get(name.id)
        if isinstance(default, ast.UnaryOp):
            default = default.operand
        if not isinstance(default, ast.Constant) or default.value is None:
            return False
        bindings = self.model.dataflow.definitions(name)
        return len(bindings) == 1 and bindings[0].kind is BindingKind.PARAMETER

    def _is_setting_of_callers(self, name: ast.Name) -> bool:
        """Return whether a name is a parameter for which all callers pass the setting of the same name, that
        only constructors set: `scalar_to_support(x, self.config.support_size)`. Data is no setting.
        """
        kind = self.model.types.type_of(name)
        if kind and kind.tag not in _NUMBERS:
            return False
        if 0 < self._callers < _MOST_CALLERS:
            return False  # of a caller, whose arguments have been examined already
        passed = self.model.frequency.passed_names(name)
        return len(set(passed)) == 1 and not varies(name.id) and is_setting_name(passed[0], self.model)

    def _is_passed_constant(self, name: ast.Name, *, value: bool) -> bool:
        """Return whether callers only pass constants to a parameter: numbers to the sizes and bounds of a
        grid, or lists of constants that become an array of numpy.
        """
        if value:
            return self._of_arrays and is_passed_list(name, self.model)
        return self._callers > 0 and is_passed_number(name, self.model, self._is_known)

    def _is_known(self, expression: ast.expr) -> bool:
        """Return whether an argument of a call is a constant number, rather than a size of an input."""
        if any(isinstance(part, ast.Call) for part in descendants(expression)):
            return False
        found = _Reader(self.model, callers=self._callers - 1).read(expression)
        return found is not None and not found.names

    def _stands_for_constant(self, name: ast.Name, found: Hoisted, *, value: bool) -> bool:
        """Return whether a variable is assigned a constant once in the function: `n = self.n_steps`."""
        assigned = self._assigned_once(name)
        if assigned is None:
            return False
        inner = Hoisted(assigned)
        if not self._constant(assigned, inner, value=value) or inner.names:
            return False
        found.take(inner)
        found.inlined[name] = assigned
        return True

    def _assigned_once(self, name: ast.Name) -> ast.expr | None:
        """Return the value of a variable of the function if one assignment decides it here."""
        scope = self.model.names.scope(name).lookup(name.id)
        if scope is None or scope.parent is None or scope is not self.model.names.scope(name).function:
            return None
        match self.model.dataflow.definitions(name):
            case [Binding(kind=BindingKind.ASSIGN, path=(), value=value)]:
                return value
        return None

    def _holder(self, name: ast.Name, found: Hoisted) -> bool:
        """Return a module variable that is bound once, or a variable of the function."""
        scope = self.model.names.scope(name).lookup(name.id)
        if scope is None or scope.parent is not None or self.model.names.scope(name).function is scope:
            found.names.append(name)
            return self._is_local(name)
        found.globals.append(name)
        rebound = any(name.id in inner.globals for inner in self.model.syntax.scopes.values())
        bindings = scope.bindings[name.id]
        return len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN and not rebound

    def _is_local(self, name: ast.Name) -> bool:
        return self.model.names.scope(name).lookup(name.id) is self.model.names.scope(name).function
