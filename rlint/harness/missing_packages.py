"""How to install a package that a program imports and that is missing."""

from __future__ import annotations

_EXTRA = ("torch", "numpy")
"""Packages that come with the extra `rlint[verify]`."""
_DISTRIBUTIONS = {
    "PIL": "pillow",
    "ale_py": "ale-py",
    "cv2": "opencv-python",
    "google": "protobuf",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Distributions whose name differs from that of their package."""


def how_to_install(module: str) -> str:
    """Return the command that installs the package of a module, as a clause."""
    package = module.partition(".")[0]
    wanted = "'rlint[verify]'" if package in _EXTRA else _DISTRIBUTIONS.get(package, package)
    return f"`pip install {wanted}` installs it"
