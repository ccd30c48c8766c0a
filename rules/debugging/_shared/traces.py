"""Follow a copied value to its readers: whether all results only reach log messages."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Binding, BindingKind, SemanticModel, descendants
from rlint.rules.debugging._shared import copies, log_calls, uses

_HARMLESS_CONTEXTS = frozenset({"torch.no_grad", "torch.inference_mode", "torch.enable_grad"})


class LoggedTrace:
    """What depends on one value only.

    `statements` would have no use without the value: computations without other readers, logs of them,
    conditions and loops around nothing else. `parts` are the parts of logs that also contain other values.
    `escapes` says that other code needs the value, `compared` that it is compared with another, `checked`
    that a failed comparison logs a problem, `tangled` that conditions on it guard other messages.
    """

    def __init__(self, binding: Binding, model: SemanticModel) -> None:
        self.model = model
        self.statements: dict[ast.stmt, None] = {}
        self.logs: list[ast.Call] = []
        self.parts: dict[ast.expr, ast.Call] = {}
        self.tangled = False
        self.values: set[Binding] = set()
        self.compared = False
        self.checked = False
        self.escapes = not self._follow(binding)
        if not self.escapes:
            self.statements[model.syntax.statement(binding.node)] = None
            self._set_apart()
            self._gather()

    def _has_no_side_effects(self, expression: ast.expr) -> bool:
        quiet: bool = uses.can_be_omitted(expression, self.is_dead, self.model)
        return quiet

    def is_dead(self, node: ast.AST) -> bool:
        """Whether an expression uses one of the removed values."""
        return any(
            isinstance(name, ast.Name)
            and isinstance(name.ctx, ast.Load)
            and any(binding in self.values for binding in self.model.dataflow.definitions(name))
            for name in descendants(node)
        )

    # -- forwards: who reads it ----------------------------------------------------------------

    def _follow(self, binding: Binding) -> bool:
        """Follow all reads of a value; return False if one of them matters."""
        if binding in self.values:
            return True
        self.values.add(binding)
        scope = self.model.names.scope(binding.node)
        if self.model.names.is_captured(binding.name, scope):
            return False
        for use in self.model.names.uses(binding.name, scope):
            if isinstance(use.ctx, ast.Load):
                reaching = self.model.dataflow.definitions(use)
                if not reaching:
                    return False  # read before it is set: an error of its own
                if binding in reaching and not self._read(use):
                    return False
            elif isinstance(use.ctx, ast.Del) and not self._take(self.model.syntax.statement(use)):
                return False
        return True

    def _read(self, read: ast.Name) -> bool:
        self.compared = self.compared or uses.is_compared(read, self.model)
        return self._take(self.model.syntax.statement(read))

    def _take(self, statement: ast.stmt) -> bool:
        """Add a statement to the removed ones, with what depends on it; return False if it does more."""
        if statement in self.statements:
            return True
        self.statements[statement] = None
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return True
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                return self._has_no_side_effects(value) and self._follow_name(name, statement)
            case ast.AugAssign(target=ast.Name() as target, value=value):
                return (
                    self._has_no_side_effects(value)
                    and self._is_a_number(target)
                    and self._follow_name(target.id, statement)
                )
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name() as owner, attr="append"), args=[value])
            ):
                return self._has_no_side_effects(value) and self._follow_list(owner)
            case ast.Delete(targets=targets):
                return all(isinstance(target, ast.Name) and self._is_removed(target) for target in targets)
            case ast.If(test=test, body=body, orelse=orelse):
                before = len(self.logs)
                fine = self._has_no_side_effects(test) and all(
                    self._take(child) for child in (*body, *orelse)
                )
                if self.is_dead(test):
                    self.checked = self.checked or any(log_calls.complains(log) for log in self.logs[before:])
                return fine
            case ast.For(iter=iterable, body=body, orelse=orelse):
                fine = self._has_no_side_effects(iterable)
                fine = fine and all(self._follow(target) for target in self._bound_by(statement))
                return fine and all(self._take(child) for child in (*body, *orelse))
        log = log_calls.log_of(statement, self.model)
        if log is None:
            return False
        self.logs.append(log)
        arguments = (*log.args, *(keyword.value for keyword in log.keywords))
        return all(self._has_no_side_effects(argument) for argument in arguments)

    def _follow_name(self, name: str, statement: ast.stmt) -> bool:
        return all(self._follow(binding) for binding in self._bound_by(statement) if binding.name == name)

    def _is_a_number(self, target: ast.Name) -> bool:
        """Whether a name starts as a constant, so that adding to it has no other effect."""
        return all(
            binding.kind is BindingKind.AUGMENT or isinstance(binding.value, ast.Constant)
            for binding in self.model.names.bindings(target)
        )

    def _follow_list(self, owner: ast.Name) -> bool:
        """Follow a local list that starts empty, and is appended to."""
        match self.model.dataflow.definitions(owner):
            case [Binding(kind=BindingKind.ASSIGN, path=(), value=ast.List(elts=[])) as binding]:
                statement = self.model.syntax.statement(binding.node)
                single = isinstance(statement, ast.Assign) and len(statement.targets) == 1
                self.statements[statement] = None
                return single and self._follow(binding)
        return False

    def _bound_by(self, statement: ast.stmt) -> list[Binding]:
        scope = self.model.names.scope(statement)
        owners = {scope.function, scope.module}
        return [
            binding
            for owner in owners
            for bindings in owner.bindings.values()
            for binding in bindings
            if binding.statement is statement
        ]

    def _is_removed(self, target: ast.Name) -> bool:
        return any(
            binding in self.values
            for binding in self.model.names.bindings(target)
            if binding.kind is not BindingKind.DELETE
        )

    # -- backwards and upwards: code that becomes redundant ---------------------------------

    def _gather(self) -> None:
        """Add statements that only computed inputs of the removed ones, and blocks that only contained
        them.
        """
        size = -1
        while size != len(self.statements):
            size = len(self.statements)
            for name in list(self._names_read()):
                self._add_feeder(name)
            for statement in list(self.statements):
                self._add_holder(statement)

    def _set_apart(self) -> None:
        """Keep logs that contain other values, too, except for their parts about the removed values."""
        for log in self.logs:
            pieces = {piece: self.is_dead(piece) for piece in log_calls.pieces(log)}
            if all(
                dead or log_calls.identifies_step(piece) or copies.is_of_copies(piece, self.model)
                for piece, dead in pieces.items()
            ):
                continue
            statement = self.model.syntax.statement(log)
            self.tangled = self.tangled or any(
                ancestor in self.statements for ancestor in self.model.ancestors(statement)
            )
            self.statements.pop(statement, None)
            self.parts.update({piece: log for piece, dead in pieces.items() if dead})

    def _names_read(self) -> Iterator[ast.Name]:
        for going in (*self.statements, *self.parts):
            for node in descendants(going):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    yield node

    def _add_feeder(self, name: ast.Name) -> None:
        for binding in self.model.dataflow.definitions(name):
            if binding in self.values or binding.kind is not BindingKind.ASSIGN or binding.value is None:
                continue
            match binding.statement:
                case ast.Assign(targets=[ast.Name()]) as statement:
                    pass
                case _:
                    continue
            scope = self.model.names.scope(statement)
            if not scope.is_function or self.model.names.is_captured(binding.name, scope):
                continue
            readers = [
                use for use in self.model.names.uses(binding.name, scope)
                if not isinstance(use.ctx, ast.Store) and binding in self.model.dataflow.definitions(use)
            ]  # fmt: skip
            if self._has_no_side_effects(binding.value) and all(
                self.is_removed(reader) for reader in readers
            ):
                self.values.add(binding)
                self.statements[statement] = None

    def is_removed(self, node: ast.AST) -> bool:
        """Whether a node is removed with one of the statements."""
        around = (node, *self.model.ancestors(node))
        return any(part in self.statements or part in self.parts for part in around)

    def _add_holder(self, statement: ast.stmt) -> None:
        match self.model.parent(statement):
            case ast.If(test=header) as holder:
                headers = [header]
            case ast.For(iter=header) as holder:
                headers = [header]
            case ast.With(items=items) as holder if all(
                isinstance(item.context_expr, ast.Call)
                and self.model.names.qualified(item.context_expr.func) in _HARMLESS_CONTEXTS
                for item in items
            ):
                headers = []
            case _:
                return
        children = [*holder.body, *getattr(holder, "orelse", [])]
        bound = [] if isinstance(holder, ast.If) else self._bound_by(holder)
        if holder in self.statements or not all(child in self.statements for child in children):
            return
        if all(self._has_no_side_effects(header) for header in headers) and all(
            self._is_unread(b) for b in bound
        ):
            self.statements[holder] = None

    def _is_unread(self, binding: Binding) -> bool:
        reads = self.model.names.reads(binding.name, self.model.names.scope(binding.node))
        return all(
            self.is_removed(read) for read in reads if binding in self.model.dataflow.definitions(read)
        )
