"""Networks that follow another (for RL303): which code holds them, and how their weights are copied."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, Trait, TypeTag, UseKind, last_name, models, weight_sync

# calls that pass a new network on to code that keeps it
STORES = models.having(Trait.INSERTS, TypeTag.LIST, TypeTag.DEQUE, TypeTag.SET, TypeTag.QUEUE) | {
    "extend",
    "push",
    "save",
    "send",
}
CHANGES_ONLY_MODE = (
    models.having(Trait.RETURNS_SELF, TypeTag.MODULE)
    - models.having(Trait.CASTS, TypeTag.MODULE)
    - {"apply", "share_memory", "to_empty"}
)


def is_pulled_by_worker(call: ast.Call, target: ast.expr, source: ast.expr, model: SemanticModel) -> bool:
    """Whether a worker takes over the weights of the network that it computes gradients for: code of the file
    sets the gradients of one network to those of another, parameter by parameter.
    """
    if ast.dump(target) == ast.dump(source) or not model.once(_hands_gradients, model.syntax.module):
        return False
    if all(_is_parameter(each, model) for each in (target, source)):
        # a helper that only copies may be meant for all kinds of networks
        function = model.function(call)
        if not any(model.function(use) is function for use in model.names.attribute_uses("step")):
            return False
    return weight_sync.is_network(target, model) or weight_sync.is_network(source, model)


def _is_parameter(expression: ast.expr, model: SemanticModel) -> bool:
    bindings = model.names.bindings(expression) if isinstance(expression, ast.Name) else []
    return bool(bindings) and all(each.kind is BindingKind.PARAMETER for each in bindings)


def _hands_gradients(_: ast.Module, model: SemanticModel) -> bool:
    """Whether a file sets gradients in a loop over the parameters of two networks: `s.grad = p.grad`."""
    for name in ("grad", "_grad"):
        for use in model.names.attribute_uses(name):
            if not isinstance(use.ctx, ast.Store) or not isinstance(use.value, ast.Name):
                continue
            for above in model.ancestors(use):
                match above:
                    case ast.For(iter=ast.Call(func=ast.Name(id="zip"), args=[first, second])) if all(
                        isinstance(each, ast.Call) and last_name(each.func) == "parameters"
                        for each in (first, second)
                    ):
                        return True
                    case ast.FunctionDef():
                        break
    return False


def is_access(expression: ast.expr) -> bool:
    """Whether an expression is a name, or attributes and constant items of one: reading it twice is
    harmless.
    """
    match expression:
        case ast.Name():
            return True
        case ast.Attribute(value=owner):
            return is_access(owner)
        case ast.Subscript(value=owner, slice=ast.Name() | ast.Constant()):
            return is_access(owner)
    return False


def copied_value(value: ast.expr) -> ast.expr:
    """Return the value without trailing calls that only change its mode or device."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr not in CHANGES_ONLY_MODE:
            break
        value = value.func.value
    return value


def is_kept(target: ast.expr, model: SemanticModel) -> bool:
    """Whether the new network is passed to other code, which may hold it when the next one is created."""
    if isinstance(target, ast.Name):
        scope = model.names.scope(target).lookup(target.id)
        uses: list[ast.AST] = list(model.names.reads(target.id, scope)) if scope else []
    else:
        attribute = target.attr if isinstance(target, ast.Attribute) else ""
        uses = [use for use in model.names.attribute_uses(attribute) if isinstance(use.ctx, ast.Load)]
    return any(hands_on(use, model) for use in uses)


def hands_on(use: ast.AST, model: SemanticModel) -> bool:
    """Whether a use stores the value, or passes it on."""
    found = model.syntax.use(use)
    match found.at:
        case ast.Call(func=ast.Attribute(attr=method)) if found.kind is UseKind.ARGUMENT:
            return method in STORES
        case ast.Yield():
            return True
    return found.kind in (UseKind.BOUND, UseKind.RETURNED, UseKind.ELEMENT)


def exists_before(target: ast.expr, statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether the target surely is a network already when the statement runs."""
    match target:
        case ast.Name():
            return any(
                binding.statement is not statement
                and model.dataflow.between(binding.statement, statement) is not None
                and binding.value is not None
                and weight_sync.is_network(binding.value, model)
                for binding in model.names.bindings(target)
            )
        case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
            cls = model.class_of(target)
            made = model.method(cls, "__init__") if cls is not None else None
            return made is not model.function(target) and any(
                model.function(use) is made and assigns_network(model.parent(use), model)
                for use in model.names.attribute_uses(attribute)
            )
    return False


def assigns_network(statement: ast.AST | None, model: SemanticModel) -> bool:
    """Whether a statement is `self.target = Network()`."""
    return isinstance(statement, ast.Assign) and weight_sync.is_network(statement.value, model)


def paired_parameters(loop: ast.For, model: SemanticModel) -> tuple[ast.expr, ast.expr] | None:
    """Return the networks of `for t, p in zip(a.parameters(), b.parameters())` that only copies p into t."""
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]),
            iter=ast.Call(
                func=function,
                args=[
                    ast.Call(func=ast.Attribute(value=left, attr="parameters")),
                    ast.Call(func=ast.Attribute(value=right, attr="parameters")),
                ],
            ),
            body=[statement],
        ) if model.names.qualified(function) == "builtins.zip":
            copied = copied_parameter(statement)
            if copied == (first, second):
                return left, right
            return (right, left) if copied == (second, first) else None
    return None


def looked_up_parameters(loop: ast.For) -> tuple[ast.expr, ast.expr] | None:
    """Return the networks of `for name, t in a.state_dict().items(): t.copy_(b.state_dict()[name])`, which
    builds a state dict for each tensor: the network that is written, and the one that is read.
    """
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=name), ast.Name(id=item)]),
            iter=(
                ast.Call(
                    func=ast.Attribute(
                        value=ast.Call(func=ast.Attribute(value=iterated, attr="state_dict")), attr="items"
                    )
                )
                | ast.Call(func=ast.Attribute(value=iterated, attr="named_parameters"))
            ),
            body=[ast.Expr(value=ast.Call(func=ast.Attribute(value=to, attr="copy_"), args=[value, *_]))],
        ):
            pass
        case _:
            return None
    to = to.value if isinstance(to, ast.Attribute) and to.attr == "data" else to
    if isinstance(to, ast.Name) and to.id == item:
        other = _looked_up(value, name)
        return (iterated, other) if other is not None else None
    other = _looked_up(to, name)
    return (other, iterated) if other is not None and parameter_name(value) == item else None


def _looked_up(value: ast.expr, name: str) -> ast.expr | None:
    """Return the network of `net.state_dict()[name]`."""
    match value:
        case ast.Subscript(
            value=ast.Call(func=ast.Attribute(value=network, attr="state_dict")), slice=ast.Name(id=key)
        ) if key == name:
            return network
        case ast.Attribute(value=inner, attr="data"):
            return _looked_up(inner, name)
        case ast.Call(func=ast.Attribute(value=inner, attr="detach" | "clone")):
            return _looked_up(inner, name)
    return None


def copied_parameter(statement: ast.stmt) -> tuple[str, str] | None:
    """Return the names of `t.data.copy_(p.data)` and `t.data = p.data.clone()`."""
    match statement:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=to), attr="data"), attr="copy_"),
                args=[value],
            )
        ):
            return (to, name) if (name := parameter_name(value)) else None
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id=to), attr="data")],
            value=ast.Call(func=ast.Attribute(value=value, attr="clone")),
        ):
            return (to, name) if (name := parameter_name(value)) else None
    return None


def parameter_name(value: ast.expr) -> str | None:
    """Return the name `p` of `p`, `p.data`, `p.detach()`."""
    match value:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name), attr="data"):
            return name
        case ast.Call(func=ast.Attribute(value=inner, attr="detach" | "clone")):
            return parameter_name(inner)
    return None
