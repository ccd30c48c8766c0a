"""A tensor created from a list of arrays, which is converted number by number.

## What it does
Flags `torch.tensor`, `torch.as_tensor`, `torch.FloatTensor` and similar functions when they are called with
a list or tuple of arrays, in code that runs often. The list may be a literal, a comprehension, a list
filled with `append`, or the observations of `zip(*batch)`.

The items must be known to be arrays, or to be observations of an environment: results of `env.step()` and
`env.reset()`, or variables with such a name (`states = torch.tensor([row[0] for row in rows])`). In a sampled
batch, a list named like one observation counts as well (`state, action, reward = memory.sample(64)`), and so
does a value of unknown type named `obs_n`, the list of all agents' observations. Unknown items of a list also
count as arrays if the tensor is reduced along its second dimension, or indexed in it, and if they are
`actions` that are converted to floats (both likely). So do fields of transitions that are arrays where they
are stored (`self.rows.append((obs, action))`, `torch.tensor([row[0] for row in rows])`) or named like images
or vectors (`[row.frame for row in rows]`), and the observations of a batch
(`s, a, r, s2, d = memory.draw(n)`; all likely). So does the parameter of a function that makes a tensor of
it, if a caller passes a list of arrays (`make_tensor([board])`, likely).

The rule does not flag lists of numbers or tensors, lists of unknown items, or lists of one short array,
where there is no gain.

## Why is it slow
torch iterates over the list in Python and converts each number of each array to a Python object. `np.array`
copies each row at once, and torch then shares the array's memory. The gain grows with the size of the
observation; for images it is the difference between seconds and milliseconds.

## Example
```python
import numpy as np
import torch


def learn(agent, memory: list[tuple[np.ndarray, int]], epochs: int) -> None:
    for _ in range(epochs):
        states = torch.tensor([state for state, _ in memory], dtype=torch.float32)
        agent.learn(states)
```
Use instead:
```python
import numpy as np
import torch


def learn(agent, memory: list[tuple[np.ndarray, int]], epochs: int) -> None:
    for _ in range(epochs):
        states = torch.as_tensor(np.array([state for state, _ in memory]), dtype=torch.float32)
        agent.learn(states)
```

## Fix safety
The fix wraps the list in `np.array(...)` and passes the array to `torch.as_tensor`, which shares its
memory.

Safe where the list is a literal whose items are one-dimensional arrays with the same dtype and the same
known length above zero (`[states[0], states[i]]` with `states = np.zeros((capacity, 4))`), and where the
tensor has their dtype, float32 or float64.

Unsafe elsewhere:

- a list of Python numbers becomes float64, while torch creates float32;
- tensors that require a gradient cannot be converted to an array;
- `torch.FloatTensor` ignores the default device;
- for empty lists and empty arrays, shape and strides may differ; a list whose first array alone is empty
  raises an error, while torch creates an empty tensor;
- a tensor that shares an array's memory cannot be enlarged in place (`resize_`);
- the program collects warnings, logs them (`logging.captureWarnings`) or turns them into errors
  (`warnings.simplefilter("error")`): the fixed code no longer triggers torch's warning about converting a
  list of arrays.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.tensor.html
- https://numpy.org/doc/stable/reference/generated/numpy.array.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Edit,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    Type,
    TypeTag,
    UseKind,
    containers,
    dtypes,
    element_types,
    last_name,
    last_names,
    legacy_tensors,
    observations,
)
from rlint.rules.buffers._shared import row_length
from rlint.rules.buffers.rl103_tensor_from_array_list.item_arrays import are_likely_arrays
from rlint.rules.buffers.rl103_tensor_from_array_list.passed_lists import passed_list
from rlint.rules.buffers.rl103_tensor_from_array_list.table_uses import is_of_numbers, is_table

FUNCTIONS = frozenset({"torch.tensor", "torch.as_tensor", "torch.asarray"})
EXACT = element_types.IN_BOTH
"""For these dtypes, a list of arrays and an array give the same tensor."""
WIDE = frozenset({"float32", "float64", element_types.DEFAULT})
"""With these dtypes of the tensor, a list and an array give the same tensor for arrays of any dtype."""
TAKEN = frozenset({"data", "dtype", "device"})
"""Keywords of `torch.tensor` that `torch.as_tensor` has, too."""
LISTS = (TypeTag.LIST, TypeTag.TUPLE)
LONGEST_SHOWN = 40
WARNED = "torch's warning about converting a list of arrays disappears, which the program collects or raises"
_SHORT = "one observation of few numbers takes some microseconds"
NEW_TENSOR = "torch.Tensor.new_tensor"
NESTED = 2
"""Maximum nesting of lists in which arrays are searched."""


class TensorFromArrayList(Rule):
    code = "RL103"
    name = "tensor-from-array-list"
    seeds = ("S1.T1",)
    claims = ("time",)
    heat = Heat.WARM
    visits = (ast.Call,)
    callees = last_names(*FUNCTIONS, *legacy_tensors.CLASSES) | {"new_tensor"}

    def size_of(self, node: ast.Call, model: SemanticModel) -> int | None:
        """Return the number of rows of the list."""
        return model.sizes.length(data_of(node))

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        data = data_of(node)
        if data is None or isinstance(data, (ast.Constant, ast.BinOp, ast.Compare)):
            return
        maker = model.names.qualified(node.func) or ""
        if not maker and last_name(node.func) == "new_tensor" and isinstance(node.func, ast.Attribute):
            maker = NEW_TENSOR
        if maker not in FUNCTIONS and maker not in legacy_tensors.CLASSES and maker != NEW_TENSOR:
            return
        items, assumed = arrays_in(data, model), None
        if items is None and (
            likely_arrays(data, model)
            or is_table_of_unknown(node, data, model)
            or are_continuous_actions(node, data, maker, model)
            or are_likely_floats(node, data, maker, model)
        ):
            items, assumed = Type(), f"the items of {shown_name(data, model)} are arrays"
        if items is None and is_image(node, data, model):
            items = Type()
        minor = _SHORT if items is not None and items != Type() and holds_one_row(data) else None
        if items is None and (only := short_row(node, data, maker, model)) is not None:
            items, minor, assumed = Type(), _SHORT, f"`{model.source.text(only)}` is an array"
        if items is None and (passed := passed_list(data, model)) is not None:
            items, minor = Type(), None if passed.has_rows else _SHORT
            assumed = f"{shown_name(data, model)} is a list of arrays, as in {passed.place}"
        if items is None:
            model.silent("{} is not known to be a list of arrays, or is too small for a gain", data)
            return
        if model.frequency.heat_of(node).level < (Heat.HOT if minor else self.heat):
            return
        shown = shown_name(data, model)
        yield self.finding(
            model,
            node,
            f"`{model.source.text(node.func)}` converts the arrays in {shown} number by number",
            fix=build_fix(node, data, maker, items, model) if maker != NEW_TENSOR else None,
            advice="Convert the list to one array first: `torch.as_tensor(np.array(...))`",
            assumes=assumed,
            minor=minor,
        )


def holds_one_row(data: ast.expr) -> bool:
    """Whether a list, however nested, is written with a single item, such as one observation: `[[state]]`."""
    while isinstance(data, (ast.List, ast.Tuple)) and len(data.elts) == 1:
        data = data.elts[0]
        if not isinstance(data, (ast.List, ast.Tuple, ast.ListComp, ast.Starred)):
            return True
    return False


def data_of(call: ast.Call) -> ast.expr | None:
    """Return the data argument of the tensor."""
    if len(call.args) == 1 and not isinstance(call.args[0], ast.Starred):
        return call.args[0]
    named = [keyword.value for keyword in call.keywords if keyword.arg == "data"]
    return named[0] if named and not call.args else None


def arrays_in(data: ast.expr, model: SemanticModel) -> Type | None:
    """Return the type of the arrays in a list, unknown if only its name suggests them; None if it is not a
    list of arrays, or if there is nothing to gain.
    """
    kind = model.types.type_of(data)
    if kind.optional or (kind and kind.tag not in LISTS):
        return None
    item = kind.item
    while item is not None and item.tag in LISTS and not item.optional:
        item = item.item
    if item is not None and item:
        if item.tag is not TypeTag.NDARRAY or item.optional or item.rank == 0:
            return None
        return item if is_worth_it(data, item, model) else None
    if not item and observations.are_observations(data, model):
        return Type()
    held = _innermost(data, model, NESTED)
    if not held or any(isinstance(element, ast.Starred) for element in held):
        return None
    if not is_worth_it(data, Type(), model) or not any(is_array(element, model) for element in held):
        return None
    return Type() if all(is_array(element, model) or is_letter(element, model) for element in held) else None


def likely_arrays(data: ast.expr, model: SemanticModel) -> bool:
    """Whether only names suggest that the items are observations: for a list `states` that another function
    fills, for `states = torch.tensor([row[0] for row in rows])`.
    """
    if observations.is_list_of_observations(data, model):
        return True
    match data:
        case ast.ListComp(elt=ast.Subscript(value=ast.Name(), slice=ast.Constant(value=int())) as element):
            is_unknown = not model.types.type_of(element)
            return is_unknown and observations.become_observations(data, model)
    return False


def is_table_of_unknown(call: ast.Call, data: ast.expr, model: SemanticModel) -> bool:
    """Whether nothing is known of the items of a list, but its tensor has a second dimension:
    `x = torch.tensor(actions)`, `x.sum(dim=1)`.
    """
    kind = model.types.type_of(data)
    if not isinstance(data, (ast.Name, ast.Attribute)) or kind.tag not in LISTS:
        return False
    is_of_results = model.usage.is_evaluation(call)
    return not (kind.item or kind.parts or kind.optional or is_of_results) and is_table(call, model)


def are_continuous_actions(call: ast.Call, data: ast.expr, maker: str, model: SemanticModel) -> bool:
    """Whether a list of unknown items named `actions` is converted to floats, and not used as numbers or
    indices.
    """
    if wanted_type(call, maker, model) not in element_types.FLOATS:
        return False
    return observations.is_list_of_actions(data, model) and not is_of_numbers(call, model)


def are_likely_floats(call: ast.Call, data: ast.expr, maker: str, model: SemanticModel) -> bool:
    """Whether a list of likely arrays is converted to other numbers than integers, and is no column."""
    if wanted_type(call, maker, model) in element_types.WHOLE:
        return False
    return are_likely_arrays(data, model) and not is_of_numbers(call, model)


def is_image(call: ast.Call, data: ast.expr, model: SemanticModel) -> bool:
    """Whether it is a single observation for a network with convolutions: `net(tensor([obs]))`."""
    match data:
        case ast.List(elts=[only]) | ast.Tuple(elts=[only]) if is_array(only, model) or is_letter(
            only, model
        ):
            return any(
                use.kind is UseKind.ARGUMENT
                and isinstance(use.at, ast.Call)
                and any(map(model.nn.convolves, model.types.call_targets(use.at)))
                for use in model.dataflow.uses(call, frozenset({UseKind.METHOD}))
            )
    return False


def short_row(call: ast.Call, data: ast.expr, maker: str, model: SemanticModel) -> ast.expr | None:
    """Return the single observation that a list wraps to make it a batch: `torch.tensor([obs])`."""
    match data:
        case ast.List(elts=[only]) | ast.Tuple(elts=[only]):
            pass
        case _:
            return None
    if wanted_type(call, maker, model) in element_types.WHOLE:
        return None  # the number of a state
    kind = model.types.type_of(only)
    named = observations.is_observation(only, model) or is_letter(only, model)
    if kind:
        named = kind.tag is TypeTag.NDARRAY and not kind.optional and kind.rank != 0
    return only if named else None


def _innermost(data: ast.expr, model: SemanticModel, depth: int) -> list[ast.expr]:
    """Return what a list contains, or what the lists in it contain: `rows.append(row)`,
    `batch.append(rows)`.
    """
    held: list[ast.expr] = []
    for element in containers.contents(data, model) or ():
        nested = depth > 0 and not isinstance(element, ast.Starred) and _is_list(element, model)
        inner = _innermost(element, model, depth - 1) if nested else []
        held += inner or [element]
    return held


def _is_list(element: ast.expr, model: SemanticModel) -> bool:
    kind = model.types.type_of(element)
    return kind.tag in LISTS and not kind.optional


def is_worth_it(data: ast.expr, item: Type, model: SemanticModel) -> bool:
    """Whether the conversion is slower than a copy: true for an image, or a list of rows, not for a single
    row.
    """
    match data:
        case ast.List(elts=[only]) | ast.Tuple(elts=[only]):
            several = model.types.type_of(only).tag in LISTS
            return several or (item.rank is not None and item.rank > 1)
    return True


def is_array(element: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is an array, or an observation, which likely is one."""
    kind = model.types.type_of(element)
    if kind:
        return kind.tag is TypeTag.NDARRAY and not kind.optional and kind.rank != 0
    return observations.is_observation(element, model)


def is_letter(element: ast.expr, model: SemanticModel) -> bool:
    """Whether it is a variable of unknown type with the name of one observation: `s`."""
    named = isinstance(element, ast.Name) and observations.names_one(element.id)
    return named and not model.types.type_of(element)


def is_written_out(data: ast.expr, model: SemanticModel) -> bool:
    """Whether the list is a display, so that there can be nothing else in it."""
    match data:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return all(is_written_out(element, model) for element in elements)
        case ast.ListComp(elt=element):
            return is_written_out(element, model)
    return model.types.type_of(data).tag is TypeTag.NDARRAY


def shown_name(data: ast.expr, model: SemanticModel) -> str:
    """Return the list's name in messages."""
    if isinstance(data, (ast.List, ast.Tuple)):
        return "this list"
    text = model.source.text(data)
    if isinstance(data, ast.ListComp) or "\n" in text or len(text) > LONGEST_SHOWN:
        return "this list"
    return f"`{text}`"


def build_fix(call: ast.Call, data: ast.expr, maker: str, item: Type, model: SemanticModel) -> Fix | None:
    """Wrap the list in `np.array(...)`, and let the tensor share the memory of that array."""
    if any(isinstance(around, ast.JoinedStr) for around in model.ancestors(call)):
        return None
    edits: list[Edit] = []
    array = model.names.spelled("numpy.array", call)
    if array is None:
        found = model.importer.module_import("numpy", user=call)
        if found is None:
            return None
        array = "numpy.array"
        edits.append(found[1])
    as_tensor = legacy_tensors.torch_name(call, "as_tensor", model)
    function, keywords = None, dict[str, str]()
    if maker in legacy_tensors.CLASSES:
        dtype = legacy_tensors.torch_name(call, legacy_tensors.class_dtype(maker), model)
        if as_tensor is None or dtype is None:
            return None
        function, keywords = as_tensor, {"dtype": dtype}
    elif maker == "torch.tensor" and all(keyword.arg in TAKEN for keyword in call.keywords):
        if as_tensor is None:
            return None
        function = as_tensor
    instead = {data: f"{array}({model.source.text(data)})"}
    rewritten = model.edit.rewrite_call(call, function=function, keywords=keywords, instead=instead)
    if rewritten is None:
        return None
    edits.append(rewritten)
    reason = doubt(call, data, maker, item, model)
    if maker in legacy_tensors.CLASSES and not reason:
        reason = legacy_tensors.class_doubt(call, maker, model)
    reason = reason or legacy_tensors.sharing_doubt(model)
    if not reason and model.usage.collects_warnings(or_raises=True):
        reason = WARNED
    safety = Applicability.UNSAFE if reason else Applicability.SAFE
    return Fix("Convert the list to one array first", safety, tuple(edits), reason)


def doubt(call: ast.Call, data: ast.expr, maker: str, item: Type, model: SemanticModel) -> str | None:
    """Return the condition of the fix; None if it is safe."""
    shown = shown_name(data, model)
    if not item:
        return f"The items of {shown} must be arrays: numbers may get another dtype, tensors may fail"
    if item.dtype not in EXACT or not item.rank or not is_written_out(data, model):
        return f"The arrays in {shown} must have the same dtype and at least one dimension"
    if not row_length.have_same_form(data, model):
        return f"The arrays in {shown} must have the same length; neither they nor the list may be empty"
    wanted = wanted_type(call, maker, model)
    if wanted is None:
        if isinstance(data, (ast.List, ast.Tuple)):
            return several_dimensions(shown, item)
        return f"{shown[:1].upper()}{shown[1:]} must not be empty: its dtype would become float64"
    if wanted != item.dtype and wanted not in WIDE:
        return "A number that the dtype cannot represent wraps around instead of raising an error"
    return several_dimensions(shown, item)


def several_dimensions(shown: str, item: Type) -> str | None:
    """Return the condition that arrays of several dimensions have rows: torch stops at the first dimension of
    size 0, so that the others are lost.
    """
    if item.rank == 1:
        return None
    return f"The arrays in {shown} must have rows: from arrays without rows, the result has fewer dimensions"


def wanted_type(call: ast.Call, maker: str, model: SemanticModel) -> str | None:
    """Return the dtype of the tensor if it does not depend on the list; None if it does."""
    if maker in legacy_tensors.CLASSES:
        return dtypes.tensor_class_dtype(maker.rpartition(".")[2])
    named = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
    named = [value for value in named if not (isinstance(value, ast.Constant) and value.value is None)]
    return model.analysis.types.dtype_of(named[0]) if named else None
