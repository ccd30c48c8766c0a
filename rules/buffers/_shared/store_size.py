"""Whether a number is the number of transitions in a buffer."""

from __future__ import annotations

import ast
import re

from rlint.rule import (
    FUNCTIONS,
    BindingKind,
    SemanticModel,
    descendants,
    dump_as_read,
    integers,
    last_name,
    numbers,
    regex,
)
from rlint.rules.buffers._shared.kept_items import kept_attributes, loaded_attributes
from rlint.rules.buffers._shared.store_class import is_store_class

LARGE = 1000
"""Among fewer rows, a draw without replacement takes no longer than the call itself."""

_STORE = regex(
    r"(^|_)(buffers?|memory|memories|mem|replay|storage|transitions?|experiences?|dataset|history|deques?|pool"
    r"|trajectories)(_|$)"
)
_SIZE_OF_STORE = regex(
    r"(^|_)(buffer|memory|mem|replay|storage|dataset|pool)_"
    r"(size|len|length|counter|cntr|cnt|ctr|capacity|count|filled|usage)$"
    r"|^max_mem$|(^|_)(n|num|total)_(transitions|experiences|rows)$"
)
_FEW = regex(
    r"env|agent|action|batch|ensemble|critic|layer|head|net|model|task|episode|worker|dim|feature|epoch|step|goal"
)
_LABELLED = regex(r"preference|feedback|quer(y|ies)|label", re.IGNORECASE)
"""Classes that hold what people label, which are a few hundred items."""
_ROWS = regex(
    r"^_*(current_|cur_)?(size|len|length|count|counter|cntr|cnt|ctr|capacity|n|pos|position|ptr|idx|index|filled"
    r"|total|n_entries|max_size)$"
)
_COUNTING = regex(r"^_*(get_)?(current_|cur_|total_)?(size|len|length|count|capacity)$|^__len__$")
"""Methods of a buffer that return the number of its rows."""
_DEPTH = 8


def counts_a_store(expression: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> bool:
    """Whether an expression is the number of rows of a buffer, which becomes large."""
    if depth <= 0:
        return False
    number = numbers.number_of(expression, model)
    if number is not None and number.value:
        return number.value >= LARGE
    smaller = integers.chosen_by_numpy(expression, model, ("numpy.min", "numpy.minimum"))
    if smaller:
        return _counts_smaller(smaller, model, depth)
    match expression:
        case ast.Call(func=func, args=[counted], keywords=[]) if (
            model.names.qualified(func) == "builtins.len"
        ):
            return holds_transitions(counted, model)
        case ast.Call(func=func, args=[_, _, *_] as parts) if model.names.qualified(func) == "builtins.min":
            return _counts_smaller(parts, model, depth)
        case ast.Call(func=func, args=[_, _, *_] as parts, keywords=[]) if (
            model.names.qualified(func) == "builtins.max"
        ):
            # `max(1, size)` guards against an empty buffer
            return any(counts_a_store(part, model, depth - 1) for part in parts)
        case ast.Call(func=ast.Name(), args=[counted], keywords=[]) if (
            model.names.qualified(expression.func) == "builtins.int"
        ):
            return counts_a_store(counted, model, depth - 1)
        case ast.Attribute(value=ast.Attribute() as shared, attr="value"):
            return counts_a_store(shared, model, depth - 1)  # of a `multiprocessing.Value`
        case ast.Call(func=ast.Attribute(value=owner, attr="size" | "__len__"), args=[], keywords=[]):
            return holds_transitions(owner, model)
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr=attr) as method, args=[], keywords=[]) if (
            model.names.is_self(method.value)
        ):
            cls = model.class_of(expression)
            return (
                bool(_COUNTING.search(attr.lower())) or _returns_length(attr, cls, model)
            ) and is_store_class(cls, model)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return counts_a_store(left, model, depth - 1) or counts_a_store(right, model, depth - 1)
        case ast.IfExp(body=body, orelse=orelse):
            return counts_a_store(body, model, depth - 1) or counts_a_store(orelse, model, depth - 1)
        case ast.Subscript(value=ast.Attribute(value=array, attr="shape"), slice=ast.Constant(value=0)):
            return holds_transitions(array, model)
        case ast.Name():
            bindings = model.dataflow.definitions(expression)
            values = [
                b.value
                for b in bindings
                if b.kind is BindingKind.ASSIGN and not b.path and b.value is not None
            ]
            if values:
                return any(counts_a_store(value, model, depth - 1) for value in values)
            return bool(_SIZE_OF_STORE.search(expression.id.lower()))
        case ast.Attribute(attr=attr):
            if _SIZE_OF_STORE.search(attr.lower()) or ast.dump(expression) in model.once(
                _sizes_of_rings, model.syntax.module
            ):
                return True
            cls = model.class_of(expression)
            returned = _property(expression, cls, model)
            if returned is not None:
                return counts_a_store(returned, model, depth - 1)
            counts = bool(_ROWS.search(attr.lower())) or (
                cls is not None
                and (_is_length(expression, cls, model) or attr in model.once(_saturating_counts, cls))
            )
            of_labels = cls is not None and _LABELLED.search(cls.name)
            if of_labels or cls is None:
                return False
            return (counts and is_store_class(cls, model)) or (
                model.names.is_self(expression.value) and attr in model.once(_counts_of_kept, cls)
            )
        case ast.Subscript(slice=ast.Constant(value=str())):
            return dump_as_read(expression) in model.once(_saturating_entries, model.syntax.module)
    return False


def _counts_smaller(parts: list[ast.expr], model: SemanticModel, depth: int) -> bool:
    """Whether the smallest of some numbers is that of the rows of a buffer."""
    return all(_is_not_small(part, model) for part in parts) and any(
        counts_a_store(part, model, depth - 1) for part in parts
    )


def _counts_of_kept(cls: ast.ClassDef, model: SemanticModel) -> frozenset[str]:
    """Return the attributes that count the items of a class from which batches are drawn: `self.n = len(
    self.pairs)`, `self.n += 1`, `self.n = min(self.n + 1, self.capacity)`.
    """
    kept, loaded = kept_attributes(cls, model), loaded_attributes(cls, model)
    if not kept and not loaded:
        return frozenset()
    found: set[str] = set()
    for node in descendants(cls):
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)],
                value=ast.Call(func=ast.Name(id="len"), args=[counted]),
            ):
                if loaded or (isinstance(counted, ast.Attribute) and counted.attr in kept):
                    found.add(attr)
            case ast.AugAssign(
                target=ast.Attribute(value=ast.Name(id="self"), attr=attr), op=ast.Add(), value=ast.Constant()
            ) if kept and _ROWS.search(attr.lower()):
                found.add(attr)
    return frozenset(found | (model.once(_saturating_counts, cls) if kept else frozenset()))


def _saturating_entries(_: ast.Module, model: SemanticModel) -> frozenset[str]:
    """Return the entries of dicts that a file counts up to a capacity: `table["n"] = min(table["n"] + 1,
    capacity)`.
    """
    return frozenset(
        dump_as_read(count)
        for node in model.syntax.of_type(ast.Assign)
        if isinstance(count := _saturating(node), ast.Subscript)
    )


def _saturating(node: ast.AST) -> ast.expr | None:
    """Return what a statement counts up to a capacity: `size` for `size = min(size + 1, capacity)`."""
    match node:
        case ast.Assign(targets=[count], value=ast.Call(func=ast.Name(id="min"), args=[_, _] as parts)):
            read = dump_as_read(count)
            sums = [part for part in parts if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add)]
            if any(read in (ast.dump(part.left), ast.dump(part.right)) for part in sums):
                return count
    return None


def _is_long_sequence(cls: ast.ClassDef, model: SemanticModel) -> bool:
    """Whether `len` of an object counts items that are added to it, and of which batches are drawn."""
    for method in cls.body:
        match method:
            case ast.FunctionDef(name="__len__", body=[*_, ast.Return(value=value)]):
                match value:
                    case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(attr=attr)]):
                        drawn = kept_attributes(cls, model) | loaded_attributes(cls, model)
                        return attr in drawn or attr in model.once(_added_and_indexed, cls)
                    case ast.Attribute(attr=attr):
                        return attr in model.once(_counts_of_kept, cls)
    return False


def _added_and_indexed(cls: ast.ClassDef, _: SemanticModel) -> frozenset[str]:
    """Return the attributes to which methods append, and whose items `__getitem__` returns."""
    read = {
        node.value.attr
        for method in cls.body
        if isinstance(method, FUNCTIONS) and method.name == "__getitem__"
        for node in descendants(method)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute)
    }
    added = {
        node.func.value.attr
        for node in descendants(cls)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and isinstance(node.func.value, ast.Attribute)
    }
    return frozenset(read & added)


def _is_length(attribute: ast.Attribute, cls: ast.ClassDef, model: SemanticModel) -> bool:
    """Whether an attribute is what `len` of its object returns."""
    returned = ("__len__", [f"return self.{attribute.attr}"])
    return model.names.is_self(attribute.value) and any(
        isinstance(method, ast.FunctionDef)
        and (method.name, [model.source.text(statement) for statement in method.body]) == returned
        for method in cls.body
    )


def _property(attribute: ast.Attribute, cls: ast.ClassDef | None, model: SemanticModel) -> ast.expr | None:
    """Return what a property of the same class computes: `min(self.n, self.capacity)` for `self.size`."""
    if cls is None or not model.names.is_self(attribute.value):
        return None
    match model.method(cls, attribute.attr):
        case ast.FunctionDef(decorator_list=[ast.Name(id="property")], body=[*_, ast.Return(value=value)]):
            return value
    return None


def _returns_length(method: str, cls: ast.ClassDef | None, model: SemanticModel) -> bool:
    """Whether a method only returns the length of an attribute that holds transitions: `num_rows()`."""
    function = model.method(cls, method) if cls is not None else None
    match function.body[-1] if function is not None else None:
        case ast.Return(value=ast.Call(func=ast.Name(id="len"), args=[ast.Attribute() as held])):
            return model.names.is_self(held.value) and holds_transitions(held, model)
    return False


def _saturating_counts(cls: ast.ClassDef, _: SemanticModel) -> frozenset[str]:
    """Return the attributes that a class counts up to a capacity: `self.stored = min(self.stored + 1,
    self.capacity)`.
    """
    found: set[str] = set()
    for node in descendants(cls):
        match _saturating(node):
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                found.add(attr)
    return frozenset(found)


def _sizes_of_rings(_: ast.Module, model: SemanticModel) -> frozenset[str]:
    """Return the moduli of the write indices in a file: `capacity` for `self.rows[i % capacity]`, or for
    `self.at = (self.at + 1) % capacity` and `self.rows[self.at]`.
    """
    written = {
        dump_as_read(node.slice)
        for node in model.syntax.of_type(ast.Subscript)
        if isinstance(node.ctx, ast.Store)
    }
    found = set()
    for node in model.syntax.of_type(ast.BinOp):
        if not isinstance(node.op, ast.Mod):
            continue
        parent = model.parent(node)
        names = parent.targets if isinstance(parent, ast.Assign) else []
        if ast.dump(node) in written or any(dump_as_read(name) in written for name in names):
            found.add(ast.dump(node.right))
    return frozenset(found)


def is_kept_small(count: ast.expr, at: ast.expr, model: SemanticModel) -> bool:
    """Whether a place is reached only if the number is small: after `if size >= 10_000: return …`."""
    child: ast.AST = model.syntax.statement(at)
    wanted = ast.dump(count)
    while isinstance(child, ast.stmt):
        parent = model.parent(child)
        block, index = model.syntax.block(child)
        before = [test for sibling in block[:index] if (test := _leaves_if(sibling)) is not None]
        around = parent.test if isinstance(parent, ast.If) and block is parent.body else None
        other = parent.test if isinstance(parent, ast.If) and block is parent.orelse else None
        if any(_compares(test, wanted, (ast.Gt, ast.GtE)) for test in (*before, other)):
            return True
        if _compares(around, wanted, (ast.Lt, ast.LtE)):
            return True
        if parent is None or isinstance(parent, (*FUNCTIONS, ast.ClassDef)):
            break
        child = parent
    return False


def _leaves_if(statement: ast.stmt) -> ast.expr | None:
    match statement:
        case ast.If(test=test, body=[*_, ast.Return() | ast.Raise() | ast.Continue()]):
            return test
    return None


def _compares(test: ast.expr | None, wanted: str, operators: tuple[type[ast.cmpop], ...]) -> bool:
    """Whether a test is a comparison such as `count >= 10_000`."""
    match test:
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant()]):
            return isinstance(op, operators) and ast.dump(left) == wanted
    return False


def holds_transitions(held: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression holds the transitions, by its name or that of the class whose attribute it is."""
    cls = model.class_of(held)
    if cls is not None and _LABELLED.search(cls.name):
        return False
    match held:
        case ast.Subscript(value=fields, slice=ast.Constant(value=str()) | ast.Name()):
            return holds_transitions(fields, model)  # `self.data["obs"]`
        case ast.Name():
            of_fields = _taken_from(held, model)
            if of_fields is not None:
                return holds_transitions(of_fields, model)
    name = (last_name(held) or "").lower()
    of_store: bool = is_store_class(model.class_of(held), model)
    if isinstance(held, ast.Name) and name == "self":
        return of_store or (cls is not None and model.once(_is_long_sequence, cls))
    if _FEW.search(name):
        return False
    if isinstance(held, ast.Attribute) and model.names.is_self(held.value) and name:
        kept = kept_attributes(cls, model) | loaded_attributes(cls, model)
        of_store = of_store or held.attr in kept
    return bool(_STORE.search(name)) or (of_store and isinstance(held, ast.Attribute))


def _taken_from(name: ast.Name, model: SemanticModel) -> ast.expr | None:
    """Return `self.data` for the `rows` of `for key, rows in self.data.items()`."""
    bindings = model.dataflow.definitions(name)
    if len(bindings) != 1 or bindings[0].kind not in (BindingKind.FOR, BindingKind.COMPREHENSION):
        return None
    match bindings[0].value, bindings[0].path:
        case ast.Call(func=ast.Attribute(value=ast.Attribute() as fields, attr="items"), args=[]), (1,):
            return fields
        case ast.Call(func=ast.Attribute(value=ast.Attribute() as fields, attr="values"), args=[]), ():
            return fields
    return None


def _is_not_small(expression: ast.expr, model: SemanticModel) -> bool:
    number = numbers.number_of(expression, model)
    return number is None or not number.value or number.value >= LARGE
