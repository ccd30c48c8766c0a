"""Names that packages re-export."""

from __future__ import annotations

from pathlib import Path

from project_builder import build, expression
from rlint.models.value_type import TypeTag
from rlint.semantics.imports.star_names import StarNames


def test_packages_that_import_everything_from_one_another_are_read_in_no_time() -> None:
    """An undefined name is searched once in each module, however the modules import each other."""
    names = [f"part_{number}" for number in range(12)]
    files = {
        f"{name}.py": "".join(f"from {other} import *\n" for other in names if other != name)
        for name in names
    }
    files["part_11.py"] += "import numpy as np\nlimits = np.zeros(3)\n"
    files["train.py"] = "import part_0\nprint(part_0.missing)\nprint(part_0.limits)\n"
    model = build(files)["train.py"]
    assert model.types.type_of(expression(model, "part_0.missing")).tag is TypeTag.UNKNOWN
    assert model.types.type_of(expression(model, "part_0.limits")).tag is TypeTag.NDARRAY


def test_folders_that_are_no_modules_hand_nothing_on() -> None:
    """`from .utils import *` binds nothing if `utils` has no `__init__.py`, and does not lead back to
    `pkg`.
    """
    names = [f"part_{number}" for number in range(40)]
    files = {
        f"pkg/agent/{name}.py": f"from ..utils import *\nfrom .{other} import *\n"
        for name, other in zip(names, [*names[1:], names[0]], strict=True)
    }
    files["pkg/__init__.py"] = "from .agent import *\n" + "".join(
        f"from .agent.{n} import *\n" for n in names
    )
    files["pkg/agent/__init__.py"] = "".join(f"from .{name} import *\n" for name in names)
    files["pkg/agent/part_39.py"] += "import numpy as np\nlimits = np.zeros(3)\n"
    files["train.py"] = "import pkg\nprint(pkg.missing)\nprint(pkg.limits)\n"
    model = build(files)["train.py"]
    assert model.types.type_of(expression(model, "pkg.missing")).tag is TypeTag.UNKNOWN
    assert model.types.type_of(expression(model, "pkg.limits")).tag is TypeTag.NDARRAY


def test_names_that_a_starred_module_gives_functions_of_libraries_are_followed(tmp_path: Path) -> None:
    """After `from tools import *`, `tensor` is `torch.tensor` if `tools.py` has `tensor = torch.tensor`;
    names that it binds twice are unknown.
    """
    (tmp_path / "tools.py").write_text(
        "import torch\ntensor = torch.tensor\nzeros = torch.zeros\nif cuda:\n    pass\nzeros = None\n"
    )
    names = StarNames("train", ["tools"], tmp_path / "train.py")
    assert names.target("tensor") == "torch.tensor"
    assert names.target("zeros") == "tools.zeros"


def test_a_folder_of_the_program_named_like_torch_does_not_hide_torch() -> None:
    """In `program/torch/distributions.py`, `torch.distributions` is the module of torch, not the file."""
    text = """
        from torch.distributions import Distribution as Base

        class Distribution(Base):
            pass
        """
    files = {f"program/{name}.py": "" for name in ("__init__", "torch/__init__")}
    model = build({**files, "program/torch/distributions.py": text})["program/torch/distributions.py"]
    summary = model.module.classes["Distribution"]
    bases = [base for base in model.index.ancestry(summary) if isinstance(base, str)]
    assert bases == ["torch.distributions.Distribution"]


def test_modules_are_found_by_names_with_the_folder_of_all_sources() -> None:
    """`from src.nets.parts import limits` names `src/nets/parts.py`, whose module is `nets.parts`."""
    files = {
        "nets/parts.py": "import numpy as np\nlimits = np.zeros(3)\n",
        "train.py": "from src.nets.parts import limits\nimport src.nets.parts as parts\n"
        "print(limits, parts.limits)\n",
    }
    model = build(files)["train.py"]
    assert model.types.type_of(expression(model, "limits")).tag is TypeTag.NDARRAY
    assert model.types.type_of(expression(model, "parts.limits")).tag is TypeTag.NDARRAY


def test_scripts_import_the_modules_of_their_folder() -> None:
    """`import parts` in `other/train.py` means `other/parts.py`, although there is a `parts.py` above it."""
    files = {
        "parts.py": "limits = [3]\n",
        "other/parts.py": "import numpy as np\nlimits = np.zeros(3)\n",
        "other/train.py": "import parts\nprint(parts.limits)\n",
        "train.py": "import parts\nprint(parts.limits)\n",
    }
    models = build(files)
    assert (
        models["other/train.py"].types.type_of(expression(models["other/train.py"], "parts.limits")).tag
        is TypeTag.NDARRAY
    )
    assert (
        models["train.py"].types.type_of(expression(models["train.py"], "parts.limits")).tag is TypeTag.LIST
    )


def test_a_script_finds_the_modules_of_its_own_folder_first() -> None:
    """As long as no code imports the folder as a package: then its files are imported from above."""
    files = {
        "buffers.py": "import numpy as np\nlimits = np.zeros(3)\n",
        "simple/buffers.py": "limits = [1, 2]\n",
        "simple/run.py": "import buffers\nprint(buffers.limits)\n",
    }
    tag = TypeTag.LIST
    for more in ({}, {"main.py": "from simple.run import limits\n"}, {"simple/__init__.py": ""}):
        model = build({**files, **more})["simple/run.py"]
        assert model.types.type_of(expression(model, "buffers.limits")).tag is tag
        tag = TypeTag.NDARRAY


def test_modules_that_import_an_undefined_name_from_one_another_may_change_it() -> None:
    """Whether the name means a variable that may change is computed in spite of the circle."""
    files = {
        "agent.py": "from text import work\n",
        "text.py": "from agent import work\n",
        "train.py": "import agent\nprint(agent.work)\n",
    }
    assert build(files)["train.py"].index.is_changing_variable("agent.work", "train")
