"""The model tables: their names exist, and their claims agree with the libraries."""

from __future__ import annotations

import collections
import copy
import importlib
import importlib.util
import logging
import multiprocessing
import pathlib
import queue
import random
import re
import subprocess
import sys
import threading
import warnings
from typing import Any

import pytest

from rlint import models
from rlint.config.stated_versions import as_version
from rlint.models import builtins as builtin_facts
from rlint.models import by_trait, methods, objects, rl, since, stdlib
from rlint.models import numpy as numpy_facts
from rlint.models import torch as torch_facts
from rlint.models.fact import table
from rlint.models.trait import Trait
from rlint.models.value_type import Device, TypeTag

needs_numpy = pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="numpy is not installed")
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")

TABLES = {
    "builtins": builtin_facts.FACTS,
    "stdlib": stdlib.FACTS,
    "numpy": numpy_facts.FACTS,
    "torch": torch_facts.FACTS,
    "rl": rl.FACTS,
}
NEWER = {name: as_version(introduced.version) for name, introduced in since.functions().items()}
FOREIGN = ("regex.",)  # not of the standard library, but in its table
PLATFORM = {"os.sched_getaffinity", "os.sched_setaffinity", "os.fork", "os.uname", "pathlib.WindowsPath"}
PLATFORM |= {"signal.alarm", "signal.setitimer", "builtins.exit", "builtins.quit"}
OLD_NUMPY = {"float_", "in1d", "trapz", "ptp", "from_dlpack", "fix"}
OLD_NUMPY |= {"random.random_integers"}
NEW_NUMPY = set(
    """acos acosh asin asinh atan atanh bool long astype cumulative_sum matrix_transpose permute_dims
    trapezoid vecdot linalg.cross linalg.diagonal linalg.matmul linalg.matrix_norm linalg.outer
    linalg.svdvals linalg.tensordot linalg.trace linalg.vecdot linalg.vector_norm""".split()
)
TORCH_WITH_TENSORBOARD = {"torch.utils.tensorboard.SummaryWriter"}
OLD_TORCH = {"torch.nn.utils.clip_grad_norm", "torch.hash_tensor", "torch.distributed.init_device_mesh"}


def exists(qualified: str) -> bool:
    """Whether a dotted name exists: its longest importable prefix is imported, the rest are attributes."""
    parts = qualified.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        try:
            for part in parts[length:]:
                found = getattr(found, part)
        except AttributeError:
            continue
        return True
    return False


@pytest.mark.parametrize("name", TABLES)
def test_every_name_is_a_dotted_name_that_needs_no_translation(name: str) -> None:
    """Rows are found under the canonical name."""
    for qualified in TABLES[name]:
        assert re.fullmatch(r"\w+(\.\w+)+", qualified), qualified
        assert models.canonical(qualified) == qualified


def test_a_name_stands_in_one_table_only() -> None:
    """No name has two rows, which could contradict each other."""
    with pytest.raises(ValueError, match="named twice: a\\.b"):
        table({"a.b": models.Fact(*_any_fact())}, {"a.b": models.Fact(*_any_fact())})


def _any_fact() -> tuple[Any, Any]:
    fact = models.callable_fact("builtins.len")
    assert fact is not None
    return fact.effect, fact.result


@pytest.mark.parametrize("name", TABLES)
def test_every_effect_has_words_for_the_reader(name: str) -> None:
    """Each effect has a description for messages."""
    for qualified, fact in TABLES[name].items():
        assert bool(fact.effect.detail) is not fact.effect.quiet, qualified


def test_names_of_builtins_and_the_standard_library_exist() -> None:
    """All functions in the tables exist."""
    missing = [
        name
        for name in (*builtin_facts.FACTS, *stdlib.FACTS)
        if NEWER.get(name, (3, 10)) <= sys.version_info
        and not name.startswith(FOREIGN)
        and name not in PLATFORM
        and not exists(name)
    ]
    assert missing == []


@needs_numpy
def test_names_of_numpy_exist() -> None:
    """They exist in the installed version, except those of older or newer versions."""
    allowed = {f"numpy.{name}" for name in OLD_NUMPY | NEW_NUMPY}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        missing = [name for name in numpy_facts.FACTS if name not in allowed and not exists(name)]
    assert missing == []


@needs_torch
def test_names_of_torch_exist() -> None:
    """In the installed version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        missing = [
            name
            for name in torch_facts.FACTS
            if name not in OLD_TORCH | TORCH_WITH_TENSORBOARD and not exists(name)
        ]
    assert missing == []


TYPES: dict[TypeTag, tuple[type, ...]] = {
    TypeTag.STR: (str,),
    TypeTag.BYTES: (bytes,),
    TypeTag.LIST: (list,),
    TypeTag.TUPLE: (tuple,),
    TypeTag.DICT: (dict, collections.Counter, collections.OrderedDict),
    TypeTag.STATE_DICT: (collections.OrderedDict,),
    TypeTag.SET: (set,),
    TypeTag.DEQUE: (collections.deque,),
    TypeTag.PATTERN: (re.Pattern,),
    TypeTag.MATCH: (re.Match,),
    TypeTag.LOGGER: (logging.Logger,),
    TypeTag.EVENT: (threading.Event,),
    TypeTag.CONDITION: (threading.Condition,),
    TypeTag.BARRIER: (threading.Barrier,),
    TypeTag.THREAD: (threading.Thread, threading.Timer),
    TypeTag.PROCESS: (multiprocessing.Process,),
}
OF_INSTANCES = {"acquire", "release"}  # of conditions
NEWER_METHODS = {"total", "walk", "shutdown", "isSet", "locked"}


@pytest.mark.parametrize("tag", TYPES)
def test_methods_exist(tag: TypeTag) -> None:
    """All methods in the tables exist."""
    known = (methods.METHODS | objects.METHODS)[tag]
    missing = [
        name
        for name in known
        if name not in NEWER_METHODS | OF_INSTANCES and not any(hasattr(each, name) for each in TYPES[tag])
    ]
    assert missing == []


@needs_numpy
def test_methods_of_arrays_exist() -> None:
    """Except a few that numpy has removed."""
    import numpy as np

    missing = {name for name in methods.METHODS[TypeTag.NDARRAY] if not hasattr(np.ndarray, name)}
    assert missing <= {"ptp", "itemset", "tostring"}


@needs_torch
def test_methods_of_tensors_and_modules_exist() -> None:
    """Methods of tensors exist in the installed version; for modules, those of a subclass suffice."""
    import torch

    assert [name for name in methods.METHODS[TypeTag.TENSOR] if not hasattr(torch.Tensor, name)] == []
    some = (torch.nn.Linear, torch.nn.ModuleList, torch.nn.Sequential)
    missing = {
        name for name in methods.METHODS[TypeTag.MODULE] if not any(hasattr(each, name) for each in some)
    }
    assert missing == {"generate", "save_pretrained"}


@pytest.mark.parametrize(
    ("written", "known_as"),
    [
        ("torch.nn.modules.linear.Linear", "torch.nn.Linear"),
        ("torch.nn.parameter.Parameter", "torch.nn.Parameter"),
        ("torch.optim.adam.Adam", "torch.optim.Adam"),
        ("torch.optim.lr_scheduler.StepLR", "torch.optim.lr_scheduler.StepLR"),
        ("torch.distributions.normal.Normal", "torch.distributions.Normal"),
        ("torch.distributions.kl.kl_divergence", "torch.distributions.kl_divergence"),
        ("torch.utils.data.dataloader.DataLoader", "torch.utils.data.DataLoader"),
        ("torch.utils.tensorboard.writer.SummaryWriter", "torch.utils.tensorboard.SummaryWriter"),
        ("tensorboardX.SummaryWriter", "torch.utils.tensorboard.SummaryWriter"),
        ("torch.autograd.variable.Variable", "torch.autograd.Variable"),
        ("torch.multiprocessing.Queue", "multiprocessing.Queue"),
        ("torch.multiprocessing", "multiprocessing"),
        ("torch.multiprocessing.spawn", "torch.multiprocessing.spawn"),
        ("multiprocessing.synchronize.Event", "multiprocessing.Event"),
        ("torch.concat", "torch.cat"),
        ("gym", "gymnasium"),
        ("gym.spaces.box.Box", "gymnasium.spaces.Box"),
        ("gym.envs.registration.make", "gymnasium.make"),
        ("gymnasium.wrappers.time_limit.TimeLimit", "gymnasium.wrappers.TimeLimit"),
        ("transformers.models.auto.tokenization_auto.AutoTokenizer", "transformers.AutoTokenizer"),
        (
            "transformers.models.gpt2.GPT2LMHeadModel.from_pretrained",
            "transformers.GPT2LMHeadModel.from_pretrained",
        ),
        ("posixpath.join", "os.path.join"),
        ("io.open", "builtins.open"),
        ("numpy.absolute", "numpy.abs"),
        ("typing.Deque", "collections.deque"),
        ("tqdm.auto.tqdm", "tqdm.tqdm"),
        ("torch.nn.functional.relu", "torch.nn.functional.relu"),
        ("torch.nn.utils.rnn.PackedSequence", "torch.nn.utils.rnn.PackedSequence"),
        ("gymnastics.make", "gymnastics.make"),
        ("agent.Agent.act", "agent.Agent.act"),
    ],
)
def test_one_thing_has_one_name(written: str, known_as: str) -> None:
    """However a file imports a function, its canonical name is that of the library's documentation."""
    assert models.canonical(written) == known_as
    assert models.canonical(known_as) == known_as


def test_facts_are_found_under_any_of_the_names() -> None:
    """An import from a submodule is equivalent to one from the package."""
    for written in (
        "torch.nn.modules.linear.Linear",
        "torch.multiprocessing.Event",
        "gym.make",
        "stable_baselines3.common.vec_env.dummy_vec_env.DummyVecEnv",
        "tianshou.data.buffer.vecbuf.VectorReplayBuffer",
        "transformers.models.bert.BertForSequenceClassification.from_pretrained",
    ):
        assert models.callable_fact(written) is not None, written
    assert models.canonical("tianshou.data.buffer.vecbuf.VectorReplayBuffer").count(".") == 4


# --------------------------------------------------------------------------- what the calls do

QUIET_CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("builtins.len", ([1, 2],)),
    ("builtins.sorted", ([3, 1, 2],)),
    ("builtins.max", ([3, 1, 2],)),
    ("builtins.sum", ([3, 1, 2],)),
    ("builtins.str", ([3, 1],)),
    ("builtins.abs", (-3,)),
    ("builtins.round", (3.7,)),
    ("builtins.dict.fromkeys", (["a"],)),
    ("math.sqrt", (2.0,)),
    ("math.prod", ([2, 3],)),
    ("statistics.mean", ([1, 2, 4],)),
    ("fractions.Fraction", ("3/4",)),
    ("re.search", (r"\d+", "step 12")),
    ("re.findall", (r"\d", "12")),
    ("re.sub", (r"\d", "x", "a1")),
    ("re.split", (",", "a,b")),
    ("textwrap.dedent", ("  a\n  b",)),
    ("html.unescape", ("&lt;",)),
    ("difflib.get_close_matches", ("stp", ["step", "reset"])),
    ("json.loads", ('{"a": [1]}',)),
    ("json.dumps", ({"a": [1]},)),
    ("ast.literal_eval", ("[1, 2]",)),
    ("base64.b64encode", (b"abc",)),
    ("struct.pack", ("<i", 3)),
    ("urllib.parse.urlparse", ("http://a/b",)),
    ("copy.deepcopy", ({"a": [1]},)),
    ("heapq.nlargest", (2, [3, 1, 2])),
    ("bisect.bisect", ([1, 3], 2)),
    ("operator.getitem", ([1, 3], 1)),
    ("os.path.join", ("a", "b")),
    ("os.path.splitext", ("a.pt",)),
    ("uuid.UUID", ("12345678123456781234567812345678",)),
    ("zlib.crc32", (b"abc",)),
    ("collections.Counter", ("abca",)),
]


@pytest.mark.parametrize(("qualified", "arguments"), QUIET_CALLS)
def test_quiet_functions_change_nothing_and_give_the_same_again(
    qualified: str, arguments: tuple[Any, ...]
) -> None:
    """Their arguments and the random stream are unchanged, and a second call returns an equal value."""
    fact = models.callable_fact(qualified)
    assert fact is not None
    assert fact.effect.quiet
    function = find(qualified)
    before, stream = copy.deepcopy(arguments), random.getstate()
    first, second = function(*arguments), function(*arguments)
    assert arguments == before
    assert random.getstate() == stream
    if not isinstance(first, re.Match):
        assert first == second
    assert _has_kind(first, fact.result.tag), type(first)


def find(qualified: str) -> Any:
    """Import the longest importable prefix of a name, and read the rest as attributes."""
    parts = qualified.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise LookupError(qualified)


def _has_kind(value: Any, tag: TypeTag) -> bool:
    types: dict[TypeTag, type | tuple[type, ...]] = {
        TypeTag.INT: int,
        TypeTag.FLOAT: float,
        TypeTag.STR: str,
        TypeTag.BYTES: bytes,
        TypeTag.BOOL: bool,
        TypeTag.LIST: list,
        TypeTag.TUPLE: tuple,
        TypeTag.DICT: dict,
        TypeTag.SET: (set, frozenset),
        TypeTag.MATCH: re.Match,
    }
    return tag not in types or isinstance(value, types[tag])


@needs_numpy
def test_pure_functions_of_numpy_are_pure_and_their_results_new_where_so_said() -> None:
    """Each function of a single array changes neither it nor the random stream, and a result that the table
    calls fresh shares no memory with it.
    """
    import numpy as np

    samples = [
        np.linspace(0.1, 0.9, 9).reshape(3, 3),
        np.array([3, 1, 2]),
        np.array([0.5, 0.0, 1.0], dtype=np.float32),
        np.array([True, False]),
    ]
    called = 0
    for qualified, fact in numpy_facts.FACTS.items():
        if not fact.effect.pure or not exists(qualified) or ".empty" in qualified:
            continue
        for sample in samples:
            argument, stream = sample.copy(), np.random.get_state()[1].copy()
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    first, second = find(qualified)(argument), find(qualified)(argument)
                except (TypeError, ValueError, np.linalg.LinAlgError, AttributeError, IndexError):
                    continue
            called += 1
            assert (argument == sample).all(), qualified
            assert (np.random.get_state()[1] == stream).all(), qualified
            if isinstance(first, np.ndarray):
                assert np.array_equal(first, second, equal_nan=first.dtype.kind == "f"), qualified
                if fact.result.fresh:
                    assert not np.shares_memory(first, argument), qualified
            if fact.result.tag in (TypeTag.NDARRAY, TypeTag.NUMPY_SCALAR):
                assert isinstance(first, np.ndarray | np.generic), qualified
            short = models.callable_fact(qualified, 1)
            assert short is not None
            if short.result.tag is TypeTag.NUMPY_SCALAR:
                assert isinstance(first, np.generic | int), qualified
    assert called > 300


@needs_numpy
@pytest.mark.parametrize("name", ["rand", "random", "normal", "uniform", "standard_normal"])
def test_random_functions_of_numpy_move_the_stream(name: str) -> None:
    """Functions that draw random numbers according to the table do so."""
    import numpy as np

    fact = models.callable_fact(f"numpy.random.{name}")
    assert fact is not None
    assert fact.effect.detail == "draws random numbers"
    before = np.random.get_state()[1:4]
    getattr(np.random, name)()
    after = np.random.get_state()[1:4]
    assert before[1:] != after[1:] or (before[0] != after[0]).any()


@needs_numpy
def test_functions_that_change_their_first_argument_are_known() -> None:
    """Their effect says so, and they are in the list of in-place methods."""
    import numpy as np

    array, other = np.zeros(3), np.ones(3)
    np.copyto(array, other)
    assert array.sum() == 3
    for name in models.INPLACE_FUNCTIONS:
        fact = models.callable_fact(name)
        assert fact is not None, name
        assert fact.effect.acts, name
    assert {
        "numpy.copyto",
        "random.shuffle",
        "torch.nn.init.zeros_",
        "torch.nn.utils.clip_grad_norm_",
    } <= set(models.INPLACE_FUNCTIONS)


@needs_torch
def test_pure_functions_of_torch_are_pure_and_their_results_new_where_so_said() -> None:
    """Each function of a single tensor changes neither it nor the random stream."""
    import torch

    samples = [torch.linspace(0.1, 0.9, 9).reshape(3, 3), torch.tensor([3, 1, 2]), torch.ones(1, 2, 4, 4)]
    called = 0
    for qualified, fact in torch_facts.FACTS.items():
        parent = qualified.rpartition(".")[0]
        if not fact.effect.pure or "empty" in qualified or fact.result.tag is not TypeTag.TENSOR:
            continue
        if parent not in ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special"):
            continue
        for sample in samples:
            argument, stream = sample.clone(), torch.get_rng_state()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    result = find(qualified)(argument)
                except (TypeError, RuntimeError, ValueError, IndexError, AttributeError, NotImplementedError):
                    continue
            called += 1
            assert torch.equal(argument, sample), qualified
            assert torch.equal(torch.get_rng_state(), stream), qualified
            assert isinstance(result, torch.Tensor), qualified
            if fact.result.fresh:
                assert result.untyped_storage().data_ptr() != argument.untyped_storage().data_ptr(), qualified
            if fact.result.device is Device.HOST:
                assert result.device.type == "cpu"
    assert called > 200


@needs_torch
def test_methods_of_tensors_are_as_pure_as_said() -> None:
    """Each method without required arguments does not change the tensor, or is known to change it."""
    import torch

    for name, fact in methods.METHODS[TypeTag.TENSOR].items():
        if not fact.effect.pure or name in ("cuda", "xpu", "pin_memory"):
            continue
        argument = torch.linspace(0.1, 0.9, 9).reshape(3, 3)
        before = argument.clone()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = getattr(argument, name)()
            except (TypeError, RuntimeError, ValueError, IndexError, NotImplementedError):
                continue
        assert torch.equal(argument, before), name
        if fact.result.fresh and isinstance(result, torch.Tensor):
            assert result.untyped_storage().data_ptr() != argument.untyped_storage().data_ptr(), name
        short = models.method_fact(TypeTag.TENSOR, name, 0)
        assert short is not None
        if short.result.tag is TypeTag.TENSOR:
            assert isinstance(result, torch.Tensor), name


@needs_torch
def test_layers_that_draw_their_weights_are_distinguished_from_those_that_do_not() -> None:
    """Making a `Linear` moves the random stream, making a `ReLU` does not."""
    import torch

    made = 0
    for qualified, fact in torch_facts.FACTS.items():
        if fact.result.tag is not TypeTag.MODULE or not qualified.startswith("torch.nn."):
            continue
        for arguments in ((), (4,), (4, 4), (4, 4, 2), ([torch.nn.Identity()],), (4, 4, 4)):
            stream = torch.get_rng_state()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    find(qualified)(*arguments)
                except (TypeError, ValueError, AssertionError, RuntimeError, AttributeError, KeyError):
                    continue
            made += 1
            drew = not torch.equal(stream, torch.get_rng_state())
            assert drew == (fact.effect.detail == "draws random numbers"), (qualified, arguments)
            break
    assert made > 90


# --------------------------------------------------------------------------- asking


def test_constructors_show_what_they_make() -> None:
    """The type of a lock has its constructor, that of a tensor its device."""
    event = models.callable_fact("threading.Event")
    assert event is not None
    assert (event.result.tag, event.result.of) == (TypeTag.EVENT, "threading.Event")
    layer = models.callable_fact("torch.nn.modules.linear.Linear")
    assert layer is not None
    assert (layer.result.tag, layer.result.of) == (TypeTag.MODULE, "torch.nn.Linear")
    zeros = models.callable_fact("torch.zeros")
    assert zeros is not None
    assert (zeros.result.tag, zeros.result.device, zeros.result.fresh) == (TypeTag.TENSOR, Device.HOST, True)
    assert models.callable_fact("project.agent.act") is None


def test_asynchronous_and_cuda_events_are_no_events_of_threads() -> None:
    """`is_set` in a loop has another meaning there."""
    for name in ("asyncio.Event", "asyncio.Queue", "torch.cuda.Event"):
        fact = models.callable_fact(name)
        assert fact is not None
        assert fact.result.tag is TypeTag.INSTANCE


def test_the_number_of_arguments_distinguishes_a_tensor_from_a_pair() -> None:
    """`torch.max(x)` is a tensor, `torch.max(x, 1)` is not; `x.size()` a shape, `x.size(0)` a number."""
    one, two = models.callable_fact("torch.max", 1), models.callable_fact("torch.max", 2)
    assert one is not None
    assert two is not None
    assert (one.result.tag, two.result.tag) == (TypeTag.TENSOR, TypeTag.UNKNOWN)
    shape, number = (
        models.method_fact(TypeTag.TENSOR, "size", 0),
        models.method_fact(TypeTag.TENSOR, "size", 1),
    )
    assert shape is not None
    assert number is not None
    assert (shape.result.tag, number.result.tag) == (TypeTag.TUPLE, TypeTag.INT)


@pytest.mark.parametrize(
    ("qualified", "plain", "writing"),
    [("torch.nn.functional.relu", 1, 2), ("torch.nn.functional.leaky_relu", 2, 3), ("numpy.add", 2, 3)],
)
def test_an_argument_too_many_may_be_what_is_written_to(qualified: str, plain: int, writing: int) -> None:
    """`relu(x, True)` works in place, `numpy.add(a, b, a)` writes to `a`."""
    pure, unsure = models.callable_fact(qualified, plain), models.callable_fact(qualified, writing)
    assert pure is not None
    assert unsure is not None
    assert pure.effect.quiet
    assert not unsure.effect.quiet


def test_a_tensors_method_with_an_underscore_at_its_end_changes_it() -> None:
    """Whether the table names it or not."""
    for name in ("copy_", "mul_", "requires_grad_", "normal_", "some_new_thing_"):
        fact = models.method_fact(TypeTag.TENSOR, name)
        assert fact is not None
        assert fact.effect.acts
    assert models.method_fact(TypeTag.TENSOR, "__len__") is None
    assert models.method_fact(TypeTag.MODULE, "forward") is None


def test_a_method_called_through_its_class_is_known() -> None:
    """`str.lower(text)` is `text.lower()`."""
    lower = models.callable_fact("builtins.str.lower")
    assert lower is not None
    assert lower == models.method_fact(TypeTag.STR, "lower")


@pytest.mark.parametrize(
    ("method", "count", "tag"),
    [
        ("lower", 0, TypeTag.STR),
        ("strip", 1, TypeTag.STR),
        ("startswith", 1, TypeTag.BOOL),
        ("groups", 0, TypeTag.TUPLE),
    ],
)
def test_some_methods_say_all_by_their_name(method: str, count: int, tag: TypeTag) -> None:
    """`reply.lower()` is a string method, whatever `reply` is."""
    fact = models.method_on_unknown(method, count)
    assert fact is not None
    assert fact.effect.pure
    assert fact.result.tag is tag


@pytest.mark.parametrize(
    ("method", "count"),
    [
        ("join", 1),  # a thread's waits
        ("partition", 1),  # an array's sorts in place
        ("split", 1),  # a batch's may shuffle
        ("replace", 1),  # a path's renames the file
        ("encode", 1),  # a network's may draw
        ("span", 1),  # a tracer's opens one
        ("lower", 1),
        ("update", 1),
        ("count", 0),
    ],
)
def test_a_name_that_means_different_things_says_nothing(method: str, count: int) -> None:
    """A method that may have side effects does not count as a string method."""
    assert models.method_on_unknown(method, count) is None


def test_an_argument_that_is_text_settles_some_more() -> None:
    """`reply.split("</think>")` can only be a string's."""
    assert models.method_on_unknown("split", 1, text_first=True) is not None
    assert models.method_on_unknown("join", 1, text_first=True) is None


def test_cheap_calls_are_distinguished_from_costly_ones() -> None:
    """Repeating a cheap call is not a finding."""
    for name in ("builtins.len", "builtins.isinstance", "math.sqrt", "os.path.join", "torch.device"):
        assert models.is_cheap(name), name
    for name in ("re.search", "torch.matmul", "json.loads", "os.path.exists", "builtins.sorted", "numpy.sum"):
        assert not models.is_cheap(name), name
    assert models.is_cheap_method(TypeTag.STR, "lower")
    assert models.is_cheap_method(TypeTag.TENSOR, "detach")
    assert models.is_cheap_method(TypeTag.DICT, "get")
    assert not models.is_cheap_method(TypeTag.TENSOR, "sum")
    assert not models.is_cheap_method(TypeTag.TOKENIZER, "encode")


def test_what_is_called_cheap_is_known_and_quiet() -> None:
    """A side effect is never called cheap."""
    for name, fact in by_trait.CALLABLES.items():
        assert fact.effect.quiet or not fact.traits & Trait.CHEAP, name
    for tag, rows in by_trait.METHODS.items():
        for method, fact in rows.items():
            assert fact.effect.quiet or not fact.traits & Trait.CHEAP, (tag, method)


def test_iterators_and_functions_among_the_arguments_are_pointed_out() -> None:
    """`list(iterator)` exhausts the iterator, `map(f, x)` has the effects of `f`."""
    assert models.consumes_iterators("builtins.list")
    assert not models.consumes_iterators("builtins.len")
    assert models.calls_back("builtins.map")
    assert not models.calls_back("builtins.zip")
    for known in (models.consumes_iterators, models.calls_back):
        assert not known("project.agent.act")


def test_attributes_have_kinds() -> None:
    """A tensor's shape is a tuple of numbers; an unknown attribute has no type."""
    shape = models.attribute_kind(TypeTag.TENSOR, "shape")
    assert shape.tag is TypeTag.TUPLE
    assert shape.item is not None
    assert shape.item.tag is TypeTag.INT
    assert models.attribute_kind(TypeTag.ENVIRONMENT, "action_space").tag is TypeTag.SPACE
    assert not models.attribute_kind(TypeTag.UNKNOWN, "shape")
    assert not models.attribute_kind(TypeTag.TENSOR, "nothing_of_the_kind")


def test_waiting_on_a_queue_is_an_effect_and_looking_at_it_is_not() -> None:
    """These effects distinguish a polling loop from one that works."""
    for method, quiet in (("get", False), ("put", False), ("empty", True), ("qsize", True)):
        fact = models.method_fact(TypeTag.QUEUE, method)
        assert fact is not None
        assert fact.effect.quiet is quiet
        assert hasattr(queue.Queue, method)
    path = models.method_fact(TypeTag.PATH, "exists")
    assert path is not None
    assert path.effect.quiet
    assert hasattr(pathlib.Path, "exists")


def test_making_a_bag_of_settings_is_cheap() -> None:
    """Constructing a configuration parser once gains nothing."""
    assert models.is_cheap("math_verify.ExprExtractionConfig")


@pytest.mark.parametrize(
    ("function", "reads"),
    [
        ("builtins.globals", True),
        ("torch.get_default_dtype", True),
        ("torch.initial_seed", True),
        ("torch.is_autocast_enabled", True),
        ("numpy.random.get_state", True),
        ("torch.get_device", False),
        ("math.sqrt", False),
    ],
)
def test_functions_that_read_more_than_their_arguments_say_so(function: str, reads: bool) -> None:
    """State that a function reads besides its arguments may change between two calls."""
    assert models.reads_state(function) is reads


@pytest.mark.parametrize(
    ("function", "cheap"), [("os.path.join", True), ("os.path.exists", False), ("os.path.realpath", False)]
)
def test_asking_the_file_system_is_not_cheap(function: str, cheap: bool) -> None:
    """Path arithmetic costs nothing; a look at the disk does."""
    assert models.is_cheap(function) is cheap


@needs_torch
@pytest.mark.slow  # `torch.compile` imports much
def test_torch_compile_turns_the_validation_of_distributions_off() -> None:
    """For the whole process, from the first call on: in a process of its own."""
    program = (
        "import torch; from torch.distributions import Distribution as D; before = D._validate_args; "
        "torch.compile(torch.nn.Linear(2, 2)); print(before, D._validate_args)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", "False"]
