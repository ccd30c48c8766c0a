"""The attributes that objects of classes certainly lack."""

from __future__ import annotations

from collections.abc import Sequence

from rlint import models
from rlint.semantics.interprocedural.access_paths.path_syntax import split_path
from rlint.semantics.interprocedural.class_hierarchy import is_unknown
from rlint.semantics.interprocedural.external_changes.restored_classes import RestoredClasses
from rlint.semantics.interprocedural.summary import ClassSummary
from rlint.semantics.interprocedural.symbols import SymbolTable


class AttributePresence:
    """Excludes access paths that would raise an AttributeError."""

    def __init__(self, symbols: SymbolTable, restored: RestoredClasses) -> None:
        self._symbols = symbols
        self._classes = symbols.classes
        self._restored = restored
        self._lacking: dict[str, bool] = {}  # "module.class.attribute" → does no object of the class have it?

    def able(self, paths: Sequence[str], module: str) -> Sequence[str]:
        """Return the paths whose receivers have the requested attribute; no others can be meant. All of them,
        if none is left.
        """
        return [path for path in paths if not self._lacks(path, module)] or paths

    def _lacks(self, path: str, module: str) -> bool:
        """Whether a path requests an attribute of an object that no class above or below its class has, and
        that no code sets.
        """
        root, steps = split_path(path)
        if len(steps) < 2 or steps[0] != "()" or steps[1][0] != ".":
            return False
        cls, name = self._symbols.symbol(root, module), steps[1][1:]
        if not isinstance(cls, ClassSummary):
            return False
        key = f"{cls.path}.{name}"
        known = self._lacking.get(key)
        if known is None:
            known = self._lacking[key] = not self._may_have(cls, name)
        return known

    def _may_have(self, cls: ClassSummary, name: str) -> bool:
        tag = self._classes.class_kind(cls).tag
        if models.method_fact(tag, name) or models.attribute_kind(tag, name) or self._symbols.setters(name):
            return True
        if name.startswith("__") or self._restored.is_restored(cls):
            return True
        for each in (*self._classes.ancestry(cls), *self._classes.subclasses(cls)):
            if not isinstance(each, ClassSummary):
                if is_unknown(each):
                    return True
            elif (
                name in each.methods
                or name in each.attributes
                or "__getattr__" in each.methods
                or "__getattribute__" in each.methods
            ):
                return True
        return False
