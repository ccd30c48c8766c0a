"""Writes to attributes from outside the methods of their class, which make the attributes' types doubtful.

A subclass may set them, other code that holds the object (`buffer.rows = []`), or code that sets a name known
only at run time (`setattr(self, name, value)`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from rlint.models.value_type import UNKNOWN, Type, TypeTag
from rlint.semantics.dataflow.indirect_setters import may_be_of_project, passes_setters
from rlint.semantics.dataflow.replaced_classes import doubt_replaced_classes
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.class_hierarchy import MOST_ANCESTORS
from rlint.semantics.interprocedural.summary import ClassSummary, ModuleSummary
from rlint.syntax.walk import descendants

_GIVES = ("__setattr__", "__getattribute__")
_Owner = Callable[[ast.Name], ast.ClassDef | None]
_Stored = Callable[[ast.Attribute], Type | None]


def doubt_attributes(
    summary: ModuleSummary, analysis: FileAnalysis, self_class: _Owner, stored_kind: _Stored
) -> None:
    """Mark as doubtful the attributes of the file's classes that other code of the file also sets.

    `self_class` returns the class whose method binds a name to its own object; `stored_kind` the type
    assigned to a target (None: the type already inferred).
    """
    above = _bases(analysis)
    for attribute in analysis.syntax.written.attribute_stores:
        if not isinstance(attribute.ctx, ast.Store):
            continue
        if not isinstance(attribute.value, ast.Name):
            if not analysis.types.type_of(attribute.value):
                _set_by_unrelated_class(attribute, summary, stored_kind)
            continue
        own = self_class(attribute.value)
        if own is None:
            owners = _held(attribute.value, summary, analysis)
            if not owners and not analysis.types.type_of(attribute.value):
                _set_by_unrelated_class(attribute, summary, stored_kind)
        else:
            owners = [summary.classes[name] for name in above.get(analysis.syntax.qualname(own), ())]
        described = [owner for owner in owners if attribute.attr in owner.attributes]
        stored = stored_kind(attribute) if described else None
        if stored is not None:
            for owner in described:
                _join(owner, attribute.attr, stored)
    for name, bases in above.items():
        for base in bases:
            _override(summary.classes[base], summary.classes[name])
    if any(len(bases) >= MOST_ANCESTORS for bases in above.values()):
        for base in {base for bases in above.values() for base in bases}:
            _forget(summary.classes[base])  # not all writes by derived classes were examined
    for call in analysis.syntax.written.calls_of(("setattr", "__setattr__", "update", "__ior__")):
        _set_by_name(call, summary, analysis, self_class)
    summary.restores |= passes_setters(analysis)
    doubt_replaced_classes(summary, analysis, self_class)
    _set_in_namespaces(summary, analysis, self_class)
    for method in analysis.syntax.of_type(ast.FunctionDef):
        around = analysis.syntax.parents[method]
        if method.name in _GIVES and isinstance(around, ast.ClassDef) and gives_something_else(method):
            name = analysis.syntax.qualname(around)
            for known in (name, *above.get(name, ())):
                _forget(summary.classes[known])


def _bases(analysis: FileAnalysis) -> dict[str, tuple[str, ...]]:
    """Return, for each class of the file that has bases, the bases defined in the file."""
    tree, prefix = analysis.syntax, f"{analysis.name}."
    classes = {tree.qualname(node): node for node in tree.of_type(ast.ClassDef)}

    own: dict[str, list[str]] = {}
    for name, node in classes.items():
        paths = [(analysis.names.qualified(base) or "").removeprefix(prefix) for base in node.bases]
        own[name] = [path for path in paths if path in classes]
    found = {name: _all_above(name, own) for name in classes}
    return {name: bases for name, bases in found.items() if bases}


def _all_above(name: str, own: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return all ancestors of a class, each once, depth first, up to MOST_ANCESTORS."""
    seen = {name: None}
    pending = own[name][::-1]
    while pending and len(seen) <= MOST_ANCESTORS:
        base = pending.pop()
        if base not in seen:
            seen[base] = None
            pending += reversed(own[base])
    return tuple(seen)[1:]


def _held(name: ast.Name, summary: ModuleSummary, analysis: FileAnalysis) -> list[ClassSummary]:
    """Return the class of the file whose instance a variable surely holds."""
    kind = analysis.types.type_of(name)
    if not kind.of:
        return []
    path = kind.of.removesuffix("()").removeprefix(f"{analysis.name}.")
    return [summary.classes[path]] if path in summary.classes else []


def _set_by_unrelated_class(attribute: ast.Attribute, summary: ModuleSummary, stored_kind: _Stored) -> None:
    """Mark the attribute of that name as doubtful in all classes for which it is inferred to have another
    type.
    """
    for owner in summary.classes.values():
        known = owner.attributes.get(attribute.attr)
        stored = stored_kind(attribute) if known else None
        if known and stored and stored.tag not in (known.tag, TypeTag.NONE):
            _join(owner, attribute.attr, stored)


def _override(base: ClassSummary, derived: ClassSummary) -> None:
    """Join in what a derived class assigns in its body, or overrides with a method or property."""
    for name in derived.methods:
        if name in base.attributes:
            base.attributes[name] = UNKNOWN
    for name, kind in derived.attributes.items():
        if name in base.attributes:
            _join(base, name, kind)


def _set_by_name(call: ast.Call, summary: ModuleSummary, analysis: FileAnalysis, self_class: _Owner) -> None:
    """Mark what `setattr(self, name, value)` or `self.__dict__.update(state)` sets as doubtful."""
    match call:
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name() as owner, name, _]):
            _set(owner, name, call, summary, analysis, self_class)
        case ast.Call(func=ast.Attribute(attr="__setattr__"), args=[ast.Name() as owner, name, _]):
            _set(owner, name, call, summary, analysis, self_class)
        case ast.Call(func=ast.Attribute(value=ast.Name() as owner, attr="__setattr__"), args=[name, _]):
            _set(owner, name, call, summary, analysis, self_class)
        case ast.Call(func=ast.Attribute(value=namespace, attr="update" | "__ior__")):
            held = _owner_of_namespace(namespace, analysis)
            if held is not None:
                _set(held, None, call, summary, analysis, self_class)


def _set(
    owner: ast.Name,
    name: ast.expr | None,
    at: ast.AST,
    summary: ModuleSummary,
    analysis: FileAnalysis,
    self_class: _Owner,
) -> None:
    """Mark as doubtful what is set by name, or by names known only at run time: all attributes of an object
    if it happens during construction or from outside; later only that they keep their constructor values.
    """
    own = self_class(owner)
    described = [summary.classes[analysis.syntax.qualname(own)]] if own else _held(owner, summary, analysis)
    if isinstance(name, ast.Constant):
        for known in described:
            _forget_by_name(known, str(name.value), summary, analysis)
        return
    if _has_unknown_base(own, analysis) if own else not described and may_be_of_project(owner, analysis):
        summary.restores = True
    function = getattr(analysis.syntax.function(at), "name", "")
    for known in described:
        if own is None:
            _forget(known)
            known.restored = True  # methods, too
        elif function == "__init__":
            known.constructs_by_name = True
            later = _set_after(at, owner, known, analysis)
            for attribute in known.attributes:
                if attribute not in later:
                    _forget(known, attribute)
        elif function not in _GIVES:  # judged by the values that they pass on
            known.restored = True


def _set_after(at: ast.AST, owner: ast.Name, known: ClassSummary, analysis: FileAnalysis) -> set[str]:
    """Return the attributes that a constructor surely assigns after names may have been set dynamically, and
    before it calls a method of the object, which could read them.
    """
    syntax = analysis.syntax
    constructor = syntax.function(at)
    if not isinstance(constructor, ast.FunctionDef):
        return set()
    around = {at, *syntax.ancestors(at)}
    index = next((place for place, part in enumerate(constructor.body) if part in around), None)
    found: set[str] = set()
    for statement in constructor.body[index + 1 :] if index is not None else ():
        for node in descendants(statement):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if name == owner.id:
                    if method not in known.attributes:
                        return found
                case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")))):
                    return found
                case ast.Call(args=args) if any(_is_named(each, owner.id) for each in args):
                    return found
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if isinstance(target, ast.Attribute) and _is_named(target.value, owner.id):
                    found.add(target.attr)
    return found


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _owner_of_namespace(namespace: ast.expr, analysis: FileAnalysis) -> ast.Name | None:
    """Return the variable whose attributes a dictionary holds: `self` for `self.__dict__`, for `vars(self)`,
    and for a name bound to one of them.
    """
    match namespace:
        case ast.Attribute(value=ast.Name() as owner, attr="__dict__"):
            return owner
        case ast.Call(func=ast.Name(id="vars"), args=[ast.Name() as owner]):
            return owner
        case ast.Name():
            made = analysis.definitions.reaching(namespace)
            values = [binding.value for binding in made if binding.value is not None and not binding.path]
            if len(values) == 1 and not isinstance(values[0], ast.Name):
                return _owner_of_namespace(values[0], analysis)
    return None


def _set_in_namespaces(summary: ModuleSummary, analysis: FileAnalysis, self_class: _Owner) -> None:
    """Mark what `self.__dict__["rows"] = []`, `vars(self)[name] = []` or `self.__dict__ = state` sets as
    doubtful.
    """
    if "__dict__" not in analysis.syntax.text and "vars" not in analysis.syntax.text:
        return
    written = analysis.syntax.written
    for call in written.calls_of(("__setitem__", "__delitem__", "setdefault", "pop", "popitem", "clear")):
        held = (
            _owner_of_namespace(call.func.value, analysis) if isinstance(call.func, ast.Attribute) else None
        )
        if held is not None:
            _set(held, call.args[0] if call.args else None, call, summary, analysis, self_class)
    for item in written.item_stores:
        owner = _owner_of_namespace(item.value, analysis) if isinstance(item.ctx, ast.Store) else None
        if owner is not None:
            is_held = isinstance(item.value, ast.Name)
            _set(owner, None if is_held else item.slice, item, summary, analysis, self_class)
    for attribute in written.attribute_stores:
        match attribute:
            case ast.Attribute(value=ast.Name() as owner, attr="__dict__", ctx=ast.Store()):
                _set(owner, None, attribute, summary, analysis, self_class)


def gives_something_else(method: ast.FunctionDef) -> bool:
    """Whether a `__setattr__` or `__getattribute__` does anything besides passing its arguments on."""
    if method.name not in _GIVES:
        return False
    names = [parameter.arg for parameter in method.args.args[1:]]
    handed_on = [
        [argument.id for argument in node.args if isinstance(argument, ast.Name)][-len(names) :]
        for node in descendants(method)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == method.name
    ]
    if not names or not handed_on or any(given != names for given in handed_on):
        return True
    bound = {
        node.id
        for node in descendants(method)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    returns = [node.value for node in descendants(method) if isinstance(node, ast.Return)]
    return bool(bound & {*names}) or (
        method.name == "__getattribute__" and not all(isinstance(value, ast.Call) for value in returns)
    )


def _has_unknown_base(cls: ast.ClassDef, analysis: FileAnalysis) -> bool:
    """Whether the attributes of a class may be those of a base that is not known, such as one of two."""
    bases = (base.value if isinstance(base, ast.Subscript) else base for base in cls.bases)
    return not all(map(analysis.names.qualified, bases))


def _forget(owner: ClassSummary, name: str | None = None) -> None:
    """Mark the type of the attribute of that name as unknown, or of all attributes if there is no name."""
    if name is None:
        owner.attributes = dict.fromkeys(owner.attributes, UNKNOWN)
    elif name in owner.attributes:
        owner.attributes[name] = UNKNOWN


def _forget_by_name(owner: ClassSummary, name: str, summary: ModuleSummary, analysis: FileAnalysis) -> None:
    """Mark an attribute that is set by its name as unknown, and as doubtful in the bases of its class."""
    owner.attributes[name] = UNKNOWN
    for base in _bases(analysis).get(owner.qualname, ()):
        if name in summary.classes[base].attributes:
            _join(summary.classes[base], name, UNKNOWN)


def _join(owner: ClassSummary, name: str, stored: Type) -> None:
    """Join a type into the inferred type: a different type makes it doubtful; None and unknown types do
    not.
    """
    known = owner.attributes[name]
    if known.tag is not TypeTag.NONE and (known or known.of) and stored.tag is not TypeTag.NONE:
        owner.attributes[name] = known.joined(stored)
