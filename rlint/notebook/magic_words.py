"""Names that IPython's own lines read and set, as far as their text shows them."""

from __future__ import annotations

import keyword
import re

from rlint.regex import regex

_WORD = regex(r"(?<![\w.])[^\W\d]\w*")
_INTERPOLATED = regex(r"(?<!\{)\{([^{}]*)\}|\$\{?([^\W\d]\w*)")
_TARGETS = regex(r"[ \t]*([^\W\d][\w., \t*]*)(?::[^=]*)?(?:[-+*/%@&|^]|//|\*\*|<<|>>)?=(?!=)")
_DEFINED = regex(r"[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+([^\W\d]\w*)")
_BOUND = regex(r"\b(?:as|for)[ \t]+([^\W\d]\w*(?:[ \t]*,[ \t]*[^\W\d]\w*)*)|\b([^\W\d]\w*)[ \t]*:=")

CELL_WITH_PYTHON = frozenset(
    "capture time prun wandb snakeviz scalene debug ipytest pyinstrument memit".split()
)
"""Cell magics whose body runs like the cell itself."""
PLAIN = frozenset(
    """alias alias_magic autoawait autocall automagic bookmark cd colors conda config dirs dhist env
    load_ext lsmagic magic mamba mamba matplotlib mkdir notebook pip popd precision pushd pwd quickref
    reload_ext rmdir sx sc system tensorboard tensorflow_version unload_ext uv watermark autosave
    aimport autoreload""".split()
)
"""Line magics that use only the program's names in braces or after `$`."""
AUTOMAGIC = frozenset(
    """cat cd clear conda cp dhist env less ls ldir lf lk ll load_ext lx man matplotlib mamba mkdir more mv
    pip pwd reload_ext rm rmdir run time timeit uv who whos""".split()
)
"""Magics that are often written without the `%`; recognised only if the line is not valid Python."""


def interpolated(text: str) -> list[str]:
    """Return the names in a shell line: `{name}` and `$name`."""
    found: list[str] = []
    for braces, plain in _INTERPOLATED.findall(text):
        found += read(braces) if braces else [plain]
    return list(dict.fromkeys(found))


def read(text: str) -> list[str]:
    """Return all names that a text may read."""
    return [word for word in dict.fromkeys(_WORD.findall(text)) if not keyword.iskeyword(word)]


def bound(text: str) -> list[str]:
    """Return the names that a line of broken Python seems to bind."""
    found: list[str] = []
    if match := _DEFINED.match(text):
        found.append(match[1])
    elif match := _TARGETS.match(text):
        found += [part for part in re.findall(r"[\w.]+", match[1]) if part.isidentifier()]
    for several, one in _BOUND.findall(text):
        found += read(several or one)
    return [name for name in dict.fromkeys(found) if not keyword.iskeyword(name)]
