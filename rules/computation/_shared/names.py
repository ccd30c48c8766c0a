"""Names for the result of a call, derived from the call."""

from __future__ import annotations

import ast

from rlint.rule import COMPREHENSIONS, descendants, vocabulary

_VERBS = frozenset(
    """build calc calculate check compute convert count create decode detect encode estimate eval evaluate
    extract fetch find format gather generate get has is load look make measure normalise normalize parse
    prepare process read retrieve select split strip to tokenise tokenize try""".split()
)

_MOVES = frozenset({"cuda", "to"})


def of_result(expression: ast.expr) -> list[str]:
    """Return a name for the result: `answer`, `extracted_answer` for `extract_answer(r)`; plurals for a
    comprehension of such calls.
    """
    if isinstance(expression, COMPREHENSIONS):
        item = expression.value if isinstance(expression, ast.DictComp) else expression.elt
        calls = [node for node in descendants(item) if isinstance(node, ast.Call)]
        names = of_result(calls[0]) if calls else []
        return [_plural(name) for name in names] or ["values"]
    assert isinstance(expression, ast.Call)
    match expression.func:
        case ast.Name(id=called) | ast.Attribute(attr=called):
            pass
        case _:
            return ["result"]
    if called in _MOVES and isinstance(expression.func, ast.Attribute):
        moved = _identifying(expression.func.value)
        return [f"moved_{moved}"] if moved else ["moved"]
    verb, _, noun = called.strip("_").lower().partition("_")
    subject = _subject(expression)
    found: list[str] = []
    if verb in _VERBS and noun:
        found = [noun]
        found += [f"{vocabulary.DONE[verb]}_{noun}"] if verb in vocabulary.DONE else []
        found += [f"{subject}_{noun}"] if subject else []
    elif verb in vocabulary.DONE and not noun:
        done = vocabulary.DONE[verb]
        found = [done]
        if subject:
            found += [f"{done}_{subject}" if done.endswith("ed") else f"{subject}_{done}"]
    elif subject:
        what = "count" if called == "sum" and _is_of_truths(expression) else called.strip("_").lower()
        found = [f"{subject}_{what}"]
    return [*found, f"{noun or called.strip('_')}_result"]


def _plural(name: str) -> str:
    if name.endswith("ed"):
        return f"all_{name}"
    return name if name.endswith("s") else f"{name}s"


def _subject(call: ast.Call) -> str | None:
    """Return the subject of the call: its first argument, or its receiver."""
    owner = _identifying(call.func.value) if isinstance(call.func, ast.Attribute) else None
    about = _identifying(call.args[0]) if call.args else None
    return about or owner


def _identifying(expression: ast.expr) -> str | None:
    """Return the most descriptive name in an expression."""
    match expression:
        case ast.Name(id=name):
            return name.strip("_") if name not in ("self", "cls", "np", "torch") else None
        case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name.strip("_")
        case ast.Call():
            return _subject(expression)
        case (
            ast.Subscript(value=inner)
            | ast.UnaryOp(operand=inner)
            | ast.BinOp(left=inner)
            | ast.Compare(left=inner)
        ):
            return _identifying(inner)
    return None


def _is_of_truths(call: ast.Call) -> bool:
    """Whether an expression counts a condition: `(dones == True).sum()`, `np.sum(losses < limit)`."""
    summed = [*call.args[:1], getattr(call.func, "value", None)]
    return any(isinstance(each, ast.Compare) for each in summed)
