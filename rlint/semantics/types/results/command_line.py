"""Command-line options: types of the attributes of `parser.parse_args()`.

All options that a file declares are attributes of one class, which is treated as a class of the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlint.models.value_type import PLAIN, UNKNOWN, Type, TypeTag
from rlint.semantics.types.algebra import OPTIONS, known_item, with_default
from rlint.semantics.types.sure_devices import option_names

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis

_GIVEN_BY_ACTION = {
    "store_true": TypeTag.BOOL,
    "store_false": TypeTag.BOOL,
    "count": TypeTag.INT,
    "append": TypeTag.LIST,
    "extend": TypeTag.LIST,
}
_TEXT = PLAIN[TypeTag.STR]


def option_kinds(analysis: FileAnalysis) -> dict[str, Type]:
    """Return the types of the options that a file declares, by name, including types that it assigns to
    them.
    """
    found: dict[str, Type] = {}
    for call in analysis.syntax.written.calls_of(("add_argument",)):
        kind = _kind_of(call, analysis)
        for name in option_names(call):
            found[name] = found[name].joined(kind) if name in found else kind
    return found


def _kind_of(call: ast.Call, analysis: FileAnalysis) -> Type:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in given:
        return UNKNOWN
    match given.get("action"):
        case None:
            kind = _converted(given.get("type"), analysis)
        case ast.Constant(value=str(action)):
            tag = _GIVEN_BY_ACTION.get(action)
            if tag is None:
                return UNKNOWN
            return Type(tag, optional=tag is TypeTag.LIST and "default" not in given)
        case ast.Attribute(attr="BooleanOptionalAction"):
            kind = PLAIN[TypeTag.BOOL]
        case _:
            return UNKNOWN
    match given.get("nargs"):
        case None | ast.Constant(value="?"):
            if "const" in given:
                kind = kind.joined(analysis.types.type_of(given["const"]).aged())
        case _:
            kind = Type(TypeTag.LIST, item=known_item(kind))
    default = given.get("default")
    if default is not None:
        return with_default(kind, analysis.types.type_of(default).aged())
    is_required = "required" in given or not _is_flag(call)
    return kind if is_required else kind._replace(optional=bool(kind or kind.of))


def _is_flag(call: ast.Call) -> bool:
    return any(
        isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.startswith("-")
        for name in call.args
    )


def _converted(converter: ast.expr | None, analysis: FileAnalysis) -> Type:
    """Return the type that the converter of an option returns."""
    if converter is None:
        return _TEXT
    if isinstance(converter, ast.Lambda):
        return analysis.types.type_of(converter.body).aged()
    return analysis.types.called(converter)


def stored_options(analysis: FileAnalysis) -> Iterator[ast.Attribute]:
    """Yield the places where a file sets an attribute of its options: `args.device = …`"""
    path = f"{analysis.name}.{OPTIONS}"
    for attribute in analysis.syntax.written.attribute_stores:
        if not (isinstance(attribute.ctx, ast.Store) and isinstance(attribute.value, ast.Name)):
            continue
        if analysis.types.type_of(attribute.value).of == path:
            yield attribute
