"""Qualified names: what `np.cat` or `F.relu` or `extract` refers to, through imports and aliases."""

from __future__ import annotations

import ast
import builtins
import functools

from rlint.project import facts
from rlint.syntax.scopes import Binding, How, Scope
from rlint.syntax.tree import Tree

_BUILTINS = frozenset(dir(builtins))
_ALIAS_DEPTH = 6
_UNSEEN = "\0"


class Names:
    """The qualified names in one file. `module` is the dotted name of the file itself."""

    def __init__(self, tree: Tree, module: str) -> None:
        self.tree = tree
        self.module = module
        self._cache: dict[ast.AST, str | None] = {}

    def qualified(self, expression: ast.expr) -> str | None:
        """The canonical dotted name of what an expression refers to, or None.

        `torch.cat`, `numpy.concatenate`, `builtins.len`; a def or class of this file is
        `<module>.<qualname>`. Only names, attributes of them and plain aliases are followed:
        the attributes of a value have no qualified name. Nor has what this file puts something else in
        the place of (`torch.zeros = counted`), where it is read.
        """
        known = self._cache.get(expression, _UNSEEN)
        if known is not _UNSEEN:
            return known
        if not isinstance(expression, (ast.Name, ast.Attribute)):
            return None
        self._cache[expression] = None
        result = self._resolve(expression, _ALIAS_DEPTH)
        result = facts.canonical(result) if result else None
        if result in self._replaced and isinstance(expression.ctx, ast.Load):
            result = None
        self._cache[expression] = result
        return result

    @functools.cached_property
    def _replaced(self) -> frozenset[str]:
        """The canonical names of what the file sets or deletes in modules and classes, settings aside."""
        found = [
            self._resolve(node, _ALIAS_DEPTH)
            for node in self.tree.of_type(ast.Attribute)
            if not isinstance(node.ctx, ast.Load) and not _is_setting(self.tree.parents.get(node))
        ]
        for call in self.tree.of_type(ast.Call):
            match call:
                case ast.Call(
                    func=ast.Name(id="setattr" | "delattr"), args=[owner, ast.Constant(value=str(name)), *_]
                ):
                    base = self._resolve(owner, _ALIAS_DEPTH)
                    found.append(f"{base}.{name}" if base else None)
        return frozenset(facts.canonical(path) for path in found if path)

    @functools.cached_property
    def replaced_methods(self) -> frozenset[str]:
        """The names of methods that the file replaces in classes: `torch.Tensor.to = traced`."""
        owned = (path.rpartition(".") for path in self._replaced)
        return frozenset(name for owner, _, name in owned if owner.rpartition(".")[2][:1].isupper())

    def bindings(self, name: ast.Name) -> tuple[Scope | None, list[Binding]]:
        """The scope that binds a name and everything that binds it there; no scope for a builtin."""
        scope = self.tree.scope(name).lookup(name.id)
        if scope is None:
            return None, []
        return scope, scope.bindings[name.id]

    def spelled(self, qualified: str, at: ast.AST) -> str | None:
        """How a library's function is written at a place, by what is imported there: `t.sleep` for
        `time.sleep` below `import time as t`; None where no import leads to it.
        """
        here = self.tree.scope(at)
        scope: Scope | None = here
        while scope is not None:
            own_name = qualified.rpartition(".")[2]
            # imported by its own name, it is used by that
            for name, bindings in sorted(scope.bindings.items(), key=lambda item: item[0] != own_name):
                targets = {binding.target for binding in bindings}  # `import torch`, `import torch.nn`
                target = targets.pop() if len(targets) == 1 else ""
                rest = qualified.removeprefix(target)
                leads_there = bool(target) and rest != qualified and rest[:1] in ("", ".")
                if leads_there and here.lookup(name) is scope:
                    return f"{name}{rest}"
            scope = scope.parent
        return None

    def _resolve(self, expression: ast.expr, depth: int) -> str | None:
        if isinstance(expression, ast.Attribute):
            base = self._resolve(expression.value, depth)
            return f"{base}.{expression.attr}" if base else None
        if not isinstance(expression, ast.Name) or depth <= 0:
            return None
        scope, bindings = self.bindings(expression)
        if scope is None:
            return self._unbound(expression)
        return self._bound(bindings, depth)

    def _unbound(self, name: ast.Name) -> str | None:
        stars = self.tree.scopes[self.tree.module].star_imports
        for module in stars:
            starred = f"{module}.{name.id}"
            if facts.callable_fact(starred) is not None and name.id not in _BUILTINS:
                return starred
        if name.id in _BUILTINS:
            return f"builtins.{name.id}"
        if len(stars) == 1:
            return f"{stars[0]}.{name.id}"
        return None

    def _bound(self, bindings: list[Binding], depth: int) -> str | None:
        imports = [binding for binding in bindings if binding.how is How.IMPORT]
        if imports:
            others = [binding for binding in bindings if binding.how is not How.IMPORT]
            if all(_is_stand_in(binding) for binding in others):
                return imports[0].target
            return None
        if len(bindings) != 1:
            return None
        (binding,) = bindings
        if binding.how in (How.FUNCTION, How.CLASS):
            return f"{self.module}.{self.tree.qualname(binding.node)}"
        if (
            binding.how is How.ASSIGN
            and not binding.path
            and isinstance(binding.value, (ast.Name, ast.Attribute))
        ):
            return self._resolve(binding.value, depth - 1)
        return None


def _is_setting(statement: ast.AST | None) -> bool:
    """Does an assignment set a number, text or truth value, as `torch.backends.cudnn.benchmark = True`?"""
    return isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Constant)


def _is_stand_in(binding: Binding) -> bool:
    """What stands for a library that is not installed: `np = None` after a failed import."""
    return binding.how is How.ASSIGN and isinstance(binding.value, ast.Constant)
