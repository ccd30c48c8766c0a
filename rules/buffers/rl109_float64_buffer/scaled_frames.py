"""Frames that a wrapper of an environment converts from bytes to float64: `frame / 255`."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, Heat, SemanticModel, TypeTag, descendants, last_name, regex, vocabulary

_SCALES = (255, 127.5)
_FRAME = regex(
    r"(^|_)(frames?|imgs?|images?|obs|observations?|states?|screens?|pixels|rgb|gr[ae]y|x)(_|\d|$)"
)
_CASTS = frozenset({"astype", "float16", "float32", "torch", "tensorflow", "tf", "jax", "jnp"})
"""Names in code that gives frames another dtype, or that computes in other libraries."""
_KEEPS = (ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Attribute)


def is_scaled_frame(scaled: ast.BinOp, model: SemanticModel) -> bool:
    """Whether a division makes float64 of the bytes of each frame, in a wrapper whose methods give it no
    other dtype afterwards.
    """
    match scaled:
        case ast.BinOp(left=frame, op=ast.Div(), right=ast.Constant(value=int() | float() as scale)):
            if scale not in _SCALES or not _is_frame(frame, model):
                return False
        case _:
            return False
    function, owner = model.function(scaled), model.class_of(scaled)
    summary = model.module.classes.get(model.syntax.qualname(owner)) if owner is not None else None
    if function is None or owner is None or summary is None:
        return False
    if model.index.class_kind(summary).tag is not TypeTag.ENVIRONMENT or not _leaves(scaled, model):
        return False
    if model.frequency.heat_of(scaled).level is not Heat.HOT or model.usage.is_evaluation(scaled):
        return False
    return not model.once(_casts, owner)


def _is_frame(frame: ast.expr, model: SemanticModel) -> bool:
    """Whether a value likely is an array of bytes: nothing but its name tells what it is, or it is one."""
    kind = model.types.type_of(frame)
    if kind.tag is TypeTag.NDARRAY and kind.dtype:
        return kind.dtype == "uint8"
    named = _FRAME.search((last_name(frame) or "").lower())
    return kind.tag in (TypeTag.NDARRAY, TypeTag.UNKNOWN) and bool(named)


def _leaves(scaled: ast.expr, model: SemanticModel) -> bool:
    """Whether a function returns the result of a division or assigns it to a variable, possibly after
    arithmetic and in another shape.
    """
    child: ast.AST = scaled
    for around in model.ancestors(scaled):
        match around:
            case ast.Return():
                return True
            case ast.Assign(targets=[ast.Name()]):
                return True
            case ast.Call(func=func) if last_name(func) in vocabulary.KEEP_FRAME_DTYPE or func is child:
                pass
            case _ if not isinstance(around, _KEEPS):
                return False
        child = around
    return False


def _casts(owner: ast.ClassDef, _: SemanticModel) -> bool:
    """Whether a method of a class, other than its constructor, converts arrays to another dtype."""
    methods = (each for each in owner.body if isinstance(each, FUNCTIONS) and each.name != "__init__")
    return any(
        last_name(node) in _CASTS or (isinstance(node, ast.keyword) and node.arg == "dtype")
        for method in methods
        for node in descendants(method)
    )
