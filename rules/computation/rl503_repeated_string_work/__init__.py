"""String methods called again on the same text, and constant collections rebuilt only to be searched.

## What it does
Flags, in code that runs per sample, message or environment step:

- a method that scans a text (`lower`, `strip`, `split`, `replace`, `count` …) and is called again on the
  same unchanged text: in one statement, in the branches of an `if`, in a comprehension's condition and its
  value, or in every iteration of a loop that does not change the text;
- `x in set([...])` with constants, for which Python builds a list and a set each time, while it compiles `x
  in {...}` to a constant;
- a dict, set or long list of constants that is assigned to a local variable or used in an expression, and
  that is only searched.

Values must be known to be strings: by the expression that creates them, by their annotation, or because
methods that only strings have are called on them. Arrays and tensors also have a `split`.

The rule does not flag `x in [...]` with constants, a list of words that a loop iterates over, and loops
that also compute with tensors, which takes far longer than a string method. There is no gain in these
cases.

## Why is it slow
Each of these methods scans the whole text and creates a new string or a list of strings. A reward function
that lowercases a completion for each word that it searches does so dozens of times per completion.
Collections are built item by item, with a hash of each key, for a single look-up.

## Example
```python
import re

HEDGES = ("maybe", "perhaps", "not sure")
NUMBER = re.compile(r"[0-9]+")


def tone_reward(completion: str) -> float:
    penalty = sum(word in completion.lower() for word in HEDGES)
    if "sorry" in completion.lower():
        penalty += 1
    return -0.1 * penalty


def tag_reward(tag: str) -> float:
    weights = {"think": 0.5, "answer": 1.0, "check": 0.25}
    return weights.get(tag, 0.0)
```
Use instead:
```python
import re

HEDGES = ("maybe", "perhaps", "not sure")
NUMBER = re.compile(r"[0-9]+")
WEIGHTS = {"think": 0.5, "answer": 1.0, "check": 0.25}


def tone_reward(completion: str) -> float:
    lowered = completion.lower()
    penalty = sum(word in lowered for word in HEDGES)
    if "sorry" in lowered:
        penalty += 1
    return -0.1 * penalty


def tag_reward(tag: str) -> float:
    return WEIGHTS.get(tag, 0.0)
```

## Fix safety
Safe where the text is assigned once: the first evaluation comes before the others, nothing in between can
change the variable, and a list of parts is either not shared or not modified. Unsafe where the text is an
attribute or an item that a call in between might replace.

Moving the call before a loop is safe where it cannot fail: the variable was assigned a string in the
function, or a string method was called on it before the loop. An annotation is not enough. Where the call
might fail, the move is safe if the loop certainly runs (it iterates over constants), makes the call before
anything else, and does not catch the error. Otherwise the move is unsafe. There is only advice where a
condition in the loop comes before the call.

Constants move to module level only if they hold no mutable values, and if the collection itself is not
passed to another variable, a call or a nested function. Unsafe in functions that `torch.jit.script` or numba
compiles, which cannot read every variable of a module. There is only advice where the statement shares its
line with another one.

## References
- https://docs.python.org/3/library/stdtypes.html#string-methods
- https://docs.python.org/3/reference/expressions.html#membership-test-operations
- https://wiki.python.org/moin/PythonSpeed/PerformanceTips
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import AnyLoop, Applicability, Edit, Finding, Fix, Heat, Repetition, Rule, SemanticModel
from rlint.rules.computation._shared import sharing, shown_text, worth
from rlint.rules.computation.rl503_repeated_string_work import searched, text_work

_DOUBTS = 5
"""If more nodes than this in between might change the text, it is not reported."""


class RepeatedStringWork(Rule):
    """See the page above."""

    code = "RL503"
    name = "repeated-string-work"
    seeds = ("S0.6",)
    claims = ("time",)
    heat = Heat.HOT
    visits = (ast.Call, ast.Compare, ast.Dict, ast.Assign, ast.AnnAssign)
    callees = text_work.METHODS

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for work on text, or for the building of a collection, that is repeated."""
        found: searched.Searched | None = None
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            found = searched.bound(node, model)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                yield from self.check_text(node, model)
        elif isinstance(node, ast.Compare):
            if isinstance(node.comparators[-1], ast.Call) and model.frequency.heat_of(node).level is Heat.HOT:
                for call, edit in searched.membership(node, model):
                    yield self._set_of_constants(call, edit, model)
        elif isinstance(node, ast.Dict) and node.keys:
            found = searched.in_place(node, model)
        if found is not None and not text_work.is_dwarfed(node, model):
            yield self._collection(node, found, model)

    def check_text(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the same method on the same text, further down or in each iteration of a
        loop.
        """
        if not text_work.is_text_work(call, model):
            return
        if model.dataflow.repeated(call) is not None or worth.is_setup(call, model):
            return
        repetition = model.dataflow.repetition(call)
        loop = text_work.loop_with_same_text(call, model)
        if (repetition is None and loop is None) or text_work.is_spoken_for(call, model):
            return
        if not sharing.is_value(call, model) or not model.effects.is_repeatable(call):
            return
        if text_work.is_dwarfed(call, model) or text_work.is_name_of_weights(call, model):
            return
        if loop is not None:
            if text_work.is_hot(call, model):
                yield self._in_loop(call, loop, repetition, model)
        elif repetition is not None and len(repetition.doubts) <= _DOUBTS:
            yield from self._again(repetition, model)

    def _in_loop(
        self, call: ast.Call, loop: AnyLoop, repetition: Repetition | None, model: SemanticModel
    ) -> Finding:
        header = model.analysis.loops.header(loop)
        text = shown_text.shown(call, model)
        return self.finding(
            model,
            shown_text.place_of(call, model),
            f"{text} scans the same text in every iteration of `{header}`",
            fix=text_work.hoist(call, loop, repetition, model),
            advice="Call it once before the loop, and use the result in the loop",
        )

    def _again(self, repetition: Repetition, model: SemanticModel) -> Iterator[Finding]:
        first = repetition.first
        again = [other for other in repetition.again if not text_work.is_spoken_for(other, model)]
        often = [other for other in again if text_work.is_hot(other, model)]
        if not often or sharing.is_meant_twice([first, *again], model):
            return
        line = model.span_of(shown_text.place_of(first, model))[0].line
        statement = model.syntax.statement(first)
        if all(model.syntax.statement(node) is statement for node in again):
            known = "again in one statement, with the same result"
        else:
            known = f"again, with the same result as on line {line}"
        yield self.finding(
            model,
            shown_text.place_of(often[0], model),
            f"{shown_text.shown(first, model)} scans the text {known}",
            fix=sharing.shared_result(repetition, again, model, "Call it once, and name the result"),
            advice="Keep the first result in a variable and use that",
        )

    def _set_of_constants(self, call: ast.Call, edit: Edit | None, model: SemanticModel) -> Finding:
        fix = Fix("Write a set literal", Applicability.SAFE, (edit,)) if edit is not None else None
        message = (
            f"`{model.source.text(call.func)}(...)` is built from constants on every call for a "
            "single look-up"
        )
        return self.finding(
            model,
            call,
            message,
            fix=fix,
            advice="Write a set literal `{...}`, which Python compiles to a constant",
        )

    def _collection(self, node: ast.AST, found: searched.Searched, model: SemanticModel) -> Finding:
        named = f"`{found.name}`, a {found.what} of constants," if found.name else "this dict of constants"
        fix = None
        if found.edits is not None:
            fix = Fix(f"Build it once, as `{found.constant}`", Applicability.SAFE, found.edits)
        message = f"{named} is rebuilt on every call, only to be searched"
        return self.finding(model, node, message, fix=fix, advice="Build it once, as a module-level constant")
