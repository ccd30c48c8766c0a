"""Plugin rules on LibCST nodes: the examples of the guide, in files of all kinds, and the messages about
mistakes in a rule.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fixture_folders import ROOT
from notebook_files import notebook
from rlint.cli import cli
from rlint.registry import catalogue

Run = Callable[..., Result]

GUIDE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
FILE = re.compile(
    r"^<!-- (?:file|addition): (acme_rlint/\S+) -->\n(`{3,})\w+\n(.*?)^\2$", re.MULTILINE | re.DOTALL
)
PROGRAM = """\
import torch
from torch import log


def learn(net: torch.nn.Module, batches, optimizer):
    for batch in batches:
        counts: torch.Tensor = net(batch)
        loss = torch.log(1 + counts).sum() * torch.log(  # of all
            (counts * 2) + 1.0
        ).mean() + log(1 + counts).sum()
        loss.backward()
        optimizer.step()
    return torch.chain_matmul(counts, *batches, out=counts) @ torch.log(1 + counts)
"""
FIXED = """\
import torch
from torch import log


def learn(net: torch.nn.Module, batches, optimizer):
    for batch in batches:
        counts: torch.Tensor = net(batch)
        loss = torch.log1p(counts).sum() * torch.log1p(  # of all
            (counts * 2)
        ).mean() + log(1 + counts).sum()
        loss.backward()
        optimizer.step()
    return torch.linalg.multi_dot([counts, *batches], out=counts) @ torch.log(1 + counts)
"""
HEAD = '''\
"""A rule."""

from __future__ import annotations

import ast

import libcst as cst

from rlint.rule import Applicability, Finding, Fix, Heat, Rule


class Tried(Rule):
    code = "ACME199"
    name = "tried"
    heat = Heat.COLD
'''


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the guide's plugin, as an installer leaves it."""
    for name, _, text in FILE.findall(GUIDE):
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    metadata = tmp_path / "site" / "acme_rlint-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rlint\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[rlint.rules]\nacme = acme_rlint\n")
    return tmp_path / "site"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, whose configuration names the plugin."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "rlint.toml").write_text('plugins = ["acme-rlint"]\nselect = ["ACME"]\n')
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(site: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """`run("check")` is `rlint check` in the project, in this process, with the plugin installed."""
    assert project.is_dir()
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(catalogue, "_added", {})

    def forget() -> None:
        catalogue.catalogue.cache_clear()
        catalogue._make.cache_clear()
        for module in [name for name in sys.modules if name.partition(".")[0] == "acme_rlint"]:
            del sys.modules[module]

    forget()
    yield lambda *arguments: CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    forget()


def test_the_guides_rules_find_and_fix(run: Run, project: Path) -> None:
    """Calls are filtered by callee, type and heat; comments and parentheses are kept, and a cold call is not
    flagged.
    """
    (project / "train.py").write_text(PROGRAM)
    done = run("check", "--output-format", "concise", "--no-cache")
    assert re.findall(r":(\d+:\d+): (ACME\d+ \S+)", done.stdout) == [
        ("8:16", "ACME151 The"),
        ("8:46", "ACME151 The"),
        ("13:12", "ACME152 [*]"),
    ]
    assert run("fix", "--unsafe-fixes").exit_code == 0
    assert (project / "train.py").read_text() == FIXED


def test_notebooks_and_newer_files(run: Run, project: Path) -> None:
    """LibCST nodes have correct positions in cells, and in files that the running Python may refuse."""
    (project / "some.ipynb").write_bytes(
        notebook("%matplotlib inline\nimport torch", "c = torch.chain_matmul(a, b)").content
    )
    (project / "newer.py").write_text(
        "import torch\n\n\ndef product[T](a: T, b: T) -> T:\n"
        '    print(f"{\'é\' + f"{a}"}"); return torch.chain_matmul(a, b)\n'
    )
    assert run("fix").exit_code == 0
    assert "torch.linalg.multi_dot([a, b])" in (project / "some.ipynb").read_text()
    assert (project / "newer.py").read_text().endswith("; return torch.linalg.multi_dot([a, b])\n")


def test_libcst_is_imported_for_rules_that_use_it_alone(site: Path, project: Path) -> None:
    """Neither listing the rules nor checking other rules of the plugin imports LibCST."""
    (project / "train.py").write_text(
        'import torch\n\nwhile "a" not in list(env.info.keys()):\n    env.step(1)\n'
    )
    script = (
        "import sys\n"
        f"sys.path.insert(0, {str(site)!r})\n"
        "from rlint.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print('libcst' in sys.modules)"
    )
    for arguments, imported in (
        (["rules"], "False"),
        (["check", "-j1", "--select", "ACME101", "--output-format", "concise"], "False"),
        (["check", "-j1", "--select", "ACME151", "--output-format", "concise"], "True"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            cwd=project,
            env={"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split()[-1] == imported, done.stdout


def write_rule(site: Path, body: str) -> None:
    """Put a rule into the plugin."""
    (site / "acme_rlint/tensors/acme199_tried.py").write_text(HEAD + body)


VISITS = {
    "function": (
        "    visits = (cst.FunctionDef,)\n"
        "    def check(self, node, model):\n"
        "        class Renamed(cst.CSTTransformer):\n"
        "            def leave_Name(self, original_node, updated_node):\n"
        "                return updated_node.with_changes(value=updated_node.value.replace('x', 'y'))\n"
        "        if 'x' not in model.source.text(node):\n            return\n"
        "        fix = Fix('y', Applicability.SAFE, (model.edit.replace(node, node.visit(Renamed())),))\n"
        "        yield self.finding(model, node, model.ast_of(node).name, fix=fix)\n",
        "# kept\n@staticmethod\ndef f(x=1, *, a):  # too\n\n    # this\n    return (x +\n            a)\n",
        "# kept\n@staticmethod\ndef f(y=1, *, a):  # too\n\n    # this\n    return (y +\n            a)\n",
    ),
    "statements": (
        "    visits = (cst.With, cst.Assert, cst.Expr)\n"
        "    def check(self, node, model):\n"
        "        new = node.body if isinstance(node, cst.With) else None\n"
        "        if isinstance(node, cst.Expr):\n"
        "            if model.effects.effect_of(node.value).quiet or model.source.text(node) != 'g(a)':\n"
        "                return\n"
        "            new = [cst.parse_statement('del b'), cst.parse_statement('a = 1')]\n"
        "        fix = Fix('y', Applicability.SAFE, (model.edit.replace(node, new),))\n"
        "        yield self.finding(model, node, 'x', fix=fix)\n",
        "def f(a, b):\n    with a:\n        b.append('''x\n  y''')  # 1\n    assert b; g(a)\n    return a\n",
        "def f(a, b):\n    b.append('''x\n  y''')  # 1\n    del b\n    a = 1\n    return a\n",
    ),
    "parentheses": (
        "    visits = (cst.Subscript,)\n"
        "    def check(self, node, model):\n"
        "        one = cst.BinaryOperation(node.value, cst.Add(), cst.Integer('1'))\n"
        "        new = cst.Attribute(one, cst.Name('real'))\n"
        "        if model.source.text(node.value) == 'a':\n"
        "            new = one\n"
        "        fix = Fix('y', Applicability.SAFE, (model.edit.replace(node, new),))\n"
        "        yield self.finding(model, node, 'x', fix=fix)\n",
        "x = a[0] * 2 + b[0] + a[1]\ny = 3 if(b[0])else[a[0]for i in x]\n",
        "x = (a + 1) * 2 + (b + 1).real + (a + 1)\ny = 3 if((b + 1).real)else[a + 1 for i in x]\n",
    ),
    "strings": (
        "    visits = (cst.SimpleString, cst.Integer)\n"
        "    def check(self, node, model):\n"
        "        fix = Fix('y', Applicability.SAFE, (model.edit.replace(node, 'None'),))\n"
        "        yield self.finding(model, node, 'x', fix=fix)\n",
        "x = ['a', 'b' 'c', 1, 1.0, True, f'{x}', b'']\n",
        "x = [None, 'b' 'c', None, 1.0, True, f'{x}', None]\n",
    ),
}
"""Rules on several node types: the rest of the class, a program, and the fixed program."""


@pytest.mark.parametrize("name", VISITS)
def test_any_node_can_be_visited(name: str, site: Path, run: Run, project: Path) -> None:
    """Functions, statements, operands and constants are replaced in place, and nothing else changes."""
    body, before, after = VISITS[name]
    write_rule(site, body)
    (project / "train.py").write_text(before)
    done = run("fix", "--select", "ACME199")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert (project / "train.py").read_text() == after


CHECK = "    def check(self, node, model):\n        yield self.finding(model, node, 'x')\n"
MISTAKES = {
    "dotted": (
        "    visits = (ast.Call,)\n    callees = ('time.time',)\n" + CHECK,
        "such as `frozenset({'time'})`",
    ),
    "dotted-set": (
        "    visits = (ast.Call,)\n    callees = frozenset({'time.time'})\n" + CHECK,
        "the dotted name `time.time`: write `time`, or `last_names('time.time')`",
    ),
    "one-name": ("    visits = (cst.Call,)\n    callees = 'time'\n" + CHECK, "not the text 'time'"),
    "no-call": (
        "    visits = (ast.For,)\n    callees = frozenset({'f'})\n" + CHECK,
        "`callees` is for rules that visit calls",
    ),
    "no-attribute": (
        "    visits = (cst.For,)\n    attributes = frozenset({'f'})\n" + CHECK,
        "`attributes` is for rules that visit attributes",
    ),
    "mixed": ("    visits = (ast.Call, cst.Call)\n" + CHECK, "mixes types of `ast` with types of LibCST"),
    "no-type": ("    visits = ('Call',)\n" + CHECK, "must hold types of nodes of `ast` or of LibCST"),
    "no-tuple": ("    visits = ast.Call\n" + CHECK, "`visits` must be a tuple"),
    "nothing": (CHECK, "`visits` must be a tuple"),
    "abstract": ("    visits = (ast.expr,)\n" + CHECK, "no node is of exactly this type"),
    "comma": ("    visits = (cst.Comma,)\n" + CHECK, "which has no counterpart in `ast`"),
    "one-trigger": (
        "    visits = (ast.Call,)\n    triggers = 'torch'\n" + CHECK,
        "`triggers` must be a tuple of texts, such as `('torch',)`",
    ),
    "heat": ("    visits = (ast.Call,)\n    heat = 'hot'\n" + CHECK, "`heat` must be one of `Heat`"),
    "no-check": ("    visits = (ast.Call,)\n", "it has no method `check`"),
    "misspelled": (
        "    visits = (ast.Call,)\n    trigers = ('torch',)\n" + CHECK,
        "`trigers` is not a declaration of a rule; did you mean `triggers`?",
    ),
    "flag": ("    visits = (ast.Call,)\n    opt_in = 'yes'\n" + CHECK, "`opt_in` must be True or False"),
    "claim": ("    visits = (ast.Call,)\n    claims = ('speed',)\n" + CHECK, "`claims` contains `speed`"),
    "parameters": (
        "    visits = (ast.Call,)\n    def check(self, node):\n        return iter(())\n",
        "`check` must take `(self, node, model)`",
    ),
    "other-name": (
        "    name = 'other'\n    visits = (ast.Call,)\n" + CHECK,
        "must declare `code = 'ACME199'` and `name = 'tried'`, as the file name says",
    ),
}
"""Mistakes because of which a rule would find nothing: the rest of the class, and the message."""


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_a_rule_is_reported(name: str, site: Path, run: Run, project: Path) -> None:
    """`rlint check`, which skips the rule and continues, and `rlint rule` report a mistake in the same
    words.
    """
    body, said = MISTAKES[name]
    write_rule(site, body)
    (project / "train.py").write_text("import torch\n\nprint(torch.chain_matmul(a, b))\n")
    done = run("check", "--output-format", "json", "--no-cache")
    assert [entry["code"] for entry in json.loads(done.stdout) if entry["code"]] == ["ACME152"]
    assert "ACME199 of plugin `acme-rlint` cannot be used and is skipped: " in done.stderr
    assert said in done.stderr
    shown = run("rule", "ACME199")
    assert shown.exit_code == 1
    assert said in shown.stderr
    assert run("rule", "ACME151").exit_code == 0


def test_a_newly_created_node_is_named(site: Path, run: Run, project: Path) -> None:
    """A node that rlint did not parse is an error that the plugin's author sees."""
    write_rule(
        site,
        "    visits = (cst.Call,)\n    def check(self, node, model):\n"
        "        yield self.finding(model, node, str(model.types.type_of(cst.Name('x'))))\n",
    )
    (project / "train.py").write_text("print(1)\n")
    errors = run("check", "--no-cache").stderr
    assert "this `Name` is not a node of the checked file: it was newly created" in errors


def test_the_rules_of_rlint_have_no_such_mistake() -> None:
    """Built-in rules satisfy the same checks as plugins."""
    from rlint.registry.rule_mistakes import mistake

    codes = [entry.code for entry in catalogue.catalogue()]
    assert [(rule.code, wrong) for rule in catalogue.load(codes) if (wrong := mistake(type(rule)))] == []
