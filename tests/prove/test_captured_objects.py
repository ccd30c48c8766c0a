"""Objects of recorded calls: serialised, and recreated."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rlint.prove.record import restored_objects as restored
from rlint.prove.record.capture import (
    Capture,
    MethodAnswers,
    OwnFiles,
    TooLargeError,
    UncopyableError,
    stand_in_for,
)
from rlint.prove.replay import records
from rlint.prove.replay.transplant import transplant

LIMIT = 2**20


def copied(value: Any) -> Any:
    """A value, serialised and recreated."""
    capture = Capture(OwnFiles(()), LIMIT)
    capture.dump(value)
    return pickle.loads(capture.file.getvalue())  # noqa: S301 - written above


def test_views_of_arrays_share_memory() -> None:
    """A write through one is visible through the other, as in the run; strides and flags are kept."""
    base = np.arange(12.0).reshape(3, 4)
    first, column, whole = copied((base[1:], base[:, 2], base))
    whole[1, 2] = 99
    assert (column[1], first[0, 2]) == (99, 99)
    assert (column.strides, first.strides) == (base[:, 2].strides, base[1:].strides)


def test_tensors_share_memory_and_keep_strides() -> None:
    """A tensor shares memory with its transpose and its parts."""
    base = torch.arange(6.0).reshape(2, 3)
    again, turned, row = copied((base, base.t(), base[1]))
    again[1, 0] = 50
    assert (turned[0, 1].item(), row[0].item(), turned.stride()) == (50, 50, base.t().stride())


def test_parameters_keep_gradients() -> None:
    """Python's pickle loses gradients; an optimizer is restored with its parameters."""
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    other, its = copied((net, optimizer))
    assert torch.equal(other.weight.grad, net.weight.grad)
    assert its.param_groups[0]["params"][0] is other.weight
    assert its.state[other.weight]["step"].item() == 1


def test_what_came_of_a_graph_becomes_a_copy_of_a_leaf() -> None:
    """Gradients can be computed, up to the start of the recorded call."""
    restored.CUT.clear()
    loss = (torch.ones(2, requires_grad=True) * 3).sum()
    again = copied(loss)
    (again * 2).backward()
    assert again.grad_fn is not None
    assert [leaf.grad.item() for leaf in restored.CUT] == [2.0]


def test_functions_without_a_name_keep_their_closures() -> None:
    """A lambda, and a function that calls itself."""
    factor = 3

    def count(n: int) -> int:
        return 0 if n == 0 else factor + count(n - 1)

    again, times = copied((count, lambda x: x * factor))
    assert (again(4), times(5)) == (12, 15)


def test_locks_and_streams_are_recreated() -> None:
    """Locks are free in a replay."""
    lock, stream = copied((threading.Lock(), torch.Generator().manual_seed(7)))
    assert not lock.locked()
    assert stream.initial_seed() is not None
    assert (
        torch.rand(1, generator=stream).item()
        == torch.rand(1, generator=torch.Generator().manual_seed(7)).item()
    )


@pytest.mark.parametrize(
    ("value", "said"), [((i for i in ()), "a generator"), (threading.local(), "thread-local")]
)
def test_what_cannot_be_copied_gives_a_reason(value: Any, said: str) -> None:
    """The reason is that of the report."""
    with pytest.raises(UncopyableError, match=said):
        copied({"held": value})


def test_large_values_are_given_up_early() -> None:
    """The limit applies before a second copy is in memory."""
    with pytest.raises(TooLargeError):
        copied(torch.zeros(LIMIT))


class Channel:
    """Holds an open file."""

    def __init__(self, file: Any) -> None:
        self.file, self.sent = file, 0

    def send(self, text: str) -> int:
        """Send a text."""
        self.sent += 1
        if text == "bad":
            raise ValueError(text)
        return len(text)


def test_a_stand_in_answers_as_the_real_object_did(tmp_path: Path) -> None:
    """Results, exceptions and the order of calls."""
    restored.STAND_INS.clear()
    restored.LOG.clear()
    with (tmp_path / "log").open("w") as file:
        channel = Channel(file)
        with pytest.raises(UncopyableError) as caught:
            copied({"channel": channel})
        owner = stand_in_for([{"channel": channel}], caught.value.culprit, OwnFiles(()), None)
        assert owner is channel
        answers = MethodAnswers(0, channel)
        answers.patch()
        channel.send("four")
        with pytest.raises(ValueError, match="bad"):
            channel.send("bad")
        answers.unpatch()
        assert "send" not in vars(channel)
        capture = Capture(OwnFiles(()), LIMIT, {id(channel): 0})
        capture.dump(channel)
    again = pickle.loads(capture.file.getvalue())  # noqa: S301 - written above
    restored.set_answers(0, answers.answers)
    assert (again.send("x"), again.sent) == (4, 2)
    with pytest.raises(ValueError, match="bad"):
        again.send("y")
    with pytest.raises(restored.StandInError, match="more often"):
        again.send("z")
    assert [(name, args) for name, args, _ in restored.LOG] == [
        ("Channel.send", ("x",)),
        ("Channel.send", ("y",)),
        ("Channel.send", ("z",)),
    ]


def test_nothing_unsigned_is_unpickled(tmp_path: Path) -> None:
    """A record with another key, a changed record and a plain pickle are refused."""
    harmful = b"cbuiltins\nexec\n(Vraise SystemExit\ntR."
    for number, data in enumerate((harmful, records.MAGIC + bytes(32) + harmful)):
        path = tmp_path / f"record-0-1-{number}.rec"
        path.write_bytes(data)
        with pytest.raises(records.UnsignedError, match="not signed"):
            records.read(path, b"key")


def test_an_object_becomes_what_another_is() -> None:
    """An object is changed in place, and its additional attributes are kept, such as a cache that a fix has
    added.
    """

    class Agent:
        def __init__(self, scale: float) -> None:
            self.net = torch.nn.Linear(2, 2)
            self.scale = scale
            self.rows = [1, 2]

    first, later = Agent(1.0), Agent(2.0)
    later.rows = [3]
    weight, rows = first.net.weight, first.rows
    first._cache = 5  # type: ignore[attr-defined]
    transplant(first, later)
    assert first.net.weight is weight
    assert torch.equal(weight, later.net.weight)
    assert (first.scale, first.rows, first._cache) == (2.0, [3], 5)  # type: ignore[attr-defined]
    assert first.rows is rows
