"""Queries about sizes: how many items values and loops likely have, and how many steps come with a line."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING

from rlint.models.vocabulary import ROLLOUT_LENGTHS
from rlint.semantics import many_items, sizes
from rlint.semantics.frequency.cadence import FEW_CALLS
from rlint.semantics.frequency.rollouts.collected import collects, is_once_per_rollout
from rlint.semantics.interprocedural.whole_program import WholeProgram

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel


class SizeQueries:
    """Answers with usual numbers: of displays, shapes, draws, constants, defaults, and the settings of the
    program by their names. They decide how much a finding matters, never whether a fix is safe.
    """

    def __init__(self, model: SemanticModel, program: WholeProgram) -> None:
        self._model = model
        self._program = program
        self._heat = program.heat

    def setting(self, name: str) -> int | None:
        """Return the number that the program sets an option, field or parameter of this name to; the middle
        one of several (see `program_settings.py`).
        """
        return self._heat.usual_setting(name, self._model.symbols.module.module)

    def passed(self, parameter: ast.Name) -> int | None:
        """Return the number that the calls of a function pass to a parameter, as a literal or by the name of
        a setting; the middle one of several.
        """
        function = self._model.function(parameter)
        summary = self._model.symbols.function_at(function.body[0]) if function is not None else None
        return self._heat.usual_argument(summary, parameter.id) if summary is not None else None

    def number(self, expression: ast.expr | None) -> int | None:
        """Return the usual value of an expression that is a whole number; None if it is not known."""
        return sizes.usual_number(expression, self._model) if expression is not None else None

    def length(self, value: ast.expr | None) -> int | None:
        """Return the likely number of items of a value, of an array or tensor that of its rows."""
        return sizes.length_of(value, self._model) if value is not None else None

    def passes(self, loop: ast.AST) -> int | None:
        """Return the likely number of iterations of a `for` loop or a comprehension."""
        return sizes.passes_of(loop, self._model)

    def passes_around(self, node: ast.AST) -> int | None:
        """Return the likely number of iterations of a `for` loop, or of the innermost loop around a node."""
        loops = [node] if isinstance(node, ast.For) else self._model.frequency.loops(node)
        return self.passes(loops[0]) if loops else None

    def passes_in_step(self, node: ast.AST) -> int | None:
        """Return the likely number of iterations of all loops around a node within the training loop; None if
        there are none, or it is not known.
        """
        driving = self._model.frequency.driving_loop(node)
        loops = [loop for loop in self._model.frequency.loops(node) if loop is not driving]
        known = [number for loop in loops if (number := self.passes(loop)) is not None]
        return math.prod(known) if loops and len(known) == len(loops) else None

    def rollout(self) -> int | None:
        """Return the number of steps in a rollout, as the program sets it."""
        known = map(self.setting, ROLLOUT_LENGTHS)
        return next((number for number in known if number is not None), None)

    def has_many(self, node: ast.AST) -> bool:
        """Whether a loop or comprehension, the values that a call takes, or else the innermost loop around a
        node likely has many items, of a batch or the like.
        """
        return many_items.has_many(node, self._model)

    def is_once_per_rollout(self, node: ast.AST) -> bool:
        """Whether a node runs once for the many environment steps of a rollout, or a few times."""
        place = self._model.frequency.place(node)
        return place is not None and is_once_per_rollout(place, self._heat)

    def updates(self, node: ast.AST) -> int:
        """Return how many networks the gradient steps around a node update; 0 if it is not known."""
        place = self._model.frequency.place(node)
        return self._program.updates.in_step(place) if place is not None else 0

    def steps_per_update(self, node: ast.AST) -> int:
        """Return how many environment steps come with each gradient step around a node; 0 if it is not
        known.
        """
        place = self._model.frequency.place(node)
        return self._program.update_rates.steps(place) if place is not None else 0

    def replayed_updates(self, node: ast.AST) -> int:
        """Return how many networks an off-policy program updates after each environment step in a loop around
        a node; 0 if that is not known, or none of the loops steps environments in training.
        """
        found = self._program.replayed_learning.networks(self._model.symbols.module.module)
        return found if found and self.learns_from_steps(node) else 0

    def runs(self, node: ast.AST) -> int:
        """Return how often calls run a node in each iteration of the training loop around it; 0 if loops
        repeat it as well, or it is not known.
        """
        beat = self._model.frequency.cadence(node)
        if beat is None:
            return 0
        return beat.runs if beat.runs > FEW_CALLS or not beat.repeated else 0

    def waits_for_simulator(self) -> float:
        """Return the seconds of an environment step, at least, if the program steps a slow simulator; 0
        otherwise.
        """
        return self._program.slow_simulators.seconds(self._model.symbols.module.module)

    def learns_from_steps(self, node: ast.AST) -> bool:
        """Whether a loop around a node, or around the calls that lead to it, steps environments in
        training.
        """
        place = self._model.frequency.place(node)
        return place is not None and collects(place, self._heat)
