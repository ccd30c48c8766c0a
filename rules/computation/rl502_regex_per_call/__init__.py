"""A constant regular expression passed to `re` as a string on every call.

## What it does
Flags, in code that runs per step, sample or message, `re.search`, `match`, `fullmatch`, `sub`, `subn`,
`findall`, `finditer` and `split` with a constant pattern, and loops over a constant list of patterns. Also
flags `re.compile` of a constant pattern in a function that is called repeatedly.

The rule does not flag patterns with `re.LOCALE` or `re.DEBUG`, whose behaviour depends on when they are
called.

## Why is it slow
`re` keeps compiled patterns in a small cache. Each call builds the key, looks the pattern up and goes
through a Python function, which costs more than the match itself on short texts. Once a program uses more
patterns than the cache holds, patterns are recompiled repeatedly. A pattern compiled at import needs no
look-up.

## Example
```python
import re


def correctness_reward(completions, answers):
    return [1.0 if extract_answer(c) == a else 0.0 for c, a in zip(completions, answers)]


def extract_answer(completion):
    match = re.search(r"<answer>(.*?)</answer>", completion, re.DOTALL)
    return match.group(1).strip() if match else None
```
Use instead:
```python
import re

ANSWER_PATTERN = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)


def correctness_reward(completions, answers):
    return [1.0 if extract_answer(c) == a else 0.0 for c, a in zip(completions, answers)]


def extract_answer(completion):
    match = ANSWER_PATTERN.search(completion)
    return match.group(1).strip() if match else None
```

## Fix safety
Safe: the fix only moves patterns and flags that are constant and compile without an error or a warning, so
importing the module cannot fail. The methods of a compiled pattern behave like the functions. A list of
patterns is moved only if no code but the loop uses it. It is unsafe where code of the program lists the
variables of the module or sets them by name, also through a function that gets the module (`override(rewards,
values)`) or its name (`import_module(name)`).

There is only advice where other code needs the text of the pattern.

## References
- https://docs.python.org/3/library/re.html#re.compile
- https://docs.python.org/3/howto/pattern_uses.html#module-level-functions
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Applicability, Finding, Fix, Heat, Rule, SemanticModel, descendants
from rlint.rules.computation._shared import pattern_uses
from rlint.rules.computation.rl502_regex_per_call import regex_moves

_CACHING = frozenset({"functools.lru_cache", "functools.cache", "functools.cached_property"})


class RegexPerCall(Rule):
    """See the page above."""

    code = "RL502"
    name = "regex-per-call"
    seeds = ("S0.6",)
    claims = ("time",)
    heat = Heat.WARM
    visits = (ast.Call,)
    callees = frozenset(pattern_uses.FUNCTIONS)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a call of `re` whose pattern could have been compiled at import."""
        use = pattern_uses.use_of(node, model)
        if use is None:
            return
        level = model.frequency.heat_of(use.call).level
        if level < (Heat.WARM if use.function == "compile" else Heat.HOT) or _is_done_once(use, model):
            return
        if _reads_an_error(use, model):
            return
        move = regex_moves.move_of(use, model)
        if move is None:
            return
        fix = None
        if move.edits is not None:
            title = f"Compile the pattern{'s' if move.many else ''} once, in `{move.name}`"
            fix = Fix(title, Applicability.SAFE, move.edits)
        yield self.finding(model, use.call, _message(use, move, model), fix=fix, advice=_advice(use, move))


def _is_done_once(use: pattern_uses.PatternUse, model: SemanticModel) -> bool:
    """Whether the enclosing code keeps the compiled pattern for the next call: in a cache or a global
    name.
    """
    if use.function != "compile":
        return False
    function = model.function(use.call)
    for decorator in function.decorator_list if function is not None else ():
        callee = decorator.func if isinstance(decorator, ast.Call) else decorator
        if model.names.qualified(callee) in _CACHING:
            return True
    match model.parent(use.call):
        case ast.Assign(targets=[ast.Attribute()]) if function is not None and function.name == "__init__":
            return True  # the purpose of the constructor, however often it runs
        case ast.Assign(targets=[ast.Name(id=name)]):
            return function is not None and name in model.names.scope(use.call).globals
        case ast.Assign(targets=[ast.Subscript()]) | ast.keyword() | ast.arguments():
            return True
        case ast.Call(func=ast.Attribute(attr="setdefault")):
            return True
    return False


def _reads_an_error(use: pattern_uses.PatternUse, model: SemanticModel) -> bool:
    """Whether the searched text is the message of a caught exception. Error handling is not a hot path."""
    errors = {
        ancestor.name
        for ancestor in model.ancestors(use.call)
        if isinstance(ancestor, ast.ExceptHandler) and ancestor.name
    }
    return any(isinstance(node, ast.Name) and node.id in errors for node in descendants(use.call))


def _message(use: pattern_uses.PatternUse, move: pattern_uses.PatternMove, model: SemanticModel) -> str:
    loops, function = model.frequency.loops(use.call), model.function(use.call)
    if loops and not move.many:
        each = f"in every iteration of `{model.analysis.loops.header(loops[0])}`"
    else:
        each = f"on every call of `{function.name}`" if function is not None else "in every iteration"
    if use.function == "compile":
        return f"`re.compile` compiles {'constant patterns' if move.many else 'a constant pattern'} {each}"
    what = "the patterns of a constant list" if move.many else "a constant pattern"
    return f"`re.{use.function}` looks up the compiled form of {what} {each}"


def _advice(use: pattern_uses.PatternUse, move: pattern_uses.PatternMove) -> str:
    if move.many:
        compiled = f"`{move.name} = tuple(re.compile(p) for p in ...)`"
        return f"Compile the patterns at module level, {compiled}, and iterate over those"
    called = f"`{move.name}.{use.function}(...)`" if use.function != "compile" else f"`{move.name}`"
    return f"Compile it at module level, `{move.name} = re.compile(...)`, and write {called} here"
