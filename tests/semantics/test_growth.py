"""Arrays that grow: which assignments count as growth, which loops carry it, and how many iterations these
have.
"""

from __future__ import annotations

import ast

import pytest

from project_builder import find, model_of
from rlint.semantics.dataflow.array_growth import ArrayGrowth, growth_of
from rlint.semantics.dataflow.loop_carried import carried_by_calls, carried_by_loops, reads_in
from rlint.semantics.frequency.trip_count import over_components, passes
from rlint.semantics.model import SemanticModel

IMPORTS = "import numpy as np\nimport torch\nfrom numpy import concatenate as cat\n"


def growth_in(
    body: str, *, head: str = "def f(self, x, row, steps, env):"
) -> tuple[ArrayGrowth, SemanticModel]:
    """The only growth in a function with this body."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    model = model_of(f"{IMPORTS}{head}\n{lines}")
    statements = [
        node for node in ast.walk(model.syntax.module) if isinstance(node, (ast.stmt, ast.NamedExpr))
    ]
    [found] = [growth for growth in (growth_of(node, model) for node in statements) if growth is not None]
    return found, model


@pytest.mark.parametrize(
    ("statement", "function"),
    [
        ("x = np.concatenate((x, row), axis=0)", "numpy.concatenate"),
        ("x = cat([x, *row])", "numpy.concatenate"),
        ("x = np.append(row, x)", "numpy.append"),
        ("x = np.append(x, values=row)", "np.append"),
        ("x = np.insert(x, len(x), row)", "np.insert"),
        ("x = np.insert(arr=x, obj=x.shape[0], values=row, axis=0)", "np.insert"),
        ("x = np.insert(x, 0, row)", "np.insert"),
        ("x = np.r_[x, row]", "numpy.r_"),
        ("x = torch.concat(tensors=[x, row], dim=-1).to(env)", "torch.cat"),
        ("x = row if x is None else torch.hstack((x, row))", "torch.hstack"),
        ("x = np.row_stack((x, row))[-steps:, :]", "numpy.vstack"),
        ("self.x = np.append(self.x[-steps:], row, axis=0)", "numpy.append"),
        ('self.x["obs"] = np.vstack((self.x["obs"], row))', "numpy.vstack"),
        ("longer = np.append(self.x, row)\nself.x = longer", "numpy.append"),
        ("old = self.x\nself.x = np.append(old, row)", "numpy.append"),
        ("(x := np.append(x, row))", "numpy.append"),
    ],
)
def test_what_joins_a_variable_to_itself_is_growth(statement: str, function: str) -> None:
    """Functions, operators, trims, aliases and conditions around the join make no difference."""
    growth, _ = growth_in(statement)
    assert growth.join.function == function


@pytest.mark.parametrize(
    "statement",
    [
        "x = torch.cat(x)",
        "x = np.insert(x, steps, row)",
        "x = np.insert(x, len(row), row)",
        "x = np.concatenate((row, row))",
        "x = np.concatenate((x, x))",
        "x = np.concatenate((row, x, row))",
        "x = np.append(x, np.zeros(steps))",
        "x = torch.cat([x, torch.full((steps,), 0)])",
        "x = np.stack((x, row))",
        "x.y = np.append(self.y, row)",
        'x["a"] = np.append(x["b"], row)',
    ],
)
def test_other_joins_are_none(statement: str) -> None:
    """Casts, doubling, padding and concatenations of other values are no growth."""
    model = model_of(f"{IMPORTS}def f(self, x, row, steps):\n    {statement}\n")
    assert growth_of(find(model, statement), model) is None


@pytest.mark.parametrize(
    ("body", "loops"),
    [
        ("for i in steps:\n    x = np.append(x, i)", ["for i in steps"]),
        ("for e in env:\n    x = row\n    for i in e:\n        x = np.append(x, i)", ["for i in e"]),
        ("for e in env:\n    for i in e:\n        x = np.append(x, i)", ["for i in e", "for e in env"]),
        ("for i in steps:\n    x = row(i)\n    x = np.append(x, i)", []),
        ("for k in row:\n    x[k] = np.append(x[k], row[k])", []),
        ("while env:\n    for k in row:\n        x[k] = np.append(x[k], row[k])", ["while env"]),
        ("while env:\n    x = {}\n    for k in row:\n        x[k] = np.append(x[k], row[k])", []),
        ("x = np.append(x, row)", []),
    ],
)
def test_loops_carry_a_variable_that_they_do_not_rebind(body: str, loops: list[str]) -> None:
    """A concatenation of values from the same iteration is no growth; neither is an entry per iteration."""
    growth, model = growth_in(body)
    headers = [model.analysis.loops.header(loop) for loop in carried_by_loops(growth, model).loops]
    assert headers == loops


@pytest.mark.parametrize(
    ("body", "carried"),
    [
        ("self.x = np.append(self.x, row)", True),
        ("if env:\n    self.x = np.append(self.x, row)", True),
        ("self.x = self.x[-steps:]\nself.x = np.append(self.x, row)", True),
        ("self.x = row\nself.x = np.append(self.x, row)", False),
        ("self.x = {}\nif env:\n    self.x['a'] = np.append(self.x['a'], row)", False),
        ("x.y = np.append(x.y, row)", False),
        ("global y\ny = np.append(y, row)", True),
    ],
)
def test_calls_carry_what_outlives_them(body: str, carried: bool) -> None:
    """Attributes of the instance and globals persist between calls, unless a call resets them."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    model = model_of(f"{IMPORTS}y = 1\nclass C:\n    def f(self, x, row, steps, env):\n{lines}")
    growths = [growth_of(node, model) for node in ast.walk(model.syntax.module)]
    [growth] = [found for found in growths if found is not None]
    assert carried_by_calls(growth, model) is carried


@pytest.mark.parametrize(
    ("line", "sort"),
    [
        ("env(x)", "whole"),
        ("y = x.mean()", "whole"),
        ("y = len(x) + x.shape[0] + x[-1]", "part"),
        ("if env.done:\n        env(x)\n        x = row", "rare"),
        ("if env.done:\n        return x", "rare"),
    ],
)
def test_reads_of_a_growing_array_are_distinguished(line: str, sort: str) -> None:
    """Reading the whole array in each iteration costs as much as the concatenation; reading its length or
    single rows does not.
    """
    growth, model = growth_in(f"for i in steps:\n    x = np.append(x, i)\n    {line}")
    reads = reads_in(growth, carried_by_loops(growth, model).loops[-1], model)
    assert [kind for kind in ("whole", "rare", "part") if getattr(reads, kind)] == [sort]


@pytest.mark.parametrize(
    ("iterable", "count", "components"),
    [
        ("range(5)", 5, False),
        ("range(2, N)", 298, False),
        ("enumerate((1, 2, 3))", 3, False),
        ("zip(steps, range(4))", 4, False),
        ("range(few)", 7, False),
        ("steps", None, False),
        ("range(steps)", None, False),
        ("env.keys()", None, True),
        ("self.layers", None, True),
        ("range(self.n_agents)", None, True),
        ("enumerate(obs_keys)", None, True),
        ("range(n_steps)", None, False),
        ("self.rollouts", None, False),
    ],
)
def test_the_length_of_a_loop(iterable: str, count: int | None, components: bool) -> None:
    """Constants determine the number of iterations; names show that a loop iterates over the parts of an
    object.
    """
    head = "N = 300\ndef f(self, steps, env, obs_keys, n_steps, few=7):\n"
    model = model_of(f"{head}    for i in {iterable}:\n        g(i)\n")
    [loop] = model.syntax.of_type(ast.For)
    assert (passes(loop, model), over_components(loop, model)) == (count, components)
