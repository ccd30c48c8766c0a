"""The action for GitHub: its steps, run by bash as a runner does."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

import proofs
from fixture_folders import ROOT
from rlint.prove import proof

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
SLOW = """\
from torch import nn


def copy(a: nn.Module, b: nn.Module) -> None:
    a.load_state_dict({k: v.clone() for k, v in b.state_dict().items()})
"""


@dataclass
class Runner:
    """What GitHub's runner does with a composite action."""

    folder: Path
    action: Path
    variables: dict[str, str] = field(default_factory=dict)
    """Further variables that a runner gives to its steps."""
    outputs: dict[str, str] = field(default_factory=dict)

    def run(self, name: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run the step with this name."""
        (step,) = (one for one in ACTION["runs"]["steps"] if one["name"] == name)
        assert step["shell"] == "bash"
        given = {key.replace("_", "-"): value for key, value in inputs.items()}
        assert given.keys() <= ACTION["inputs"].keys()
        values = {f"inputs.{key}": str(one["default"]) for key, one in ACTION["inputs"].items()}
        values |= {f"inputs.{key}": value for key, value in given.items()}
        values["github.action_path"] = str(self.action)

        def filled(text: str) -> str:
            return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: values[found[1]], text)

        assert "${{" not in step["run"], "text of inputs would become part of the script"
        for name_ in ("path", "output"):
            (self.folder / name_).touch()
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
            **{key: filled(value) for key, value in step.get("env", {}).items()},
            **self.variables,
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_PATH": str(self.folder / "path"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        (self.folder / "script.sh").write_text(step["run"], encoding="utf-8")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", self.folder / "script.sh"],
            cwd=self.folder / "project" / filled(step.get("working-directory", ".")),
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        lines = (self.folder / "output").read_text().splitlines()
        self.outputs = dict(line.split("=", 1) for line in lines)
        return done


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A runner with a checked-out project, and rlint installed as by the first step."""
    (tmp_path / "project" / "src files").mkdir(parents=True)
    (tmp_path / "project" / "src files" / "nets.py").write_text(SLOW)
    (tmp_path / "project" / "clean.py").write_text("x = 1\n")
    return Runner(tmp_path, ROOT)


def install(runner: Runner) -> None:
    """Put this rlint where the first step would install it."""
    programs = runner.folder / "temp" / "rlint" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    (programs / "rlint").write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m rlint "$@"\n')
    (programs / "rlint").chmod(0o755)


def test_its_inputs_are_described() -> None:
    """Each input has a default, each output a value from a step."""
    assert ACTION["runs"]["using"] == "composite"
    assert {"paths", "args", "version", "output-format"} <= ACTION["inputs"].keys()
    for one in ACTION["inputs"].values():
        assert isinstance(one["default"], str)
        assert one["description"]
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text()))
    assert used == ACTION["inputs"].keys()


def test_findings_become_annotations(runner: Runner) -> None:
    """By default, the whole checkout is checked, and each finding is printed as a GitHub command."""
    install(runner)
    done = runner.run("Check")
    assert (done.returncode, runner.outputs) == (1, {"exit-status": "1"}), done.stderr
    assert re.match(r"::warning title=rlint \(RL305\),file=.*/src files/nets\.py,line=5,", done.stdout)
    assert runner.run("Check", paths="clean.py").returncode == 0


def test_paths_and_arguments_are_split_as_in_a_shell(runner: Runner) -> None:
    """Quotes hold words together, and nothing in them is run or expanded."""
    install(runner)
    one = runner.run(
        "Check", paths="'src files' clean.py", args="--select 'RL305, RL101' --config 'jobs = 1'"
    )
    assert (one.returncode, one.stdout.count("::warning")) == (1, 1), one.stderr
    assert runner.run("Check", args="--ignore RL305").returncode == 0
    (runner.folder / "project" / "$(touch ran).py").write_text("x = 1\n")
    hostile = runner.run("Check", paths="'$(touch ran).py' '*.py'", args="--config '$(touch ran)=1'")
    assert hostile.returncode == 2
    assert not (runner.folder / "project" / "ran").exists()
    option = runner.run("Check", paths="--version")
    assert (option.returncode, "--version" in option.stderr) == (2, True)  # a path, and no option


def test_a_report_for_code_scanning(runner: Runner) -> None:
    """SARIF is written to a file in the working folder, and the step still fails for findings."""
    install(runner)
    done = runner.run(
        "Check", output_format="sarif", output_file="rlint.sarif", working_directory="src files", paths="."
    )
    assert done.returncode == 1
    log = json.loads((runner.folder / "project" / "src files" / "rlint.sarif").read_text())
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["RL305"]
    assert runner.run("Check", args="--exit-zero").returncode == 0


def test_what_could_not_be_done_fails_the_job(runner: Runner) -> None:
    """A path that is not there, or a wrong option, is status 2."""
    install(runner)
    for inputs in ({"paths": "gone"}, {"args": "--no-such"}, {"output_format": "pdf"}, {"args": "'open"}):
        assert runner.run("Check", **inputs).returncode == 2, inputs


class Comments:
    """A stand-in for GitHub's interface for the comments of one pull request, as a server of this machine."""

    def __init__(self) -> None:
        comments: list[dict[str, Any]] = []
        requests: list[tuple[str, str, str]] = []
        self.comments, self.requests = comments, requests
        self.status = 200

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                """Say nothing."""

            def do_GET(self) -> None:
                self.answer("GET")

            def do_POST(self) -> None:
                self.answer("POST")

            def do_PATCH(self) -> None:
                self.answer("PATCH")

            def answer(self, method: str) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else {}
                path, _, query = self.path.partition("?")
                requests.append((method, path, self.headers.get("Authorization", "")))
                status, found = server.status, []  # type: ignore[attr-defined]
                if path == "/user":
                    status = 403
                elif status == 200 and method == "POST":
                    own_part = {"login": "github-actions[bot]"}
                    comments.append({"id": len(comments) + 1, "user": own_part, "body": body["body"]})
                elif status == 200 and method == "PATCH":
                    comments[int(path.rsplit("/", 1)[1]) - 1]["body"] = body["body"]
                elif status == 200:
                    page = int(dict(one.split("=") for one in query.split("&"))["page"])
                    found = comments[100 * (page - 1) : 100 * page]
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(found).encode())

        server = self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.status = 200  # type: ignore[attr-defined]
        Thread(target=server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def refuse(self, status: int) -> None:
        """Answer with an error from now on."""
        self.server.status = status  # type: ignore[attr-defined]


@pytest.fixture
def github(runner: Runner) -> Iterator[Comments]:
    """A pull request, and a proof in the checkout."""
    install(runner)
    proof.write(proofs.EVERY_VERDICT, runner.folder / "project" / "rlint.proof", None)
    found = Comments()
    summary = str(runner.folder / "summary")
    runner.variables |= {
        "GITHUB_API_URL": found.url,
        "GITHUB_REPOSITORY": "someone/agents",
        "GITHUB_STEP_SUMMARY": summary,
        "no_proxy": "127.0.0.1",
    }
    yield found
    found.server.shutdown()
    found.server.server_close()


def test_a_proof_is_posted_once(runner: Runner, github: Comments) -> None:
    """A later run replaces the comment of an earlier one, and no other comment, however many there are."""
    others = [
        {"id": n + 1, "user": {"login": "someone"}, "body": "<!-- rlint prove -->\nmine"} for n in range(150)
    ]
    github.comments.extend(others)
    inputs = {"proof": "rlint.proof", "pull_request": "7", "token": "secret"}
    first = runner.run("Post the proof", **inputs)
    assert first.returncode == 0, first.stdout + first.stderr
    assert [one["body"] for one in github.comments[:150]] == ["<!-- rlint prove -->\nmine"] * 150
    (posted,) = github.comments[150:]
    assert "### rlint prove" in posted["body"]
    assert "RL301 train.py:20" in posted["body"]
    assert "<script>" not in re.sub(r"(`+).*?\1(?!`)", "", posted["body"])  # but as code
    assert github.requests[-1] == ("POST", "/repos/someone/agents/issues/7/comments", "Bearer secret")
    posted["body"] = "<!-- rlint prove -->\nof an earlier run"
    again = runner.run("Post the proof", **inputs)
    assert again.returncode == 0, again.stdout + again.stderr
    assert len(github.comments) == 151
    assert "### rlint prove" in github.comments[150]["body"]
    assert (runner.folder / "summary").read_text().count("### rlint prove") == 2
    assert "secret" not in first.stdout + first.stderr


def test_a_proof_that_cannot_be_posted_says_why(runner: Runner, github: Comments) -> None:
    """An invalid number, no token, no write permission, and a file that is not a proof."""
    inputs = {"proof": "rlint.proof", "pull_request": "7", "token": "secret"}
    for wrong, said in (
        ({"pull_request": "7; touch ran"}, "not the number"),
        ({"token": ""}, "`token` is empty"),
    ):
        done = runner.run("Post the proof", **{**inputs, **wrong})
        assert (done.returncode, said in done.stderr) == (1, True), done.stderr
    github.refuse(403)
    done = runner.run("Post the proof", **inputs)
    assert (done.returncode, "pull-requests: write" in done.stderr) == (1, True), done.stderr
    (runner.folder / "project" / "rlint.proof").write_text("{}")
    done = runner.run("Post the proof", **inputs)
    assert (done.returncode, "is not an rlint proof" in done.stderr) == (2, True), done.stderr
    assert github.comments == []


@pytest.mark.slow
def test_it_installs_itself(runner: Runner) -> None:
    """The first step creates an environment with the action's version of rlint, and the second one uses
    it.
    """
    checkout = runner.folder / "action"
    checkout.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "rlint", "rules", "fixtures"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, checkout / name)
    runner.action = checkout
    (runner.folder / "temp").mkdir()
    installed = runner.run("Install rlint")
    assert installed.returncode == 0, installed.stdout + installed.stderr
    assert (runner.folder / "path").read_text().strip() == str(runner.folder / "temp" / "rlint" / "bin")
    done = runner.run("Check")
    assert (done.returncode, "RL305" in done.stdout) == (1, True), done.stderr
    script = "import importlib.util; print(importlib.util.find_spec('torch'))"
    python = runner.folder / "temp" / "rlint" / "bin" / "python"
    assert subprocess.check_output([python, "-c", script], text=True).strip() == "None"
    assert runner.run("Install rlint", version="0.0.0.dev0").returncode != 0
