"""A pure call that is evaluated again with the same arguments.

## What it does
Flags a call in code that runs per step, sample or batch that is evaluated again although its result is
already available:

- in one expression (`f(x) if f(x) else y`), in a chain of `elif`, or in two statements;
- in the filter and the value of a comprehension;
- in a condition and the block below it, or after an `if` whose branch has evaluated it;
- after a block without gradients (`with torch.no_grad():`) that has evaluated it and what it depends on;
- in every iteration of a loop that only computes, or of a comprehension (`[x / sum(xs) for x in xs]`,
  `[child.prior * math.sqrt(self.visits) for child in children]`);
- an operator on tensors, or a gather, in every iteration of a loop (`relative = bodies -
  heads.unsqueeze(1)` in a loop over sectors or actions), if nothing modifies or keeps the result;
- in every iteration of a training loop, if it converts a whole list or array to a tensor
  (`torch.tensor(states)[rows]`; low impact for arrays);
- in two statements that convert the same variable to a tensor, with calls in between that do not seem to
  modify it (`torch.tensor(obs).to(device)` before and after `env.step(action)`; likely);
- in two statements that copy the same value to the host or to another dtype (`value.cpu()`; likely, if its
  type is unknown);
- in two statements, although the function runs code of unknown effect, if it iterates over something and
  neither its name nor its code shows a change (`player.legal_actions()`; likely);
- in two comprehensions or loops over the same list;
- a copy of a whole list or array of which only the length or shape is read (`len(np.array(states))`), or from
  which each iteration of a loop takes a part (`list(queue)[first:last]`);
- as the default of a lookup, which runs even if the item is there (`cache.get(key, encoder.embed(text))`), if
  it runs a network, reads files, iterates over something or fills the cache elsewhere (likely);
- to look in a whole array for the index by which its item was just read (`place = self.places[i]`, then
  `self.index_of(place)`; likely);
- in two methods of one object that a third one calls one after the other (`self._distances()` in
  `_observation` and `_info`, which `step` calls), if no code in between sets an attribute that it reads
  (likely).

A host tensor that is copied to the same device again (`noise.to(device)`) counts as well, and so does a
collection of what `map` computes for each item (`set(map(tuple, places))`).

The function must be known to be pure: rlint has tables of library functions and inspects the functions of
the project across its files. Nothing in between may change the arguments. A helper that applies the same
function as its caller to the same value gets only advice.

The rule does not flag:

- cheap expressions: `len`, attributes, subscripts, operators, getters, views of tensors, and operations of
  numpy on the small arrays of one environment step;
- calls that draw random numbers, that read the clock, files or the state of other threads, or that create a
  network or a buffer;
- calls whose results are modified in place;
- calls in a function that draws a figure;
- string methods (RL503) and networks (RL313).

## Why is it slow
Each evaluation repeats all the work: it searches the whole response, parses it, reduces the array. In a
reward function that can be most of the work per sample. Storing the result in a variable costs nothing.

## Example
```python
import re

ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)


def extract_answer(response):
    match = ANSWER.search(response)
    return match.group(1).strip() if match else None


def correctness_reward(response, gold):
    if extract_answer(response) is None:
        return -1.0
    return 1.0 if extract_answer(response) == gold else 0.0


def answers_for_rewards(responses):
    return [extract_answer(response) for response in responses if extract_answer(response)]
```
Use instead:
```python
import re

ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)


def extract_answer(response):
    match = ANSWER.search(response)
    return match.group(1).strip() if match else None


def correctness_reward(response, gold):
    answer = extract_answer(response)
    if answer is None:
        return -1.0
    return 1.0 if answer == gold else 0.0


def answers_for_rewards(responses):
    return [answer for response in responses if (answer := extract_answer(response))]
```

## Fix safety
Safe where the first evaluation always comes before the others, the function is pure, no argument can change
in between, and the result is immutable or not stored. The fix assigns the new variable at the first
evaluation (with `:=` where it is not the first expression of its statement), so no error is raised and no
code runs earlier than before.

Unsafe in these cases:

- An argument may be an iterator, which the first evaluation exhausts. This includes any parameter that is not
  known to be a list or another sequence by its use (`len(values)`): an annotation does not keep callers from
  passing a generator.
- Two places would share a list, an array or an object of unknown type.
- Two results are compared with each other and may be, or hold, NaN: one object is equal to itself.
- A gradient may flow through the result: gradients of a shared tensor are accumulated in another order.
- Code in between, such as an unknown call or an `await`, might modify the arguments through another
  reference.
- The call reaches a function with `lru_cache`, and the program reads its `cache_info`.
- The fix needs `:=`, and `torch.jit.script` or numba compiles the function, or the file is also for Python 2.

Helpers and second loops get only advice: removing one of two calls of `extract(extract(x))` changes the
result unless `extract` is idempotent.

## References
- https://docs.python.org/3/faq/programming.html#my-program-is-too-slow-how-do-i-speed-it-up
- https://docs.python.org/3/reference/expressions.html#assignment-expressions
- https://docs.python.org/3/reference/expressions.html#evaluation-order
- https://wiki.python.org/moin/PythonSpeed/PerformanceTips
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from rlint.rule import COMPREHENSIONS, Finding, GuardKind, Heat, Rule, SemanticModel
from rlint.rules.computation._shared import sharing, shown_text, worth
from rlint.rules.computation.rl501_duplicate_extract_call import reapplied
from rlint.rules.computation.rl501_duplicate_extract_call.across_methods import evaluated_by_sibling
from rlint.rules.computation.rl501_duplicate_extract_call.array_operations import (
    MINOR,
    is_of_one_step,
    minor_reason,
)
from rlint.rules.computation.rl501_duplicate_extract_call.converted import (
    converted_before,
    is_likely_copy,
    is_moved,
)
from rlint.rules.computation.rl501_duplicate_extract_call.eager_defaults import eager_default
from rlint.rules.computation.rl501_duplicate_extract_call.index_of_item import known_index
from rlint.rules.computation.rl501_duplicate_extract_call.invariant import (
    MINOR_NUMBER,
    assumption_of,
    invariant_in,
    is_of_numbers,
    is_part_of_invariant,
)
from rlint.rules.computation.rl501_duplicate_extract_call.invariant_arrays import invariant_arrays
from rlint.rules.computation.rl501_duplicate_extract_call.likely_pure import is_likely_repeatable
from rlint.rules.computation.rl501_duplicate_extract_call.partly import (
    evaluated_before,
    evaluated_without_gradients,
)
from rlint.rules.computation.rl501_duplicate_extract_call.reapplied import Reapplied
from rlint.rules.computation.rl501_duplicate_extract_call.whole_copies import measured_copy

_DOUBTS = 5
"""If more functions and stores than this in between might change the value, it is not reported."""


class DuplicateExtractCall(Rule):
    code = "RL501"
    name = "duplicate-extract-call"
    seeds = ("S0.1",)
    claims = ("time",)
    heat = Heat.WARM
    visits = (ast.Call, ast.ListComp, ast.SetComp, ast.DictComp, ast.For)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, (ast.Call, ast.ListComp, ast.SetComp, ast.DictComp, ast.For))
        if isinstance(node, ast.For):
            yield from self.check_arrays(node, model)
            return
        if isinstance(node, ast.Call):
            by_helper = reapplied.by_helper(node, model)
            in_loop = reapplied.in_loop(node, model) if by_helper is None else None
            if by_helper is not None or in_loop is not None:
                yield from self.check_reapplied(node, by_helper, in_loop, model)
            yield from self.check_loop(node, model)
            yield from self.check_methods(node, model)
            yield from self.check_index(node, model)
            if node.args:
                yield from self.check_default(node, model)
                yield from self.check_measured(node, model)
        if len(model.dataflow.equal_to(node)) < 2 or worth.is_setup(node, model):
            return
        if isinstance(node, ast.Call) and is_likely_copy(node, model):
            copied = model.source.text(node.func).partition(".")[0]
            yield from self.check_assumed(node, f"`{copied}` is a tensor", _DOUBTS, model)
            return
        if isinstance(node, ast.Call) and self.is_likely_repeated(node, model):
            called = model.source.text(node.func)
            yield from self.check_assumed(node, f"`{called}` has no side effects", 1, model)
            return
        if not worth.is_worth_keeping(node, model):
            model.silent("{} costs too little, or has side effects", node)
            return
        repetition = model.dataflow.repetition(node)
        if is_of_one_step(node, model):
            model.silent("{} only computes with the small arrays of an environment step", node)
            return
        if repetition is None and isinstance(node, ast.Call):
            yield from self.check_branches(node, model)
        if repetition is None or _number(repetition.doubts) > _DOUBTS:
            if isinstance(node, ast.Call):
                yield from self.check_converted(node, model)
            model.silent("the inputs of {} may change before it is evaluated again", node)
            return
        again = [other for other in repetition.again if not worth.is_covered(other, model)]
        often = [other for other in again if self._is_often(other, model)]
        if not often or sharing.is_meant_twice([node, *again], model):
            return
        # what `map` iterates over may be an iterator, which the first evaluation exhausts
        is_fixable = not (isinstance(node, ast.Call) and worth.collects_results(node, model))
        fix = sharing.shared_result(repetition, again, model, "Evaluate it once, as") if is_fixable else None
        yield self.finding(
            model,
            shown_text.place_of(often[0], model),
            shown_text.message_for(node, again, often[0], model),
            fix=fix,
            advice="Keep the first result in a variable and use that",
            minor=minor_reason(node, model),
        )

    def is_likely_repeated(self, call: ast.Call, model: SemanticModel) -> bool:
        """Whether a call is only likely without side effects."""
        is_likely = is_likely_repeatable(call, model) and not model.effects.is_repeatable(call)
        return is_likely and sharing.is_value(call, model)

    def check_assumed(
        self, call: ast.Call, assumes: str, most_doubts: int, model: SemanticModel
    ) -> Iterator[Finding]:
        """Yield a finding for a call that is evaluated again, given an assumption about what it does."""
        repetition = model.dataflow.repetition(call)
        if repetition is None or _number(repetition.doubts) > most_doubts:
            model.silent("the inputs of {} may change before it is evaluated again", call)
            return
        again = [other for other in repetition.again if self._is_often(other, model)]
        if again and not sharing.is_meant_twice([call, *again], model):
            yield self.finding(
                model,
                shown_text.place_of(again[0], model),
                shown_text.message_for(call, again, again[0], model),
                advice="Keep the first result in a variable and use that",
                assumes=assumes,
                minor=minor_reason(call, model),
            )

    def _is_often(self, again: ast.expr, model: SemanticModel) -> bool:
        """Whether it runs often. If the repetition happens at intervals, only functions of the project may be
        expensive enough.
        """
        if model.frequency.heat_of(again).level < self.heat:
            return False
        return not _runs_at_intervals(again, model) or (
            isinstance(again, ast.Call) and bool(model.types.call_targets(again))
        )

    def check_loop(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a call with the same result in each iteration of a loop."""
        invariant = None if worth.is_setup(call, model) else invariant_in(call, model)
        if invariant is None:
            return
        repeats = model.dataflow.repetition(call) or model.dataflow.repeated(call)
        if repeats is not None or sharing.is_meant_twice([call], model) or is_part_of_invariant(call, model):
            return
        kind = "comprehension" if isinstance(invariant.loop, COMPREHENSIONS) else "loop"
        yield self.finding(
            model,
            shown_text.place_of(call, model),
            f"{shown_text.shown(call, model)} returns the same value in every iteration of the {kind}",
            advice=f"Evaluate it once, before the {kind}",
            assumes=assumption_of(invariant, model),
            minor=MINOR_NUMBER if is_of_numbers(call, model) else minor_reason(call, model),
        )

    def check_arrays(self, loop: ast.For, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for operations on tensors with the same result in each iteration of a loop."""
        found = invariant_arrays(loop, model)
        if found is None or worth.is_setup(found.value, model):
            return
        also = f", and so do {found.others} more assignments" if found.others > 1 else ""
        also = ", and so does another assignment" if found.others == 1 else also
        yield self.finding(
            model,
            found.value,
            f"`{model.source.text(found.value)}` gives the same tensor in every iteration of the loop{also}",
            advice="Compute it once, before the loop",
            minor=MINOR,
        )

    def earlier(
        self, call: ast.Call, find: Callable[[ast.Call, SemanticModel], ast.expr | None], model: SemanticModel
    ) -> ast.expr | None:
        """Return the earlier evaluation that a hot call repeats, unless `repeated` reports it or both are
        meant.
        """
        if model.frequency.heat_of(call).level < self.heat or model.dataflow.repeated(call) is not None:
            return None
        found = find(call, model)
        return None if found is None or sharing.is_meant_twice([found, call], model) else found

    def check_converted(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a tensor that was created from the same variable before."""
        earlier = self.earlier(call, converted_before, model)
        if earlier is None:
            return
        line = model.span_of(earlier)[0].line
        yield self.finding(
            model,
            shown_text.place_of(call, model),
            f"{shown_text.shown(call, model)} is evaluated again with the same result as on line {line}",
            advice="Keep the first result in a variable and use that",
            related=[(earlier, "already evaluated here")],
            assumes="no call in between modifies what it converts",
            minor=None if is_moved(call) else minor_reason(call, model) or MINOR,
        )

    def check_branches(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a call that one branch of an earlier `if` has evaluated already."""
        earlier = self.earlier(call, evaluated_before, model)
        if earlier is None:
            yield from self.check_without_gradients(call, model)
            return
        line = model.span_of(earlier)[0].line
        yield self.finding(
            model,
            shown_text.place_of(call, model),
            f"{shown_text.shown(call, model)} is evaluated again after the branch on line {line} "
            "has evaluated it",
            advice="Evaluate it once, before the `if`",
            related=[(earlier, "already evaluated here on one of the branches")],
            minor=minor_reason(call, model),
        )

    def check_without_gradients(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a call that a block without gradients has evaluated already."""
        earlier = self.earlier(call, evaluated_without_gradients, model)
        if earlier is None:
            return
        line = model.span_of(earlier)[0].line
        yield self.finding(
            model,
            shown_text.place_of(call, model),
            f"{shown_text.shown(call, model)} is evaluated again with the same result as on line {line}",
            advice="Keep the first result in a variable and use that: no gradient reaches its inputs",
            related=[(earlier, "already evaluated here")],
            minor=minor_reason(call, model),
        )

    def check_index(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a search for the index by which an item has just been read."""
        index = known_index(call, model)
        if index is None or model.frequency.heat_of(call).level < self.heat:
            return
        yield self.finding(
            model,
            call,
            f"{shown_text.shown(call, model)} looks in the whole array for the index `{index.id}`, by which "
            "the item was read",
            advice=f"Use `{index.id}`",
            assumes="no two rows of the array are equal",
            minor=minor_reason(call, model),
        )

    def check_default(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for an expensive default of a lookup: it is evaluated before the lookup."""
        found = eager_default(call, model)
        if found is None or model.frequency.heat_of(call).level < self.heat or worth.is_setup(call, model):
            return
        held = model.source.text(found.container)
        yield self.finding(
            model,
            shown_text.place_of(found.default, model),
            f"{shown_text.shown(found.default, model)} is evaluated even if `{held}` has the item, as each "
            "default of a lookup",
            advice="Test whether the item is there, and evaluate it only if not",
            assumes=f"`{held}` usually has the item",
            stated=found.stated,
        )

    def check_measured(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a copy of which only the length or shape is read."""
        found = measured_copy(call, model)
        if found is None or model.frequency.heat_of(call).level < self.heat or worth.is_setup(call, model):
            return
        copied = model.source.text(found.copied)
        instead = f"`len({copied})`" if found.of_length else f"the shape of `{copied}` itself"
        yield self.finding(
            model,
            shown_text.place_of(call, model),
            f"{shown_text.shown(call, model)} copies the whole of `{copied}`, but only its "
            f"{'length' if found.of_length else 'shape'} is read",
            advice=f"Use {instead}",
            assumes=None if model.types.type_of(found.copied) else f"`{copied}` is an array or a list",
        )

    def check_methods(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a method that another method of the object has evaluated before."""
        found = evaluated_by_sibling(call, model)
        if found is None or model.frequency.heat_of(call).level < self.heat:
            return
        if _runs_at_intervals(call, model) or model.dataflow.repeated(call) is not None:
            return
        shown, line = shown_text.shown(call, model), model.span_of(found.earlier)[0].line
        yield self.finding(
            model,
            call,
            f"{shown} is evaluated again in each call of `{found.step.name}`, which has evaluated it on line "
            f"{line} already",
            advice="Pass on the first result, or keep it until an attribute that it depends on changes",
            related=[(found.earlier, "already evaluated here")],
            assumes=f"no code in between modifies what {shown} reads",
            minor=minor_reason(call, model),
        )

    def check_reapplied(
        self, call: ast.Call, by_helper: Reapplied | None, in_loop: Reapplied | None, model: SemanticModel
    ) -> Iterator[Finding]:
        """Yield a finding for a function that is applied again in a helper, or in a second loop over the same
        items.
        """
        if model.frequency.heat_of(call).level < self.heat or model.dataflow.repeated(call) is not None:
            return
        if _runs_at_intervals(call, model):
            return  # reports and checkpoints
        if by_helper is not None:
            message, advice = reapplied.message_for_helper(call, by_helper, model)
            yield self.finding(model, call, message, advice=advice, minor=minor_reason(call, model))
        elif in_loop and worth.is_worth_keeping(call, model) and not worth.is_covered(call, model):
            message, advice = reapplied.message_for_loop(call, in_loop, model)
            yield self.finding(model, call, message, advice=advice, minor=minor_reason(call, model))


def _runs_at_intervals(node: ast.expr, model: SemanticModel) -> bool:
    """Whether code only runs in every Nth iteration of the training loop."""
    return model.frequency.heat_of(node).runs_at_intervals or any(
        guard.kind is GuardKind.INTERVAL and not guard.is_usual for guard in model.frequency.guards(node)
    )


def _number(doubts: Iterable[ast.AST]) -> int:
    """Return the number of doubts; all calls of one function are one."""
    return len({ast.dump(doubt.func) if isinstance(doubt, ast.Call) else doubt for doubt in doubts})
