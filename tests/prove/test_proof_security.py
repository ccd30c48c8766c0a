"""A proof is data, and recordings are loaded only with the signature of their run: docs/security.md."""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import proofs
from rlint.prove import proof
from rlint.prove.proof import FASTER, Proof
from rlint.prove.replay import records

PROGRAM = """\
import numpy as np


def gather(rows):
    found = np.zeros((0, 3))
    for row in rows:
        found = np.concatenate([found, row[None]])
    return found


for _ in range(5):
    gather([np.random.rand(3) for _ in range(50)])
"""


class Harmful:
    """Runs a command when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        """Return the effect of loading a pickle."""
        return os.system, (f"touch {self.path}",)


def rlint(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run rlint with a cache folder of its own."""
    return subprocess.run(
        [sys.executable, "-m", "rlint", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
    )


def proven(folder: Path, *, line: int, code: str = "RL101", column: int = 17) -> Proof:
    """A forged proof, which claims that a fix in the program is faster."""
    import hashlib

    program = folder / "train.py"
    program.write_text(PROGRAM)
    one = dataclasses.replace(proofs.fix(line, FASTER), code=code, column=column)
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    return dataclasses.replace(
        proofs.EVERY_VERDICT,
        command=("touch", "ran"),
        fixes=(one,),
        together=None,
        others=(),
        digests={"train.py": digest},
    )


def test_nothing_in_a_proof_is_run(tmp_path: Path) -> None:
    """Neither the command nor a pickle in place of a string or of the file is run."""
    made_up = proven(tmp_path, line=7)
    harmful = base64.b64encode(pickle.dumps(Harmful(tmp_path / "ran"))).decode()
    fixes = tuple(dataclasses.replace(one, message=harmful, where=harmful) for one in made_up.fixes)
    made_up = dataclasses.replace(made_up, fixes=fixes)
    proof.write(made_up, tmp_path / "rlint.proof", None)
    for words in (
        ("fix", "--isolated", "--proven", "rlint.proof", "--allow-dirty", "train.py"),
        ("check", "--isolated", "--proof", "rlint.proof", "train.py"),
        ("prove", "--show", "rlint.proof"),
    ):
        assert rlint(tmp_path, *words).returncode in (0, 1)
    (tmp_path / "rlint.proof").write_bytes(pickle.dumps(Harmful(tmp_path / "ran")))
    for words in (
        ("fix", "--isolated", "--proven", "rlint.proof", "--allow-dirty", "train.py"),
        ("check", "--isolated", "--proof", "rlint.proof", "train.py"),
        ("prove", "--show", "rlint.proof"),
    ):
        done = rlint(tmp_path, *words)
        assert (done.returncode, "not an rlint proof" in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_proof_of_others_is_said_to_be_one(tmp_path: Path) -> None:
    """A proof that was changed after it was signed is not trusted."""
    made_up = proven(tmp_path, line=7)
    proof.write(made_up, tmp_path / "rlint.proof", b"somebody's key")
    done = rlint(tmp_path, "fix", "--isolated", "--proven", "rlint.proof", "--allow-dirty", "train.py")
    assert "was not created by you on this machine" in done.stderr
    shown = rlint(tmp_path, "prove", "--show", "rlint.proof")
    assert "was not created by you on this machine" in shown.stderr
    _, own = proof.read(tmp_path / "rlint.proof", b"somebody's key")
    assert own
    held = json.loads((tmp_path / "rlint.proof").read_text())
    held["proof"]["seconds"] = 1.0
    (tmp_path / "rlint.proof").write_text(json.dumps(held))
    _, own = proof.read(tmp_path / "rlint.proof", b"somebody's key")
    assert not own


def test_only_fixes_of_rlint_are_applied(tmp_path: Path) -> None:
    """A place without a finding, an unknown rule, and a file with another text cause no change."""
    for line, code in ((2, "RL101"), (7, "RL999")):
        proof.write(proven(tmp_path, line=line, code=code), tmp_path / "rlint.proof", None)
        rlint(tmp_path, "fix", "--isolated", "--proven", "rlint.proof", "--allow-dirty", "train.py")
        assert (tmp_path / "train.py").read_text() == PROGRAM
    proof.write(proven(tmp_path, line=7), tmp_path / "rlint.proof", None)
    (tmp_path / "train.py").write_text(f"{PROGRAM}\n")
    done = rlint(tmp_path, "fix", "--isolated", "--proven", "rlint.proof", "--allow-dirty", "train.py")
    assert (done.returncode, "has changed since it was proven" in done.stderr) == (2, True)


def test_a_recording_without_the_signature_of_its_run_is_not_loaded(tmp_path: Path) -> None:
    """A signature of other content is refused, too."""
    body = pickle.dumps(Harmful(tmp_path / "ran"))
    header = json.dumps({"parts": [len(body), 0, 0, 0, 0], "region": 0}).encode()
    content = b"".join([len(header).to_bytes(8, "big"), header, body, body])
    for signature in (bytes(32), b"x" * 32):
        path = tmp_path / "record-0-1-0.rec"
        path.write_bytes(records.MAGIC + signature + content)
        with pytest.raises(records.UnsignedError):
            records.read(path, b"key")
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no permissions of folders")
def test_recordings_are_private_and_deleted(tmp_path: Path) -> None:
    """Other users cannot write a record, or read the key."""
    (tmp_path / "tmp").mkdir()
    look = (
        "import os, pathlib\n"
        "folder, = pathlib.Path(os.environ['TMPDIR']).glob('rlint-prove-*')\n"
        "modes = [oct(one.stat().st_mode & 0o77) for one in (folder, folder / 'config.json')]\n"
        "pathlib.Path('modes').write_text(' '.join(modes))\n"
    )
    (tmp_path / "train.py").write_text(look + PROGRAM)
    options = ("--isolated", "--budget", "0.1", "-q", "--path", "train.py")
    done = subprocess.run(
        [sys.executable, "-m", "rlint", "prove", *options, "--", sys.executable, "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
    )
    assert (tmp_path / "modes").read_text() == "0o0 0o0", done.stderr
    assert list((tmp_path / "tmp").glob("rlint-prove-*")) == []


@pytest.mark.parametrize("form", ["table", "markdown", "html", "json"])
def test_a_proof_cannot_control_the_terminal(tmp_path: Path, form: str) -> None:
    """Control and invisible characters of a proof are escaped."""
    evil = "\x1b]0;owned\x07\x1b[31m\u202e"
    difference = dict.fromkeys(("kind", "path", "before", "after"), evil) | {"when": evil}
    fixes = tuple(
        dataclasses.replace(
            one, path=evil, where=evil, reason=evil, differences=(difference,) if one.differences else ()
        )
        for one in proofs.EVERY_VERDICT.fixes
    )
    made_up = dataclasses.replace(proofs.EVERY_VERDICT, command=("python", evil), fixes=fixes)
    proof.write(made_up, tmp_path / "rlint.proof", None)
    done = rlint(tmp_path, "prove", "--show", "rlint.proof", "--output-format", form)
    assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout + done.stderr)
