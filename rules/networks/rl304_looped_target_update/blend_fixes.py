"""In-place replacements of blends for RL304, bit-identical if possible."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Autograd,
    BindingKind,
    Edit,
    Fix,
    SemanticModel,
    TypeTag,
    element_types,
    made_networks,
    numbers,
)
from rlint.rules.networks.rl304_looped_target_update.blends import (
    Blend,
    BlendResult,
    BlendStep,
    Lerp,
    Mix,
    Mixture,
    root_of,
)
from rlint.rules.networks.rl304_looped_target_update.taken_from import source_of

ROUNDS = "`lerp_` rounds differently in the last digit, and takes tensors of one dtype only"
SHARES = "tensors that share memory with `{}` change with it"
INTEGERS = "all tensors must hold floating-point numbers: integers cannot be blended in place"
OVERRIDDEN = "the class of `{}` must not override `parameters()`, as classes of this project do"
VERSION = "no code may depend on `{}._version`, which counts in-place writes"
RECORDED = "autograd must be off: the graph recorded for `{}` changes"
NUMBER = "`{}` must be a number, not a tensor: half precision rounds tensors differently"
_HALVES = ("autocast", "bfloat16", "float16", "half")
SHAPES = "both tensors must have the same shape"
BUFFERS = "buffers of integers (as those of batch normalisation) cannot be blended in place"
SAME_FORM = (
    "`{}` and `{}` must have the same shape, dtype and device: otherwise an error is raised after the "
    "first is scaled"
)
DEVICES = "`{}` and the blended tensor must be on the same device, between which `non_blocking` does nothing"
ORDER = "reading `{}` after `{}` must give the same value"
NAMES = ("weighted", "weighted_parameter")


def fix_of(blends: list[Blend], model: SemanticModel) -> Fix | None:
    """Blend in place, all blends of a loop at once."""
    edits: list[Edit] = []
    doubts: dict[str, None] = {}
    for blend in blends:
        if blend.named is not None:
            deleted = model.edit.delete_statement(blend.named)
            if deleted is None:
                return None
            edits.append(deleted)
        written = _rewritten(blend, model)
        if written is None:
            return None
        edits += written[0]
        doubts.update(dict.fromkeys(written[1]))
    reason = "; ".join(doubts)
    safety = Applicability.UNSAFE if doubts else Applicability.SAFE
    return Fix("Blend in place", safety, tuple(edits), reason[:1].upper() + reason[1:] or None)


def _may_copy_between_devices(node: ast.AST) -> bool:
    """Whether a blend is copied with `non_blocking`, which only concerns copies between devices."""
    match node:
        case ast.Expr(value=ast.Call() as call) | (ast.Call() as call):
            return len(call.args) > 1 or bool(call.keywords)
    return False


def _rewritten(blend: Blend, model: SemanticModel) -> tuple[list[Edit], list[str]] | None:
    """Return the edits that blend in place, and the conditions."""
    if blend.result == BlendResult.MADE:
        return None
    if blend.result == BlendResult.ITEM:
        return _in_state(blend, model)
    if blend.result == BlendResult.DATA:
        call = in_one_call(blend, model)
        written = model.source.text(blend.written)
        replaced = _replaced(blend, call, model) if is_complement(blend.mixture, model) else None
        return (replaced, [ROUNDS, SHARES.format(written)]) if replaced is not None else None
    mixture, written = blend.mixture, model.source.text(blend.written)
    if blend.result == BlendResult.SCALED and not is_complement(mixture, model):
        return None
    doubts = []
    if isinstance(blend.node, ast.Assign):
        doubts.append(SHAPES)
    if _may_copy_between_devices(blend.node):
        doubts.append(DEVICES.format(written))
    if not is_unrecorded(blend, model):
        doubts.append(RECORDED.format(written))
    if model.program.is_attribute_read("_version") or model.usage.reads_errors():
        doubts.append(VERSION.format(written))  # errors of autograd show the count as well
    source = source_of(blend.written, model)
    for part in (source, source_of(mixture.new, model)):
        if part is not None and model.types.may_override(part.network, "parameters", "named_parameters"):
            doubts.append(OVERRIDDEN.format(model.source.text(part.network)))
            break
    if not isinstance(mixture, Lerp) and (source is None or source.state):
        doubts.append(INTEGERS)
    if isinstance(mixture, BlendStep):
        replaced = _replaced(
            blend,
            f"{model.edit.code(blend.written)}.{mixture.sign}_({model.source.text(mixture.move)})",
            model,
        )
    elif isinstance(mixture, Lerp) or blend.result == BlendResult.SCALED:
        replaced = _replaced(blend, in_one_call(blend, model), model)
        doubts += [ROUNDS] if isinstance(mixture, Mix) else []
    else:
        exact = _in_two_lines(blend, mixture, model)
        if exact is not None:
            keep = mixture.keep
            if not _is_surely_number(keep, model):
                doubts.append(NUMBER.format(model.source.text(keep)))
            if model.source.span(keep) < model.source.span(mixture.share) and not _may_swap(
                keep, mixture.weight, model
            ):
                doubts.append(ORDER.format(model.source.text(keep), model.source.text(mixture.weight)))
            return [exact], [*doubts, *_half_done(blend, model)]
        replaced = (
            _replaced(blend, in_one_call(blend, model), model) if is_complement(mixture, model) else None
        )
        doubts.append(ROUNDS)
    return (replaced, doubts) if replaced is not None else None


def _is_surely_number(keep: ast.expr, model: SemanticModel) -> bool:
    """Whether a factor is a Python number. In programs with half precision, where a tensor would round
    otherwise, an annotation does not suffice.
    """
    if not numbers.is_number(keep, model):
        return False
    return not model.program.mentions(*_HALVES) or numbers.number_of(keep, model) is not None


def _in_two_lines(blend: Blend, mixture: Mix, model: SemanticModel) -> Edit | None:
    """Return two statements: first scale the new tensor, which may be the old one, then add the rest in
    place.
    """
    if not isinstance(blend.node, ast.stmt):
        return None
    name = model.importer.fresh_local(NAMES, blend.node, "RL304")
    share, written = model.edit.code(mixture.share), model.edit.code(blend.written)
    rest = f"{written}.mul_({model.source.text(mixture.keep)}).add_({name})"
    return model.edit.replace_statement(blend.node, f"{name} = {share}", rest)


def _may_swap(keep: ast.expr, weight: ast.expr, model: SemanticModel) -> bool:
    """Whether the order in which two factors are read makes no difference: no property counts its reads."""
    return bool(model.effects.effect_of(keep).quiet and model.effects.effect_of(weight).quiet)


def _half_done(blend: Blend, model: SemanticModel) -> Iterator[str]:
    """Yield the condition under which the second of two operations does not raise after the first has
    run.
    """
    old, new = source_of(blend.mixture.old, model), source_of(blend.mixture.new, model)
    if (
        old is None
        or new is None
        or not (old.complete and new.complete and old.backward == new.backward)
        or not made_networks.have_same_form(old.network, new.network, model)
    ):
        yield SAME_FORM.format(model.source.text(blend.mixture.old), model.source.text(blend.mixture.new))
    elif _may_hold_integers(model) or made_networks.may_hold_integers(model, old.network, new.network):
        yield INTEGERS


def _may_hold_integers(model: SemanticModel) -> bool:
    """Whether the file may create parameters without gradient, the only ones that may be integers, or cast
    them.
    """
    found: bool = model.once(_creates_without_gradient, model.syntax.module)
    return found


def _creates_without_gradient(_: ast.Module, model: SemanticModel) -> bool:
    if any(
        len(call.args) > 1 or call.keywords
        for call in model.syntax.written.calls_of(("Parameter", "register_parameter"))
    ):
        return True
    if any(
        (model.names.qualified(use) or "").startswith("torch.nn.")
        for use in model.names.attribute_uses("from_pretrained")
    ):
        return True
    if any(_casts_a_network(call, model) for call in model.syntax.written.calls_of(("type", "to"))):
        return True
    # under another name: `frozen = functools.partial(nn.Parameter, requires_grad=False)`
    mentions = [*model.syntax.of_type(ast.Name), *model.names.attribute_uses("Parameter")]
    return any(
        model.names.qualified(node) in ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
        and not _is_called_or_tested(node, model)
        for node in mentions
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    )


def _casts_a_network(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call may cast a network in place to integers or complex numbers: `net.type(torch.int64)`,
    `net.type(kind)`.
    """
    if not isinstance(call.func, ast.Attribute):
        return False
    owner = model.types.type_of(call.func.value).tag
    in_place = owner is TypeTag.UNKNOWN and isinstance(model.parent(call), ast.Expr)
    if owner is not TypeTag.MODULE and not in_place:
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    names = [(model.names.qualified(argument) or "").removeprefix("torch.") for argument in given]
    if call.func.attr == "type":
        return not all(element_types.TORCH.get(name, name) in element_types.FLOATS for name in names)
    if any(keyword.arg is None for keyword in call.keywords):
        return True
    return any(element_types.is_exact(element_types.TORCH.get(name, name)) for name in names)


def _is_called_or_tested(node: ast.expr, model: SemanticModel) -> bool:
    """Whether a class is called here by its own name, names a type, or is compared with one."""
    match model.parent(node):
        case ast.Call(func=func):
            if func is node:
                return (
                    node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
                ) == "Parameter"
            return model.names.qualified(func) in ("builtins.isinstance", "builtins.issubclass")
        case ast.arg() | ast.AnnAssign() | ast.FunctionDef() | ast.Subscript() | ast.BinOp() | ast.Tuple():
            return True
    return False


def in_one_call(blend: Blend, model: SemanticModel) -> str:
    """Return `old.lerp_(new, weight)`."""
    mixture, written = blend.mixture, model.edit.code(blend.written)
    return f"{written}.lerp_({model.source.text(mixture.new)}, {model.source.text(mixture.weight)})"


def _replaced(blend: Blend, call: str, model: SemanticModel) -> list[Edit]:
    """Return the edit that replaces the blend's call or statement by a call."""
    return [model.edit.replace(blend.node.value if isinstance(blend.node, ast.Expr) else blend.node, call)]


def _in_state(blend: Blend, model: SemanticModel) -> tuple[list[Edit], list[str]] | None:
    """Return the edits for a state dict, whose tensors are those of the network: the load is removed."""
    old, new = source_of(blend.mixture.old, model), source_of(blend.mixture.new, model)
    if old is None or new is None or not (old.state and new.state) or not is_complement(blend.mixture, model):
        return None
    replaced = _replaced(blend, in_one_call(blend, model), model)
    return [*replaced, *_loaded_after(blend, old.network, model)], [ROUNDS, BUFFERS]


def _loaded_after(blend: Blend, network: ast.expr, model: SemanticModel) -> list[Edit]:
    """Return the edit that deletes `network.load_state_dict(state)` directly after the loop."""
    loop = model.frequency.loops(blend.node)[0]
    if not isinstance(loop, ast.For) or not isinstance(blend.written, ast.Subscript):
        return []
    block, index = model.syntax.block(loop)
    match block[index + 1 : index + 2]:
        case [
            ast.Expr(value=ast.Call(func=ast.Attribute(value=loaded, attr="load_state_dict"), args=[state]))
        ] as following if ast.dump(loaded) == ast.dump(network) and root_of(state) == root_of(
            blend.written.value
        ):
            deleted = model.edit.delete_statement(following[0])
            return [deleted] if deleted is not None else []
    return []


def is_complement(mixture: Mixture, model: SemanticModel) -> bool:
    """Whether the weights of both tensors surely add up to one."""
    if not isinstance(mixture, Mix):
        return True
    if _is_rest(mixture.keep, mixture.weight, model) or _is_rest(mixture.weight, mixture.keep, model):
        return True
    keep, weight = numbers.number_of(mixture.keep, model), numbers.number_of(mixture.weight, model)
    fixed = keep is not None and weight is not None and keep.fixed and weight.fixed
    return fixed and keep is not None and weight is not None and abs(keep.value + weight.value - 1) < 1e-9


def _is_rest(rest: ast.expr, weight: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression is `1 - weight`, written here or in the only assignment of a name."""
    match rest:
        case ast.BinOp(left=ast.Constant(value=one), op=ast.Sub(), right=right):
            return one == 1 and ast.dump(right) == ast.dump(weight)
        case ast.Name():
            bindings = model.dataflow.definitions(rest)
            if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN and not bindings[0].path:
                value = bindings[0].value
                return isinstance(value, ast.BinOp) and _is_rest(value, weight, model)
    return False


def is_unrecorded(blend: Blend, model: SemanticModel) -> bool:
    """Whether autograd surely does not record the write."""
    match blend.written:
        case ast.Attribute(attr="data") | ast.Call(func=ast.Attribute(attr="detach"), args=[]):
            return True
    return model.gradients.autograd_at(blend.node) is Autograd.OFF
