"""Loops that pass nothing on but a result which a reduction computes: a sum, an extremum with the values that
belong to it, or the first item that matches.
"""

from __future__ import annotations

import ast

from rlint.rule import EffectKind, SemanticModel, Trait, TypeTag, descendants, models
from rlint.rules.computation.rl505_scalar_loop_over_array.elements import held_by
from rlint.rules.computation.rl505_scalar_loop_over_array.iterations import Iteration
from rlint.rules.computation.rl505_scalar_loop_over_array.scalar_functions import scalar_operations

_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OBJECTS = frozenset({TypeTag.UNKNOWN, TypeTag.INSTANCE})
_DRAWN_BETWEEN = frozenset({"random.randint", "random.randrange"})
_OF_OTHERS = models.having(Trait.PICKS | Trait.DRAWS_SHAPE, "numpy.random")
_METHODS_OF_OTHERS = models.having(Trait.PICKS, TypeTag.RANDOM_GENERATOR) | {"random", "shuffle"}
"""Draws from a sequence, or of a shape."""
_EXTREMA = frozenset({"builtins.min", "builtins.max"})


class Reduction(Iteration):  # type: ignore[misc]  # mypy sees the rules by another name
    """Records iterations that may also update an extremum or end the loop. `results` are the variables that
    the code after the loop may read; `ends` is set if the loop ends at an item that matches, `work` counts
    the operations of the functions that it calls, `objects` is set if it reads attributes of its items.
    """

    def __init__(self, model: SemanticModel) -> None:
        super().__init__(model)
        self.results = set[str]()
        self.ends = False
        self.work = 0
        self.objects = False

    def _statement(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Return(value=value):
                self.ends = True
                return value is None or isinstance(value, ast.Constant) or self._reads(value)
            case ast.Break():
                self.ends = True
                return True
            case ast.If(test=test, body=[*before, ast.Break()], orelse=[]) if before:
                self.operations += 1
                self.ends = True
                return self._reads(test) and all(map(self._is_result, before))
            case ast.If(test=test, body=body, orelse=[]) if all(map(_raises_flag, body)):
                self.operations += 1
                self.varies |= self.moves(test)
                return self._reads(test) and all(map(self._is_result, body))
            case (
                ast.If(test=ast.Compare(left=left, ops=[op], comparators=[right]), body=body, orelse=[])
                | ast.If(
                    test=ast.BoolOp(
                        op=ast.Or(),
                        values=[
                            ast.Compare(ops=[ast.Is()]),
                            ast.Compare(left=left, ops=[op], comparators=[right]),
                        ],
                    ),
                    body=body,
                    orelse=[],
                )
            ):
                best = _extremum(left, op, right, body)
                if best is not None:
                    self.operations += 1
                    self.results.add(best)
                    value = right if isinstance(left, ast.Name) and left.id == best else left
                    self.varies |= self.moves(value)
                    self.sums.add(best)
                    return self._reads(value) and all(map(self._is_result, body))
            case ast.Assign(
                targets=[ast.Name(id=best)],
                value=ast.Call(func=func, args=[_, _] as args, keywords=[]),
            ) if self.model.names.qualified(func) in _EXTREMA:
                others = [each for each in args if not (isinstance(each, ast.Name) and each.id == best)]
                if len(others) == 1 and best not in self.own:
                    self.operations += 1
                    self.results.add(best)
                    self.sums.add(best)
                    self.varies |= self.moves(others[0])
                    return self._reads(others[0])
        computes: bool = super()._statement(statement)
        return computes

    def _is_result(self, statement: ast.stmt) -> bool:
        """Whether a statement keeps a value of the item that matches."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.results.add(name)
                self.sums.add(name)
                return isinstance(value, ast.Constant) or self._reads(value)
        return False

    def _reads(self, value: ast.expr) -> bool:
        match value:
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
                items = {name for loop in self.loops for name in _targets(loop)}
                return not (isinstance(left, ast.Name) and left.id in items) and self._reads(left)
            case ast.Call(args=args, keywords=[]) if work := scalar_operations(value, self.model):
                self.operations += 1
                self.work += work
                return all(map(self._reads, args))
            case ast.Call(args=args) if args and self._draws(value):
                self.operations += 1
                return all(map(self._reads, args)) and all(self._reads(each.value) for each in value.keywords)
            case ast.Attribute(value=ast.Name() as item) if item.id in self.moving & self.own:
                self.objects = True
                return self.model.types.type_of(item).tag in _OBJECTS
            case ast.Subscript() if self._moves_twice(value) and self._holds_objects(held_by(value)):
                self.objects = True
                return self._reads_index(value) and self._reads(held_by(value))
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=args, keywords=[]) if (
                self.model.types.type_of(table).tag is TypeTag.DICT and not self.moves(table)
            ):
                self.operations += 1
                return all(map(self._reads, args))
            case ast.Subscript(
                value=(ast.Name() | ast.Attribute()) as table, slice=ast.Subscript() as key
            ) if (
                self.model.types.type_of(table).tag is TypeTag.DICT
                and not self.moves(table)
                and self._moves_twice(key)  # the codes of the cells of a grid
            ):
                self.operations += 1
                return self._reads(key)
            case ast.Call() if not self.moves(value) and self.model.effects.is_repeatable(value):
                self.operations += 1
                return True
        computes: bool = super()._reads(value)
        return computes

    def _draws(self, call: ast.Call) -> bool:
        """Whether a call draws a number between bounds that differ between iterations, which the functions
        of numpy also accept as arrays: `np.random.randint(low, ends[i])`.
        """
        if not any(map(self.moves, call.args)) or any(each.arg == "size" for each in call.keywords):
            return False
        name = self.model.names.qualified(call.func)
        if name is not None:
            return name in _DRAWN_BETWEEN or (
                name.startswith("numpy.random.")
                and name not in _OF_OTHERS
                and bool(self.model.effects.call_effect(call).kind & EffectKind.DRAWS)
            )
        match call.func:
            case ast.Attribute(value=owner, attr=method) if method not in _METHODS_OF_OTHERS:
                return self.model.types.type_of(owner).tag is TypeTag.RANDOM_GENERATOR and not self.moves(
                    owner
                )
        return False

    def _holds_objects(self, held: ast.expr) -> bool:
        """Whether a list contains lists of objects, as the cells of a grid."""
        kind = self.model.types.type_of(held)
        rows = kind.item if kind.tag is TypeTag.LIST else None
        cell = rows.item if rows is not None and rows.tag is TypeTag.LIST else None
        return cell is not None and cell.tag is TypeTag.INSTANCE


def _raises_flag(statement: ast.stmt) -> bool:
    """Whether a statement sets a variable to a constant, the same one whichever item matches."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Constant()):
            return True
    return False


def reduction(model: SemanticModel, loop: ast.For) -> Reduction | None:
    """Return what the iterations of a loop compute, if each depends on its item alone."""
    found = Reduction(model)
    if not found.enter(loop) or not found.block(loop.body) or not found.is_independent(loop.body):
        return None
    return found


def _extremum(left: ast.expr, op: ast.cmpop, right: ast.expr, body: list[ast.stmt]) -> str | None:
    """Return `best` of `if distance < best: best = distance`."""
    if not isinstance(op, _ORDERS):
        return None
    for kept, value in ((left, right), (right, left)):
        for statement in body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=assigned):
                    is_kept = isinstance(kept, ast.Name) and kept.id == name
                    if is_kept and ast.dump(assigned) == ast.dump(value):
                        return name
    return None


def _targets(loop: ast.For | ast.comprehension) -> set[str]:
    return {node.id for node in descendants(loop.target) if isinstance(node, ast.Name)}
