"""Calls that draw a frame: in a window, or as an image that only a video needs."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag, last_name, output_words, regex
from rlint.rules.environments._shared.every_nth import counts_passes

_ENVIRONMENT = regex(r"(^|_)envs?($|_)|^(game|simulator|world)$")
_VIEWER = regex(r"(^|_)viewer$")
_FRAMES = regex(r"frame|film|video|image|img|picture|render|screen|gif|movie")
_FILMS = regex("|".join(output_words.FILMS), 0)


def is_environment(env: ast.expr, model: SemanticModel) -> bool:
    """Whether it is an environment, or the one in it (`env.unwrapped`), judging by its type or its name."""
    kind = model.types.type_of(env)
    if kind.tag is TypeTag.ENVIRONMENT:
        return True
    name = (last_name(_outermost(env)) or "").lower()
    return kind.tag in (TypeTag.UNKNOWN, TypeTag.INSTANCE) and bool(_ENVIRONMENT.search(name))


def _outermost(env: ast.expr) -> ast.expr:
    """Return the environment that an expression reads another one from: `env` for `env.unwrapped`."""
    match env:
        case ast.Attribute(value=owner, attr="unwrapped") | ast.Subscript(value=owner):
            return _outermost(owner)
    return env


def draws_in_window(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call draws a frame in a window: `cv2.imshow("camera", frame)`, `self.viewer.sync()`."""
    path = model.names.qualified(call.func)
    if path is not None:
        return path in output_words.DRAWS_WINDOW
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in output_words.VIEWER_METHODS:
        return False
    return bool(_VIEWER.search((last_name(call.func.value) or "").lower()))


def kept_for_video(call: ast.Call, model: SemanticModel) -> bool | None:
    """Whether nothing but a video needs the frame that a call returns: it is not used, or only appended to a
    list of frames from which the function computes nothing. None if other code gets the list.
    """
    match model.parent(call):
        case ast.Expr():
            return True
        case ast.Assign(targets=[ast.Name() as name]) if not _reads(name, model):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name() as frames, attr="append"), args=[_]) as adds:
            is_frames = _FRAMES.search(frames.id.lower()) is not None
            return _is_film(frames, adds, model) if is_frames else False
    return False


def _reads(name: ast.Name, model: SemanticModel) -> list[ast.Name]:
    scope = model.names.scope(name).lookup(name.id)
    return model.names.reads(name.id, scope) if scope is not None else []


def _is_film(frames: ast.Name, adds: ast.Call, model: SemanticModel) -> bool | None:
    """Whether all uses of a list of frames add to it, count them or write a video; None if it is returned,
    and other code may use it.
    """
    leaves = False
    for use in _reads(frames, model):
        around = model.parent(use)
        if isinstance(around, ast.Attribute):
            if around.attr not in ("append", "clear"):
                return False
            continue
        if isinstance(around, (ast.Return, ast.Tuple)) and isinstance(
            model.syntax.statement(use), ast.Return
        ):
            leaves = True
            continue
        if not _writes_video(use, adds, model):
            return False
    return None if leaves else True


def _writes_video(use: ast.Name, adds: ast.Call, model: SemanticModel) -> bool:
    """Whether a use is an argument of a call that writes a video, or of `len`."""
    for around in model.ancestors(use):
        if isinstance(around, ast.stmt):
            return False
        if isinstance(around, ast.Call) and around is not adds:
            name = last_name(around.func) or ""
            if name == "len" or _FILMS.search(model.source.text(around.func)):
                return True
    return False


def episode_counter(statement: ast.stmt, model: SemanticModel, period: int) -> str | None:
    """Return the variable of a loop over episodes around the one over steps."""
    inner = model.frequency.driving_loop(statement)
    if inner is None:
        return None
    for loop in model.frequency.loops(inner):
        if isinstance(loop, (ast.For, ast.AsyncFor)):
            counter: str | None = counts_passes(loop, period, model)
            if counter is not None:
                return counter
    return None
