"""Operations on figures of matplotlib and plotly: created, drawn on, shown or written, cleared, updated."""

from __future__ import annotations

import ast
import enum

from rlint.rule import SemanticModel, TypeTag, regex


class Does(enum.Enum):
    """What a call does to a figure."""

    MAKES = "opens a figure"
    ADDS = "adds curves, bars or images"
    DRAWS = "draws the whole figure, into a file or a window"
    EMPTIES = "closes a figure or takes away what is on it"


_PACKAGES = frozenset("bokeh matplotlib pandas plotly pylab seaborn visdom".split())
_PYPLOT = regex(r"^(matplotlib\.pyplot|matplotlib\.pylab|pylab)\.(\w+)$")
_SEABORN = regex(r"^seaborn\.\w*(plot|map)$")
_PLOTLY = regex(r"^plotly\.(offline\.(i?plot)|io\.(show|write_html|write_image))$")
_BOKEH = regex(r"^bokeh\.(plotting|io)\.(save|show|export_png|export_svg)$")
_VISDOM = "visdom.Visdom"
_OF_VISDOM = regex(r"^(line|scatter|bar|heatmap|histogram|boxplot|surf|contour|matplot|plotlyplot|pie)$")
_FIGURE, _AXES = "matplotlib.figure.Figure", "matplotlib.axes.Axes"
_MAKES = frozenset({"figure", "subplots", "subplot_mosaic"})
_ADDS = frozenset(
    """annotate axhline axhspan axvline axvspan bar barh boxplot contour contourf errorbar eventplot fill
    fill_between hist hist2d hlines imshow loglog matshow pcolor pcolormesh pie plot plot_date plot_surface
    quiver scatter scatter3D semilogx semilogy stackplot stem step streamplot text violinplot
    vlines""".split()
)
_DRAWS = frozenset({"draw", "pause", "savefig", "show"})
_DRAWS_FIGURE = frozenset({"savefig", "show", "write_html", "write_image"})
_EMPTIES = frozenset({"cla", "clf", "close"})
_EMPTIES_OBJECT = frozenset({"cla", "clear", "clf"})
_SHOWS = frozenset({"IPython.display.display", "marimo.as_html", "marimo.mpl.interactive", "wandb.Image"})
_FIGURE_NAME = regex(r"(^|_)(fig|figure)\d*$")
_AXES_NAME = regex(r"(^|_)(ax|axs|axes|axis)(\d*|_\w+)$")
_NEW_DATA = frozenset(
    """draw_artist set_3d_properties set_array set_data set_height set_offsets set_segments set_UVC set_verts
    set_xdata set_ydata""".split()
)
_VIDEO = frozenset(
    """append_data ArtistAnimation buffer_rgba copy_from_bbox FuncAnimation grab_frame mimsave mimwrite
    print_to_buffer tostring_argb tostring_rgb write_frame""".split()
)


def uses_figures(model: SemanticModel) -> bool:
    """Whether a file imports matplotlib, seaborn or pandas, which use it, or another library for figures."""
    roots = {name.partition(".")[0] for name in model.module.imports.values()}
    return not roots.isdisjoint(_PACKAGES)


def does(call: ast.Call, model: SemanticModel) -> Does | None:
    """Return what a call does to a figure; None for other calls."""
    path = model.names.qualified(call.func) or ""
    known = _PYPLOT.match(path)
    if known is not None:
        return _of_pyplot(known[2])
    if path:
        if _SEABORN.match(path):
            return Does.ADDS
        if _PLOTLY.match(path) or _BOKEH.match(path):
            return Does.DRAWS
        shown = path in _SHOWS and bool(call.args)
        return Does.DRAWS if shown and _is_shown(call.args[0], model) else None
    return _of_method(call, model) if isinstance(call.func, ast.Attribute) else None


def _of_pyplot(name: str) -> Does | None:
    if name in _MAKES:
        return Does.MAKES
    if name in _ADDS:
        return Does.ADDS
    if name in _DRAWS:
        return Does.DRAWS
    return Does.EMPTIES if name in _EMPTIES else None


def _of_method(call: ast.Call, model: SemanticModel) -> Does | None:
    assert isinstance(call.func, ast.Attribute)
    owner, name = call.func.value, call.func.attr
    if name == "draw" and isinstance(owner, ast.Attribute) and owner.attr == "canvas":
        return Does.DRAWS
    if name in _DRAWS_FIGURE and is_figure(owner, model):
        return Does.DRAWS
    kind = model.types.type_of(owner)
    if name == "plot" and kind.tag is TypeTag.DATAFRAME:
        return Does.ADDS if any(keyword.arg == "ax" for keyword in call.keywords) else Does.MAKES
    if kind.tag is TypeTag.INSTANCE and kind.of == _VISDOM:
        appends = any(keyword.arg == "update" for keyword in call.keywords)
        return Does.DRAWS if _OF_VISDOM.match(name) and not appends else None
    if name in ("add_figure", "log_figure") and uses_figures(model):
        return Does.DRAWS
    if name in _ADDS and is_axes(owner, model):
        return Does.ADDS
    if name in _EMPTIES_OBJECT and (is_figure(owner, model) or is_axes(owner, model)):
        return Does.EMPTIES
    return None


def _is_shown(given: ast.expr, model: SemanticModel) -> bool:
    return is_figure(given, model) or model.names.qualified(given) in (
        "matplotlib.pyplot",
        "matplotlib.pylab",
        "pylab",
    )


def is_figure(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether it is a matplotlib figure, judging by its type or its name."""
    kind = model.types.type_of(expression)
    if kind:
        return kind.tag is TypeTag.INSTANCE and kind.of == _FIGURE
    return bool(_FIGURE_NAME.search(_name(expression))) and uses_figures(model)


def is_axes(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether it is an axes object (or one in an array of them), judging by its type or its name."""
    kind = model.types.type_of(expression)
    if kind:
        return kind.tag is TypeTag.INSTANCE and kind.of == _AXES
    return bool(_AXES_NAME.search(_name(expression))) and uses_figures(model)


def _name(expression: ast.expr) -> str:
    while isinstance(expression, ast.Subscript):
        expression = expression.value
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.lower()
        case ast.Call(func=ast.Attribute(attr="gca" | "add_subplot" | "twinx")):
            return "ax"
        case ast.Call(func=ast.Attribute(attr="gcf" | "get_figure")):
            return "fig"
    return ""


def creates_new_figure(call: ast.Call) -> bool:
    """Whether a call that creates a figure creates another one each time, as it has no fixed number or
    name.
    """
    numbered = bool(call.args) and isinstance(call.func, ast.Attribute) and call.func.attr == "figure"
    return not numbered and not any(keyword.arg in ("num", None) for keyword in call.keywords)


def gives_new_data(model: SemanticModel) -> bool:
    """Whether a file updates existing curves with new values."""
    return any(model.names.attribute_uses(name) for name in _NEW_DATA)


def makes_video(model: SemanticModel) -> bool:
    """Whether a file reads the images that it draws, or writes them to a video."""
    return any(model.names.attribute_uses(name) for name in _VIDEO) or any(
        name.startswith("matplotlib.animation.") for name in model.module.imports.values()
    )


def may_close(model: SemanticModel) -> bool:
    """Whether another file of the project may close or clear figures."""
    return any(
        module is not model.module
        and not module.attributes_read.isdisjoint(_EMPTIES)
        and any(name.startswith("matplotlib") for name in module.imports.values())
        for module in model.index.modules.values()
    )
