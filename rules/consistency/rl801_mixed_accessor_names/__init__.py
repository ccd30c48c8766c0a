"""Accessors of the same kind that use different words in their names.

## What it does
Flags functions and methods whose name uses one word (`get_observation_cfg`) where most accessors of the
project, across all files connected by imports, use another word after the same verb
(`get_environment_config`): `cfg`, `conf` and `configuration` beside `config`, `env` beside `environment`,
`obs` beside `observation`, `stats` beside `statistics`. If both words are equally frequent, the rule
prefers the word with at least twice as many definitions, and otherwise the word that is not abbreviated.

The rule does not flag methods of classes that derive from library classes, because the library may require
the name.

The rule is opt-in: names are a matter of taste, and nothing runs faster.

## Why is it slow
It is not slow at run time, but it slows readers down: a wrongly guessed name raises an `AttributeError`,
possibly late in a run that takes days.

## Example
```python
def get_environment_config(name):
    return {"name": name, "frames": 4}


def get_observation_cfg(name):
    return {"frames": get_environment_config(name)["frames"], "scale": 255.0}


def describe(name):
    return f"{name}: {get_observation_cfg(name)}"
```
Use instead:
```python
def get_environment_config(name):
    return {"name": name, "frames": 4}


def get_observation_config(name):
    return {"frames": get_environment_config(name)["frames"], "scale": 255.0}


def describe(name):
    return f"{name}: {get_observation_config(name)}"
```

## Fix safety
Always unsafe: rlint does not know code outside the project, notebooks, and text files that name functions.
The fix renames the definition, all definitions that override it, and all imports, calls and reads, in all
files of the run. If one of the files cannot be changed, nothing is renamed, because half a renaming breaks
the program.

It is offered only where every use of the name refers to one of these definitions. There is only advice:

- where a method is called on an object of unknown class;
- where a string (`__all__`, `getattr`), a comment or a docstring contains the name;
- where files connected by imports look things up by names that they compute;
- where the new name is already in use;
- where one of the files is not checked for this rule, or suppresses its findings with a comment.

## References
- https://peps.python.org/pep-0008/#naming-conventions
- https://docs.python.org/3/library/functions.html#getattr
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Fix, Heat, Rule, SemanticModel
from rlint.rules.consistency.rl801_mixed_accessor_names import accessors, rename


class MixedAccessorNames(Rule):
    """See the page above."""

    code = "RL801"
    name = "mixed-accessor-names"
    seeds = ("S3.6",)
    claims = ()
    heat = Heat.COLD
    opt_in = True
    visits = (ast.FunctionDef, ast.AsyncFunctionDef)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for an accessor with another word than most accessors of its kind."""
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        found = accessors.accessor(node.name)
        if found is None or rename.is_given_by_others(node, model):
            return
        word, names = accessors.usual_word(found, model)
        if word == found.word or not names:
            return
        new = found.by(word)
        fix: Fix | None = rename.renaming(node.name, new, model)
        others = f" and {len(names) - 1} more use" if len(names) > 1 else " uses"
        message = f"`{node.name}` uses `{found.word}` where `{names[0]}`{others} `{word}`"
        advice = f"Rename it to `{new}` in all files: its definition, calls, imports and overriding methods"
        yield self.finding(model, node, message, fix=fix, advice=advice)
