"""What libraries do is told once, below `rlint/models`: no other module keeps a list of their functions."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

import pytest

from fixture_folders import ROOT
from rlint import models
from rlint.models import by_trait

MOST = 4
"""Names of library functions that a literal may hold: so many may be told apart from a property."""

EXCEPTIONS = {
    "rlint/harness/compare/files_written.py": "names of audit events of the interpreter",
    "rlint/regex.py": "methods that an object of rlint has of its own",
}
"""Modules whose lists say nothing of what library functions do."""

OPEN: set[str] = {
    "rules/buffers/rl101_concat_grown_buffer/empty_start.py",
    "rules/buffers/rl101_concat_grown_buffer/growth_cost.py",
    "rules/buffers/rl101_concat_grown_buffer/parts_list.py",
    "rules/buffers/rl101_concat_grown_buffer/surely_fits.py",
    "rules/buffers/rl102_list_indexed_sample/gathered.py",
    "rules/buffers/rl103_tensor_from_array_list.py",
    "rules/buffers/rl104_object_replay_buffer/object_store.py",
    "rules/buffers/rl105_alloc_in_hot_loop/allocated.py",
    "rules/buffers/rl105_alloc_in_hot_loop/overwritten.py",
    "rules/buffers/rl106_redundant_reshape/reshapes.py",
    "rules/buffers/rl109_float64_buffer/read_as.py",
    "rules/buffers/rl113_whole_history_statistic/__init__.py",
    "rules/buffers/rl113_whole_history_statistic/history.py",
    "rules/computation/_shared/names.py",
    "rules/computation/_shared/pattern_uses.py",
    "rules/computation/_shared/sharing.py",
    "rules/computation/_shared/worth.py",
    "rules/computation/rl502_regex_per_call/regex_lists.py",
    "rules/computation/rl503_repeated_string_work/text_work.py",
    "rules/computation/rl504_uncached_model_load/loads.py",
    "rules/computation/rl505_scalar_loop_over_array/__init__.py",
    "rules/computation/rl505_scalar_loop_over_array/elements.py",
    "rules/computation/rl506_scalar_reward_loop/later_sums.py",
    "rules/computation/rl506_scalar_reward_loop/small_tensors.py",
    "rules/computation/rl507_per_call_clip_bounds/bounds.py",
    "rules/computation/rl508_numpy_on_scalar/scalar_calls.py",
    "rules/debugging/_shared/copies.py",
    "rules/debugging/_shared/log_calls.py",
    "rules/debugging/_shared/raised_errors.py",
    "rules/debugging/_shared/uses.py",
    "rules/debugging/rl702_weight_compare_on_sync/comparisons.py",
    "rules/environments/_shared/each_pass.py",
    "rules/environments/_shared/every_nth.py",
    "rules/environments/rl603_env_built_in_loop.py",
    "rules/environments/rl604_log_every_step/step_logs.py",
    "rules/networks/rl303_hard_target_copy/followers.py",
    "rules/networks/rl304_looped_target_update/blends.py",
    "rules/networks/rl307_out_of_place_activation.py",
    "rules/networks/rl314_unbatched_forward/__init__.py",
    "rules/networks/rl314_unbatched_forward/per_item.py",
    "rules/networks/rl315_recomputed_constant/constant.py",
    "rules/networks/rl315_recomputed_constant/constant_fix.py",
    "rules/networks/rl315_recomputed_constant/makers.py",
    "rules/networks/rl318_graph_kept_by_log/kept_graphs.py",
    "rules/networks/rl321_validated_distribution/__init__.py",
    "rules/networks/rl321_validated_distribution/diagonal.py",
    "rules/networks/rl323_discarded_forward/__init__.py",
    "rules/processes/rl401_busy_wait_sleep/branches.py",
    "rules/processes/rl401_busy_wait_sleep/idle.py",
    "rules/processes/rl401_busy_wait_sleep/looks.py",
    "rules/processes/rl401_busy_wait_sleep/poll_names.py",
    "rules/processes/rl401_busy_wait_sleep/polls.py",
    "rules/processes/rl403_shared_counter_lock/counters.py",
    "rules/transfers/_shared/made.py",
    "rules/transfers/rl201_blocking_transfer/transfer_sources.py",
    "rules/transfers/rl202_host_round_trip/host_reads.py",
    "rules/transfers/rl202_host_round_trip/read_together.py",
    "rules/transfers/rl202_host_round_trip/round_trips.py",
    "rules/transfers/rl202_host_round_trip/stacked.py",
    "rules/transfers/rl206_python_list_tensor/__init__.py",
    "rules/transfers/rl206_python_list_tensor/formulas.py",
    "rules/transfers/rl207_unpinned_loader/feeds.py",
    "rules/transfers/rl208_copy_into_tensor/lent.py",
    "rules/transfers/rl210_item_per_element/__init__.py",
    "rules/transfers/rl210_item_per_element/read_at_once.py",
    "rules/transfers/rl211_widen_before_transfer/widened.py",
}
"""Modules that keep such lists still."""

NAME = re.compile(r"[A-Za-z_][\w.]*")


@functools.cache
def known_names() -> frozenset[str]:
    """Names of functions and methods that libraries have: those of rows, and of containers and text."""
    methods = {name for table in by_trait.METHODS.values() for name in table}
    functions = {name.rpartition(".")[2] for name in by_trait.CALLABLES}
    built_in = {name for cls in (str, bytes, list, dict, set, tuple) for name in dir(cls)}
    return frozenset(methods | functions | built_in)


def literals(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """Each collection of texts that is written out, or written as one text that is split."""
    for node in ast.walk(tree):
        match node:
            case ast.Set(elts=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
                given = parts
            case ast.Dict(keys=keys):
                given = [key for key in keys if key is not None]
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split"), args=[]):
                yield node.lineno, text.split()
                continue
            case ast.Call(func=ast.Name(id="words"), args=[ast.Constant(value=str(text))]):
                yield node.lineno, text.split()
                continue
            case _:
                continue
        texts = [
            part.value for part in given if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
        if 2 * len(texts) > len(given):
            yield node.lineno, texts


def lists_of(path: str) -> list[str]:
    """The literals of a module that name library functions for the most part."""
    found = []
    for line, texts in literals(ast.parse((ROOT / path).read_bytes())):
        known = [text for text in texts if text.rpartition(".")[2] in known_names()]
        if len(set(known)) > MOST and 2 * len(known) > len(texts) and all(map(NAME.fullmatch, texts)):
            found.append(f"{path}:{line}: {' '.join(texts)}")
    return found


MODULES = sorted(
    str(path.relative_to(ROOT))
    for folder in ("rlint", "rules")
    for path in (ROOT / folder).rglob("*.py")
    if not path.is_relative_to(ROOT / "rlint" / "models")
)


@pytest.mark.parametrize("path", MODULES)
def test_lists_of_library_functions_are_in_the_models(path: str) -> None:
    """A fact that is written down twice is wrong in one place sooner or later. Ask `models.having`, and give
    the rows the property that they lack.
    """
    found = lists_of(path)
    if path in OPEN | EXCEPTIONS.keys():
        assert found, f"{path} has no such list any more: take it off the list"
    else:
        assert not found, "\n".join(found)


def test_a_list_of_library_functions_is_recognised() -> None:
    """In all forms in which lists are written."""
    for written in (
        '{"reshape", "view", "flatten", "ravel", "squeeze"}',
        'frozenset("reshape view flatten ravel squeeze".split())',
        '("torch.zeros", "torch.ones", "torch.empty", "torch.full", "numpy.zeros")',
        '{"append": 0, "extend": 0, "insert": 1, "pop": 2, "clear": 3}',
    ):
        ((_, texts),) = literals(ast.parse(written))
        assert all(text.rpartition(".")[2] in known_names() for text in texts)
    assert models.having(models.Trait.JOINS, "numpy") >= {"numpy.stack", "numpy.concatenate"}
