"""Every format of profile, written by the real profiler or by hand, and damaged in every way."""

from __future__ import annotations

import contextlib
import cProfile
import gzip
import json
import marshal
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlint.errors import RlintError
from rlint.profiles import marshalled
from rlint.profiles.profile_model import Claim, Frame, Profile
from rlint.profiles.read import read
from rlint.profiles.symptoms import of_frame

A, B, C = "/run/train.py", "/run/agent.py", "/run/env.py"


def pstats_of() -> bytes:
    """A small dump of cProfile: main (own 1) calls act (own 2) and step (own 3), act calls step (own 4)."""
    main, act, step = (A, 1, "main"), (B, 5, "act"), (C, 7, "step")
    return marshal.dumps(
        {
            main: (1, 1, 1.0, 10.0, {}),
            act: (5, 5, 2.0, 6.0, {main: (5, 5, 2.0, 6.0)}),
            step: (9, 9, 7.0, 7.0, {main: (4, 4, 3.0, 3.0), act: (5, 5, 4.0, 4.0)}),
        }
    )


def speedscope_of(**changes: object) -> dict[str, object]:
    """Three samples: main alone, main under act twice."""
    frames = [{"name": "main", "file": A, "line": 3}, {"name": "Agent.act", "file": B, "line": 6}]
    profile = {"type": "sampled", "name": "t", "unit": "seconds", "startValue": 0, "endValue": 3}
    samples = {"samples": [[0], [0, 1], [0, 1]], "weights": [1.0, 1.0, 2.0]}
    return {
        "shared": {"frames": frames},
        "profiles": [{**profile, **samples, **changes}],
        "exporter": "py-spy@1",
    }


def trace_of() -> dict[str, object]:
    """Spans of a tracer, in microseconds: main 0 to 10, in it act 2 to 8, in it item 3 to 4; act again."""
    spans = [
        ("train.py(1): main", 0, 10), ("agent.py(5): act", 2, 6),
        ("<built-in method item of Tensor object at 0x7f1>", 3, 1), ("agent.py(5): act", 9, 1),
    ]  # fmt: skip
    events = [
        {"ph": "X", "cat": "python_function", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": span}
        for name, start, span in spans
    ]
    return {"traceEvents": [{"ph": "M", "name": "process_name"}, *events, {"cat": "cpu_op", "ph": "X"}]}


def test_a_trace_that_nests_without_end_is_cut(tmp_path: Path) -> None:
    """Frames below the maximum depth count for the deepest frame."""
    spans = [
        {
            "ph": "X",
            "cat": "python_function",
            "name": f"a.py({line}): f{line}",
            "ts": line,
            "dur": 4_000 - line,
        }
        for line in range(1, 2_001)
    ]
    profile = profile_of(tmp_path, {"traceEvents": spans})
    assert len(profile.frames) == 2_000
    own = times(profile)
    assert own["f1000"][0] > 0
    assert all(f"f{line}" not in own or own[f"f{line}"][0] == 0 for line in range(1_001, 2_001))


def test_a_name_without_end_is_no_function_that_is_known(tmp_path: Path) -> None:
    """Patterns are not tried on texts that are not names."""
    name = "a/gym/a step" * 20_000
    profile = profile_of(tmp_path, {"traceEvents": [
        {"ph": "X", "cat": "python_function", "name": f"{name}(1): f", "ts": 1, "dur": 2}
    ]})  # fmt: skip
    assert [frame.file for frame in profile.frames] == [""]
    assert of_frame(Frame(name, "f", 1)) is None


def profile_of(folder: Path, content: bytes | dict[str, object] | list[object]) -> Profile:
    """Write a profile and read it."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    path = folder / "profile"
    path.write_bytes(data)
    return read(path)


def times(profile: Profile) -> dict[str, tuple[float, float]]:
    """Own and total time, by the last name of each frame."""
    return {
        frame.last_name: (
            profile.own(number),
            profile.covered([Claim(whole=frozenset({number}))], upper=True),
        )
        for number, frame in enumerate(profile.frames)
    }


def test_a_dump_of_cprofile(tmp_path: Path) -> None:
    """Own and inclusive times and the number of calls are those that the dump has."""
    profile = profile_of(tmp_path, pstats_of())
    assert (profile.format, profile.unit, profile.total, profile.counts_calls) == (
        "cProfile",
        "s",
        10.0,
        True,
    )
    assert times(profile) == {"main": (1.0, 10.0), "act": (2.0, 6.0), "step": (7.0, 7.0)}
    assert [profile.calls([number]) for number in range(3)] == [1, 5, 9]


def test_a_dump_of_a_sampler(tmp_path: Path) -> None:
    """In the format of pyinstrument: calls are not counted, so functions that are not in it may have run."""
    main = (A, 1, "main")
    profile = profile_of(tmp_path, marshal.dumps({main: (-1, -1, 1.0, 1.0, {})}))
    assert (profile.counts_calls, profile.calls([0]), profile.total) == (False, None, 1.0)


def test_what_cprofile_really_writes(tmp_path: Path) -> None:
    """A dump of this very interpreter agrees with what `marshal`, which wrote it, reads."""
    profiler = cProfile.Profile()
    profiler.runcall(sorted, range(1000), key=lambda number: -number)
    profiler.dump_stats(tmp_path / "dump")
    data = (tmp_path / "dump").read_bytes()
    assert marshalled.loads(data) == marshal.loads(data)  # noqa: S302 - these bytes are our own
    assert read(tmp_path / "dump").total > 0


def test_speedscope_of_a_sampler(tmp_path: Path) -> None:
    """Stacks with their weights; a frame is counted once per stack."""
    profile = profile_of(tmp_path, speedscope_of())
    assert (profile.format, profile.total, profile.counts_calls) == ("py-spy (speedscope)", 4.0, False)
    assert times(profile) == {"main": (1.0, 4.0), "act": (3.0, 3.0)}


def test_speedscope_of_events(tmp_path: Path) -> None:
    """Time between two events belongs to the open frames."""
    at = [("O", 0, 0), ("O", 1, 2), ("C", 1, 5), ("O", 1, 6), ("C", 1, 7), ("C", 0, 10)]
    events = [{"type": kind, "frame": frame, "at": moment} for kind, frame, moment in at]
    profile = profile_of(tmp_path, speedscope_of(type="evented", unit="milliseconds", events=events))
    assert times(profile)["act"] == (pytest.approx(0.004), pytest.approx(0.004))
    assert profile.total == pytest.approx(0.010)


def test_folded_stacks(tmp_path: Path) -> None:
    """py-spy's `--format raw`, threads and samples without a stack included."""
    text = (
        'process 7:"python train.py";main (train.py:3);act (agent.py:6) 5\n'
        'process 7:"python train.py";main (train.py:4) 2\n 9\n'
    )
    profile = profile_of(tmp_path, text.encode())
    assert (profile.unit, profile.total) == ("samples", 7.0)
    assert times(profile)["act"] == (5.0, 5.0)


@pytest.mark.parametrize("packed", [False, True])
def test_a_trace_of_torch(tmp_path: Path, packed: bool) -> None:
    """Nested spans become own times, calls are counted, and packed traces are unpacked."""
    data = json.dumps(trace_of()).encode()
    profile = profile_of(tmp_path, gzip.compress(data) if packed else data)
    found = times(profile)
    assert found["main"] == (pytest.approx(3e-6), pytest.approx(10e-6))
    assert found["act"] == (pytest.approx(6e-6), pytest.approx(7e-6))
    assert found["item"] == (pytest.approx(1e-6), pytest.approx(1e-6))
    assert profile.calls(n for n, frame in enumerate(profile.frames) if frame.name == "act") == 2


def test_a_real_trace_of_torch(tmp_path: Path) -> None:
    """torch.profiler on this machine, with stacks: functions with their files, and calls of C, are seen."""
    torch = pytest.importorskip("torch")
    code = "def learn(net, rows):\n    return net(rows).sum().item()\n"
    (tmp_path / "learner.py").write_text(code)
    space: dict[str, object] = {}
    exec(compile(code, str(tmp_path / "learner.py"), "exec"), space)
    net, learn = torch.nn.Linear(4, 4), space["learn"]
    assert callable(learn)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True
    ) as recorded:
        for _ in range(3):
            learn(net, torch.ones(8, 4))
    recorded.export_chrome_trace(str(tmp_path / "trace.json"))
    profile = read(tmp_path / "trace.json")
    [number] = [n for n, frame in enumerate(profile.frames) if frame.name == "learn"]
    assert profile.calls([number]) == 3
    assert {"item", "sum", "_call_impl"} <= profile.callees([number])


def test_time_is_counted_once(tmp_path: Path) -> None:
    """Two places of which one runs inside the other are not added up."""
    graph = profile_of(tmp_path, pstats_of())
    names = {frame.name: number for number, frame in enumerate(graph.frames)}
    act, step = (Claim(whole=frozenset({names[name]})) for name in ("act", "step"))
    assert graph.covered([act, step], upper=True) == pytest.approx(6.0 + 3.0)
    stacks = profile_of(tmp_path, speedscope_of())
    both = [Claim(whole=frozenset({0})), Claim(whole=frozenset({1}))]
    assert stacks.covered(both, upper=True) == pytest.approx(4.0)


def test_calls_bound_a_place_in_a_function(tmp_path: Path) -> None:
    """If lines are not distinguished, the lower bound has the certain callees, and the upper bound also own
    time.
    """
    graph = profile_of(tmp_path, pstats_of())
    names = {frame.name: number for number, frame in enumerate(graph.frames)}
    place = Claim(inside=frozenset({names["main"]}), surely=frozenset({"step"}), perhaps=frozenset({"act"}))
    assert graph.covered([place], upper=False) == pytest.approx(3.0)
    assert graph.covered([place], upper=True) == pytest.approx(1.0 + 3.0 + 6.0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"\0\1\2\3binary", "binary file"),
        (pickle.dumps({"a": 1}), "a pickle, which is never loaded"),
        (b"{not json", "Expecting property name"),
        (b'{"a": 1}', "JSON of an unknown format"),
        (b"words without a number\n", "line 1 is not a stack"),
        (b"main;act 5\n", "its frames name no files"),
        (json.dumps({"traceEvents": []}).encode(), "record it with `with_stack=True`"),
        (json.dumps(speedscope_of(unit="bytes")).encode(), "it measures bytes, not time"),
        (json.dumps(speedscope_of(samples=[[7]], weights=[1])).encode(), "a frame that does not exist"),
        (json.dumps(speedscope_of(weights=[float("inf")] * 3)).encode(), "no time was spent in it"),
        (json.dumps(speedscope_of(type="new")).encode(), "unknown type 'new'"),
        (b"{" + b"(" + b"\xff\xff\xff\x7f", "cut off, or a length in it is wrong"),
        (marshal.dumps({(A, 1, "main"): compile("1", "f", "eval")}), "which no profile has"),
        (marshal.dumps({}), "no time was spent in it"),
        (marshal.dumps({(A, 1, "f"): (1, 1, 1.0, 1.0, {(A, 1, "f"): 3})}), "record it with cProfile"),
        (marshal.dumps({(A, 1, "f"): (1, 1, "x", 1.0, {})}), "a time or count in"),
        (gzip.compress(b'{"traceEvents"', mtime=0)[:-9], "cut off"),
        (b"[" * 100_000, "too large, or nested too deeply"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_is_no_profile_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    """The error names the file, the problem, and the supported formats; nothing is executed."""
    with pytest.raises(RlintError) as error:
        profile_of(tmp_path, content)
    assert said in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / 'profile'}: cannot read the profile: ")


def test_a_folder_or_nothing_is_no_profile(tmp_path: Path) -> None:
    """It is reported, like every other mistake."""
    with pytest.raises(RlintError, match="it is a folder"):
        read(tmp_path)
    with pytest.raises(RlintError, match="No such file"):
        read(tmp_path / "none")


SEEDS = [
    pstats_of(),
    json.dumps(speedscope_of()).encode(),
    json.dumps(trace_of()).encode(),
    gzip.compress(json.dumps(trace_of()).encode(), mtime=0),
    b"main (train.py:3);act (agent.py:6) 5\n",
]


@settings(max_examples=300)
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), max_size=6),
    st.integers(0, 4000),
)
def test_damage_is_an_error_or_a_profile(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, changes: list[tuple[int, int]], length: int
) -> None:
    """With any bytes changed or cut off, there is a clear error, or a profile whose shares can be
    computed.
    """
    damaged = bytearray(data)
    for place, value in changes:
        damaged[place % len(damaged)] = value
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(bytes(damaged[: length or None]))
    try:
        profile = read(path)
    except RlintError:
        return
    assert profile.total > 0
    every = Claim(whole=frozenset(range(len(profile.frames))))
    assert 0 <= profile.covered([every], upper=True) <= profile.total * (1 + 1e-9)


@settings(max_examples=300)
@given(st.binary(max_size=200))
def test_any_bytes_are_safe_to_read_as_marshalled(data: bytes) -> None:
    """The reader of marshalled data says ValueError and nothing else."""
    with contextlib.suppress(ValueError):
        marshalled.loads(data)
