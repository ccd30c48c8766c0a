"""Statements under `torch.no_grad()`: the edit, and the code for which it makes a difference."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from rlint.rule import (
    Edit,
    Effect,
    EffectKind,
    SemanticModel,
    SinkKind,
    TypeTag,
    arguments_of,
    descendants,
    gradient_rules,
    gradient_sinks,
    last_name,
    models,
    regex,
)
from rlint.rules.networks._shared.network_traces import doubt_about_network
from rlint.rules.networks._shared.operands import other_operands
from rlint.rules.networks._shared.sure_ends import surely_ends

_LEARNS = regex(r"(^|_)(learn|train|update|optimi[sz]e|fit|backward|closure)")
_NO_MATTER = EffectKind.DRAWS | EffectKind.WRITES_OUTPUT | EffectKind.READS_CLOCK | EffectKind.MOVES_MODULE
_HOST = gradient_rules.HAVE_NO_GRADIENT
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.MatMult: "matmul",
    ast.Pow: "pow",
}  # fmt: skip
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)


def value_of(statement: ast.stmt) -> ast.expr | None:
    """Return the expression of a simple statement; None for all others."""
    return statement.value if isinstance(statement, _SIMPLE) else None


def outermost_calls(
    statement: ast.stmt, holds: Callable[[ast.Call, SemanticModel], bool], model: SemanticModel
) -> list[ast.Call]:
    """Return the calls in a simple statement for which `holds` is true, without those inside of others."""
    found: list[ast.Call] = []
    for call in calls_in(statement):
        within = any(ancestor in found for ancestor in model.ancestors(call))
        if not within and holds(call, model):
            found.append(call)
    return found


def calls_in(statement: ast.stmt) -> Iterator[ast.Call]:
    """Yield the calls of a simple statement, outermost first."""
    value = value_of(statement)
    for node in descendants(value) if value is not None else ():
        if isinstance(node, ast.Call):
            yield node


def under_no_grad(run: Sequence[ast.stmt], model: SemanticModel) -> tuple[Edit, ...] | None:
    """Wrap consecutive statements in `torch.no_grad()`; None if their lines cannot be indented without other
    changes.
    """
    first = run[0]
    if any(
        isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom)) for one in run for node in descendants(one)
    ):
        return None
    name = model.names.spelled("torch.no_grad", first)
    added: tuple[Edit, ...] = ()
    if name is None:
        imported = model.importer.module_import("torch", user=first)
        if imported is None:
            return None
        name, added = "torch.no_grad", (imported[1],)
    edit = model.edit.wrap_in(f"with {name}():", run)
    return (*added, edit) if edit is not None else None


def loses_gradient(
    statement: ast.stmt, forwards: Sequence[ast.Call], model: SemanticModel
) -> list[str] | None:
    """Return the operands of a statement, besides the forward passes, that must not need a gradient, as
    source; None if one of them surely does, a gradient is computed, or it is not known.
    """
    value = value_of(statement)
    if value is None:
        return None
    doubts: dict[str, None] = {}
    for call in calls_in(statement):
        if (
            call not in forwards
            and _LEARNS.search(last_name(call.func) or "")
            and not _is_harmless(call, model)
        ):
            return None
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Subscript) and model.types.type_of(target.value).tag not in (
                TypeTag.LIST, TypeTag.DICT, TypeTag.NDARRAY, TypeTag.DEQUE,
            ):  # fmt: skip
                doubts[model.source.text(target.value)] = None
    rest = model.gradients.sources(value, without=forwards)
    if not isinstance(value, ast.Tuple) and _ends_unseen(value, model):
        return [*doubts, *map(model.source.text, rest.leaves)]
    doubts.update((model.source.text(each), None) for each in other_operands(value, forwards, model))
    if rest.leaves or any(model.gradients.gives_gradient(call) for call in rest.calls):
        return None
    for kept in rest.kept:
        kind = model.types.type_of(kept)
        if kind.tag in (TypeTag.TENSOR, TypeTag.MODULE, TypeTag.PARAMETERS, TypeTag.DISTRIBUTION):
            return None
        if kind.tag not in _HOST:
            doubts[model.source.text(kept)] = None
    for part in (*rest.parameters, *rest.calls):
        if model.types.type_of(part).tag not in _HOST and not _from_host(part, model):
            doubts[model.source.text(part)] = None
    return list(doubts)


def _ends_unseen(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value has uses that end its gradient and do not show that it has one, and no others."""
    left = {one.label for one in model.gradients.sinks(value)}
    return bool(left) and left <= gradient_sinks.ENDS - {SinkKind.SHOWN}


def _from_host(part: ast.expr, model: SemanticModel) -> bool:
    """Whether it is a call of a library that returns values without a gradient."""
    qualified = model.names.qualified(part.func) if isinstance(part, ast.Call) else None
    return qualified is not None and qualified.partition(".")[0] in ("numpy", "math", "random")


def careless_calls(statement: ast.stmt, forwards: Sequence[ast.Call], model: SemanticModel) -> list[str]:
    """Return the calls in a statement, besides the forward passes, that may depend on the autograd mode."""
    found: dict[str, None] = {}
    for call in calls_in(statement):
        if call not in forwards and not _is_harmless(call, model):
            found[model.source.text(call.func)] = None
    for node in descendants(statement):
        if _runs_project_code(node, model):
            found[model.source.text(node)] = None
        for shown in _shown_by(node, model):
            runs_network = any(part in forwards for part in descendants(shown))
            if not runs_network and model.types.type_of(shown).tag not in _HOST:
                found[model.source.text(shown)] = None
    return list(found)


def _shown_by(node: ast.AST, model: SemanticModel) -> Sequence[ast.expr]:
    """Return the values whose text a node makes: that of a tensor says whether it has a gradient."""
    match node:
        case ast.FormattedValue(value=value):
            return [value]
        case ast.Call(func=ast.Name(id="print" | "str" | "repr" | "format"), args=values):
            return [value for value in values if not isinstance(value, ast.JoinedStr)]
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            if model.types.type_of(left).tag is TypeTag.STR:
                return right.elts if isinstance(right, ast.Tuple) else [right]
    return ()


def _runs_project_code(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node other than a call may run code of the project: a property, an item or an operator of an
    object of its classes.
    """
    match node:
        case ast.Attribute(value=owner, attr=name):
            around = model.parent(node)
            is_called = isinstance(around, ast.Call) and around.func is node
            if is_called or model.names.qualified(node) is not None:
                return False
            methods = (name,) if isinstance(node.ctx, ast.Load) else (name, "__setattr__")
        case ast.Subscript(value=owner):
            methods = ("__getitem__",) if isinstance(node.ctx, ast.Load) else ("__setitem__",)
        case ast.BinOp(left=owner):
            methods = (f"__{_OPERATORS.get(type(node.op), '')}__",)
        case _:
            return False
    if not any(map(model.index.defines_method, methods)):
        return False
    return model.types.type_of(owner).tag in (
        (TypeTag.INSTANCE, TypeTag.MODULE, TypeTag.UNKNOWN)
        if isinstance(node, ast.Attribute)
        else (TypeTag.INSTANCE, TypeTag.MODULE)
    )


def _is_harmless(call: ast.Call, model: SemanticModel) -> bool:
    if model.types.call_targets(call):
        if model.types.type_of(call).tag not in _HOST:
            return False  # it may be computed from a weight that the function knows
        return model.effects.call_effect(call).quiet and not model.gradients.gives_gradient(call)
    qualified = model.names.qualified(call.func)
    if qualified is not None:
        known = models.callable_fact(qualified)
        return known is not None and _is_independent_of_autograd(known.effect)
    if not isinstance(call.func, ast.Attribute):
        return False
    tag = model.types.type_of(call.func.value).tag
    known = models.method_fact(tag if tag is not TypeTag.UNKNOWN else TypeTag.TENSOR, call.func.attr)
    return known is not None and _is_independent_of_autograd(known.effect)


def _is_independent_of_autograd(effect: Effect) -> bool:
    """Whether an effect is the same with and without autograd. In-place operations are recorded, except those
    that fill a tensor with random numbers.
    """
    fills = effect.kind & EffectKind.DRAWS
    return effect.does_only(_NO_MATTER | EffectKind.MUTATES if fills else _NO_MATTER)


def only_leads_on(statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether a statement only computes values without a gradient, so that it may be between forward
    passes.
    """
    match statement:
        case ast.Assign(targets=[ast.Name() | ast.Tuple()], value=value):
            return _ends_unseen(value, model) and not careless_calls(statement, (), model)
    return False


def joined(texts: Sequence[str]) -> str:
    """Return names as a list in words: `a`, `b` and `c`."""
    quoted = [f"`{text}`" for text in texts]
    return " and ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))


def doubt_about(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the condition on the network that a call runs; None if there is none."""
    name = model.source.text(call.func)
    if model.types.type_of(call.func).tag is not TypeTag.MODULE:
        return (
            f"`{name}` runs entirely without autograd: it must not compute anything else that needs a "
            f"gradient"
        )
    doubt: str | None = doubt_about_network(call.func, model)
    if doubt is not None:
        return doubt
    given = arguments_of(call) if model.nn.architecture(call.func).in_place else []
    if any(True for value in given for _ in other_operands(value, (), model)):
        return f"a layer of `{name}` writes to its input, which must not need a gradient"
    outlets = {left.label for left in model.gradients.sinks(call)}
    if not outlets & {SinkKind.SHOWN, SinkKind.CONVERTED} and not surely_ends(call, model):
        return f"no gradient may be computed through the result of `{name}`: not all uses of it are in sight"
    if SinkKind.SHOWN in outlets:
        return "the result's `requires_grad` and `grad_fn`, and its printed form, change"
    if SinkKind.CONVERTED in outlets:
        return "PyTorch no longer warns that a tensor that requires grad is converted to a number"
    for around in model.ancestors(call):
        entered = [
            model.names.qualified(item.context_expr.func) or ""
            for item in (around.items if isinstance(around, ast.With) else ())
            if isinstance(item.context_expr, ast.Call)
        ]
        if any("autocast" in name for name in entered):
            return "weights cast by `autocast` here lose their gradient in old versions of PyTorch"
        if any("saved_tensors_hooks" in name for name in entered):
            return "no tensors are saved for backward any more, so the saved-tensor hooks here are not called"
    return None
