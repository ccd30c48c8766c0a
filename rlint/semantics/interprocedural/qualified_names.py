"""Qualified names: what `np.cat` or `F.relu` or `extract` refers to, through imports and aliases."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

from rlint import models
from rlint.models import vocabulary
from rlint.models.value_type import Type
from rlint.semantics.effects.monkeypatching import replaced_code, set_paths
from rlint.semantics.effects.namespace_writes import ANY_NAME, NameWrite, name_writes
from rlint.semantics.effects.passed_modules import set_in_passed
from rlint.semantics.imports.star_names import StarNames
from rlint.syntax.queries import is_staticmethod
from rlint.syntax.scopes import Binding, BindingKind, Scope
from rlint.syntax.syntax_index import FUNCTIONS, TRIES, SyntaxIndex

_ALIAS_DEPTH = 6
_UNSEEN = "\0"
_NAMING = frozenset({ast.Name, ast.Attribute})


class QualifiedNames:
    """The qualified names in one file. `module` is the dotted name of the file itself, `path` the file (None
    for text without a project around it).
    """

    def __init__(self, syntax: SyntaxIndex, module: str, path: Path | None = None) -> None:
        self.syntax = syntax
        self._starred = StarNames(module, syntax.scopes[syntax.module].star_imports, path)
        self.module = module
        self._cache: dict[ast.AST, str | None] = {}
        self._meant: dict[tuple[Scope | None, str], str | None] = {}
        self._bindings: dict[ast.Name, tuple[Scope | None, list[Binding]]] = {}
        self._receivers: dict[Binding, ast.ClassDef | None] = {}
        self.annotated: dict[ast.expr, Type] = {}  # types declared by annotations (see annotations.py)

    def qualified(self, expression: ast.expr) -> str | None:
        """Return the canonical dotted name that an expression refers to, or None.

        `torch.cat`, `numpy.concatenate`, `builtins.len`; a def or class of this file is
        `<module>.<qualname>`. Only names, attributes of them and plain aliases are followed: the attributes
        of a value have no qualified name. Names that this file replaces before they are read (`torch.zeros =
        counted`) have none either.
        """
        known = self._cache.get(expression, _UNSEEN)
        if known is not _UNSEEN:
            return known
        if type(expression) not in _NAMING:
            return None
        result = self._resolve(expression, _ALIAS_DEPTH)
        if result is not None:
            result = models.canonical(result)
            if result in self.replaced and isinstance(expression.ctx, ast.Load):  # type: ignore[attr-defined]
                result = None
        self._cache[expression] = result
        return result

    @functools.cached_property
    def replaced(self) -> frozenset[str]:
        """Return the canonical names that the file sets or deletes in modules and classes, except
        settings.
        """
        return frozenset(map(models.canonical, self._set_paths(settings=False)))

    def set_in_modules(self) -> frozenset[str]:
        """Return the dotted names that the file sets in modules and classes of the project, constants
        included, and in modules that its functions get as arguments; `package.module.*` if it sets names
        known only at run time.
        """
        found = {*self._set_paths(settings=True), *set_in_passed(self.syntax, self.writes, self._owner)}
        return frozenset(path for path in found if not models.is_library(path.partition(".")[0]))

    def _set_paths(self, *, settings: bool) -> Iterator[str]:
        return set_paths(self.syntax, self.writes, self._owner, settings=settings)

    def _owner(self, node: ast.expr) -> str | None:
        return self._resolve(node, _ALIAS_DEPTH)

    @functools.cached_property
    def writes(self) -> tuple[NameWrite, ...]:
        """Return the names that the file sets dynamically: `setattr`, `globals()["N"] = 0`."""
        return name_writes(self.syntax)

    @functools.cached_property
    def set_by_text(self) -> frozenset[str]:
        """Return the names of the module that are bound dynamically."""
        own = {write.name for write in self.writes if write.owner is None}
        return replaced_code(self.syntax) | own - {ANY_NAME}

    def sets_any_name(self) -> bool:
        """Whether the file sets variables of its module by names known only at run time."""
        return NameWrite(None, ANY_NAME) in self.writes

    def is_set_by_text(self, name: ast.Name) -> bool:
        """Whether a name is a module variable that is bound dynamically."""
        if name.id not in self.set_by_text:
            return False
        scope = self.syntax.scope(name).lookup(name.id)
        return scope is None or scope.parent is None

    @functools.cached_property
    def replaced_methods(self) -> frozenset[str]:
        """Return the names of methods that the file replaces in classes: `torch.Tensor.to = traced`, or in a
        class derived from a data type: `class Answer(str)`.
        """
        owned = (path.rpartition(".") for path in self.replaced)
        found = {name for owner, _, name in owned if is_class(owner)}
        for derived in self.syntax.of_type(ast.ClassDef):
            if any(models.is_data_class(self.qualified(base) or "") for base in derived.bases):
                found |= {part.name for part in derived.body if isinstance(part, ast.FunctionDef)}
        return frozenset(name for name in found if not name.startswith("__"))

    @functools.cached_property
    def replaced_functions(self) -> frozenset[str]:
        """Return the names of functions that the file replaces in modules: `torch.as_tensor = traced`."""
        owned = (path.rpartition(".") for path in self.replaced)
        return frozenset(name for owner, _, name in owned if not is_class(owner))

    def bindings(self, name: ast.Name) -> tuple[Scope | None, list[Binding]]:
        """Return the scope that binds a name and everything that binds it there; no scope for a builtin."""
        known = self._bindings.get(name)
        if known is None:
            known = self._bindings[name] = self._find_bindings(name)
        return known

    def _find_bindings(self, name: ast.Name) -> tuple[Scope | None, list[Binding]]:
        scope = self.syntax.scope(name).lookup(name.id)
        if scope is None:
            return None, []
        found = scope.bindings[name.id]
        if scope.parent is None and name.id in self.set_by_text:
            return scope, [
                *found,
                Binding(name.id, BindingKind.MATCH, self.syntax.module, self.syntax.module),
            ]
        return scope, found

    def is_self(self, expression: ast.expr) -> bool:
        """Whether this is the first parameter of the method around it."""
        return isinstance(expression, ast.Name) and self.class_of_self(expression) is not None

    def class_of_self(self, name: ast.Name) -> ast.ClassDef | None:
        """Return the class whose instance (or class object) a name is, as the first parameter of a method."""
        _, bindings = self.bindings(name)
        if len(bindings) != 1 or bindings[0].kind is not BindingKind.PARAMETER:
            return None
        parameter = bindings[0]
        if parameter not in self._receivers:
            self._receivers[parameter] = self.receiver_class(parameter.node, parameter.statement)
        return self._receivers[parameter]

    def receiver_class(self, parameter: ast.AST, function: ast.AST) -> ast.ClassDef | None:
        """Return the class whose instance (or class object) the parameter is, if it is a method's first."""
        owner = self.syntax.parents.get(function)
        if not isinstance(owner, ast.ClassDef) or not isinstance(function, FUNCTIONS):
            return None
        first = (function.args.posonlyargs or function.args.args)[:1]
        return owner if first and first[0] is parameter and not is_staticmethod(function) else None

    def spelled(self, qualified: str, at: ast.AST) -> str | None:
        """Return the spelling of a library function at a place, given its imports: `t.sleep` for `time.sleep`
        after `import time as t`; None if no import leads to it.
        """
        here = self.syntax.scope(at)
        own_name = qualified.rpartition(".")[2]
        scope: Scope | None = here
        while scope is not None:
            # imported by its own name, it is used by that name
            for name in (own_name, *scope.bindings) if own_name in scope.bindings else scope.bindings:
                bindings = scope.bindings[name]
                target = bindings[0].target if bindings else ""
                if not target or not qualified.startswith(target):
                    continue
                rest = qualified.removeprefix(target)
                intern = all(
                    binding.target == target for binding in bindings
                )  # `import torch`, `import torch.nn`
                if intern and rest[:1] in ("", ".") and here.lookup(name) is scope:
                    return f"{name}{rest}"
            scope = scope.parent
        return None

    def _resolve(self, expression: ast.expr, depth: int) -> str | None:
        root = expression
        while isinstance(root, ast.Attribute):
            root = root.value
        base = self._meaning(root, depth) if isinstance(root, ast.Name) and depth > 0 else None
        if root is expression or not base:
            return base or None
        return f"{base}{_attribute_suffix(root, expression)}"

    def _meaning(self, name: ast.Name, depth: int) -> str | None:
        scope, bindings = self.bindings(name)
        if depth < _ALIAS_DEPTH:
            return self._bound(bindings, depth) if scope is not None else self._unbound(name)
        key = (scope, name.id)
        known = self._meant.get(key, _UNSEEN)
        if known is _UNSEEN:
            known = self._bound(bindings, depth) if scope is not None else self._unbound(name)
            self._meant[key] = known
        return known

    def _unbound(self, name: ast.Name) -> str | None:
        if name.id in self.set_by_text:
            return None
        return self._starred.target(name.id)

    def _bound(self, bindings: list[Binding], depth: int) -> str | None:
        imports = [binding for binding in bindings if binding.kind is BindingKind.IMPORT]
        if imports:
            others = [binding for binding in bindings if binding.kind is not BindingKind.IMPORT]
            if all(_is_stand_in(binding) for binding in others) and _is_one_library(imports):
                return None if self._are_chosen(imports) else imports[0].target
            return None
        if len(bindings) != 1:
            return None
        (binding,) = bindings
        if binding.kind in (BindingKind.FUNCTION, BindingKind.CLASS):
            return f"{self.module}.{self.syntax.qualname(binding.node)}"
        if (
            binding.kind in (BindingKind.ASSIGN, BindingKind.TYPE_ALIAS)
            and not binding.path
            and isinstance(binding.value, (ast.Name, ast.Attribute))
        ):
            return self._resolve(binding.value, depth - 1)
        return None

    def _are_chosen(self, imports: list[Binding]) -> bool:
        """Whether conditions choose which of several names of the project is imported: `if small: from a
        import Small as Net`, `else: from b import Large as Net`. After a failed import, another may replace
        it.
        """
        targets = {models.canonical(binding.target) for binding in imports}
        if len(targets) == 1 or all(models.is_library(target.partition(".")[0]) for target in targets):
            return False
        return not any(
            isinstance(around, TRIES)
            for binding in imports
            for around in self.syntax.ancestors(binding.statement)
        )


def _attribute_suffix(root: ast.expr, expression: ast.expr) -> str:
    """Return the attributes that an expression reads in sequence: `.nn.Linear` after `torch`."""
    found = ""
    while expression is not root and isinstance(expression, ast.Attribute):
        found = f".{expression.attr}{found}"
        expression = expression.value
    return found


def is_class(path: str) -> bool:
    """Whether a dotted name looks like that of a class."""
    return path.rpartition(".")[2][:1].isupper()


def _is_one_library(imports: list[Binding]) -> bool:
    """Whether several imports of one name lead to the same library, or to one that replaces it."""
    roots = {binding.target.partition(".")[0] for binding in imports}
    return len(roots) == 1 or not roots & vocabulary.IMITATED


def _is_stand_in(binding: Binding) -> bool:
    """Whether a binding replaces a library that is not installed: `np = None` after a failed import."""
    return binding.kind is BindingKind.ASSIGN and isinstance(binding.value, ast.Constant)
