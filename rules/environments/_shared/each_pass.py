"""Values that are recreated with the same arguments in each iteration of a loop, or on each call of a
function.
"""

from __future__ import annotations

import ast
import re

from rlint.rule import (
    FUNCTIONS,
    Binding,
    BindingKind,
    GuardKind,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    environments,
    frozen,
    last_name,
    models,
    regex,
    root_of,
)

_CHANGES = models.mutators(TypeTag.LIST, TypeTag.DEQUE, TypeTag.SET, TypeTag.DICT) | (
    {"apply", "reset_parameters", "shuffle"} | {"push", "put", "store"}
)
_PASSES_ON = frozenset({"parameters", "named_parameters", "get", "copy"})
_HOLDERS = frozenset(
    {
        TypeTag.LIST,
        TypeTag.DICT,
        TypeTag.SET,
        TypeTag.DEQUE,
        TypeTag.UNKNOWN,
        TypeTag.INSTANCE,
        TypeTag.REPLAY_BUFFER,
    }
)
_NUMBERS = frozenset({TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL})
_GUARDS = (ast.If, ast.IfExp, ast.Try, ast.Match, ast.BoolOp, ast.Lambda, ast.ExceptHandler)
SELDOM = frozenset(
    {GuardKind.INTERVAL, GuardKind.CLOCK, GuardKind.BEST, GuardKind.ENDS, GuardKind.ONCE, GuardKind.FAILURE}
)
"""The kinds of conditions that are known to hold in few iterations."""
_SETTINGS = regex(
    r"(^|_)(env|environment|gym|game|domain)(_?(id|name|str|kwargs|config|cfg|args))?$"
    r"|^(self_)?(args?|cfg|config|conf|opts?|options|flags|settings|h?params|hyper_?params)$",
    re.IGNORECASE,
)
"""Names of settings of a whole run, which functions are given again and again."""
_SHAPES = regex(r"(^|_)(spaces?|dims?|sizes?|shapes?|device)$|^(n|num)_")
"""Names of attributes that describe a network, whatever its weights are."""
_ITERATE = models.having(Trait.ITERATES | Trait.SAME_ITEMS, "builtins") - {"builtins.next"}
_SAME_ITEMS = frozenset(
    {
        TypeTag.LIST,
        TypeTag.TUPLE,
        TypeTag.DICT,
        TypeTag.SET,
        TypeTag.DEQUE,
        TypeTag.STR,
        TypeTag.RANGE,
        TypeTag.NDARRAY,
        TypeTag.TENSOR,
    }
)
_DEPTH = 4


@frozen
class Again:
    """`call` creates the same value again: in each iteration of `loop`, or on each call of the enclosing
    function. `assumed` names the parameters and attributes that are only likely to be the same each time.
    """

    call: ast.Call
    loop: ast.For | ast.AsyncFor | ast.While | None
    assumed: tuple[str, ...] = ()

    @property
    def assumes(self) -> str | None:
        """Return the assumption under which the value is the same each time."""
        if not self.assumed:
            return None
        verb = "stays" if len(self.assumed) == 1 else "stay"
        return f"{' and '.join(f'`{name}`' for name in self.assumed)} {verb} the same"


def made_again(
    call: ast.Call,
    model: SemanticModel,
    *,
    may_leave: bool = False,
    may_branch: bool = False,
    likely: bool = False,
) -> Again | None:
    """Return the call if it is unconditional, in each iteration or on each call, with arguments that stay
    the same; else None. With `may_leave`, a function may return before it; with `may_branch`, it may be in a
    branch that is not known to run seldom; if `likely`, settings that a function is given count as the same.
    """
    looped = model.frequency.loops(call)
    loop = looped[0] if looped else None
    if isinstance(loop, (ast.For, ast.AsyncFor, ast.While)):
        guarded = is_guarded(call, loop, model) and not (may_branch and is_in_usual_branch(call, model))
        if guarded or not all(stays(value, loop, model) for value in given(call)):
            return None
        return Again(call, loop)
    function = model.function(call)
    if loop is not None or function is None:
        return None
    if is_guarded(call, function, model, may_leave=may_leave) and not (
        may_branch and is_in_usual_branch(call, model)
    ):
        return None
    assumed: list[str] | None = [] if likely else None
    if not all(is_fixed(value, model, _DEPTH, assumed) for value in given(call)):
        return None
    return Again(call, None, tuple(dict.fromkeys(assumed or ())))


def is_in_usual_branch(call: ast.Call, model: SemanticModel) -> bool:
    """Whether none of the conditions of a call is known to hold seldom."""
    return all(guard.kind not in SELDOM for guard in model.frequency.conditions(call))


def given(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call, including those of its receiver."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    if isinstance(call.func, ast.Attribute):
        values.append(call.func.value)
    return values


def is_guarded(node: ast.AST, around: ast.AST, model: SemanticModel, *, may_leave: bool = False) -> bool:
    """Whether a condition lies between a node and the enclosing loop or function, or the iteration may end
    before the node.
    """
    child = node
    for parent in model.ancestors(node):
        if isinstance(child, ast.stmt) and isinstance(parent, (*_BLOCKS, *FUNCTIONS)) and not may_leave:
            block, index = model.syntax.block(child)
            if any(_may_leave(statement, around) for statement in block[:index]):
                return True
        if parent is around:
            return False
        if isinstance(parent, _GUARDS) and not _always_runs(child, parent):
            return True
        child = parent
    return True


def _always_runs(part: ast.AST, guard: ast.AST) -> bool:
    """Whether a part of a statement with branches runs whenever the statement does: its test, and what a
    `try` attempts or does last.
    """
    if isinstance(guard, ast.Try):
        return part in guard.body or part in guard.finalbody
    return part is getattr(guard, "test", None)


_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)


def _may_leave(statement: ast.stmt, around: ast.AST) -> bool:
    """Whether an iteration or call may end at a statement. What returns from within a loop ends the loop, so
    that all other iterations go on.
    """
    leaves = (ast.Return, ast.Continue) if isinstance(around, FUNCTIONS) else ast.Continue
    return isinstance(statement, ast.If) and any(isinstance(node, leaves) for node in descendants(statement))


# -- in a loop -----------------------------------------------------------------------------------


def stays(value: ast.expr, loop: ast.AST, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether an expression has the same value in each iteration of the loop. That holds for a number set in
    the loop if all assigned values stay the same.
    """
    inside = {id(node) for node in descendants(loop)}
    for node in descendants(value):
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Starred)):
            return False
        if isinstance(node, ast.Call) and not _only_reads(node, model):
            return False
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Load)
            and model.names.qualified(node) is None
        ):
            if model.names.scope(node).lookup(node.id) is None or _is_own(node, value, model):
                continue
            bound = model.dataflow.definitions(node)
            if any(id(binding.node) in inside for binding in bound) and not (
                depth > 0
                and model.types.type_of(node).tag in _NUMBERS
                and all(_stays_when_set(binding, loop, model, depth - 1) for binding in bound)
            ):
                return False
            if _is_changed(node.id, node, loop, model):
                return False
        if isinstance(node, ast.Attribute) and model.names.qualified(node) is None:
            stored = (
                use for use in model.names.attribute_uses(node.attr) if not isinstance(use.ctx, ast.Load)
            )
            if any(id(use) in inside for use in stored):
                return False
            if _is_read_only(node, model) and not (
                model.names.is_self(node.value) and not model.types.is_setting(node)
            ):
                continue
            if model.syntax.call_of(node) is None and not is_kept(node, model):
                return False
            if model.syntax.call_of(node) is None and _is_changed(node.attr, node, loop, model):
                return False
    return True


def _stays_when_set(binding: Binding, loop: ast.AST, model: SemanticModel, depth: int) -> bool:
    """Whether a variable is set to the same value in each iteration."""
    is_plain = binding.kind is BindingKind.ASSIGN and not binding.path and binding.value is not None
    return is_plain and binding.value is not None and stays(binding.value, loop, model, depth)


def _is_own(name: ast.Name, value: ast.expr, model: SemanticModel) -> bool:
    """Whether it is bound within the expression, by a comprehension or a lambda."""
    scope = model.names.scope(name).lookup(name.id)
    return scope is not None and any(node is scope.node for node in descendants(value))


def _is_read_only(attribute: ast.Attribute, model: SemanticModel) -> bool:
    """Whether a value is immutable: a number, a string or the like."""
    return bool(model.types.type_of(attribute)) and model.types.type_of(attribute).tag not in _HOLDERS


def is_kept(attribute: ast.Attribute, model: SemanticModel) -> bool:
    """Whether no code sets the attribute again, once its object is constructed: `self.env_id`,
    `args.env_id`.
    """
    if model.types.is_setting(attribute):
        return True
    if model.names.is_self(attribute.value):
        return False
    root = root_of(attribute.value)
    setters = model.index.setters(attribute.attr)
    return isinstance(root, ast.Name) and not model.names.is_self(root) and not setters


def _only_reads(call: ast.Call, model: SemanticModel) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr in _PASSES_ON:
        return True
    if model.names.qualified(call.func) in _ITERATE and not all(
        model.types.type_of(value).tag in _SAME_ITEMS for value in call.args
    ):
        return False  # a sampler yields other items each time
    made = model.types.type_of(call).tag in (
        TypeTag.DATASET,
        TypeTag.LOADER,
    ) or environments.makes_environment(call, model)
    return made or model.effects.is_repeatable(call)


def _is_changed(name: str, value: ast.expr, loop: ast.AST, model: SemanticModel) -> bool:
    """Whether the loop may change the contents of a list or the like, in its own lines."""
    if model.types.type_of(value).tag not in _HOLDERS:
        return False
    for node in descendants(loop):
        match node:
            case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()) if last_name(owner) == name:
                return True
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if last_name(owner) == name:
                if method in _CHANGES:
                    return True
    return False


# -- in a function -------------------------------------------------------------------------------


def is_fixed(value: ast.expr, model: SemanticModel, depth: int, assumed: list[str] | None = None) -> bool:
    """Whether an expression has the same value on each call of the enclosing function. If a list is given,
    settings that are only likely to stay the same count, and are added to it.
    """
    if depth <= 0:
        return False
    for node in descendants(value):
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Starred, ast.Lambda)):
            return False
        if isinstance(node, ast.Call) and not _only_reads(node, model):
            return False
        is_read = isinstance(node, ast.Attribute) and model.names.qualified(node) is None
        if (
            isinstance(node, ast.Attribute)
            and is_read
            and not (model.syntax.call_of(node) is not None or is_kept(node, model))
        ):
            if assumed is None or not _is_likely_kept(node, model):
                return False
            assumed.append(model.source.text(node))
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Load)
            and model.names.qualified(node) is None
        ):
            if model.names.is_self(node) or _is_own(node, value, model):
                continue
            if not all(
                _is_fixed_binding(binding, node, model, depth, assumed)
                for binding in model.names.bindings(node)
            ):
                return False
    return True


def _is_likely_kept(attribute: ast.Attribute, model: SemanticModel) -> bool:
    """Whether the constructor sets an attribute of `self`, and no other code of the file does, or whether an
    attribute of such an object has the name of a setting: `self.policy.obs_space`.
    """
    if model.types.is_likely_setting(attribute):
        return True
    stores = [use for use in model.names.attribute_uses(attribute.attr) if not isinstance(use.ctx, ast.Load)]
    if not stores and isinstance(attribute.value, ast.Attribute):
        return bool(_SETTINGS.search(attribute.attr) or _SHAPES.search(attribute.attr))
    makers = [model.function(use) for use in stores if model.names.is_self(use.value)]
    return (
        model.names.is_self(attribute.value)
        and 0 < len(makers) == len(stores)
        and all(maker is not None and maker.name == "__init__" for maker in makers)
    )


def _is_given_setting(binding: Binding, name: ast.Name, model: SemanticModel) -> bool:
    """Whether a variable is a parameter with the name of a setting of the run, to which no loop passes
    different items.
    """
    return (
        binding.kind is BindingKind.PARAMETER
        and _is_called_setting(name.id)
        and not model.frequency.takes_loop_items(name)
        and all(map(_is_called_setting, model.frequency.passed_names(name)))
    )


def _is_called_setting(name: str) -> bool:
    return bool(_SETTINGS.search(name) or _SHAPES.search(name))


def _is_fixed_binding(
    binding: Binding, name: ast.Name, model: SemanticModel, depth: int, assumed: list[str] | None
) -> bool:
    scope = model.names.scope(name).lookup(name.id)
    if scope is None or len(model.names.bindings(name)) != 1:
        return scope is None
    if scope.parent is None:
        return binding.kind in (
            BindingKind.ASSIGN,
            BindingKind.IMPORT,
            BindingKind.FUNCTION,
            BindingKind.CLASS,
        ) and not any(name.id in inner.globals for inner in model.syntax.scopes.values())
    if assumed is not None and _is_given_setting(binding, name, model):
        assumed.append(name.id)
        return True
    if binding.kind is not BindingKind.ASSIGN or binding.value is None or binding.path:
        return False
    return is_fixed(binding.value, model, depth - 1, assumed)
