"""A real Neovim, configured as documented: what its user sees and can do."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from editors import ROOT
from patience import PATIENCE

OLDEST = (0, 11)
PROGRAM = """\
import numpy as np


def collect(env, steps):
    rewards = np.empty(0, dtype=np.float32)
    for _ in range(steps):
        _, reward, _, _, _ = env.step(env.action_space.sample())
        rewards = np.append(rewards, np.float32(reward))
    return rewards
"""
SETUP = """\
vim.lsp.config('rlint', {
  cmd = { vim.env.RLINT_PYTHON, '-m', 'rlint', 'server' },
  filetypes = { 'python' },
  root_markers = { 'rlint.toml', '.rlint.toml', 'pyproject.toml', '.git' },
})
vim.lsp.enable('rlint')
"""
SESSION = """\
local patience = tonumber(vim.env.RLINT_PATIENCE) * 1000
local seen = {}
vim.cmd.edit('train.py')
vim.cmd.setfiletype('python')
vim.wait(patience, function() return #vim.diagnostic.get(0) > 0 end, 50)
local client = vim.lsp.get_clients()[1]
seen.diagnostics = vim.tbl_map(function(d) return { d.lnum, d.code, d.source } end, vim.diagnostic.get(0))
seen.pulls = client:supports_method('textDocument/diagnostic', { bufnr = 0 })
vim.api.nvim_win_set_cursor(0, { 8, 20 })
local where = vim.lsp.util.make_position_params(0, client.offset_encoding)
local shown = client:request_sync('textDocument/hover', where, patience, 0)
seen.hover = shown.result and shown.result.contents.value or ''
local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
params.context = { diagnostics = {}, triggerKind = 2 }
local offered = client:request_sync('textDocument/codeAction', params, patience, 0)
seen.kinds = vim.tbl_map(function(action) return action.kind end, offered.result or {})
vim.lsp.buf.code_action({ context = { only = { 'source.fixAll.rlint' }, diagnostics = {} }, apply = true })
local function text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') end
vim.wait(patience, function() return text():find('rewards_parts') ~= nil end, 50)
seen.text = text()
vim.wait(patience, function() return #vim.diagnostic.get(0) == 0 end, 50)
seen.left = #vim.diagnostic.get(0)
vim.fn.writefile({ vim.json.encode(seen) }, 'seen.json')
vim.cmd('qa!')
"""


@pytest.fixture(scope="module")
def neovim() -> str:
    """A Neovim that is new enough: NVIM, or the one on the PATH."""
    found = os.environ.get("NVIM") or shutil.which("nvim")
    if found is None:
        pytest.skip("Neovim is not installed")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"v(\d+)\.(\d+)", said)
    if version is None or tuple(map(int, version.groups())) < OLDEST:
        pytest.skip("Neovim is too old for `vim.lsp.config`")
    return found


def test_a_session(neovim: str, tmp_path: Path) -> None:
    """Diagnostics are pulled; quick fixes are offered at a place, and fix-all on request."""
    (tmp_path / "rlint.toml").write_text('select = ["RL101"]\n')
    for name, text in (("train.py", PROGRAM), ("init.lua", SETUP), ("session.lua", SESSION)):
        (tmp_path / name).write_text(text)
    initial_settings = {
        "PYTHONPATH": str(ROOT),
        "RLINT_PYTHON": sys.executable,
        "RLINT_PATIENCE": str(PATIENCE),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    subprocess.run(
        [neovim, "--clean", "--headless", "-u", "init.lua", "-S", "session.lua"],
        cwd=tmp_path,
        env={**os.environ, **initial_settings},
        timeout=6 * PATIENCE,
        check=True,
        capture_output=True,
    )
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["diagnostics"] == [[7, "RL101", "rlint"]]
    assert seen["pulls"]
    assert "# concat-grown-buffer (RL101)" in seen["hover"]
    assert set(seen["kinds"]) == {"quickfix"}
    assert "rewards_parts.append" in seen["text"]
    assert seen["left"] == 0
