"""Which values are environments, also where they come from no library."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from rlint.project.guards import last_name
from rlint.project.kind import Tag

if TYPE_CHECKING:
    from rlint.project.site import Site

_METHODS = frozenset({"step", "reset"})
_NAME = re.compile(r"(^|_)(env|envs|environment|environments)(_?\d+)?$")
_MAKES = re.compile(r"^(make|create|build|get)_.*env", re.IGNORECASE)


def is_environment(expression: ast.expr, site: Site) -> bool:
    """Is a value an environment: by its kind, as an object of a class of the project that has `step` and
    `reset`, or by its name where nothing is known of it (`env`, `self.envs[i]`)?
    """
    if has_steps(expression, site):
        return True
    kind = site.kind_of(expression)
    named = isinstance(expression, (ast.Name, ast.Attribute, ast.Subscript)) and not kind
    return named and bool(_NAME.search((last_name(expression) or "").lower()))


def has_steps(expression: ast.expr, site: Site) -> bool:
    """Is a value known to be an environment, of a library or of the project?"""
    kind = site.kind_of(expression)
    if kind.tag is Tag.ENVIRONMENT:
        return True
    if kind.tag is not Tag.INSTANCE:
        return False
    cls = site.class_of_value(expression)
    return cls is not None and all(site.index.method(cls, name) is not None for name in _METHODS)


def makes_environment(call: ast.Call, site: Site) -> bool:
    """Does a call make an environment: a library's `make`, the class itself, or a function that returns one
    and says so by its name (`make_env(...)`)?
    """
    if not has_steps(call, site):
        return False
    if site.kind_of(call.func).tag is Tag.CLASS:
        return True
    qualified = site.qualified(call.func)
    targets = site.callables(call)
    if targets:
        return any(target.name == "__init__" or _MAKES.search(target.name) for target in targets)
    return qualified is not None or bool(_MAKES.search(last_name(call.func) or ""))
