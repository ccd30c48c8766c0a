"""A figure opened, filled or redrawn in every episode of training.

## What it does
Flags repeated calls of matplotlib, seaborn, pandas, plotly, bokeh or visdom during training that no
condition limits:

- figures that are opened in every iteration and never closed;
- curves that are added to the same axes in every iteration and never removed;
- the whole figure drawn once per episode or per step to show one more value (`savefig`, `pause`, `draw`,
  `show`, `plotly.offline.plot`, `vis.line` without `update`, a figure passed to a summary writer).

The calls may be in the loop, where an episode ends, or in functions that are called from there.

The last is also flagged under an interval of up to 500 environment steps (`if step % 200 == 0:`), which often
take no longer than the figure.

The rule does not flag:

- calls limited by another interval, a flag or the best score so far;
- figures drawn once after training, and figures drawn once per epoch or batch of rollouts and closed;
- a curve updated with `set_data`;
- frames of a video, and environments that render themselves.

## Why is it slow
matplotlib lays out and draws a figure in Python, one text and one tick at a time. That takes longer than a
hundred steps of a small environment, and there are thousands of episodes. If curves accumulate, each redraw
draws all of them. Open figures keep their contents in memory.

## Example
```python
import gymnasium
import matplotlib.pyplot as plt


def train(agent, episodes: int) -> None:
    env = gymnasium.make("CartPole-v1")
    returns = []
    for episode in range(episodes):
        state, _ = env.reset()
        over, total = False, 0.0
        while not over:
            state, reward, terminated, truncated, _ = env.step(agent.act(state))
            agent.train_step(state, reward)
            over, total = terminated or truncated, total + reward
        returns.append(total)
        plt.plot(returns)
        plt.savefig("returns.png")
```
Use instead (by hand):
```python
import gymnasium
import matplotlib.pyplot as plt


def train(agent, episodes: int) -> None:
    env = gymnasium.make("CartPole-v1")
    returns = []
    for episode in range(episodes):
        state, _ = env.reset()
        over, total = False, 0.0
        while not over:
            state, reward, terminated, truncated, _ = env.step(agent.act(state))
            agent.train_step(state, reward)
            over, total = terminated or truncated, total + reward
        returns.append(total)
    plt.plot(returns)
    plt.savefig("returns.png")
    plt.close()
```

## Fix safety
There is only advice: only the author knows how often the curve should be shown. Drawing every hundredth
episode costs next to nothing. Alternatively, a summary writer (`add_scalar`) stores the values, and another
process draws them.

## References
- https://matplotlib.org/stable/users/explain/performance.html
- https://matplotlib.org/stable/api/_as_gen/matplotlib.pyplot.close.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Driver, Finding, GuardKind, Heat, Rule, SemanticModel
from rlint.rules.environments._shared.every_nth import counter_at
from rlint.rules.environments._shared.steps import trains_large_models
from rlint.rules.environments.rl608_replot_per_episode import plot_figures
from rlint.rules.environments.rl608_replot_per_episode.passes import PASS, pass_of
from rlint.rules.environments.rl608_replot_per_episode.plot_figures import Does

PERIOD = 100
_SHORT = 500
"""So many environment steps may take no longer than a figure: with a small network, a step takes about a
millisecond, and a figure takes a tenth of a second and more.
"""
_HOLD_BACK = frozenset(GuardKind) - {GuardKind.RANK, GuardKind.ENDS}
_DRAWING = ("render", "render_frame")


class ReplotPerEpisode(Rule):
    """RL608."""

    code = "RL608"
    name = "replot-per-episode"
    claims = ("time", "mem")
    heat = Heat.WARM
    visits = (ast.Call,)
    triggers = ("pyplot", "matplotlib", "pylab", "plotly", "seaborn", "visdom", "savefig", "bokeh")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the most expensive call of an iteration, the first of equals."""
        assert isinstance(node, ast.Call)
        if not plot_figures.uses_figures(model):
            return
        what = plot_figures.does(node, model)
        if what in (None, Does.EMPTIES) or is_drawn_on_demand(node, model):
            return
        often = how_often(node, model)
        if often is None:
            yield from self._check_interval(node, model)
            return
        if trains_large_models(model):
            return
        adjacent = calls_in_same_iteration(node, model)
        related = []
        leak = first_leak(adjacent, model)
        pile = first_of_pile(adjacent, model) if leak is None else None
        text = " ".join(model.source.text(node.func).split())
        rarely = how_rarely(node, model)
        if node is leak:
            message = f"`{text}` opens another figure in every {often} and never closes one"
            advice = f"Draw {rarely} or once after training, and close the figure (`plt.close`)"
        elif node is pile:
            message = (
                f"`{text}` adds to the same figure in every {often} and removes nothing: each redraw "
                f"repeats everything before it"
            )
            advice = f"Draw {rarely} or once after training, or update one curve with `set_data`"
        elif leak is None and pile is None and node is first_drawing(adjacent, often, model):
            message = (
                f"`{text}` redraws the whole figure in every {often}, which takes longer than many steps"
            )
            advice = f"Draw {rarely} or once after training"
            first = adjacent[0][0]
            related = [(first, "here its drawing begins")] if first is not node else []
        else:
            return
        yield self.finding(model, node, message, advice=advice, related=related)

    def _check_interval(self, node: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the first call that draws a figure after each few environment steps."""
        period = short_interval(node, model)
        if period is None or trains_large_models(model):
            return
        adjacent = calls_in_same_iteration(node, model)
        often = Driver.ENVIRONMENT_STEP.value
        if node is not first_drawing(adjacent, often, model) or is_given_away(node, model):
            return
        text = " ".join(model.source.text(node.func).split())
        yield self.finding(
            model,
            node,
            f"`{text}` redraws the whole figure every {period} {often}s, which often takes as long as "
            f"these steps",
            advice="Draw every few thousand steps, or once after training",
        )


def is_drawn_on_demand(call: ast.Call, model: SemanticModel) -> bool:
    """Whether it is an environment with a rendering method of its own."""
    function = model.function(call)
    if function is not None and function.name.strip("_") in _DRAWING:
        return True
    owner = model.class_of(call)
    return owner is not None and all(model.method(owner, name) is not None for name in ("step", "reset"))


def how_often(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the training iteration in which a call always runs; None if it is under a condition."""
    beat = model.frequency.cadence(call)
    if beat is None or any(guard.kind in _HOLD_BACK for guard in beat.guards):
        return None
    often: str | None = pass_of(call, model)
    return often


def short_interval(call: ast.Call, model: SemanticModel) -> int | None:
    """Return the number of environment steps of a training after which a call always runs; None if it is
    large, or if there is another condition.
    """
    beat = model.frequency.cadence(call)
    if beat is None or Driver.ENVIRONMENT_STEP not in beat.drivers:
        return None
    held = [guard for guard in beat.guards if guard.kind in _HOLD_BACK]
    if len(held) != 1 or any(guard.kind is GuardKind.ENDS for guard in beat.guards):
        return None
    period = held[0].period if held[0].kind is GuardKind.INTERVAL else None
    if period is None or period > _SHORT or pass_of(call, model) != Driver.ENVIRONMENT_STEP.value:
        return None
    return period


def how_rarely(call: ast.Call, model: SemanticModel) -> str:
    """Return when to draw instead."""
    counter = counter_at(model.syntax.statement(call), model, PERIOD)
    return f"`if {counter} % {PERIOD} == 0:`" if counter is not None else f"in one of {PERIOD} iterations,"


def calls_in_same_iteration(call: ast.Call, model: SemanticModel) -> list[tuple[ast.Call, Does]]:
    """Return what the same iteration does to figures in the same function, under the same interval, in the
    order of the lines.
    """
    by_pass = model.once(calls_by_pass, model.syntax.module)
    return by_pass.get(_iteration(call, model), [])


def calls_by_pass(
    _module: ast.Module, model: SemanticModel
) -> dict[tuple[object, ...], list[tuple[ast.Call, Does]]]:
    """Return the same for all functions of the file, and the loops in them."""
    found: dict[tuple[object, ...], list[tuple[ast.Call, Does]]] = {}
    for call in model.frequency.warm_nodes(ast.Call):
        assert isinstance(call, ast.Call)
        what = plot_figures.does(call, model)
        if what is not None and (
            how_often(call, model) is not None or short_interval(call, model) is not None
        ):
            found.setdefault(_iteration(call, model), []).append((call, what))
    return found


def _iteration(call: ast.Call, model: SemanticModel) -> tuple[object, ...]:
    return model.function(call), model.frequency.driving_loop(call), short_interval(call, model)


def may_be_closed(_module: ast.Module, model: SemanticModel) -> bool:
    """Whether any code in the file, or in one that calls it, may close a figure."""
    return _is_cleared(model, closes=True)


def may_be_cleared(_module: ast.Module, model: SemanticModel) -> bool:
    """Whether any code in the file, or in one that calls it, may clear a figure."""
    return _is_cleared(model, closes=False)


def _is_cleared(model: SemanticModel, *, closes: bool) -> bool:
    """Whether any code in the file, or in one that calls it, may close a figure (or else clear it)."""
    for node in model.syntax.of_type(ast.Call):
        assert isinstance(node, ast.Call)
        what = plot_figures.does(node, model)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if what is Does.EMPTIES and (not closes or name in ("close", "")):
            return True
        if name == "add_figure" or (waits_in_window(node, model) and not shows_on(model)):
            return True
        if not closes and name == "remove" and not node.args:
            return True
    other_edits: bool = plot_figures.may_close(model)
    return other_edits


def waits_in_window(call: ast.Call, model: SemanticModel) -> bool:
    """Whether it is `plt.show()` while the training runs. It blocks until the windows are closed."""
    shows = model.names.qualified(call.func) == "matplotlib.pyplot.show" and not call.keywords
    return shows and model.frequency.heat_of(call).level is not Heat.COLD


def shows_on(model: SemanticModel) -> bool:
    """Whether windows stay open while the program runs (`plt.ion()`)."""
    return any(
        model.names.qualified(use) == "matplotlib.pyplot.ion" for use in model.names.attribute_uses("ion")
    )


def first_leak(adjacent: list[tuple[ast.Call, Does]], model: SemanticModel) -> ast.Call | None:
    """Return the first figure that is opened in each iteration, if none is closed or passed on."""
    makes = [call for call, what in adjacent if what is Does.MAKES and plot_figures.creates_new_figure(call)]
    if not makes or is_given_away(makes[0], model) or model.once(may_be_closed, model.syntax.module):
        return None
    return makes[0]


def is_given_away(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the function returns figures, or stores them for other code."""
    function = model.function(call)
    if function is None:
        return False
    for node in ast.walk(function):
        if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
            parts = [
                part for part in ast.walk(node.value) if isinstance(part, (ast.Name, ast.Attribute, ast.Call))
            ]
            if any(plot_figures.is_figure(part, model) or part is call for part in parts):
                return True
    return False


def first_of_pile(adjacent: list[tuple[ast.Call, Does]], model: SemanticModel) -> ast.Call | None:
    """Return the first call that adds to an existing figure, if nothing is removed from it."""
    adds = [call for call, what in adjacent if what is Does.ADDS]
    if not adds or any(
        what is Does.MAKES and plot_figures.creates_new_figure(call) for call, what in adjacent
    ):
        return None
    drawn = any(what is Does.DRAWS for _, what in adjacent)
    if not (drawn or any(adds_all_again(call, model) for call in adds)) or model.once(
        may_be_cleared, model.syntax.module
    ):
        return None
    return adds[0]


def adds_all_again(call: ast.Call, model: SemanticModel) -> bool:
    """Whether one of the arguments is a list that the same function appends to in the same iteration."""
    loop = model.frequency.driving_loop(call)
    grown = {
        model.source.text(other.func.value)
        for other in model.names.calls_named("append", model.function(call))
        if isinstance(other.func, ast.Attribute)
        and loop is not None
        and model.frequency.driving_loop(other) is loop
    }
    return any(model.source.text(argument) in grown for argument in call.args)


def first_drawing(adjacent: list[tuple[ast.Call, Does]], often: str, model: SemanticModel) -> ast.Call | None:
    """Return the first call that draws a figure whose curves are created again."""
    if often == PASS or plot_figures.gives_new_data(model) or plot_figures.makes_video(model):
        return None
    return next((call for call, what in adjacent if what is Does.DRAWS), None)
