"""Versions in rows: which version introduced a function, and which code needs it."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from itertools import chain

import pytest

from fixture_folders import FIXTURES, RULES
from rlint.config.stated_versions import as_version
from rlint.findings import Finding, Requirement
from rlint.models import since
from rlint.registry.catalogue import RuleEntry
from workspaces import Workspace

KNOWN = {
    # the sources and stubs in the wheels of PyTorch 1.2 to 2.6
    "torch.inference_mode": "1.9",
    "torch.amp.autocast": "1.12",
    "torch.cuda.amp.autocast dtype": "1.10",
    "torch.amp.GradScaler": "2.3",
    "torch.compile": "2.0",
    "torch.vmap": "2.0",
    "torch.func.functional_call": "2.0",
    "torch.nn.Buffer": "2.5",
    "torch._foreach_mul_": "1.7",
    "torch._foreach_lerp_": "2.0",
    "torch._foreach_norm": "1.11",
    "torch._foreach_maximum": "1.8",
    "torch._foreach_maximum_": "1.13",
    "torch.optim.Adam fused": "2.0",
    "torch.optim.AdamW foreach": "1.12",
    "torch.optim.SGD fused": "2.3",
    "torch.optim.Adagrad fused": "2.4",
    "torch.optim.NAdam": "1.10",
    "torch.nonzero as_tuple": "1.3",
    "torch.amax": "1.7",
    "torch.isin": "1.10",
    "torch.asarray": "1.11",
    "torch.utils.data.DataLoader persistent_workers": "1.7",
    "torch.load mmap": "2.1",
    "torch.nn.utils.clip_grad_norm_ foreach": "2.0",
    ".register_buffer persistent": "1.6",
    ".zero_grad set_to_none": "1.7",
    # release notes of NumPy
    "numpy.random.default_rng": "1.17",
    ".integers": "1.17",
    # "New in version" in the documentation of Python
    "functools.cache": "3.9",
    "functools.cached_property": "3.8",
    "math.cbrt": "3.11",
    "math.prod": "3.8",
    "math.sumprod": "3.12",
    "itertools.pairwise": "3.10",
    "itertools.batched": "3.12",
    "asyncio.to_thread": "3.9",
    "random.randbytes": "3.9",
    ".removeprefix": "3.9",
}
"""Versions by their sources. In these texts, a name with a leading dot is a method, and a second word is a
keyword.
"""

OLD = {"python": (3, 9), "torch": (1, 10), "numpy": (1, 20)}
"""Versions so old that a page does not have to mention them."""
NAMES = {"python": "Python", "torch": "PyTorch", "numpy": "NumPy"}


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_rows_state_the_version_of_the_release_notes(name: str) -> None:
    """A wrong version either breaks a project or withholds a fix for nothing."""
    function, _, keyword = name.partition(" ")
    introduced = since.methods()[function[1:]] if function.startswith(".") else since.functions()[function]
    assert (dict(introduced.keywords)[keyword] if keyword else introduced.version) == KNOWN[name]


def keywords() -> Iterator[tuple[str, str]]:
    """Each keyword of a function that has a version of its own."""
    for name, introduced in since.functions().items():
        for keyword, _ in introduced.keywords:
            yield name, keyword


@pytest.mark.parametrize(("name", "keyword"), sorted(keywords()))
def test_keywords_with_a_version_exist(name: str, keyword: str) -> None:
    """All keywords exist: one that no function has would never withhold a fix."""
    if name.partition(".")[0] in ("torch", "numpy"):
        pytest.importorskip(name.partition(".")[0])
    module, _, last = name.rpartition(".")
    function = getattr(importlib.import_module(module), last)
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # a built-in function: its documentation shows the signature
        assert f"{keyword}=" in (function.__doc__ or "")
    else:
        assert keyword in parameters


def test_versions_are_compared_as_numbers() -> None:
    """1.10 is newer than 1.9, and 2.0 is 2."""
    assert as_version("1.10") > as_version("1.9")
    assert as_version("2.0.0+cpu") == as_version("2")


def requirements(finding: Finding) -> tuple[Requirement, ...]:
    """The versions that the fix of a finding and its advice require."""
    return (*(finding.fix.needs if finding.fix is not None else ()), *finding.advice_needs)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_pages_name_the_version_that_they_need(rule: RuleEntry, workspace: Callable[..., Workspace]) -> None:
    """The page states which library version the rule needs."""
    program = (FIXTURES / rule.name / "before.py").read_bytes()
    findings = workspace({"before.py": program}).findings({rule.code})
    for need in chain.from_iterable(map(requirements, findings)):
        if as_version(need.version) >= OLD[need.library]:
            library = NAMES[need.library]
            assert re.search(rf"{library}\s+{re.escape(need.version)}\b", rule.page), (
                f"the page of {rule.code} has to say that `{need.what}` needs {library} {need.version}"
            )
