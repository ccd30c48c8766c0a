"""Files with syntax newer than the running Python are parsed."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixture_folders import ROOT
from notebook_files import notebook
from project_builder import expression, model_of
from rlint.findings import Problem
from rlint.models.value_type import TypeTag
from rlint.parsing.grammar import NEWEST, RUNNING, Reading, read_by_libcst
from rlint.parsing.parse import parse
from rlint.parsing.positions import Positions
from rlint.suppression import suppressions
from rlint.suppression.fingerprints import finding_keys
from rlint.syntax.syntax_index import SyntaxIndex
from workspaces import Workspace

Build = Callable[[Mapping[str, bytes]], Workspace]

SNIPPETS = {
    "type parameters of a function": "def first[T: (int, str), *Ts, **P](x: T) -> T:\n    return x\n",
    "type parameters of a method": "class A:\n    async def f[T](self, x: T) -> T:\n        return x\n",
    "type parameters over lines": "def first[\n    T,  # it's held\n    *Ts,\n](x: T) -> T:\n    return x\n",
    "type parameters of a class": "@named(f'{1}')\nclass Net[T: int](Base, metaclass=Meta):\n    size: T\n",
    "a class without bases": "class Net[T]:\n    pass\n\n\nclass Box[\n    T\n]:\n    pass\n",
    "a continued line": "def first\\\n[T]\\\n(x: T): pass\n",
    "defaults of type parameters": "class Box[T = int, *Ts = *tuple[int], **P = [int]]:\n    pass\n",
    "a type alias": "type Pair[T] = tuple[T, T]\ntype Name = str  # of a file\n",
    "a type alias over lines": "if 1:\n    type A[\n        T\n    ] = (\n        B[T]  # x\n    ); y = 1\n",
    "nested quotes": 'x = f"{names["a"]} and {f"{names[f"{1}"]}"}"\n',
    "a backslash in a field": "x = f\"{'\\n'.join(names)}\"\n",
    "a field over lines": 'x = f"{\n    names  # all of them\n}" "é" f"{\n\n1}"\n',
    "a nested format": 'x = f"{y:>{f"{width["a"]}"}} {y=!r:^{w}} {{}} \\N{EM DASH} {z = }"\n',
    "a comment in long quotes": 'x = f"""é\n{\n    y  # it\'s\n:>{\n    w}}\n"""\n',
    "a quoted bracket": 'x = f"{y["("]}" + f"{y["#"]}"\n',
    "exceptions without parentheses": "try:\n    pass\nexcept ValueError , KeyError :\n    pass\n",
    "groups of exceptions": "try:\n    f()\nexcept* TypeError, E:\n    pass\nexcept *E as e:\n    f()\n",
    "template strings": "x = t'{a} and {b!r:>{w}}'\ny = rt\"{names[\"a\"]}\\d\"\nz = t''\n",
    "a concatenated template": "x = (t'{a}' tr'\\d' T\"{b=}\")\n",
    "stars in a subscript": "x: Array[int, *Shape] = y[*z]\n\n\ndef f(*args: *Ts) -> None:\n    pass\n",
}
"""Syntax that some supported Python cannot parse."""

PROGRAM = """\
import torch
{snippet}

def rollout(env, policy, steps, device):
    seen, _ = env.reset()
    for _ in range(steps):
        # é
        mask = torch.zeros(4).to(device)
        seen, *_ = env.step(policy(seen, mask))
"""
FIXED = "torch.zeros(4, device=device)"

each_snippet = pytest.mark.parametrize("snippet", SNIPPETS.values(), ids=SNIPPETS)


def read(text: str) -> Reading:
    """The parsed text, which must be valid."""
    reading = parse(text, "program.py")
    assert isinstance(reading, Reading), reading
    return reading


def check_places(text: str, reading: Reading) -> None:
    """Each name of a tree is at its position in the text, and the mask has the length of the text."""
    assert list(map(len, reading.mask.splitlines())) == list(map(len, text.splitlines()))
    positions = Positions(text)
    for node in ast.walk(reading.module):
        if isinstance(node, ast.Name):
            start, end = positions.span(node)
            assert text[start:end] == node.id
        elif isinstance(node, (ast.JoinedStr, ast.Attribute, ast.FormattedValue)) and "#" not in text:
            start, end = positions.span(node)
            assert start < end <= len(text)


def native(text: str) -> str | None:
    """The tree of a text by the running Python; None if it cannot parse it."""
    try:
        return ast.dump(ast.parse(text), include_attributes=True)
    except SyntaxError:
        return None


@each_snippet
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_newer_syntax_is_read(snippet: str, end: str) -> None:
    """The tree has everything in the file, at its position."""
    text = PROGRAM.format(snippet=snippet).replace("\n", end)
    check_places(text, read(text))
    found = read_by_libcst(text)
    check_places(text, found)
    if sys.version_info >= (3, 13) and native(text) is not None:
        assert ast.dump(found.module, include_attributes=True) == native(text)


@each_snippet
def test_newer_files_are_found_and_fixed(workspace: Build, snippet: str) -> None:
    """A fix changes only its own code."""
    text = PROGRAM.format(snippet=snippet)
    program = workspace({"train.py": text.encode()})
    [finding] = program.findings({"RL205"})
    assert finding.start.line == text[: text.index("torch.zeros")].count("\n") + 1
    assert program.fix({"RL205"})
    assert program.content()["train.py"].decode() == text.replace("torch.zeros(4).to(device)", FIXED)
    assert program.findings({"RL205"}) == ()


@pytest.mark.parametrize(
    "line",
    [
        'show(f"{names["a"]}", torch.zeros(4).to(device))',
        'show(t"{names["a"]}", torch.zeros(4).to(device))',
        'show(f"{names["a"]:>{torch.zeros(4).to(device)}}")',
        'show(f"{names["a"]}", torch.zeros(int(f"{names["é"]}")).to(device))  # noqa: ABC',
        "x: Array[*Shape] = torch.zeros(4).to(device)",
        "type A = int; x = torch.zeros(4).to(device)",
        "show(torch.zeros(  # é\n            int(f'{names['a']}')).to(device))",
        "try: show(torch.zeros(4).to(device))\n        except ValueError, KeyError: pass",
    ],
)
def test_a_statement_with_newer_syntax_is_fixed(workspace: Build, line: str) -> None:
    """New code contains the file's text, and not its mask."""
    text = (
        "import torch\n\n\ndef rollout[T](env, names: T, steps, device):\n    for _ in range(steps):\n"
        f"        env.step(1)\n        {line}\n"
    )
    program = workspace({"train.py": text.encode()})
    assert len(program.findings({"RL205"})) == 1
    program.fix({"RL205"})
    fixed = program.content()["train.py"].decode()
    assert ").to(device)" not in fixed
    assert fixed.replace(", device=device)", ").to(device)") == text
    assert NEWEST.parse(fixed)


def test_a_moved_statement_keeps_its_strings(workspace: Build) -> None:
    """Lines of code are re-indented; those in a string, or in a field of one, are unchanged."""
    statement = 'logits = self.head(seen[f"""\n  {\n  names["a"]}\n"""])'
    text = (
        "from torch import nn\n\n\nclass Policy(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.head = nn.Linear(4, 2)\n\n"
        "    def act[T](self, seen, names: T):\n"
        f"        {statement}\n        return logits.argmax(dim=-1).item()\n\n\n"
        "def collect(env, policy: Policy, steps):\n    seen, _ = env.reset()\n    for _ in range(steps):\n"
        "        seen, *_ = env.step(policy.act(seen, {}))\n"
    )
    program = workspace({"train.py": text.encode()})
    assert program.fix({"RL301"})
    fixed = program.content()["train.py"].decode()
    assert f"        with torch.no_grad():\n            {statement}\n        return" in fixed


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('x = f"{a["b"]}"\ny = (\n', 2, 5),
        ("def f[T](): ...\n\nclass A:\n    x = = 1\n", 4, 9),
        ("type A = int\nx = 1 +\n", 2, None),
        ('x = f"{a <> b["c"]}"\n', 1, None),
        ("def f[T](x: T:\n    pass\n", 1, None),
    ],
)
def test_what_nothing_reads_is_reported_with_its_place(text: str, line: int, column: int | None) -> None:
    """The reported error is that of a newer Python, not the first of the running one."""
    problem = parse(text, "program.py")
    assert isinstance(problem, Problem)
    assert problem.message.startswith("SyntaxError")
    assert problem.line == line
    assert column is None or problem.column == column


@pytest.mark.parametrize(
    "line",
    [
        'print "x"',
        "print x, y",
        'exec "x = 1"',
        "try:\n    pass\nexcept ValueError, e:\n    print(e)",
        "try:\n    pass\nexcept (IOError, OSError), error:\n    pass",
        "x = `y`",
        "if x <> y: pass",
        "mode = 0777",
        'name = ur"x"',
        "size = 10L",
        'raise ValueError, "x"',
        "def f(a, (b, c)): pass",
    ],
)
def test_python_2_is_named(line: str) -> None:
    """For an old project, the error says that its files are Python 2."""
    problem = parse(f'names = f"{{1}}"\n{line}\n', "program.py")
    assert isinstance(problem, Problem), line
    assert problem.hint == "written for Python 2, which rlint does not support"
    assert problem.line is not None


@pytest.mark.parametrize(
    "line", ["x = 1 +", "def f(x=(1, 2:", "x = 'print y", "return = 3", "print(x", "x = [0, 1"]
)
def test_a_mistake_is_not_taken_for_python_2(line: str) -> None:
    """An incomplete program does not count as Python 2."""
    problem = parse(f"{line}\n", "program.py")
    assert isinstance(problem, Problem)
    assert "Python 2" not in (problem.hint or "")


def test_suppressions_of_newer_files(workspace: Build) -> None:
    """A comment suppresses a finding even if the running Python's tokenizer would see a string there."""
    text = PROGRAM.format(snippet=SNIPPETS["a quoted bracket"]).replace(
        "to(device)\n", "to(device)  # noqa: RL205\n"
    )
    assert workspace({"train.py": text.encode()}).findings({"RL205"}) == ()
    shown = text.replace("  # noqa: RL205", "")
    [finding] = workspace({"train.py": shown.encode()}).findings({"RL205"})
    assert suppressions.add_noqa(shown, [finding]) == text
    [key] = finding_keys([finding], lambda _: shown)
    assert (key.function, key.line) == ("rollout", "mask = torch.zeros(4).to(device)")


def test_notebooks_of_newer_python(workspace: Build) -> None:
    """Cells are read and written like files."""
    cells = ['x = f"{names["a"]}"\n%timeit x', PROGRAM.format(snippet="type A = int")]
    book = notebook(*cells).content
    program = workspace({"book.ipynb": book})
    assert len(program.findings({"RL205"})) == 1
    assert program.fix({"RL205"})
    assert program.content()["book.ipynb"] == book.replace(b"torch.zeros(4).to(device)", FIXED.encode())


def test_libcst_is_imported_for_newer_files_alone(tmp_path: Path) -> None:
    """It takes longer than checking a file."""
    program = tmp_path / "train.py"
    script = (
        "import sys\n"
        "from rlint.cli import main\n"
        "try:\n"
        "    main(['check', '--isolated', '--no-cache', '-j', '1', '--select', 'RL205',"
        f" '--output-format', 'concise', {str(program)!r}])\n"
        "except SystemExit:\n"
        "    print('libcst' in sys.modules)\n"
    )
    for snippet, imported in (("x = f'{1}'", False), ("def first[T](x: T): ...", sys.version_info < (3, 12))):
        program.write_text(PROGRAM.format(snippet=snippet))
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT
        )
        assert "RL205" in done.stdout
        assert done.stdout.splitlines()[-1] == str(imported), done.stderr


def test_a_fix_stays_within_the_running_python() -> None:
    """A file that the running Python can parse is never fixed to newer syntax."""
    old, new = "x = f'{y}'\n", "x = f'{y['a']}'\n"
    if native(new) is not None:
        pytest.skip("the running Python reads both")
    with pytest.raises(SyntaxError):
        NEWEST.parse_as(old, new)
    with pytest.raises(SyntaxError):
        RUNNING.parse(new)
    assert NEWEST.parse_as(new, new.replace("a", "b"))


def test_a_long_chain_is_read() -> None:
    """LibCST recurses into it, in its own and in Python code."""
    text = "def f[T](): ...\nx = " + " + ".join("a" * 300) + "\ny = " + '"a" ' * 300 + "\n"
    assert len(read_by_libcst(text).module.body) == 3


def test_names_of_types_are_names() -> None:
    """Type parameters and aliases bind names, each in its scope."""
    text = (
        "T = 1\n\n\nclass Box[T](list[T]):\n    kind = T\n\n    def put[U: T](self, x: U) -> U:\n"
        "        return T\n\n\n"
        "type Pair[V] = tuple[V, T]\n\n\ndef free(x: T):\n    return Pair\n"
    )
    syntax = SyntaxIndex(text, read(text))
    scopes = {}
    for name in syntax.of_type(ast.Name):
        scope = syntax.scope(name).lookup(name.id)
        scopes[name.lineno, name.id] = None if scope is None else scope.node
    box, pair = syntax.of_type(ast.ClassDef)[0], syntax.module.body[2]
    parameter = box.type_params[0]  # type: ignore[attr-defined]
    assert scopes[4, "T"] is scopes[5, "T"] is scopes[8, "T"] is scopes[7, "T"] is parameter
    assert scopes[7, "U"] is syntax.of_type(ast.FunctionDef)[0].type_params[0]  # type: ignore[attr-defined]
    assert scopes[11, "V"] is pair.type_params[0]  # type: ignore[attr-defined]
    assert scopes[11, "T"] is scopes[14, "T"] is scopes[11, "Pair"] is scopes[15, "Pair"] is syntax.module


def test_a_generic_network_is_a_network() -> None:
    """Classes and functions with type parameters are analysed as without."""
    model = model_of(
        "from torch import nn\n\n\nclass Net[T](nn.Module):\n    def forward[U](self, x: U) -> U:\n"
        "        return x\n\n\ndef make[T](x: T) -> T:\n    return Net()\n\n\nnet = Net()\nprint(make(1))\n"
    )
    assert model.types.type_of(expression(model, "net", last=True)).tag is TypeTag.MODULE
    assert model.names.qualified(expression(model, "make")) == "train.make"


def test_a_type_alias_means_what_it_is_given() -> None:
    """An annotation with a type parameter is analysed as one without."""
    model = model_of("import numpy as np\ntype Row = np.ndarray\n\n\ndef f(x: Row):\n    return x\n")
    assert model.types.type_of(expression(model, "x", last=True)).tag is TypeTag.NDARRAY


def test_newer_files_on_the_command_line(tmp_path: Path) -> None:
    """Standard input, diffs and cached results."""
    text = PROGRAM.format(snippet=SNIPPETS["nested quotes"])
    (tmp_path / "train.py").write_text(text)

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "rlint", *arguments, "--select", "RL205"]
        done = subprocess.run(
            command, cwd=tmp_path, input=text, capture_output=True, text=True, check=False, encoding="utf-8"
        )
        assert "error" not in done.stderr
        return done.stdout

    cold = run("check", "train.py")
    assert "RL205" in cold
    assert run("check", "train.py") == cold
    assert f"+        mask = {FIXED}" in run("check", "--diff", "--unsafe-fixes", "train.py")
    fixed = text.replace("torch.zeros(4).to(device)", FIXED)
    assert run("fix", "--unsafe-fixes", "-") == fixed
    run("fix", "--unsafe-fixes", "train.py")
    assert (tmp_path / "train.py").read_text() == fixed


def expressions() -> st.SearchStrategy[str]:
    """Expressions with f-strings in them, nested as only newer Pythons read them."""
    names = st.sampled_from(
        ["a", "b.c", "d[0]", "(é)", "'it''s'", '"x" "y"', "(yield)", "lambda: 0", "*a, 1"]
    )

    def holding(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        wrapped = inner.map(lambda text: f"({text})")
        fields = st.builds(
            "{{{}{}{}{}{}}}".format,
            st.sampled_from(["", " ", "\n"]),
            wrapped,
            st.sampled_from(["", " ", "  # it's\n", "="]),
            st.sampled_from(["", "!r", "!s"]),
            st.one_of(st.just(""), st.just(":>3"), wrapped.map(lambda text: f":{{{text}}}")),
        )
        texts = st.sampled_from(["", "é ", "{{}}", "\\n", " \\N{EM DASH} "])
        contents = st.lists(st.one_of(fields, texts), max_size=4).map("".join)
        strings = st.builds(
            lambda prefix, quote, content: f"{prefix}{quote}{content}{quote}",
            st.sampled_from(["f", "F", "f"]),
            st.sampled_from(['"', "'", '"""']),
            contents,
        )
        joined = st.lists(st.one_of(strings, st.just('"z"')), min_size=1, max_size=3).map(" ".join)
        return st.one_of(joined, wrapped, st.builds("{}[{}]".format, wrapped, wrapped))

    return st.recursive(names.map(lambda text: f"({text})"), holding, max_leaves=6)


@settings(max_examples=150)
@given(
    st.sampled_from(
        [
            "@named({})\nclass A[T: {}, *Ts](Base, key={}): pass\n",
            "def f[T: (\n{}, int)](x: {} = {}) -> T: ...\n",
            "class A:\n    type B[T] = (\n{}, {}\n)\n    x = {}\n",
            "def f(x={}):\n    try:\n        return {}\n    except A, B:\n        return {}\n",
            "x = ({}\n, {}, {})\n",
        ]
    ),
    st.tuples(expressions(), expressions(), expressions()),
)
def test_newer_syntax_within_newer_syntax(program: str, parts: tuple[str, str, str]) -> None:
    """With any nesting, each part is at its position, and equals that of the newest Python."""
    text = program.format(*parts)
    reading = read_by_libcst(text)
    check_places(text, reading)
    if sys.version_info >= (3, 13) and native(text) is not None:
        assert ast.dump(reading.module, include_attributes=True) == native(text)
