"""A tensor of ones that is allocated only to be multiplied by a number.

## What it does
Flags `torch.ones(...)` and `torch.ones_like(...)` multiplied by a number in hot or warm code, where the ones
are used for nothing else: `torch.bernoulli(p * torch.ones(n))`, `torch.ones(n) * -1e9`. Products in place
(`weight *= torch.ones(n)`), ones divided by a number (`torch.ones(n) / n`), and ones that are moved, cast
or reshaped before (`torch.ones(n).to(device) * 0.5`) get advice only, as do `torch.mul`, `mul_` and other
methods, `new_ones`, ones in a variable that is read once, and zeros to which a number is added. Also flags
constants that are allocated only to draw from a standard normal distribution:
`torch.normal(torch.zeros_like(x), torch.ones_like(x))`, and ones of the shape of a tensor that are only added
to it or subtracted from it (`x + torch.ones_like(x)`, `torch.ones_like(x) - x`), where the number 1 does.

An option of the program (`self.args.weight`) or a hyperparameter (`epsilon`) is likely a number; then there
is only advice. The rule does not flag ones that are multiplied by a tensor, which broadcast its values to
another shape.

## Why is it slow
The code allocates and fills one tensor with ones, and a second one of the same size with the products; the
first is then freed. Filling one tensor with the number directly needs one allocation and one pass. The gain
is measurable for small tensors, such as typical masks, and negligible for large ones.

## Example
```python
import torch
from torch import nn


def train(net: nn.Module, batches: list, optimizer: torch.optim.Optimizer, keep: float = 0.9) -> None:
    for batch in batches:
        mask = torch.bernoulli(keep * torch.ones(batch.shape[0], 1))
        loss = (net(batch) * mask).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```
Use instead:
```python
import torch
from torch import nn


def train(net: nn.Module, batches: list, optimizer: torch.optim.Optimizer, keep: float = 0.9) -> None:
    for batch in batches:
        mask = torch.bernoulli(torch.empty(batch.shape[0], 1).fill_(keep))
        loss = (net(batch) * mask).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix safety
Safe where the factor is certainly a number, and the tensor has a floating-point dtype that the number fits
into. Every bit is the same, and `torch.bernoulli` draws the same values from the same stream. The fix is
`torch.full` where the factor is a literal (an integer gets a decimal point) or the dtype is given, and the
size is known to be a tuple or a number. Otherwise it is `fill_`, which accepts integers without changing the
dtype.

If the ones are or may be integers, filling them with a fraction would truncate it. For `ones_like`, the fix
therefore passes the dtype of the product, `torch.result_type(x, 0.5)`. For ones whose dtype is a parameter,
there is only advice.

Unsafe in these cases:

- The factor is a probability that may be a tensor, which `fill_` accepts only if it is a single number, or
  only an annotation says that it is a number.
- The factor is not a literal. A number outside the range of the dtype raises an error instead of becoming
  infinite.

`torch.empty(n).bernoulli_(p)` is a little faster still, but draws different numbers.

## References
- https://pytorch.org/docs/stable/generated/torch.full.html
- https://pytorch.org/docs/stable/generated/torch.Tensor.fill_.html
- https://pytorch.org/docs/stable/generated/torch.bernoulli.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    BindingKind,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    Trait,
    TypeTag,
    dump_as_read,
    element_types,
    integers,
    last_name,
    models,
    numbers,
    rests_on_annotation,
    vocabulary,
)
from rlint.rules.networks._shared.seldom import runs_in_few_steps

ONES = frozenset({"torch.ones", "torch.ones_like"})
ZEROS = frozenset({"torch.zeros", "torch.zeros_like"})
_NORMAL = "torch.normal"
_FILLED_BY = {"multiplied": ONES, "divided": ONES, "added": ZEROS}
_OPERATORS = {ast.Mult: "multiplied", ast.Div: "divided", ast.Add: "added"}
_METHODS = {
    **dict.fromkeys(("mul", "mul_", "multiply", "multiply_"), "multiplied"),
    **dict.fromkeys(("div", "div_", "divide", "divide_", "true_divide"), "divided"),
    **dict.fromkeys(("add", "add_"), "added"),
}
KEPT = frozenset({"dtype", "device", "memory_format"})
"""Keywords with the same meaning in the replacement of `ones`."""
_SUMS = frozenset({"add", "add_", "sub", "sub_", "subtract", "rsub"})
_MOVES = models.having(
    Trait.CASTS | Trait.CASTS_TO | Trait.RELOCATES | Trait.RESHAPES | Trait.REPEATS, TypeTag.TENSOR
)
"""Methods that move, cast or reshape a tensor."""
_COMPUTES = models.having(Trait.ELEMENTWISE, "numpy")
"""Functions of numpy that return a number for a number."""
LARGEST = 65504
"""A number that all floating-point dtypes can represent."""
SMALLEST = 127
"""A number that all integer dtypes can represent."""


class MaskedTemporary(Rule):
    code = "RL316"
    name = "masked-temporary"
    seeds = ("S3.3",)
    claims = ("alloc", "time")
    heat = Heat.WARM
    visits = (ast.BinOp, ast.AugAssign, ast.Call)
    callees = frozenset({*_METHODS, *_SUMS, "normal"})
    triggers = ("ones", "zeros")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, (ast.BinOp, ast.AugAssign, ast.Call))
        if isinstance(node, ast.Call) and model.names.qualified(node.func) == _NORMAL:
            yield from self._of_draw(node, model)
            return
        product = factor_and_ones(node, model)
        if product is None:
            yield from self._of_sum(node, model)
            return
        factor, ones, is_plain = product
        if any(keyword.arg not in KEPT for keyword in ones.keywords) or runs_in_few_steps(node, model):
            return
        drawn = isinstance(node, ast.expr) and is_probability(node, model)
        number = numbers.is_number(factor, model)
        kind = model.types.type_of(factor)
        is_none_or_number = kind.optional and kind.tag in (
            TypeTag.INT,
            TypeTag.FLOAT,
        )  # the product excludes None
        option = not number and not kind and is_likely_number(factor, model)
        computed = not number and not option and is_computed_number(factor, model)
        if not number and not is_none_or_number and not option and not computed and (not drawn or kind):
            return  # a tensor's values are broadcast to the shape of the ones
        made = model.source.text(ones.func)
        message = (
            f"`{made}` allocates a tensor only to be {combined(node, model)} `{model.source.text(factor)}`, "
            f"which {'writes it again' if writes_in_place(node) else 'allocates another'}"
        )
        fix = None
        if is_plain and not option and not computed and not isinstance(node, ast.AugAssign):
            fix = build_fix(node, factor, ones, model, number=number, drawn=drawn)
        yield self.finding(
            model,
            node,
            message,
            fix=fix,
            assumes=f"`{model.source.text(factor)}` is a number" if option else None,
            advice="Fill one tensor with the number itself: `torch.full` or `torch.full_like`",
        )

    def _of_sum(self, node: ast.BinOp | ast.AugAssign | ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `x + torch.ones_like(x)`, and for the ones from which `x` is subtracted."""
        ones = ones_like_operand(node, model)
        if ones is None or runs_in_few_steps(node, model):
            return
        made, held = " ".join(model.source.text(ones).split()), ones.args[0]
        yield self.finding(
            model,
            node,
            f"`{made}` allocates a tensor of ones, where the number 1 gives the same result",
            assumes=None if model.types.type_of(held).dtype else f"`{model.source.text(held)}` is no mask",
            advice=f"Write `1` instead of `{made}`",
        )

    def _of_draw(self, node: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a normal draw whose mean and standard deviation are allocated constants."""
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        given = [*node.args, *(named[name] for name in ("mean", "std")[len(node.args) :] if name in named)]
        if len(given) != 2 or any(isinstance(part, ast.Starred) for part in given):
            return
        filled_by = [
            model.names.qualified(part.func) if isinstance(part, ast.Call) else None for part in given
        ]
        parameters = zip(given, filled_by, (ZEROS, ONES), strict=True)
        if not any(filled_by) or not all(
            maker in makers or (maker is None and numbers.is_number(part, model))
            for part, maker, makers in parameters
        ):
            return
        like = next(maker for maker in filled_by if maker is not None).endswith("_like")
        better = "torch.randn_like" if like else "torch.randn"
        yield self.finding(
            model,
            node,
            f"`torch.normal` reads constants that are allocated for this draw, while `{better}` needs none",
            advice=f"Draw from `{better}`, and scale and shift the sample by numbers if necessary",
        )


def ones_like_operand(node: ast.BinOp | ast.AugAssign | ast.Call, model: SemanticModel) -> ast.Call | None:
    """Return the ones in a sum or difference of a tensor of numbers and `torch.ones_like` of itself."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            pass
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=args, keywords=[]) if (
            method in _SUMS
        ):
            is_function = (model.names.qualified(node.func) or "").startswith("torch.")
            parts = args if is_function else [owner, *args]
            if len(parts) != 2:
                return None
            left, right = parts
        case _:
            return None
    for held, other in ((left, right), (right, left)):
        match other:
            case ast.Call(func=func, args=[copied], keywords=[]) if (
                isinstance(held, (ast.Name, ast.Attribute))
                and model.names.qualified(func) == "torch.ones_like"
                and dump_as_read(copied) == dump_as_read(held)
            ):
                return other if not _may_be_mask(held, model) else None  # a number makes no mask of a sum
    return None


def _may_be_mask(held: ast.Name | ast.Attribute, model: SemanticModel) -> bool:
    """Whether a tensor may hold truth values: the result of a comparison."""
    if model.types.type_of(held).dtype == "bool":
        return True
    made = (
        [binding.value for binding in model.dataflow.definitions(held)] if isinstance(held, ast.Name) else []
    )
    return any(isinstance(value, (ast.Compare, ast.UnaryOp)) for value in made)


def combined(node: ast.BinOp | ast.AugAssign | ast.Call, model: SemanticModel) -> str:
    """Return how a message names the operation."""
    found = _operands(node, model)
    operation = found[0] if found is not None else "multiplied"
    return "added to" if operation == "added" else f"{operation} by"


def writes_in_place(node: ast.AST) -> bool:
    """Whether an operation writes its result to the ones."""
    match node:
        case ast.Call(func=ast.Attribute(attr=method)):
            return method.endswith("_")
    return False


def factor_and_ones(
    node: ast.BinOp | ast.AugAssign | ast.Call, model: SemanticModel
) -> tuple[ast.expr, ast.Call, bool] | None:
    """Return the factor of a product, the divisor of a quotient or what is added to zeros, the ones or zeros,
    and whether the node is a plain product of both.
    """
    found = _operands(node, model)
    if found is None:
        return None
    operation, pairs = found
    makers = _FILLED_BY[operation]
    for factor, other in pairs:
        made = made_by(other)
        is_direct = made is other
        if made is None and isinstance(other, ast.Name) and isinstance(other.ctx, ast.Load):
            made = _made_for(other, model)
        if made is not None and is_filled_by(made, makers, model):
            is_product = is_plain_product(node) and model.names.qualified(made.func) in ONES
            return factor, made, is_direct and is_product
    return None


def _operands(
    node: ast.BinOp | ast.AugAssign | ast.Call, model: SemanticModel
) -> tuple[str, list[tuple[ast.expr, ast.expr]]] | None:
    """Return how a node combines two values, and which of them may be the ones, second in each pair."""
    match node:
        case (
            ast.BinOp(left=left, op=operator, right=right)
            | ast.AugAssign(target=left, op=operator, value=right)
        ):
            operation = _OPERATORS.get(type(operator))
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=args, keywords=[]):
            operation = _METHODS.get(method)
            is_function = (model.names.qualified(node.func) or "").startswith("torch.")
            parts = args if is_function else [owner, *args]
            if len(parts) != 2 or any(isinstance(part, ast.Starred) for part in parts):
                return None
            left, right = parts
        case _:
            return None
    if operation is None:
        return None
    if isinstance(node, ast.AugAssign):
        return (operation, [(left, right)]) if operation == "multiplied" else None
    both = [(left, right), (right, left)]
    return operation, both[1:] if operation == "divided" else both


def is_plain_product(node: ast.AST) -> bool:
    """Whether a node is a product that is written as such, or by the method `mul`."""
    match node:
        case ast.BinOp(op=ast.Mult()) | ast.Call(func=ast.Attribute(value=ast.Call(), attr="mul"), args=[_]):
            return True
    return False


def is_filled_by(made: ast.Call, makers: frozenset[str], model: SemanticModel) -> bool:
    """Whether a call makes ones or zeros, also by a method of another tensor: `x.new_ones(3)`."""
    if model.names.qualified(made.func) in makers:
        return True
    match made.func:
        case ast.Attribute(value=owner, attr=method):
            is_maker = method.startswith("new_") and f"torch.{method.removeprefix('new_')}" in makers
            return is_maker and model.types.type_of(owner).tag is TypeTag.TENSOR
    return False


def _may_be_filled(value: ast.expr | None) -> bool:
    made = made_by(value) if value is not None else None
    return made is not None and (last_name(made.func) or "").removeprefix("new_").startswith(
        ("ones", "zeros")
    )


def _made_for(name: ast.Name, model: SemanticModel) -> ast.Call | None:
    """Return the call that makes the value of a variable which is read only here."""
    if not any(_may_be_filled(binding.value) for binding in model.names.bindings(name)):
        return None  # most names
    bindings = model.dataflow.definitions(name)
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
        return None
    made = made_by(bindings[0].value) if bindings[0].value is not None else None
    if made is None or model.frequency.loops(made) != model.frequency.loops(name):
        return None
    readers = model.analysis.readers(bindings[0], model.names.scope(name))
    return made if list(readers) == [name] else None


def made_by(tensor: ast.AST) -> ast.Call | None:
    """Return the call that makes a tensor which may be moved, cast or reshaped then:
    `torch.ones(n).to(device)`.
    """
    while isinstance(tensor, ast.Call):
        match tensor.func:
            case ast.Attribute(value=ast.Call() as moved, attr=method) if method in _MOVES:
                tensor = moved
            case _:
                return tensor
    return None


def is_computed_number(factor: ast.expr, model: SemanticModel) -> bool:
    """Whether a factor is a number that numpy computes from numbers: `np.log(self.size)`, or a length of a
    value of unknown type: `actions.shape[-1]`.
    """
    match factor:
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=index) if not isinstance(
            index, ast.Slice
        ):
            return True
    if isinstance(factor, ast.Name):
        values = [binding.value for binding in model.dataflow.definitions(factor) if not binding.path]
        known = [value for value in values if isinstance(value, ast.Call)]
        return len(known) == len(values) == 1 and is_computed_number(known[0], model)
    if not isinstance(factor, ast.Call) or not factor.args or factor.keywords:
        return False
    path = model.names.qualified(factor.func)
    return path in _COMPUTES and all(numbers.is_number(given, model) for given in factor.args)


def is_likely_number(factor: ast.expr, model: SemanticModel) -> bool:
    """Whether a factor is likely a number by its name: an option of the program (`self.args.weight`,
    `config["weight"]`), or a hyperparameter (`epsilon`).
    """
    if (last_name(factor) or "").lower().strip("_") in vocabulary.SCALARS:
        return True
    match factor:
        case ast.Attribute(value=owner) | ast.Subscript(value=owner, slice=ast.Constant(value=str())):
            name = (last_name(owner) or "").lower().lstrip("_")
            return name in vocabulary.OPTIONS and model.names.qualified(factor) is None
    return False


def is_probability(product: ast.expr, model: SemanticModel) -> bool:
    """Whether the product is sampled from: `torch.bernoulli(product)`."""
    match model.parent(product):
        case ast.Call(func=function, args=[given, *_]) if given is product:
            return model.names.qualified(function) == "torch.bernoulli"
        case ast.Attribute(attr="bernoulli"):
            return True
    return False


def build_fix(
    product: ast.expr, factor: ast.expr, ones: ast.Call, model: SemanticModel, *, number: bool, drawn: bool
) -> Fix | None:
    """Fill one tensor with the factor."""
    if not model.edit.is_relocatable(factor):
        return None
    if not model.effects.effect_of(factor).quiet and not model.effects.effect_of(ones).quiet:
        return None
    text = filled(ones, factor, model)
    if text is None:
        return None
    doubts = list(doubts_of(factor, model, number=number, drawn=drawn))
    if not doubts and may_overflow(ones, factor, model):
        doubts.append(
            f"`{model.source.text(factor)}` must be in the range of the dtype, or an error is raised"
        )
    safety = Applicability.UNSAFE if doubts else Applicability.SAFE
    edits = (model.edit.replace(product, text),)
    return Fix("Fill one tensor with the number", safety, edits, "; ".join(doubts) or None)


def doubts_of(factor: ast.expr, model: SemanticModel, *, number: bool, drawn: bool) -> Iterator[str]:
    """Yield the conditions of the fix."""
    text = model.source.text(factor)
    if not number:
        yield f"`{text}` must be a number, or a tensor of a single one"
    elif not drawn and not is_small(factor, LARGEST):
        yield f"`{text}` must be in the range of the dtype, or an error is raised"
    elif rests_on_annotation(factor, model):
        yield f"`{text}` must be a number as its annotation says: `fill_` takes no array of one item"


def may_overflow(ones: ast.Call, factor: ast.expr, model: SemanticModel) -> bool:
    """Whether the factor is an integer out of range for ones of a small integer dtype."""
    if model.types.type_of(ones).dtype in element_types.FLOATS or is_written_float(factor):
        return False
    size = factor.operand if isinstance(factor, ast.UnaryOp) else factor
    return isinstance(size, ast.Constant) and not is_small(size, SMALLEST)


def may_be_cut_off(ones: ast.Call, factor: ast.expr, model: SemanticModel) -> bool:
    """Whether the ones may have a dtype that cannot represent the factor, while the product has another."""
    dtype = model.types.type_of(ones).dtype
    if dtype in element_types.FLOATS:
        return False
    return dtype not in element_types.WHOLE or not is_small(factor, SMALLEST) or is_written_float(factor)


def is_small(factor: ast.expr, most: int) -> bool:
    """Whether the factor is a literal, and no larger than `most`."""
    match factor:
        case ast.UnaryOp(operand=operand):
            return most == LARGEST and is_small(operand, most)
        case ast.Constant(value=int() | float() as value):
            return abs(value) <= most
    return False


def filled(ones: ast.Call, factor: ast.expr, model: SemanticModel) -> str | None:
    """Return the source of a tensor filled with the factor, in place of ones."""
    like = (model.names.qualified(ones.func) or "").endswith("_like")
    number = model.source.text(factor)
    keywords = [f"{keyword.arg}={model.source.text(keyword.value)}" for keyword in ones.keywords]
    given = [model.source.text(argument) for argument in ones.args]
    if may_be_cut_off(ones, factor, model):
        dtype = type_of_product(ones, factor, model) if like else None
        if dtype is None:
            return None
        keywords.append(f"dtype={dtype}")
    if like:
        name = constructor("full_like", ones, model)
        return f"{name}({', '.join([*given, number, *keywords])})" if name and len(given) == 1 else None
    size = size_of(ones, model)
    typed = any(keyword.arg == "dtype" and not may_be_none(keyword.value, model) for keyword in ones.keywords)
    as_float = number if typed or is_written_float(factor) else f"{number}.0" if is_decimal(number) else None
    if size is not None and as_float is not None:
        name = constructor("full", ones, model)
        return f"{name}({', '.join([size, as_float, *keywords])})" if name else None
    name = constructor("empty", ones, model)
    return f"{name}({', '.join([*given, *keywords])}).fill_({number})" if name and given else None


def type_of_product(ones: ast.Call, factor: ast.expr, model: SemanticModel) -> str | None:
    """Return the source of the dtype of `ones_like(x) * factor`."""
    name = constructor("result_type", ones, model)
    if name is None or any(keyword.arg == "dtype" for keyword in ones.keywords):
        return None
    if not numbers.is_number(factor, model) or not all(
        model.effects.effect_of(argument).quiet for argument in ones.args
    ):
        return None
    like = [
        model.source.text(argument)
        for argument in ones.args
        if isinstance(argument, (ast.Name, ast.Attribute))
    ]
    return f"{name}({like[0]}, {model.source.text(factor)})" if len(like) == 1 else None


def constructor(name: str, ones: ast.Call, model: SemanticModel) -> str | None:
    """Return the spelling of another torch constructor at this place."""
    if isinstance(ones.func, ast.Attribute):
        return f"{model.source.text(ones.func.value)}.{name}"
    return model.names.spelled(f"torch.{name}", ones)


def is_decimal(number: str) -> bool:
    """Whether the source of a number is that of an integer which a decimal point makes a float: `2`, `-1`."""
    return number.removeprefix("-").isdecimal()


def is_written_float(factor: ast.expr) -> bool:
    """Whether an expression surely is a float: `0.5`, `-1e9`."""
    if isinstance(factor, ast.UnaryOp):
        return is_written_float(factor.operand)
    return isinstance(factor, ast.Constant) and isinstance(factor.value, float)


def may_be_none(value: ast.expr, model: SemanticModel) -> bool:
    """Whether an argument may be `None`, which stands for the default."""
    kind = model.types.type_of(value)
    return kind.optional or kind.tag in (TypeTag.NONE, TypeTag.UNKNOWN)


def is_tensor_or_array(owner: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is a tensor, or an array read by `shape`; other objects may have an integer there."""
    return model.types.type_of(owner).tag in (TypeTag.TENSOR, TypeTag.NDARRAY)


def size_of(ones: ast.Call, model: SemanticModel) -> str | None:
    """Return the size as one argument; None if it may be a number or a tuple."""
    match ones.args:
        case [ast.Tuple() | ast.List() as size]:
            return model.source.text(size)
        case [
            ast.Attribute(value=owner, attr="shape")
            | ast.Call(func=ast.Attribute(value=owner, attr="size"), args=[], keywords=[]) as size
        ] if is_tensor_or_array(owner, model) or model.types.type_of(size).tag is TypeTag.TUPLE:
            return model.source.text(size)
        case [ast.Attribute()]:
            return None  # any caller of the constructor may pass a tuple as the size: `Noise((2, 2))`
        case [ast.expr() as size]:
            return f"({model.source.text(size)},)" if integers.is_integer(size, model) is True else None
        case [_, _, *_]:
            return f"({', '.join(model.source.text(argument) for argument in ones.args)})"
    return None
