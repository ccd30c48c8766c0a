"""The properties of library functions are what the installed libraries show."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rlint import models
from rlint.models import by_trait
from rlint.models.element_types import CASTS, LEGACY
from rlint.models.parameters import PARAMETERS
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from test_facts import exists, find

pytest.importorskip("numpy")
pytest.importorskip("torch")

FAILS = (
    LookupError,
    TypeError,
    RuntimeError,
    ValueError,
    AttributeError,
    NotImplementedError,
    AssertionError,
)
"""Exceptions of functions that do not accept the tested arguments."""
UNWRITTEN = {
    "torch.nn.LSTM": "RNNBase",
    "torch.nn.GRU": "RNNBase",
}
"""Classes that pass all arguments on, and the class whose signature they have."""
NEWER_NAMES = {"start_or_stop": "start"}
"""Parameters that newer versions have renamed."""


def test_every_property_is_described_and_used() -> None:
    """Every trait occurs in some row."""
    facts = [fact for rows in by_trait.METHODS.values() for fact in rows.values()]
    facts += by_trait.CALLABLES.values()
    held = 0
    for fact in facts:
        held |= fact.traits
    single = [trait for trait in Trait if not trait & (trait - 1)]
    assert [trait.name for trait in single if not held & trait] == []


def calls_of(names: Iterator[str] | frozenset[str], *arguments: Any) -> Iterator[tuple[str, Any]]:
    """Call each function that can be called with these arguments."""
    for name in sorted(names):
        if not exists(name):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield name, find(name)(*arguments)
            except FAILS:
                continue


def results_of(
    names: frozenset[str], receiver: Callable[[], Any], *arguments: Any
) -> Iterator[tuple[str, Any, Any]]:
    """Call each method that can be called with these arguments, each on a new value."""
    for name in sorted(names):
        value = receiver()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = getattr(value, name)(*arguments)
            except FAILS:
                continue
        yield name, value, result


def tensor() -> Any:
    """Return a three-dimensional floating-point tensor."""
    import torch

    return torch.linspace(0.1, 0.9, 24).reshape(2, 3, 4)


def array() -> Any:
    """Return the same numbers as an array."""
    return tensor().numpy().copy()


@pytest.mark.parametrize("tag", [TypeTag.TENSOR, TypeTag.NDARRAY])
def test_methods_of_rows_exist(tag: TypeTag) -> None:
    """All methods in the rows exist in some supported version."""
    import numpy as np
    import torch

    old = {"itemset", "tostring", "ptp"} | {"xpu"}
    owner = torch.Tensor if tag is TypeTag.TENSOR else np.ndarray
    missing = [name for name in models.methods_of(tag) if not hasattr(owner, name) and name not in old]
    assert missing == []


def test_allocating_functions_give_the_requested_shape() -> None:
    """`zeros((2, 3))` has two rows."""
    import numpy as np

    shaped = {*models.having(Trait.FILLS | Trait.DRAWS_SHAPE, "torch", "numpy")}
    found = dict(calls_of(frozenset(shaped), (2, 3))) | dict(
        calls_of(models.having(Trait.FILLS, "torch", "numpy"), (2, 3), 1.0)
    )
    found = {name: made for name, made in found.items() if "randperm" not in name}
    assert all(tuple(made.shape) == (2, 3) for made in found.values()), found.keys()
    assert {"torch.zeros", "torch.full", "numpy.ones", "torch.randn"} <= found.keys()
    for name, made in calls_of(models.having(Trait.FILLS_LIKE | Trait.DRAWS_LIKE, "torch"), tensor()):
        assert made.shape == tensor().shape, name
    for name, made in calls_of(models.having(Trait.FILLS_LIKE, "numpy"), array()):
        assert made.shape == array().shape, name
        assert not np.shares_memory(made, array()), name


def test_conversions_take_lists() -> None:
    """`asarray([1, 2])` and `FloatTensor([1, 2])` contain the numbers."""
    names = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch", "numpy")
    made = dict(calls_of(names, [1, 0]))
    assert made.keys() == names
    assert all(list(result) == [1, 0] for result in made.values())


def test_joins_join() -> None:
    """All parts are in the result; functions with `JOINS_FLAT` concatenate one-dimensional parts to one
    dimension.
    """
    import torch

    parts = [torch.ones(3), torch.zeros(2)]
    for name, joined in calls_of(models.having(Trait.JOINS_FLAT, "torch"), parts):
        assert joined.shape == (5,), name
    arrays = [part.numpy() for part in parts]
    for name, joined in calls_of(models.having(Trait.JOINS_FLAT, "numpy") - {"numpy.append"}, arrays):
        assert joined.shape == (5,), name
    for name, joined in calls_of(models.having(Trait.JOINS, "torch"), [torch.ones(3), torch.zeros(3)]):
        assert joined.numel() == 6, name


SHAPES: dict[str, tuple[Any, ...]] = {
    "view": (6, 4), "reshape": (6, 4), "unflatten": (0, (1, 2)), "unsqueeze": (0,), "permute": (2, 0, 1),
    "transpose": (0, 1), "swapaxes": (0, 1), "swapdims": (0, 1), "movedim": (0, 1), "moveaxis": (0, 1),
}  # fmt: skip


@pytest.mark.parametrize("make", [tensor, array])
def test_reshaping_methods_keep_all_elements(make: Callable[[], Any]) -> None:
    """The elements keep their order with `KEEPS_ORDER`, and nothing is copied unnecessarily."""
    tag = TypeTag.TENSOR if make is tensor else TypeTag.NDARRAY
    ordered = models.having(Trait.KEEPS_ORDER, tag)
    seen = set()
    for name in ordered | models.having(Trait.PERMUTES, tag):
        arguments = SHAPES.get(name, ())
        for _, value, result in results_of(frozenset({name}), make, *arguments):
            flat = [value.reshape(-1).tolist(), result.reshape(-1).tolist()]
            assert sorted(flat[0]) == sorted(flat[1]), name
            assert name not in ordered or flat[0] == flat[1], name
            seen.add(name)
    assert len(seen) >= (13 if tag is TypeTag.TENSOR else 5)


def test_views_share_memory() -> None:
    """A write to a view changes the tensor; a write to the result of `COPIES` does not."""
    views = models.having(Trait.RESHAPES, TypeTag.TENSOR) - {"unflatten", "view_as", "reshape_as", "t"}
    for name in views:
        for _, value, result in results_of(frozenset({name}), tensor, *SHAPES.get(name, ())):
            result.fill_(7.0)
            assert (value == 7.0).all(), name
    for make, tag in ((tensor, TypeTag.TENSOR), (array, TypeTag.NDARRAY)):
        for name, value, result in results_of(models.having(Trait.COPIES, tag), make):
            result[:] = 7.0
            assert not (value == 7.0).any(), name


def test_casts_give_the_type_of_their_name() -> None:
    """`x.long()` holds int64."""
    import torch

    assert models.having(Trait.CASTS, TypeTag.TENSOR) == CASTS.keys()
    for name, dtype in CASTS.items():
        assert getattr(tensor(), name)().dtype is getattr(torch, dtype), name
    assert {f"torch.{name}" for name in LEGACY} == models.having(Trait.LEGACY, "torch")
    for name, dtype in LEGACY.items():
        made = getattr(torch, name)([1.0])
        assert made.dtype is (torch.get_default_dtype() if name == "Tensor" else getattr(torch, dtype)), name


def test_what_keeps_values_keeps_them() -> None:
    """`x.contiguous()`, `x.detach()`, `x.cpu()`: the same numbers in the same shape."""
    kept = models.having(Trait.SAME_VALUES | Trait.COPIES | Trait.RELOCATES, TypeTag.TENSOR) - {"type"}
    found = {name for name, value, result in results_of(kept, tensor) if (value == result).all()}
    assert {"clone", "contiguous", "cpu", "detach"} <= found <= kept


def test_elementwise_functions_keep_the_shape_and_reductions_lose_it() -> None:
    """Elementwise functions such as `exp` keep the number of elements, `sum` returns one."""
    for name, value, result in results_of(models.having(Trait.ELEMENTWISE, TypeTag.TENSOR), tensor):
        assert result.shape == value.shape, name
    for name, value, result in results_of(models.having(Trait.PAIRWISE, TypeTag.TENSOR), tensor, tensor()):
        assert result.shape == value.shape, name
    for make, tag in ((tensor, TypeTag.TENSOR), (array, TypeTag.NDARRAY)):
        for name, _, result in results_of(models.having(Trait.REDUCES, tag), make):
            assert result.shape == (), name
    for name, _, result in results_of(models.having(Trait.SUMMARISES, TypeTag.TENSOR), tensor):
        assert result.is_floating_point(), name
    for owner, make in (("torch", tensor), ("numpy", array)):
        for name, result in calls_of(models.having(Trait.ELEMENTWISE, owner), make()):
            assert result.shape == (2, 3, 4), name
        for name, result in calls_of(models.having(Trait.PAIRWISE, owner), make(), make()):
            assert result.shape == (2, 3, 4), name


def test_comparisons_give_true_or_false() -> None:
    """A pair of equal values is equal, or not unequal."""
    for name, _, result in results_of(models.having(Trait.COMPARES, TypeTag.TENSOR), tensor, tensor()):
        assert result in (True, False) if isinstance(result, bool) else str(result.dtype) == "torch.bool", (
            name
        )


def test_methods_that_write_in_place_give_their_tensor_back() -> None:
    """`x.zero_()` returns `x`; methods with `OVERWRITES` overwrite all elements."""
    import torch

    arguments: dict[str, tuple[Any, ...]] = {
        "copy_": (torch.zeros(2, 3, 4),),
        "fill_": (5.0,),
        "geometric_": (0.5,),
    }
    for name in models.having(Trait.OVERWRITES, TypeTag.TENSOR):
        value = tensor()
        before = value.clone()
        assert getattr(value, name)(*arguments.get(name, ())) is value, name
        assert not torch.equal(value, before), name
    for name, value, result in results_of(models.having(Trait.RETURNS_SELF, TypeTag.TENSOR), tensor):
        assert result is value, name
    module = torch.nn.Linear(2, 2)
    for name in models.having(Trait.RETURNS_SELF, TypeTag.MODULE) - {"cuda", "xpu", "share_memory"}:
        given: tuple[Any, ...] = {
            "to": ("cpu",),
            "to_empty": (),
            "apply": (id,),
            "type": (torch.float32,),
        }.get(name, ())
        keywords = {"device": "cpu"} if name == "to_empty" else {}
        assert getattr(module, name)(*given, **keywords) is module, name


def test_gradients_go_where_the_rows_say() -> None:
    """Results of functions that detach, count or compare carry no gradient."""
    for name, result in calls_of(
        models.having(Trait.DETACHES | Trait.GIVES_INDEX, "torch"), tensor().requires_grad_()
    ):
        assert not result.requires_grad, name
    ending = models.having(Trait.DETACHES | Trait.GIVES_INDEX | Trait.GIVES_NUMBER, TypeTag.TENSOR)
    for name, _, result in results_of(ending - {"detach_"}, lambda: tensor().requires_grad_()):
        assert not getattr(result, "requires_grad", False), name
    for name, result in calls_of(models.having(Trait.INDICES_SECOND, "torch"), tensor().requires_grad_(), 1):
        assert result[0].requires_grad, name
        assert not result[1].requires_grad, name


def test_measuring_a_tensor_reads_no_element() -> None:
    """Functions that read the form work on a meta tensor, so they do not synchronise with a device."""
    import torch

    without = torch.empty(2, 3, 4, device="meta")
    for name in models.having(Trait.MEASURES, TypeTag.TENSOR) - {"get_device"}:
        getattr(without, name)()
    for name in models.FORM_ATTRIBUTES - {"size"}:
        getattr(without, name)
    for name in models.having(Trait.TO_HOST, TypeTag.TENSOR):
        with pytest.raises((RuntimeError, NotImplementedError, TypeError)):
            getattr(without, name)()


def test_containers_change_as_the_rows_say() -> None:
    """Methods that insert add one item, those that remove take one, those that reorder keep the number."""
    import collections

    made: dict[TypeTag, Callable[[], Any]] = {
        TypeTag.LIST: lambda: [1, 2],
        TypeTag.DEQUE: lambda: collections.deque([1, 2]),
        TypeTag.SET: lambda: {1, 2},
        TypeTag.DICT: lambda: {1: 1, 2: 2},
    }
    for tag, make in made.items():
        changing = (Trait.INSERTS, Trait.INSERTS_ALL, Trait.REMOVES, Trait.REORDERS)
        for trait, arguments in (
            (trait, given) for trait in changing for given in ((), (9,), (1,), (0, 9), ([9],), ({9: 9},))
        ):
            for name, value, _ in results_of(models.having(trait, tag), make, *arguments):
                grown = len(value) - 2
                assert trait is not Trait.INSERTS or grown in (0, 1), name
                assert trait is not Trait.REMOVES or grown <= 0, name
                assert trait is not Trait.REORDERS or grown == 0, name


def test_layers_have_what_the_rows_say() -> None:
    """Layers have a `weight`, parameters or none, and return one tensor unless declared otherwise."""
    import torch

    for name in models.having(Trait.HAS_WEIGHT | Trait.AFFINE | Trait.WITHOUT_PARAMETERS, "torch.nn"):
        if not exists(name):
            continue
        for arguments in ((), (2,), (2, 2), (2, 2, 2)):
            try:
                layer = find(name)(*arguments)
            except FAILS:
                continue
            without = name in models.having(Trait.WITHOUT_PARAMETERS, "torch.nn")
            assert without is not any(True for _ in layer.parameters()), name
            assert without or isinstance(layer.weight, torch.Tensor), name
            break
    for name in models.having(Trait.RUNS_NO_LAYER, TypeTag.MODULE):
        assert hasattr(torch.nn.Module, name), name
    for name in models.having(Trait.GRADIENT_BY_RESULT, "torch.nn"):
        given = torch.randn(8, requires_grad=True)
        find(name)(inplace=True)(given * 1.0).sum().backward()
        assert given.grad is not None, name


def test_methods_of_text_are_of_text_alone() -> None:
    """`strip` is no method of lists, arrays or tensors."""
    import torch

    for name in models.having(Trait.ONLY_TEXT | Trait.SCANS_TEXT, TypeTag.STR):
        assert hasattr(str, name), name
    for name in models.having(Trait.ONLY_TEXT, TypeTag.STR):
        assert not any(hasattr(owner, name) for owner in (list, dict, set, torch.Tensor)), name


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_signatures_are_those_of_the_libraries(name: str) -> None:
    """Each parameter has the position in the table."""
    if not exists(name):
        pytest.skip("not in this version")
    called = find(name)
    if name in UNWRITTEN:
        import torch

        signature = inspect.signature(getattr(torch.nn.modules.rnn, UNWRITTEN[name]).__init__)
        written = [parameter for parameter in signature.parameters if parameter not in ("self", "mode")]
    else:
        try:
            written = [*inspect.signature(called).parameters]
        except ValueError:
            pytest.skip("written in C, without a signature")
    if written in (["args", "kwargs"], ["x", "out"]):
        pytest.skip("hands all arguments on")
    written = [NEWER_NAMES.get(parameter, parameter) for parameter in written if parameter != "self"]
    described = [parameter for parameter in PARAMETERS[name] if not parameter.startswith("*")]
    assert written[: len(described)] == described
