"""Material for mutations: words, forms, characters and values, usual and unusual ones."""

from __future__ import annotations

from typing import Any

COMMENTS = (
    "# noqa", "# noqa: RL101", "# noqa: RL101,RL3 x", "# NOQA:RL", "# rlint: ignore",
    "# rlint: ignore[RL303]",
    "# rlint: ignore[hard-target-copy, RL101]", "# rlint: ignore[", "# rlint: skip-file", "# rlint: ignore[]",
    "# fmt: off", "# -*- coding: latin-1 -*-", "# coding: utf-16", "# coding: rot13", "# coding: idna",
    "# type: ignore # noqa: RL101 # rlint: ignore[RL101]", "# \u2028 \x0c é", "#",
)  # fmt: skip
STATEMENTS = (
    "global {n}", "nonlocal {n}", "del {n}", "{n}: int", "{n} = {e}", "{n} += {e}", "{n}, *{m} = {e}",
    "{n}[{e}] = {m}", "{n}.{m} = {e}", "return {e}", "yield {e}", "yield from {e}", "await {e}", "raise {e}",
    "assert {e}", "import {n}", "import {n} as {m}", "from {n} import *", "from . import {n}", "pass",
    "break",
    "continue", "print({e})", "exec({e})", "if {e}: pass", "({n} := {e})", "{n} = lambda {m}: {e}",
    "{n} = [{m} for {m} in {e}]", "{n} = {{**{m}, {e}: {n}}}", "with {e} as {n}: pass", "{n} = {m} = {e}",
    "from __future__ import annotations", "def {n}({m}={e}): return {m}", "class {n}({m}): pass",
    "for {n} in {e}: {m}({n})", "while {e}: {n}()", "{n} = f'{{{e}!r:{{{m}}}}}'", "async def {n}(): {e}",
)  # fmt: skip
WRAPPERS = (
    "if {e}:", "for {n} in {e}:", "while {e}:", "with {e}:", "try:", "def {n}(self, {m}=None):", "class {n}:",
    "async def {n}():", "async for {n} in {e}:", "async with {e} as {n}:", "match {n}:\n    case {m}:",
    "else:",
    "elif {e}:", "except {e} as {n}:", "finally:", "@{n}\ndef {m}():", "lambda:", "if True:",
)  # fmt: skip
LITERALS = (
    "0", "-1", "1e999", "0x" + "f" * 40, "9" * 400, "None", "...", "''", "b''", "'\\ud800'",
    "'\\N{DIGIT ONE}'",
    "f''", "f'{x}{{'", "r'\\'", "'''\n'''", "()", "[]", "{}", "{*()}", "(*(), 1)", "1j", "True", "__debug__",
    "'é\U0001f600'", "'a' 'b'", "'cuda'", "'cpu'", "lambda: 0", "(yield)", "await x", "not 1",
    "1 if 2 else 3",
    "x[::, ...]", "x[1:2, *y]", "f(**{})", "*a", "a.b.c", "-x ** -y", "a < b < c", "(y := 2)",
)  # fmt: skip
ODD = ("\x0c", "\r", "\r\n", "\n\r", "\t", "\ufeff", "\0", "\u2028", "\x85", "\x1c", "\\\n", "é",
       "\U0001f600",
       "ﬁ", "·", "\xa0", "$", "?", "`", ";", "\\", '"""', "'''", "{", "}", "(", ")", "[", "]")  # fmt: skip
NUMBERS = (b"0", b"-1", b"999999999999999999999", b"1e999", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\xff",
           b"\x80",
           b"\xed\xa0\x80", b"\xc0\x80", b"nan", b"\x00")  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 10**30, 1e308, float("nan"), "", "x" * 300, "\ud800", [], {}, [[]], [None], {"": {}},
    "../..", "/", "**", "RL", "ALL", [[[[[[]]]]]], "\n", 0.5, "py310", ["a"], {"a": 1},
)  # fmt: skip
