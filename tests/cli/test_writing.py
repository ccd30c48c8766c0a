"""Files that `rlint fix` writes: always complete, with the same metadata."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

OLD = b"x = 1  # rlint: ignore[RL101]\n"
NEW = b"x = 1\n"
FIX = [sys.executable, "-m", "rlint", "fix", "--extend-select", "RL900", "--isolated", "-j", "1"]
posix = pytest.mark.skipif(os.name == "nt", reason="signals, links and limits of POSIX")


@posix
def test_a_kill_tears_no_file(tmp_path: Path) -> None:
    """If rlint is killed while writing, each file is old or new; the next run finishes the work."""
    filling = b"# " + b"-" * 20_000 + b"\n"
    names = [tmp_path / f"m{number:03}.py" for number in range(60)]
    chance = random.Random(5)  # noqa: S311 - no secret
    cut_short = 0
    for number in range(20):
        if number > 2 and cut_short:
            break  # on a fast machine, some kills come after everything was written
        for name in names:
            name.write_bytes(OLD + filling)
        with subprocess.Popen([*FIX, "-q", "."], cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and names[0].read_bytes().startswith(OLD):
                time.sleep(0.001)
            time.sleep(chance.random() * 0.03)
            process.send_signal(signal.SIGKILL)
            process.wait()
        contents = [name.read_bytes() for name in names]
        assert set(contents) <= {OLD + filling, NEW + filling}
        cut_short += NEW + filling in contents and OLD + filling in contents
    assert cut_short  # or the kills came too late to show anything
    done = subprocess.run([*FIX, "."], cwd=tmp_path, check=False, capture_output=True)
    assert done.returncode == 0
    assert {name.read_bytes() for name in names} == {NEW + filling}


@posix
def test_a_full_disk_stops_one_file_and_no_others(tmp_path: Path) -> None:
    """A file that does not fit on the disk is unchanged and reported; the others are fixed, and the status is
    1.
    """
    large = OLD + b"y = 2\n" * 5_000
    (tmp_path / "large.py").write_bytes(large)
    (tmp_path / "small.py").write_bytes(OLD)
    script = (
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "from rlint.cli import main\nmain()\n"
    )
    command = [FIX[0], "-c", script, *FIX[3:], "--no-cache", "."]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"large.py: not written: {os.strerror(errno.EFBIG)}" in done.stderr
    assert (tmp_path / "large.py").read_bytes() == large
    assert (tmp_path / "small.py").read_bytes() == NEW
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.py", "small.py"]


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_said(run: Run, folder: Path) -> None:
    """A file can only be replaced if its folder is writable."""
    (folder / "sub").mkdir()
    (folder / "sub" / "a.py").write_bytes(OLD)
    (folder / "sub").chmod(0o555)
    try:
        done = run("fix")
    finally:
        (folder / "sub").chmod(0o755)
    assert done.exit_code == 1
    assert "sub/a.py: not written: Permission denied" in done.stderr
    assert (folder / "fixable.py").read_bytes() == NEW


@posix
def test_links_stay_links(run: Run, folder: Path) -> None:
    """A symbolic link leads to the fixed file; a hard link keeps the old content."""
    (folder / "fixable.py").rename(folder / "real.py")
    (folder / "link.py").symlink_to("real.py")
    os.link(folder / "real.py", folder / "other-name")
    run("fix", "link.py")
    assert os.readlink(folder / "link.py") == "real.py"
    assert (folder / "real.py").read_bytes() == NEW
    assert (folder / "other-name").read_bytes() == OLD


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="extended attributes of Linux")
def test_extended_attributes_are_kept(run: Run, folder: Path) -> None:
    """Extended attributes of a file are kept."""
    try:
        os.setxattr(folder / "fixable.py", "user.origin", b"here")  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        pytest.skip("the file system has none")
    (folder / "fixable.py").chmod(0o754)
    run("fix", "fixable.py")
    assert (folder / "fixable.py").read_bytes() == NEW
    assert os.getxattr(folder / "fixable.py", "user.origin") == b"here"  # type: ignore[attr-defined,unused-ignore]
    assert (folder / "fixable.py").stat().st_mode & 0o777 == 0o754


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfy = 1\r\n" + OLD[:-1] + b"\r\nz = 1\n\x0cw = 2", b"\r\nx = 1\r\nz = 1\n\x0cw = 2"),
        (b"y = 1\r" + OLD[:-1] + b"\rz = '\\\r'\r", b"\rx = 1\rz = '\\\r'\r"),
        (b"# coding: latin-1\n" + OLD + b"s = '\xe9'", b"\nx = 1\ns = '\xe9'"),
        (b"#!/usr/bin/python\n\x0c\n" + OLD[:-1], b"\n\x0c\nx = 1"),
        ("é = '\u2028'\n".encode() + OLD, b"'\nx = 1\n"),
    ],
)
def test_what_is_not_fixed_stays_byte_for_byte(run: Run, folder: Path, before: bytes, after: bytes) -> None:
    """Marks, line ends of every kind, encodings, form feeds, and an end without a newline."""
    (folder / "odd.py").write_bytes(before)
    run("fix", "odd.py")
    fixed = (folder / "odd.py").read_bytes()
    assert fixed.endswith(after)
    assert fixed == before.replace(OLD[:-1], NEW[:-1])
