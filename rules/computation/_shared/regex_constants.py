"""Module constants that hold compiled patterns."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import BindingKind, Edit, SemanticModel, last_name
from rlint.rules.computation._shared import pattern_uses, regex_names
from rlint.rules.computation._shared.pattern_uses import Compiled, PatternUse

_WIDE = 100
EditTuple = tuple[Edit, ...]


def constant_for(
    pattern: Compiled, use: PatternUse, model: SemanticModel, comment: str = "", above: Sequence[str] = ()
) -> tuple[str, EditTuple | None]:
    """Return the name of a module constant with the compiled pattern, and the edits that define it: none if
    it exists already, None if it cannot be defined.
    """
    known = _existing(pattern, use, model)
    if known is not None:
        return known, ()
    wanted = _wanted(pattern, use, model)
    if pattern.pattern.text is None:
        return wanted, None
    return define(wanted, pattern, use, model, comment, above)


def define(
    wanted: str, pattern: Compiled, use: PatternUse, model: SemanticModel, comment: str, above: Sequence[str]
) -> tuple[str, EditTuple | None]:
    """Define a constant for one pattern, with the comments after and above it."""
    compiler = compiler_for(use, model)
    if compiler is None or pattern.pattern.text is None:
        return wanted, None
    alias, needs, edits = compiler
    key = f"{pattern.pattern.value!r} {pattern.flags.value}"
    name = model.importer.fresh_name(exported(wanted, model), key)
    spelled = pattern.pattern.text, pattern_uses.flags_text(pattern.flags, alias)
    text, flags = model.once(_spellings, model.syntax.module).setdefault(key, spelled)
    value = _laid_out(name, alias, text, flags) + comment
    needed = (*needs, *pattern.pattern.needs, *pattern.flags.needs)
    made = model.importer.module_constant(name, value, user=use.call, needs=needed, comment=above)
    return name, (*edits, *made) if made is not None else None


def _spellings(_module: ast.Module, _site: SemanticModel) -> dict[str, tuple[str, str]]:
    """Return the source of the patterns that get a constant, with their flags: always that of the first
    use.
    """
    return {}


def exported(wanted: str, model: SemanticModel) -> str:
    """Return a name for a new constant: a private one if other files import all public names of this one."""
    return f"_{wanted}" if model.program.is_imported(wanted) else wanted


def compiler_for(use: PatternUse, model: SemanticModel) -> tuple[str, Sequence[ast.stmt], EditTuple] | None:
    """Return the name of `re` at module level, the import that must have run, and the edits that add one."""
    for name, bindings in model.syntax.scopes[model.syntax.module].bindings.items():
        match bindings:
            case [binding] if binding.kind is BindingKind.IMPORT and binding.target == "re":
                statement = binding.statement
                if isinstance(statement, ast.stmt) and model.importer.runs_before(statement, use.call):
                    return name, (statement,), ()
    added = model.importer.module_import("re", user=use.call)
    return ("re", (added[0],), (added[1],)) if added is not None else None


def _existing(pattern: Compiled, use: PatternUse, model: SemanticModel) -> str | None:
    """Return a module constant that already contains the pattern."""
    module = model.syntax.scopes[model.syntax.module]
    for name, bindings in module.bindings.items():
        match bindings:
            case [binding] if (
                binding.kind is BindingKind.ASSIGN and binding.value is not None and not binding.path
            ):
                other = pattern_uses.use_of(binding.value, model)
                if other is None or other.function != "compile" or other.call is use.call:
                    continue
                known = pattern_uses.compiled(other.pattern, other.flags, model)
                same = (
                    known is not None
                    and known.pattern.value == pattern.pattern.value
                    and known.flags.value == pattern.flags.value
                )
                visible = model.names.scope(use.call).lookup(name) is module
                statement = model.syntax.statement(binding.node)
                if same and visible and model.importer.runs_before(statement, use.call):
                    return name
    return None


def _wanted(pattern: Compiled, use: PatternUse, model: SemanticModel) -> str:
    variable = use.pattern.id if isinstance(use.pattern, ast.Name) else ""
    if variable and not pattern.pattern.local:
        return f"COMPILED_{variable.upper().lstrip('_')}"  # the module's own text of the pattern
    function = pattern_uses.function_name(use, model)
    name: str = regex_names.constant_name(
        variable, _target(use, model), pattern.pattern.value, function, many=False
    )
    return name


def _target(use: PatternUse, model: SemanticModel) -> str:
    """Return the variable that is assigned the match, or the compiled pattern."""
    if use.function in ("sub", "subn", "split"):
        return ""  # a string, usually named after its earlier content
    targets = model.names.targets(use.call)
    return (last_name(targets[0]) or "") if len(targets) == 1 else ""


def _laid_out(name: str, alias: str, pattern: str, flags: str) -> str:
    """Return `re.compile(...)`, on several lines if it needs them."""
    pattern = pattern.replace("\r\n", "\n")
    arguments = f"{pattern}, {flags}" if flags else pattern
    if "\n" not in pattern:
        if len(f"{name} = {alias}.compile({arguments})") <= _WIDE:
            return f"{alias}.compile({arguments})"
        return f"{alias}.compile(\n    {arguments}\n)"
    body = "\n    ".join(line.strip() for line in pattern.split("\n"))
    if _same(pattern, body):  # no line break is part of a string
        return (
            f"{alias}.compile(\n    {body},\n    {flags},\n)" if flags else f"{alias}.compile(\n    {body}\n)"
        )
    return f"{alias}.compile({arguments})"


def _same(first: str, second: str) -> bool:
    """Whether two texts are the same expression."""
    return ast.dump(ast.parse(f"({first}\n)")) == ast.dump(ast.parse(f"({second}\n)"))
