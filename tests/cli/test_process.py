from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import rlint
from patience import PATIENCE
from process_trees import attentive
from rlint.cli import main

ROOT = Path(rlint.__file__).resolve().parents[1]


def rlint_process(*arguments: str, cwd: Path, **environment: str) -> subprocess.Popen[str]:
    """Start rlint as a user does."""
    return subprocess.Popen(
        [sys.executable, "-m", "rlint", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_version_is_reported_at_once(tmp_path: Path) -> None:
    """`rlint --version` imports almost nothing."""
    program = (
        "import sys, atexit\nbefore = set(sys.modules)\n"
        "atexit.register(lambda: print(*set(sys.modules) - before))\n"
        "from rlint.cli import main\nmain(['--version'])\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    said, _, imported = done.stdout.partition("\n")
    assert said == f"rlint {rlint.__version__}"
    ours = {name for name in imported.split() if name.partition(".")[0] == "rlint"}
    assert ours == {"rlint", "rlint.cli", "rlint.errors"}
    assert not {"libcst", "numpy", "pathspec", "rich", "torch"} & set(imported.split())


def test_status_and_streams_of_a_real_process(tmp_path: Path) -> None:
    """Findings are written to standard output, errors to standard error, and the exit status distinguishes
    them.
    """
    (tmp_path / "x.py").write_text("x = 1  # rlint: ignore[RL999]\n")
    process = rlint_process("check", "--select", "RL901", cwd=tmp_path)
    output, errors = process.communicate()
    assert (process.returncode, errors) == (1, "")
    assert "RL901" in output
    process = rlint_process("check", "gone.py", cwd=tmp_path)
    output, errors = process.communicate()
    assert process.returncode == 2
    assert "gone.py" in errors


def test_a_reader_that_closes_the_pipe_causes_no_noise(tmp_path: Path) -> None:
    """`rlint check | head -1` ends quietly."""
    (tmp_path / "x.py").write_text("x = 1  # rlint: ignore[RL999]\n" * 1200)
    process = rlint_process("check", "--select", "RL901", cwd=tmp_path)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() in (0, 1)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_interrupting_leaves_no_traceback(tmp_path: Path) -> None:
    """Ctrl-C ends with status 130 and without a traceback."""
    import fcntl
    import termios

    reading, writing = os.pipe()
    process = subprocess.Popen(
        attentive("-m", "rlint", "check", "-"),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=reading,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.write(writing, b"x = 1\n")
    end = time.monotonic() + PATIENCE
    while fcntl.ioctl(reading, termios.FIONREAD, bytes(4)) != bytes(4):  # once read, it waits for more
        assert process.poll() is None
        assert time.monotonic() < end, "standard input is not read"
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    os.close(reading)
    os.close(writing)
    assert process.returncode == 130
    assert "Traceback" not in output + errors


def test_a_console_without_utf8_gets_escapes(tmp_path: Path) -> None:
    """Characters that the terminal cannot show cause no crash."""
    (tmp_path / "é.py").write_text("é = 1  # rlint: ignore[RL999]\n")
    process = rlint_process(
        "check", "--select", "RL901", cwd=tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C.UTF-8"
    )
    output, errors = process.communicate()
    assert (process.returncode, errors) == (1, "")
    assert "\\xe9.py" in output


def test_code_that_is_checked_is_never_run(tmp_path: Path) -> None:
    """A checked program with side effects is not run, and its folder is not on the import path."""
    trace = tmp_path / "trace"
    evil = f"open({str(trace)!r}, 'w').write('run')\n"
    for name in ("click.py", "libcst.py", "sitecustomize.py", "conftest.py", "setup.py", "tomli.py", "x.py"):
        (tmp_path / name).write_text(evil)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "__init__.py").write_text(evil)
    program = "import sys; from rlint.cli import main; main()"
    process = subprocess.run(
        [sys.executable, "-P", "-c", program, "fix", "--unsafe-fixes", "--select", "ALL"]
        if sys.version_info >= (3, 11)
        else [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {program}", "fix"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert not trace.exists()


def test_a_bug_in_rlint_is_reported_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unexpected exception gives status 2 and asks for a report; --verbose shows the details."""

    def broken(_: object) -> int:
        raise ValueError("surprise")

    monkeypatch.setattr("rlint.cli.run.run", broken)
    for arguments, traceback in ((["check"], False), (["check", "-v"], True)):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 2
        errors = capsys.readouterr().err
        assert "ValueError: surprise" in errors
        assert "report" in errors
        assert ("Traceback" in errors) == traceback


@pytest.mark.parametrize(("step", "least"), [(3, 40), pytest.param(1, 100, marks=pytest.mark.slow)])
def test_the_same_code_gets_the_same_report(tmp_path: Path, step: int, least: int) -> None:
    """The output does not depend on Python's string hashes: over a sample of the fixtures, and over all."""
    for folder in sorted((ROOT / "fixtures").iterdir())[::step]:
        if (folder / "before.py").exists():
            (tmp_path / f"{folder.name.replace('-', '_')}.py").write_bytes(
                (folder / "before.py").read_bytes()
            )
    command = ("check", "--isolated", "--select", "ALL", "--jobs", "1", ".")
    processes = [rlint_process(*command, cwd=tmp_path, PYTHONHASHSEED=seed) for seed in ("1", "2")]
    (first, problems), (second, _) = [process.communicate() for process in processes]
    assert not problems
    assert first.count("RL") > least
    assert first == second
