"""Snapshots are equal if the objects are, and differ if a program could distinguish them."""

from __future__ import annotations

import collections
import copy
import dataclasses
import enum
import random
import threading
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rlint.harness.compare.allowed_differences import matches
from rlint.harness.compare.differences import Comparison, FoundDifference, Snapshot
from rlint.harness.compare.shared_memory import Extent, overlap, pairs
from rlint.harness.compare.snapshot import Root, Walker


def walk_all(values: dict[str, Any]) -> dict[str, Root]:
    """A snapshot of named values."""
    walker = Walker()
    return {name: Root(walker.walk(value)) for name, value in values.items()}


def compared(before: Any, after: Any) -> list[FoundDifference]:
    """All differences between two values named `x`."""
    return Comparison().run(*(Snapshot(walk_all({"x": value})) for value in (before, after)))


def found(before: Any, after: Any) -> tuple[str, str]:
    """Kind and path of the only difference between two values."""
    (one,) = compared(before, after)
    return one.kind, one.path


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=5)
)
keys = st.one_of(st.booleans(), st.integers(0, 9), st.text(max_size=3), st.tuples(st.integers(0, 3)))
trees = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(keys, inner, max_size=4),
        st.sets(keys, max_size=4),
        st.builds(collections.deque, st.lists(inner, max_size=3)),
    ),
    max_leaves=12,
)


@settings(max_examples=150)
@given(trees)
def test_a_deep_copy_is_the_same(value: Any) -> None:
    """A copy of any nested value does not differ."""
    assert compared(value, copy.deepcopy(value)) == []


@settings(max_examples=150)
@given(trees, trees)
def test_values_that_python_distinguishes_differ(one: Any, other: Any) -> None:
    """Values that are unequal in Python always differ."""
    if one != other and not has_nan(one) and not has_nan(other):
        assert compared(one, other) != []


def has_nan(value: Any) -> bool:
    """Whether a value contains NaN, and so is unequal to itself."""
    if isinstance(value, float):
        return value != value  # noqa: PLR0124 - only NaN is
    if isinstance(value, dict):
        return any(map(has_nan, value.values()))
    return isinstance(value, (list, tuple, set, collections.deque)) and any(map(has_nan, value))


def test_nesting_and_cycles_do_no_harm() -> None:
    """A list of lists ten thousand deep, and one that contains itself."""

    def nested(innermost: Any) -> list[Any]:
        for _ in range(10_000):
            innermost = [innermost]
        return innermost

    assert compared(nested(1), nested(1)) == []
    assert found(nested(1), nested(2)) == ("value", "x" + "[0]" * 10_000)
    one: list[Any] = [1]
    one.append(one)
    other: list[Any] = [1]
    other.append([1, other])
    assert compared(one, copy.deepcopy(one)) == []
    assert compared(one, other)[0].kind == "aliasing"


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Row:
    obs: Any
    done: bool = False


class Slotted:
    __slots__ = ("__secret", "value")

    def __init__(self, value: int, secret: int) -> None:
        self.value = value
        self.__secret = secret


class Child(Slotted):
    pass


class Point(NamedTuple):
    x: int
    y: int


def drawn(generator: Any, draw: str) -> Any:
    """A generator after one draw."""
    getattr(generator, draw)()
    return generator


@pytest.mark.parametrize(
    ("before", "after", "kind", "path"),
    [
        (Colour.RED, Colour.BLUE, "value", "x"),
        (Row([1]), Row([2]), "value", "x.obs[0]"),
        (Child(1, 2), Child(1, 3), "value", "x._Slotted__secret"),
        (Point(1, 2), Point(1, 3), "value", "x.y"),
        ((1, 2), [1, 2], "type", "x"),
        (collections.Counter("aab"), collections.Counter("abb"), "value", "x['a']"),
        (collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1), "order", "x"),
        (collections.defaultdict(int), collections.defaultdict(list), "value", "x.default_factory"),
        ({1: "a"}, {True: "a"}, "value", "x[1]"),
        ({(1, "a")}, {(1, "b")}, "value", "x"),
        (bytearray(b"ab"), bytearray(b"ac"), "value", "x"),
        (random.Random(1), random.Random(2), "random stream", "x"),  # noqa: S311 - compared, not used
        (np.random.default_rng(1), drawn(np.random.default_rng(1), "random"), "random stream", "x"),
        (np.random.RandomState(1), drawn(np.random.RandomState(1), "rand"), "random stream", "x"),
        (torch.Generator().manual_seed(1), torch.Generator().manual_seed(2), "random stream", "x"),
        (np.float32(1), np.float32(2), "value", "x"),
        (np.float32(1), np.float64(1), "type", "x"),
        (np.float32(1), np.array(1, np.float32), "type", "x"),
        (np.array(["a"], object), np.array(["b"], object), "value", "x[0]"),
        (np.array([(1, 2.0)], "i4,f8"), np.array([(1, 3.0)], "i4,f8"), "value", "x['f1'][0]"),
        (np.array([1, -0.0]), np.array([1, 0.0]), "value", "x[1]"),
        (np.float64("nan"), -np.float64("nan"), "value", "x"),
        (np.zeros(3, ">i4"), np.zeros(3, "<i4"), "dtype", "x.dtype"),
        (np.zeros((2, 2)), np.zeros((2, 2), order="F"), "strides", "x.strides"),
        (torch.zeros(2, 2), torch.zeros(2, 2).T, "strides", "x.stride()"),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]), "value", "x[1]"),
        (torch.tensor([1 + 2j]), torch.tensor([1 + 3j]), "value", "x[0]"),
        (torch.tensor([1 + 2j]).conj(), torch.tensor([1 + 2j]), "value", "x[0]"),
        (torch.ones(2, dtype=torch.bfloat16), torch.zeros(2, dtype=torch.bfloat16), "value", "x[0]"),
        (torch.eye(2).to_sparse(), torch.eye(2).to_sparse() * 2, "value", "x._values()[0]"),
        (torch.nn.Parameter(torch.ones(1)), torch.ones(1, requires_grad=True), "type", "x"),
        (torch.nn.ReLU(), torch.nn.ReLU().eval(), "value", "x.training"),
        (torch.nn.Linear(1, 1).half(), torch.nn.Linear(1, 1).double(), "dtype", "x.weight.dtype"),
        (ValueError("a"), ValueError("b"), "value", "x.args[0]"),
        (range(3), range(4), "value", "x"),
        (len, sum, "value", "x"),
        (Row, Child, "value", "x"),
    ],
)
def test_what_a_program_could_distinguish_differs(before: Any, after: Any, kind: str, path: str) -> None:
    """The first difference has the expected kind and path."""
    first = compared(before, after)[0]
    assert (first.kind, first.path) == (kind, path)
    assert first.before != first.after


@pytest.mark.parametrize(
    "value",
    [
        threading.Lock(),
        threading.Event(),
        {Row(1).__class__: [Colour.RED, ..., NotImplemented]},
        {object(): 1},
        np.ma.array([1, 2], mask=[True, False]),
        torch.nn.LSTM(2, 2),
        np.longdouble(1) / 3,
        np.array(["2020-01-01"], "datetime64[D]"),
        memoryview(b"abc"),
        {torch.float32: torch.device("cpu")},
        torch.empty(0, 3),
        torch.zeros(0)[:0],
    ],
    ids=lambda value: type(value).__name__,
)
def test_two_looks_at_one_object_agree(value: Any) -> None:
    """Taking a snapshot changes nothing, and equal objects have equal snapshots."""
    assert compared(value, value) == []


def test_two_looks_at_an_optimiser_agree() -> None:
    """It is the same, but creating it takes seconds, so none is created while tests are collected."""
    optimiser = torch.optim.Adam([torch.nn.Parameter(torch.ones(2))])
    assert compared(optimiser, optimiser) == []


def test_hooks_and_their_numbers() -> None:
    """A hook is identified by its function, not by the number that PyTorch assigns."""

    def hooked(hook: Any) -> torch.nn.Module:
        module = torch.nn.ReLU()
        module.register_forward_hook(hook)
        return module

    assert compared(hooked(print), hooked(print)) == []
    assert found(hooked(print), hooked(len)) == ("value", "x._forward_hooks[0]")


class TestAliasing:
    def test_the_same_object_twice_is_not_two_equal_ones(self) -> None:
        """Sharing is visible for mutable objects: appending to one changes the other."""
        row = [1]
        assert found([row, row], [[1], [1]]) == ("aliasing", "x[1]")
        assert found([[1], [1]], [row, row]) == ("aliasing", "x[1]")
        (one,) = compared([row, row], [[1], [1]])
        assert (one.before, one.after) == ("the same object as `x[0]`", "an object of its own")

    def test_constants_may_be_shared(self) -> None:
        """Sharing does not matter for tuples and strings."""
        pair = (1, "a")
        assert compared([pair, pair], [(1, "a"), (1, "a")]) == []

    def test_views_are_not_copies(self) -> None:
        """Arrays without elements share no memory in numpy, in PyTorch, or between them."""
        rows = np.arange(6.0).reshape(3, 2)
        assert found((rows, rows[1]), (rows, rows[1].copy())) == ("aliasing", "x[1]")
        tensor = torch.from_numpy(rows)
        assert found((rows, tensor), (rows, tensor.clone())) == ("aliasing", "x[1]")
        assert found((rows, rows[0]), (rows, rows[0].copy())) == ("aliasing", "x[1]")

    def test_a_view_of_other_rows_is_another(self) -> None:
        """The offset of a view counts, even if the values are equal."""
        rows = np.zeros((3, 2))
        (one,) = compared((rows, rows[1]), (rows, rows[2]))
        assert (one.kind, one.before, one.after) == (
            "aliasing",
            "memory of `x[0]`, from byte 16 on",
            "memory of `x[0]`, from byte 32 on",
        )

    def test_columns_of_one_array_do_not_share_memory(self) -> None:
        """Their elements alternate, and are never the same."""
        rows = np.zeros((4, 2))
        assert compared((rows[:, 0], rows[:, 1]), (np.zeros((4, 2))[:, 0], np.zeros((4, 2))[:, 1])) == []

    def test_views_without_memory_are_recognised_by_their_storage(self) -> None:
        """On the meta device, too."""
        rows = torch.empty(4, device="meta")
        other = torch.empty(4, device="meta")
        assert found((rows, rows[1:]), (rows, other[1:])) == ("aliasing", "x[1]")


def extent(array: np.ndarray[Any, Any]) -> Extent:
    """The address of a numpy array."""
    return Extent("host", array.__array_interface__["data"][0], array.itemsize, array.shape, array.strides)


@st.composite
def views(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    """Some view of one array."""
    view = BASE
    for axis in range(2):
        length = BASE.shape[axis]
        start, stop = draw(st.integers(0, length)), draw(st.integers(0, length))
        step = draw(st.sampled_from([1, 2, 3, -1, -2]))
        view = view[slice(start, stop, step)] if axis == 0 else view[:, slice(start, stop, step)]
    if draw(st.booleans()) and view.flags.c_contiguous and view.size:
        view = view.view(np.int16)
    return view.T if draw(st.booleans()) else view


BASE = np.zeros((7, 6), np.int32)


@settings(max_examples=300)
@given(views(), views())
def test_sharing_is_what_numpy_says_it_is(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> None:
    """Whether two views have a byte in common is worked out exactly."""
    assert overlap(extent(one), extent(other)) == np.shares_memory(one, other)


@settings(max_examples=150)
@given(st.lists(views(), max_size=7))
def test_pairs_connect_all_that_share(arrays: list[np.ndarray[Any, Any]]) -> None:
    """Two arrays are connected by pairs exactly if they share memory, directly or indirectly."""

    def groups(linked: list[tuple[int, int]]) -> list[int]:
        names = list(range(len(arrays)))
        for a, b in linked:
            names = [names[a] if name == names[b] else name for name in names]
        return [names.index(name) for name in names]

    every = [(a, b) for b in range(len(arrays)) for a in range(b) if np.shares_memory(arrays[a], arrays[b])]
    chosen = pairs([extent(array) for array in arrays])
    assert groups(chosen) == groups(every)
    assert set(chosen) <= set(every)


@pytest.mark.parametrize(
    ("pattern", "path", "matching"),
    [
        ("result", "result", True),
        ("result", "result.loss", True),
        ("result", "result[3, 1]", True),
        ("result", "results", False),
        ("result.loss", "result", False),
        ("inputs.*_before", "inputs.agent.weights_before[0]", True),
        ("inputs[0].weight", "inputs[0].weight", True),
        ("inputs[0]", "inputs0", False),
        ("inputs[?].weight", "inputs[4].weight.grad", True),
        ("*", "anything.at['all']", True),
        ("printed", "printed.stderr", True),
    ],
)
def test_patterns_mean_paths_and_all_below(pattern: str, path: str, matching: bool) -> None:
    """Brackets are literal; `*` and `?` are as in file names."""
    assert matches(pattern, path) is matching
