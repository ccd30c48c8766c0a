"""Replaced expressions, in any layout and with any operands: the result has the meaning of the template,
operands are unchanged, no two tokens merge, and no comment is lost.
"""

from __future__ import annotations

import ast
import copy
import warnings
from collections import Counter
from collections.abc import Callable

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from project_builder import model_of
from reports import at
from rlint.edit.edits import Edits
from rlint.edit.kept_comments import comments
from rlint.findings import Applicability, Finding, Fix
from rlint.fixing.apply_fixes import apply
from rlint.fixing.fix_validation import held

NAMES = "a = b = c = d = f = g = old = w = 0\n"
SIGNS = [*"+ - * / // % @ ** << >> & ^ | < <= == != in and or is".split(), "not in", "is not"]
LEAVES = st.sampled_from(
    [
        "a",
        "b",
        "a.b",
        "a.b.c",
        "a[0]",
        "f()",
        "1",
        "0.5",
        ".5",
        "1j",
        "None",
        "'t'",
        '"""t\n  u"""',
        "b'x'",
        "f'{a}'",
        "f'{a!r:>{b}}'",
        "[]",
        "[a, b]",
        "{}",
        "{a: b}",
        "{*a}",
        "(a, b)",
        "()",
        "(a,)",
        "...",
        "'s' 't'",
        "[x for x in a]",
        "{x: b for x in a if x}",
        "a[1:]",
        "f(a)(b)",
        "f(*a, **b)",
        "a [0]",
    ]
)


def operations(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Larger expressions of some, in many layouts; not all can be parsed."""
    return st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from(SIGNS), inner),
        st.builds("({}{}{})".format, inner, st.sampled_from(["\n+ ", "  # one\n* ", "**", "<"]), inner),
        st.builds("{}{}".format, st.sampled_from(["-", "~", "not ", "+", "await ", "lambda: "]), inner),
        st.builds("({}{})".format, st.sampled_from(["yield ", "x := ", "\n", "  # two\n", "("]), inner),
        st.builds("{} if {} else {}".format, inner, inner, inner),
        st.builds("({})".format, inner),
        st.builds("({}\n.b)".format, inner),
        st.builds("f({},\n  {})".format, inner, inner),
        st.builds("f({}  # three\n)".format, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("({} for x in a)".format, inner),
        st.builds("lambda x={}: x".format, inner),
    )


OPERANDS = st.recursive(LEAVES, operations, max_leaves=5)
PLACES = st.sampled_from(
    [
        "x = {}",
        "return {}",
        "return({})",
        "x = f({}, 1)",
        "x = f(k={})",
        "x = a * {}",
        "x = {} ** b",
        "x = -{}",
        "x = not {}",
        "x = {}.b",
        "x = {}[0]",
        "x = a[{}]",
        "x = [{}]",
        "x = {},",
        "x = a if {} else b",
        "x = b**{}",
        "x = {} if c else b",
        "x = a if c else {}",
        "x = lambda: {}",
        "x = [v for v in {}]",
        "x = [{} for v in w]",
        "x = [v for v in w if {}]",
        "x = await {}",
        "x = yield {}",
        "assert {}",
        "x = {{**{}}}",
        "x = a < {} < b",
        "f(*{})",
        "for v in {}: pass",
        "if {}: pass",
        "x = y = {}",
        "{}; pass",
        "if a: x = {}",
        "x: int = {}",
        "x += {}",
        "x = a[{}:1]",
        "with {} as z: pass",
        "x = a - {}",
        "x = a in {}",
        "x = a and {}",
        "x = (x := {})",
        "while a:\n        x = {}; break",
        "x = a if b else({})",
        "x = a @{}",
        "x = [a,{}]",
        "raise {}",
        "x = a\\\n   * {}",
        "@{}\n    def g(): pass",
        "x = {{a: {}}}",
        "x = {}(b)",
        "x = 'a' % {}",
        "return{}",
        "x = b or{}",
        "x = {}if c else b",
    ]
)
LAYOUTS = st.sampled_from(["{}", "({})", "(\n{}\n)", "(  # four\n{})", "({}  # five\n)", "(({}))"])

_Template = tuple[Callable[[Edits, ast.expr], str], Callable[[ast.expr], ast.expr]]


def parsed(text: str) -> Callable[[ast.expr], ast.expr]:
    """The AST of a template with `_` for the operand."""

    def made(operand: ast.expr) -> ast.expr:
        class Put(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.expr:
                return copy.deepcopy(operand) if node.id == "_" else node

        return Put().visit(ast.parse(text, mode="eval").body)  # type: ignore[no-any-return]

    return made


TEMPLATES: list[_Template] = [
    (lambda edit, node: edit.parenthesized(node), parsed("_")),
    (lambda edit, node: edit.code(node), parsed("_")),
    (lambda edit, node: f"{edit.parenthesized(node)}.m()", parsed("_.m()")),
    (lambda edit, node: f"g({edit.as_argument(node)})", parsed("g(_)")),
    (lambda edit, node: f"g(a, k={edit.as_argument(node)})", parsed("g(a, k=_)")),
    (lambda edit, node: f"a - {edit.parenthesized(node)}", parsed("a - _")),
    (lambda edit, node: f"{edit.parenthesized(node)} ** 2", parsed("_ ** 2")),
    (lambda edit, node: f"not {edit.parenthesized(node)}", parsed("not _")),
    (lambda edit, node: f"{edit.parenthesized(node)} if c else d", parsed("_ if c else d")),
    (lambda edit, node: f"g[{edit.as_argument(node)}, 0]", parsed("g[_, 0]")),
]


def tree(text: str) -> ast.Module | None:
    """The AST of a program; None if it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(OPERANDS, PLACES, LAYOUTS, st.sampled_from(TEMPLATES))
def test_a_swap_means_what_its_template_says(
    operand: str, place: str, layout: str, template: _Template
) -> None:
    """Parentheses and blanks are inserted where needed, and comments are kept."""
    text = f"{NAMES}async def host():\n    {place.format(layout.format(f'old({operand})'))}\n"
    wanted = tree(text)
    assume(wanted is not None)
    assert wanted is not None
    swapped = Swapped(template[1])
    swapped.visit(wanted)
    assume(swapped.times == 1)
    model = model_of(text)
    [call] = [
        node
        for node in ast.walk(model.syntax.module)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "old"
    ]
    edit = model.edit.replace(call, template[0](model.edit, call.args[0]))
    fix = Fix("Repair it", Applicability.SAFE, (edit,))
    finding = Finding("RL101", "some-rule", "m", "train.py", at(1), at(1), 1, 1, fix=fix)
    [each] = held([finding], model)
    assert each.fix is not None, each.no_fix
    result = apply(text, [each], unsafe=False)[0]
    found = tree(result)
    assert found is not None, result
    assert ast.dump(found) == ast.dump(wanted), result
    assert not Counter(comments(text)) - Counter(comments(result)), result


class Swapped(ast.NodeTransformer):
    """Replaces `old(...)` according to a template."""

    def __init__(self, made: Callable[[ast.expr], ast.expr]) -> None:
        self._made = made
        self.times = 0

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Swap one call of one argument."""
        if isinstance(node.func, ast.Name) and node.func.id == "old" and len(node.args) == 1:
            self.times += 1
            return self._made(node.args[0])
        self.generic_visit(node)
        return node
