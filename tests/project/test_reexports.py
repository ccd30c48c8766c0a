"""Names that packages hand on."""

from __future__ import annotations

from project_builder import build, expression
from rlint.project.kind import Tag


def test_packages_that_import_everything_from_one_another_are_read_in_no_time() -> None:
    """A name that nobody defines is looked for once in each module, however they import from one another."""
    names = [f"part_{number}" for number in range(12)]
    files = {
        f"{name}.py": "".join(f"from {other} import *\n" for other in names if other != name)
        for name in names
    }
    files["part_11.py"] += "import numpy as np\nlimits = np.zeros(3)\n"
    files["train.py"] = "import part_0\nprint(part_0.missing)\nprint(part_0.limits)\n"
    site = build(files)["train.py"]
    assert site.kind_of(expression(site, "part_0.missing")).tag is Tag.UNKNOWN
    assert site.kind_of(expression(site, "part_0.limits")).tag is Tag.NDARRAY
