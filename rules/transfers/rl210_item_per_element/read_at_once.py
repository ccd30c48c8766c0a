"""Fixes that read all numbers of a tensor at once."""

from __future__ import annotations

import ast

from rlint.rule import (
    Applicability,
    Autograd,
    Edit,
    Fix,
    SemanticModel,
    Trait,
    Type,
    TypeTag,
    descendants,
    element_types,
    models,
    variable_names,
)
from rlint.rules.transfers._shared.reads import (
    CONVERSIONS,
    TensorRead,
    all_reads,
    comprehension_of,
    is_comprehension,
    is_whole,
)

_TAKES_LISTS = models.having(Trait.ITERATES, "builtins") - (
    models.giving(TypeTag.ITERATOR, "builtins") | {"builtins.bytearray", "builtins.bytes", "builtins.next"}
)
_TAKE_ALL = ("extend", "extendleft", "join", "update")
_GIVES_COMPLEX = sorted(element_types.COMPLEX)
WARNS = "`{}` must not require grad: PyTorch warns if such an element is converted to a number"
_READS = ("item", "tolist", "flatten", "__iter__", "__getitem__", "__float__", "__int__", "__bool__")
TITLE = "Read all numbers at once"


def build_fix(read: TensorRead, model: SemanticModel) -> Fix | None:
    """Convert the tensor to a list before the loop, and read the numbers from that."""
    reads = all_reads(read, model)
    if not reads or not model.edit.is_relocatable(read.tensor) or not all(map(_is_direct, reads)):
        return None
    reasons = doubts(read, reads, model)
    if reasons is None:
        return None
    kind = model.types.type_of(read.tensor)
    flat = "" if has_one_dimension(kind, model) else ".flatten()"
    if flat:
        reasons.append(f"`{model.source.text(read.tensor)}` must hold one number in each row")
    if any(may_be_complex(call.func, kind, model) for call in reads):
        reasons.append(f"`{model.source.text(read.tensor)}` must not hold complex numbers")
    if model.types.may_override(read.tensor, *_READS):
        reasons.append(
            f"`{model.source.text(read.tensor)}` must be a plain tensor: classes in this project override "
            "`item` or `tolist`"
        )
    if any(may_warn(call.func, read.tensor, kind, model) for call in reads):
        reasons.append(WARNS.format(model.source.text(read.tensor)))
    listed = f"{model.edit.parenthesized(read.tensor)}{flat}.tolist()"
    edits = whole(read, listed, model) or (
        indexed(read, reads, listed, model) if read.is_indexed else looped(read, reads, listed, model)
    )
    if not edits:
        return None
    reason = ", and ".join(reasons)
    reason = f"{reason[:1].upper()}{reason[1:]}" if not reason.startswith("`") else reason
    return Fix(TITLE, Applicability.UNSAFE if reason else Applicability.SAFE, (*edits,), reason or None)


def _is_direct(call: ast.Call) -> bool:
    """Whether a call reads an element itself, rather than `element.detach()`."""
    read = call.func.value if isinstance(call.func, ast.Attribute) else call.args[0]
    return isinstance(read, (ast.Name, ast.Subscript))


def has_one_dimension(kind: Type, model: SemanticModel) -> bool:
    """Whether a tensor surely has one dimension: it was created so, and no code changes shapes in place."""
    if kind.rank != 1 or any(map(model.program.is_attribute_read, models.RESHAPES_IN_PLACE)):
        return False
    return not any(isinstance(use.ctx, ast.Store) for use in model.names.attribute_uses("data"))


def may_be_complex(function: ast.expr, kind: Type, model: SemanticModel) -> bool:
    """Whether `float` or `int` converts an element, which it does not for Python's complex numbers. If the
    dtype is not known, it may be complex if the program uses complex numbers at all.
    """
    if model.names.qualified(function) not in ("builtins.float", "builtins.int"):
        return False
    if kind.dtype:
        return kind.dtype.startswith("complex")
    constants: list[ast.AST] = model.syntax.of_type(ast.Constant)
    written = any(isinstance(getattr(one, "value", None), complex) for one in constants)
    return written or any(model.program.is_attribute_read(name) for name in _GIVES_COMPLEX)


def may_warn(function: ast.expr, tensor: ast.expr, kind: Type, model: SemanticModel) -> bool:
    """Whether torch warns that `float`, `int` or `bool` converts a value that requires grad: an output of a
    network, or a tensor created with it.
    """
    if (
        model.names.qualified(function) not in CONVERSIONS
        or model.gradients.autograd_at(tensor) is Autograd.OFF
    ):
        return False
    if kind.dtype and not kind.dtype.startswith(("float", "bfloat", "complex")):
        return False
    sources = model.gradients.sources(tensor)
    calls = [*sources.calls, *_calls_that_make(tensor, model)]
    for kept in sources.kept:
        calls += _calls_that_make(kept, model)
    return any(model.gradients.gives_gradient(call) or _requires_gradient(call, model) for call in calls)


def _calls_that_make(tensor: ast.expr, model: SemanticModel) -> list[ast.Call]:
    """Return the calls in the assignments of a variable or an attribute."""
    values: list[ast.AST | None] = [tensor]
    if isinstance(tensor, ast.Name):
        values += [binding.value for binding in model.dataflow.definitions(tensor)]
    elif isinstance(tensor, ast.Attribute):
        uses = [use for use in model.names.attribute_uses(tensor.attr) if isinstance(use.ctx, ast.Store)]
        values += [getattr(model.parent(use), "value", None) for use in uses]
    return [
        part
        for value in values
        if value is not None
        for part in descendants(value)
        if isinstance(part, ast.Call)
    ]


def _requires_gradient(call: ast.Call, model: SemanticModel) -> bool:
    called = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return (
        called == "requires_grad_"
        or (model.names.qualified(call.func) or "").endswith(".Parameter")
        or any(keyword.arg in ("requires_grad", None) for keyword in call.keywords)
    )


def doubts(read: TensorRead, reads: list[ast.Call], model: SemanticModel) -> list[str] | None:
    """Return the conditions on modifications of the tensor in the loop; None if it is modified."""
    if model.types.type_of(read.tensor).fresh and not read.is_indexed:
        return []
    if isinstance(read.loop, ast.GeneratorExp) and not is_used_up(read.loop, model):
        return [
            f"`{model.source.text(read.tensor)}` must not be written to before the generator is exhausted"
        ]
    if not read.is_indexed and modifies_while_iterating(read, model):
        return [f"the loop's iterable must not write to `{model.source.text(read.tensor)}`"]
    start = read.binding.value
    assert start is not None
    # the iterable of the loop is evaluated once, before its first iteration
    unknown = [call for call in reads if not model.dataflow.unchanged_between(read.tensor, start, call)]
    if not unknown and isinstance(read.loop, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        # code after the read in one iteration runs before the read of the next
        after = model.dataflow.doubts_within(read.tensor, [read.loop])
        if after is None:
            return None
        if after:
            return [f"nothing in the loop may write to `{model.source.text(read.tensor)}`"]
    if not unknown:
        return []
    if any(model.dataflow.doubts_between(read.tensor, start, call) is None for call in unknown):
        return None
    return [f"nothing in the loop may write to `{model.source.text(read.tensor)}`"]


def modifies_while_iterating(read: TensorRead, model: SemanticModel) -> bool:
    """Whether the loop also iterates, by `zip`, over another iterable that may modify the tensor in each
    iteration: a generator or an object of the project that is passed the tensor, or any of these if the
    tensor is not a local variable.
    """
    value, adjacent = read.binding.value, []
    while isinstance(value, ast.Call) and value is not read.tensor:
        adjacent += [argument for argument in value.args if read.tensor not in descendants(argument)]
        value = next((argument for argument in value.args if read.tensor in descendants(argument)), None)
    return any(
        model.types.type_of(argument).tag in (TypeTag.ITERATOR, TypeTag.INSTANCE)
        or (not model.types.type_of(argument) and isinstance(argument, (ast.Call, ast.GeneratorExp)))
        for argument in adjacent
        if may_reach(argument, read.tensor, model)
    )


def may_reach(other: ast.expr, tensor: ast.expr, model: SemanticModel) -> bool:
    """Whether the result of an expression may modify a tensor later."""
    if not isinstance(tensor, ast.Name):
        return True
    scope = model.names.scope(tensor).lookup(tensor.id)
    if scope is None or not scope.is_function or model.names.is_captured(tensor.id, scope):
        return True
    names = variable_names(other)
    names |= {
        node.id
        for name in descendants(other)
        if isinstance(name, ast.Name)
        for binding in model.dataflow.definitions(name)
        if binding.value is not None
        for node in descendants(binding.value)
        if isinstance(node, ast.Name)
    }
    return tensor.id in names


def is_used_up(generator: ast.GeneratorExp, model: SemanticModel) -> bool:
    """Whether a generator is passed to a function that consumes it at once."""
    call = model.parent(generator)
    if not isinstance(call, ast.Call) or generator not in call.args:
        return False
    if isinstance(call.func, ast.Attribute):
        owner = model.types.type_of(call.func.value).tag
        return models.method_fact(owner, call.func.attr, 1) is not None and call.func.attr in _TAKE_ALL
    return model.names.qualified(call.func) in _TAKES_LISTS


def whole(read: TensorRead, listed: str, model: SemanticModel) -> list[Edit]:
    """Replace a comprehension that only collects the numbers by the list."""
    loop = comprehension_of(read)
    if loop is None or model.source.has_comment(*model.source.span(loop)):
        return []
    if read.is_indexed:
        if not is_whole(read, model):
            return []
    elif read.binding.value is not read.tensor:
        return []
    if not isinstance(read.call, ast.Call) or isinstance(read.call.func, ast.Name):
        return []  # `int(x)` stays: the dtype may rest on an annotation that numbers of a file contradict
    if isinstance(loop, ast.ListComp):
        return [model.edit.replace(loop, listed)]
    call = model.parent(loop)
    if (
        isinstance(call, ast.Call)
        and len(call.args) == 1
        and model.names.qualified(call.func) in _TAKES_LISTS
    ):
        start, end = model.source.span(loop)
        has_own = model.syntax.text[start] == "(" and model.syntax.text[end - 1] == ")"
        if model.names.qualified(call.func) == "builtins.list" and not call.keywords:
            return (
                [model.edit.replace(call, listed)]
                if not model.source.has_comment(*model.source.span(call))
                else []
            )
        shares = has_own and end == model.source.span(call)[1]
        return [model.edit.replace(loop, f"({listed})" if shares else listed)]
    return []


def looped(read: TensorRead, reads: list[ast.Call], listed: str, model: SemanticModel) -> list[Edit]:
    """Iterate over the list; the loop's variable then is a number."""
    methods = (call for call in reads if isinstance(call.func, ast.Attribute))
    return [model.edit.replace(read.tensor, listed), *(model.edit.replace_method(c, "") for c in methods)]


def indexed(read: TensorRead, reads: list[ast.Call], listed: str, model: SemanticModel) -> list[Edit]:
    """Create the list before the loop, and index that. A comprehension has no line for it."""
    if is_comprehension(read.loop) or not isinstance(read.loop, ast.For) or not is_whole(read, model):
        return []
    name = model.importer.fresh_local(["numbers", "values"], read.loop, f"RL210 {ast.dump(read.tensor)}")
    made = model.edit.insert_before(read.loop, f"{name} = {listed}")
    edits = [made] if made is not None else []
    for call in reads:
        part = call.func.value if isinstance(call.func, ast.Attribute) else call.args[0]
        assert isinstance(part, ast.Subscript)
        edits.append(model.edit.replace(part.value, name))
        if isinstance(call.func, ast.Attribute):
            edits.append(model.edit.replace_method(call, ""))
    return edits if made is not None else []
