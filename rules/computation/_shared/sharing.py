"""Whether two uses of equal values may become two uses of one object."""

from __future__ import annotations

import ast

from rlint.rule import (
    Applicability,
    EscapeLevel,
    Fix,
    Repetition,
    SemanticModel,
    Trait,
    TypeTag,
    ValueUse,
    algebra,
    descendants,
    extract_variable,
    last_name,
    models,
    regex,
)
from rlint.rules.computation._shared import names

# a second call creates another object, which may be intended
_VALUES = frozenset(
    {
        TypeTag.UNKNOWN,
        TypeTag.NONE,
        TypeTag.BOOL,
        TypeTag.INT,
        TypeTag.FLOAT,
        TypeTag.STR,
        TypeTag.BYTES,
        TypeTag.NUMPY_SCALAR,
        TypeTag.LIST,
        TypeTag.TUPLE,
        TypeTag.DICT,
        TypeTag.SET,
        TypeTag.NDARRAY,
        TypeTag.TENSOR,
        TypeTag.DISTRIBUTION,
        TypeTag.MATCH,
        TypeTag.BATCH,
        TypeTag.DATAFRAME,
    }
)
_EQUAL_TO_ITSELF = frozenset({TypeTag.BOOL, TypeTag.BYTES, TypeTag.INT, TypeTag.NONE, TypeTag.STR})
_CONTAINERS = frozenset({TypeTag.LIST, TypeTag.DEQUE, TypeTag.SET, TypeTag.DICT})
_INSERTS = models.having(Trait.INSERTS, *_CONTAINERS)
_UNCHANGING = frozenset({TypeTag.MATCH, TypeTag.DISTRIBUTION})
_MAKERS = (
    models.having(Trait.ALLOCATES | Trait.FROM_NUMBERS | Trait.COPIES, "torch", "numpy", "copy")
    | models.giving(TypeTag.DICT, "collections")
    | {"collections.deque", "torch.empty_strided", "torch.from_numpy", "torch.nn.functional.one_hot"}
)
# these create an array from their argument; from a few literals, they create a constant
_CONVERSIONS = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch", "numpy")
_MAKER_METHODS = models.having(Trait.COPIES | Trait.FILLS, TypeTag.TENSOR, TypeTag.NDARRAY) | {
    "deepcopy",
    "state_dict",
    "zeros_like",
}
_MOVES = models.having(Trait.CASTS | Trait.RELOCATES, TypeTag.TENSOR)
_NO_GRADIENT = models.names_having(
    Trait.COMPARES | Trait.GIVES_INDEX | Trait.GIVES_NUMBER | Trait.TO_HOST, "torch", TypeTag.TENSOR
) | {"all", "any", "detach", "unique"}
_MAKES = regex(r"(^|_)(blank|build|create|empty|fresh|init|initial|make|new|start|zeros?)(_|$)")
_SETTINGS = frozenset({TypeTag.BOOL, TypeTag.DEVICE, TypeTag.DTYPE, TypeTag.FLOAT, TypeTag.INT, TypeTag.NONE})
WITHOUT_GRADIENT = frozenset({"torch.no_grad", "torch.inference_mode"})


def is_value(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether the result of the expression is a plain value, rather than an object or a container that must
    be new each time.
    """
    if model.types.type_of(expression).tag not in _VALUES:
        return False
    if not isinstance(expression, ast.Call):
        return True
    if isinstance(model.parent(expression), ast.withitem):
        return False  # `with ExitStack() as stack:`
    qualified = model.names.qualified(expression.func)
    if qualified in _MAKERS or (qualified in _CONVERSIONS and _is_written_out(expression)):
        return False
    if qualified is None and isinstance(expression.func, ast.Attribute) and expression.func.attr in _MOVES:
        moved = expression.func.value
        is_converted = isinstance(moved, ast.Call) and model.names.qualified(moved.func) == "torch.from_numpy"
        return is_converted or is_value(moved, model)
    method = expression.func.attr if isinstance(expression.func, ast.Attribute) else ""
    return method not in _MAKER_METHODS and not (method == "new_tensor" and _is_written_out(expression))


def _is_written_out(call: ast.Call) -> bool:
    return not call.args or isinstance(call.args[0], (ast.Constant, ast.UnaryOp, ast.List, ast.Tuple))


def is_meant_twice(nodes: list[ast.expr], model: SemanticModel) -> bool:
    """Whether one of the values is modified in place, or kept as a copy, so that they must not be one
    object.
    """
    if model.types.is_immutable(nodes[0]):
        return False
    uses = [model.dataflow.use_of(node) for node in nodes]
    if any(use.escape_level is EscapeLevel.CHANGED for use in uses):
        return True
    if not isinstance(nodes[0], ast.Call):
        return False
    # copies of one array that are stored in two places
    converted = model.names.qualified(nodes[0].func) in _CONVERSIONS
    if converted and sum(use.escape_level is EscapeLevel.KEPT for use in uses) > 1:
        return True
    return (
        _creates_state(nodes[0], model) and sum(use.escape_level is not EscapeLevel.READ for use in uses) > 1
    )


def _creates_state(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a project function creates an object to be filled, such as the state of a recurrent network.
    Its name suggests it, or its only arguments are sizes and settings.
    """
    if not model.types.call_targets(call):
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    called = call.func.attr if isinstance(call.func, ast.Attribute) else last_name(call.func) or ""
    return bool(_MAKES.search(called)) or all(model.types.type_of(part).tag in _SETTINGS for part in given)


def reasons_against(repetition: Repetition, nodes: list[ast.expr], model: SemanticModel) -> list[str]:
    """Return the conditions for sharing one value; empty if that is safe."""
    reasons = [_doubt(doubt, model) for doubt in repetition.doubts[:1]]
    first = nodes[0]
    if _may_draw(first, model):
        reasons.append("`entropy()` must be a formula, not an estimate from random samples")
    if _is_identity_tested(nodes, model):
        reasons.append("the results are compared by `is`, or inside containers: they become one object")
    if model.usage.is_counted(first):
        reasons.append("the program reads `cache_info`: cached functions are called less often")
    if model.usage.collects_warnings() and not _is_of_text(first, model):
        reasons.append(
            "the program collects, logs or prints warnings, of which one evaluation gives fewer than two"
        )
    used_up = model.effects.may_exhaust(first)
    if used_up is not None:
        reasons.append(_used_up(used_up, model))
    if not model.types.is_immutable(first):
        uses = [model.dataflow.use_of(node) for node in nodes]
        if model.types.type_of(first).tag not in _UNCHANGING and not _can_be_shared(nodes, uses, model):
            reasons.append("all uses then share one object, which none of them may modify in place")
        if sum(use.computes for use in uses) > 1 and _may_carry_gradient(first, model):
            reasons.append(
                "gradients through the shared tensor are accumulated in another order: the last digits change"
            )
    return reasons


def _is_of_text(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression calls a method of a string, which gives no warning."""
    match expression:
        case ast.Call(func=ast.Attribute(value=owner)):
            return model.types.type_of(owner).tag is TypeTag.STR
    return False


def _may_draw(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression calls `entropy()` of a value of unknown type."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "entropy"
        and not model.types.type_of(node.func.value)
        for node in descendants(expression)
    )


def _is_identity_tested(nodes: list[ast.expr], model: SemanticModel) -> bool:
    """Whether code may determine whether two results are one object: `first is second`, or `[first] ==
    [second]`, which is true for one `nan`, and false for two. Tuples of numbers are compared in the same way.
    """
    seen = set(nodes)
    for node in nodes:
        match model.parent(node):
            case (
                ast.Assign(targets=[ast.Name(id=name) as target])
                | ast.NamedExpr(target=ast.Name(id=name) as target)
            ):
                scope = model.names.scope(target).lookup(name)
                seen.update(model.names.reads(name, scope) if scope is not None else ())
    if _is_looked_up(seen, nodes, model) or _meet(seen, nodes, model):
        return True
    compares = {
        ancestor
        for node in seen
        for ancestor in model.ancestors(node)
        if isinstance(ancestor, ast.Compare) and not _is_of_constants(ancestor)
    }
    return any(_tests_identity(compare, seen, model) for compare in compares)


def _is_looked_up(seen: set[ast.expr], nodes: list[ast.expr], model: SemanticModel) -> bool:
    """Whether one result may be put into a container in which another is looked up, which finds the same
    `nan`, but not another one.
    """
    if model.types.type_of(nodes[0]).tag in _EQUAL_TO_ITSELF:
        return False
    lookups = {node for node in seen if _looks_up(node, model)}
    return bool(lookups) and any(_is_put(node, model) for node in seen - lookups)


def _meet(seen: set[ast.expr], nodes: list[ast.expr], model: SemanticModel) -> bool:
    """Whether two results become items of one list, tuple or set, in which code may count equal items."""
    if model.types.type_of(nodes[0]).tag in _EQUAL_TO_ITSELF:
        return False
    displays = [model.parent(node) for node in seen]
    held = [id(display) for display in displays if isinstance(display, (ast.List, ast.Tuple, ast.Set))]
    return len(held) > len(set(held))


def _looks_up(node: ast.expr, model: SemanticModel) -> bool:
    """Whether a node is a look-up: `value in values`, `values.index(value)`, `counts[value]`."""
    match model.parent(node):
        case ast.Compare(left=left, ops=[*_, ast.In() | ast.NotIn()], comparators=[*_, container]):
            return node is left and not isinstance(container, ast.Constant)
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[first, *_]) if first is node:
            return model.types.type_of(owner).tag in _CONTAINERS and name not in _INSERTS
        case ast.Subscript(value=ast.Name() | ast.Attribute(), slice=index, ctx=ast.Load()) if index is node:
            return True
    return False


def _is_put(node: ast.expr, model: SemanticModel) -> bool:
    """Whether a node inserts the value: `values.add(value)`, `values = [value]`, `counts[value] = 1`."""
    match model.parent(node):
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _INSERTS
        case ast.Subscript(slice=index, ctx=ast.Store()) if index is node:
            return True
        case ast.List() | ast.Set() | ast.Dict() | ast.Tuple():
            return True
    return False


def _is_of_constants(compare: ast.Compare) -> bool:
    return all(isinstance(part, ast.Constant) for part in compare.comparators)


def _tests_identity(compare: ast.Compare, seen: set[ast.expr], model: SemanticModel) -> bool:
    parts = [compare.left, *compare.comparators]
    if sum(any(node in seen for node in descendants(part)) for part in parts) < 2:
        return False
    by_identity = any(isinstance(op, (ast.Is, ast.IsNot)) for op in compare.ops)
    held = any(isinstance(part, (ast.List, ast.Tuple, ast.Set, ast.Dict)) for part in parts)
    if by_identity:
        return any(part in seen for part in parts)
    if any(part in seen and _may_hold_nan(part, model) for part in parts):
        return True
    return held and any(model.types.type_of(node).tag not in _EQUAL_TO_ITSELF for node in seen)


def _may_hold_nan(part: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is a container whose items need not be equal to themselves."""
    kind = model.types.type_of(part)
    is_container = kind.tag is TypeTag.TUPLE or kind.tag in _CONTAINERS
    return is_container and (kind.item is None or kind.item.tag not in _EQUAL_TO_ITSELF)


def _used_up(source: ast.expr, model: SemanticModel) -> str:
    shown = " ".join(model.source.text(source).split())
    if isinstance(source, ast.Call):
        return (
            f"the argument that `{shown}` iterates over must not be an iterator, which is exhausted the "
            f"second time"
        )
    return f"`{shown}` must not be an iterator, which is exhausted the second time"


def _doubt(doubt: ast.AST, model: SemanticModel) -> str:
    line = model.span_of(doubt)[0].line
    match doubt:
        case ast.Call(func=func):
            return (
                f"`{ast.unparse(func)}` on line {line} must not modify the arguments through another "
                "reference"
            )
        case ast.Await() | ast.Yield() | ast.YieldFrom():
            return f"the code that runs in between on line {line} must not modify the arguments"
    return f"the object modified on line {line} must not be one of the arguments under another name"


def _can_be_shared(nodes: list[ast.expr], uses: list[ValueUse], model: SemanticModel) -> bool:
    if all(use.escape_level is EscapeLevel.READ for use in uses):
        return True
    if any(use.escape_level is not EscapeLevel.READ for use in uses[:-1]):
        return False
    # only the last one is returned: code that did not read it before cannot observe the change
    returns = isinstance(model.syntax.statement(nodes[-1]), ast.Return)
    return returns or not any(use.held for use in uses[:-1])


def _may_carry_gradient(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether `backward()` may go through the value."""
    kind = model.types.type_of(expression)
    if kind.tag in (TypeTag.NDARRAY, TypeTag.NUMPY_SCALAR, TypeTag.MATCH, TypeTag.DATAFRAME):
        return False
    if kind.item is not None and algebra.is_immutable(kind.item):
        return False  # a list of texts or numbers
    if isinstance(expression, ast.Call):
        called = expression.func.attr if isinstance(expression.func, ast.Attribute) else ""
        if called in _NO_GRADIENT:
            return False
        qualified = model.names.qualified(expression.func) or ""
        root = qualified.partition(".")[0]
        if kind.tag not in (TypeTag.TENSOR, TypeTag.DISTRIBUTION) and root in (
            "numpy",
            "re",
            "json",
            "ast",
            "math",
            "statistics",
        ):
            return False
    if kind.tag not in (TypeTag.TENSOR, TypeTag.DISTRIBUTION) and not _imports_torch(expression, model):
        return False
    return not _is_without_gradient(expression, model)


def _imports_torch(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether this file, or that of a called function, imports torch."""
    modules = [model.module]
    if isinstance(expression, ast.Call):
        modules += [model.index.modules[target.module] for target in model.types.call_targets(expression)]
    return any(
        target.partition(".")[0] in ("torch", "transformers", "trl", "accelerate", "torchrl")
        for module in modules
        for target in (*module.imports.values(), *module.star_imports)
    )


def _is_without_gradient(node: ast.AST, model: SemanticModel) -> bool:
    """Whether the node is under `torch.no_grad()` or `torch.inference_mode()`."""
    for parent in model.ancestors(node):
        if isinstance(parent, (ast.With, ast.AsyncWith)):
            contexts = [item.context_expr for item in parent.items]
        elif isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
            contexts = parent.decorator_list
        else:
            continue
        called = [context.func if isinstance(context, ast.Call) else context for context in contexts]
        if any(model.names.qualified(name) in WITHOUT_GRADIENT for name in called):
            return True
    return False


def shared_result(
    repetition: Repetition, again: list[ast.expr], model: SemanticModel, title: str
) -> Fix | None:
    """Keep the first evaluation, and use its result further down. The name ends the title."""
    bound = extract_variable.bind_once(repetition, again, model, names.of_result(repetition.first))
    if bound is None:
        return None
    reasons = reasons_against(repetition, [repetition.first, *again], model)
    if bound.reordered:
        reasons.append("if two parts of the statement fail, the other error is raised first")
    said = f"Use `{bound.name}`, which already holds the value" if bound.reused else f"{title} `{bound.name}`"
    safety = Applicability.UNSAFE if reasons else Applicability.SAFE
    return Fix(said, safety, bound.edits, "; ".join(reasons) or None)
