from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rlint.config.options import inline_layer, option_layer
from rlint.config.required_version import satisfies
from rlint.config.settings import DEFAULT_EXCLUDES, Settings, SettingsResolver
from rlint.errors import RlintError

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes files into the working folder."""
    monkeypatch.chdir(tmp_path)

    def make(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return make


def settings(file: str = "x.py") -> Settings:
    """The settings of a file in the working folder."""
    root = Path.cwd()
    return SettingsResolver(root).for_file(root / file)


def error() -> str:
    """The error about the configuration."""
    with pytest.raises(RlintError) as caught:
        settings()
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.rlint]\nselect = ["RL101"]\n'),
        ("rlint.toml", 'select = ["RL101"]\n'),
        (".rlint.toml", 'select = ["RL101"]\n'),
    ],
)
def test_three_files_can_hold_the_configuration(write: Write, name: str, text: str) -> None:
    """Settings are in pyproject.toml or in rlint.toml."""
    path = write(name, text)
    assert settings().codes == {"RL101"}
    assert settings("deep/down/x.py").config == path


def test_the_nearest_file_wins_and_is_not_merged(write: Write) -> None:
    """A nested project has its own settings, and inherits nothing without `extend`."""
    write("pyproject.toml", '[tool.rlint]\nselect = ["RL101"]\noutput-format = "concise"\n')
    write("sub/rlint.toml", 'ignore = ["RL101"]\n')
    assert settings().codes == {"RL101"}
    nested = settings("sub/deep/x.py")
    assert "RL101" not in nested.codes
    assert len(nested.codes) > 1
    assert nested.output_format == "full"


def test_precedence_in_one_folder(write: Write) -> None:
    """rlint.toml overrides pyproject.toml."""
    write("pyproject.toml", '[tool.rlint]\nselect = ["RL101"]\n')
    write("rlint.toml", 'select = ["RL201"]\n')
    assert settings().codes == {"RL201"}


def test_a_pyproject_without_a_section_is_passed_over(write: Write) -> None:
    """The search continues above a pyproject.toml without rlint's section, even a broken one."""
    write("rlint.toml", 'select = ["RL101"]\n')
    write("a/pyproject.toml", "[tool.ruff]\n")
    write("b/pyproject.toml", "name = {{ cookiecutter.name }}\n")
    write("c/pyproject.toml", "").write_bytes(b"# \xff\n")
    assert settings("a/x.py").codes == settings("b/x.py").codes == settings("c/x.py").codes == {"RL101"}


def test_extend_takes_over_what_is_not_overridden(write: Write) -> None:
    """`extend` names a file whose settings apply unless the extending file sets them."""
    write("base.toml", 'select = ["RL101", "RL201"]\nfix = true\nextend-exclude = ["base"]\n')
    write("rlint.toml", 'extend = "base.toml"\nignore = ["RL101"]\nfix = false\nextend-exclude = ["own"]\n')
    found = settings()
    assert found.codes == {"RL201"}
    assert found.fix is False
    assert found.excludes_file(Path.cwd() / "base/x.py")
    assert found.excludes_file(Path.cwd() / "own/x.py")


def test_extending_in_circles_is_an_error(write: Write) -> None:
    """Two files that extend each other are named."""
    write("rlint.toml", 'extend = "b.toml"\n')
    write("b.toml", 'extend = "rlint.toml"\n')
    assert error() == "circular `extend` in configuration files: rlint.toml → b.toml → rlint.toml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["RL1"]', "pyproject.toml:2: unknown key `selct`; did you mean `select`?"),
        (
            "# c\n\n  unsafe_fixes = true",
            "pyproject.toml:4: unknown key `unsafe_fixes`; did you mean `unsafe-fixes`?",
        ),
        ("zzz = 1", "pyproject.toml:2: unknown key `zzz`"),
        (
            '[tool.rlint.lint]\nselect = ["RL1"]',
            "pyproject.toml:2: unknown key `lint`; rlint has no table `lint`: write its keys one level up",
        ),
        ('select = "RL1"', "pyproject.toml:2: `select` must be a list of rules, not a string ('RL1')"),
        ("select = [1]", "`select` must be a list of rules, not a list with items that are not strings"),
        ("fix = 1", "`fix` must be true or false, not a number (1)"),
        ("jobs = 0", "`jobs` must be a positive integer, not a number (0)"),
        ("jobs = true", "`jobs` must be a positive integer, not a truth value (true)"),
        ('output-format = "ful"', '`output-format` must be one of "full", "concise", "grouped", '),
        ('per-file-ignores = ["a"]', "`per-file-ignores` must be a table from patterns to lists of rules"),
        ('exclude = ["a{b"]', "`a{b` in `exclude` is not a valid pattern"),
        ('select = ["RL999"]', "unknown rule `RL999` in `select` (pyproject.toml)"),
        (
            'per-file-ignores = { "a" = ["RL999"] }',
            "unknown rule `RL999` in `per-file-ignores` (pyproject.toml)",
        ),
        ('extend = "gone.toml"', "pyproject.toml: `extend` names 'gone.toml', which is not a file"),
        ("fix = yes", "pyproject.toml: invalid TOML"),
        ('required-version = ">=99"', "`required-version` is '>=99', but this is rlint"),
        ('required-version = "new"', "`required-version` must be like"),
        ('required-version = ""', "`required-version` must be like"),
        ('required-version = "~=1"', "`required-version` must be like"),
    ],
)
def test_mistakes_in_a_configuration_are_explained(write: Write, text: str, message: str) -> None:
    """For a wrong key or value, the message has file, line, the expected type and a similar key."""
    write("pyproject.toml", f"[tool.rlint]\n{text}\n")
    assert message in error()


def test_an_unreadable_configuration_is_an_error(write: Write) -> None:
    """A configuration that is not text is an error."""
    write("rlint.toml", "").write_bytes(b"# \xff\n")
    assert error() == "rlint.toml: cannot read the configuration: it is not UTF-8"


def test_isolated_looks_at_no_file(write: Write) -> None:
    """With --isolated, configuration files count for nothing."""
    write("rlint.toml", "broken")
    assert len(SettingsResolver(Path.cwd(), isolated=True).main.codes) > 1


def test_a_named_file_holds_for_all_files(write: Write) -> None:
    """With --config FILE, nearer files are ignored, and patterns are relative to the working folder."""
    write("sub/rlint.toml", "broken")
    named = write("conf/mine.toml", 'select = ["RL101"]\nextend-exclude = ["sub/gen"]\n')
    found = SettingsResolver(Path.cwd(), config=named).for_file(Path.cwd() / "sub" / "x.py")
    assert found.codes == {"RL101"}
    assert found.excludes_file(Path.cwd() / "sub/gen/x.py")


def test_inline_settings_are_between_files_and_options(write: Write) -> None:
    """`--config "key = value"` overrides files, and specific options override it."""
    root = write("rlint.toml", 'select = ["RL101"]\noutput-format = "json"\n').parent
    inline = inline_layer(('select = ["RL201"]', 'output-format = "github"'), root)
    options = option_layer({"output-format": "concise", "jobs": None}, root)
    found = SettingsResolver(root, overrides=[inline, options]).main
    assert (found.codes, found.output_format, found.jobs) == ({"RL201"}, "concise", None)
    with pytest.raises(RlintError, match="unknown key `selct`"):
        inline_layer(("selct = 1",), root)


def test_per_file_ignores(write: Write) -> None:
    """Rules are disabled in files that match by name or path or, with `!`, in all that do not match."""
    write(
        "rlint.toml",
        'select = ["RL101", "RL201", "RL401"]\n[per-file-ignores]\n'
        '"test_*.py" = ["RL1"]\n"scripts/*" = ["blocking-transfer"]\n"!src/**" = ["RL4"]\n',
    )
    found = settings()
    folder = Path.cwd()
    assert found.codes_for(folder / "src/a.py") == {"RL101", "RL201", "RL401"}
    assert found.codes_for(folder / "src/test_a.py") == {"RL201", "RL401"}
    assert found.codes_for(folder / "scripts/deep/a.py") == {"RL101"}


def test_per_file_ignores_on_the_command_line(write: Write) -> None:
    """`--per-file-ignores` replaces the configured table, `--extend-per-file-ignores` adds to it."""
    root = write(
        "rlint.toml", 'select = ["RL101", "RL201"]\nper-file-ignores = { "*.py" = ["RL101"] }\n'
    ).parent

    def codes(option: str) -> frozenset[str]:
        layer = option_layer({option: {"a.py": ["RL201"]}}, root)
        return SettingsResolver(root, overrides=[layer]).main.codes_for(root / "a.py")

    assert codes("per-file-ignores") == {"RL101"}
    assert codes("extend-per-file-ignores") == frozenset()


def test_folders_with_pattern_characters_in_their_names(tmp_path: Path) -> None:
    """A project may live in a folder called `run[1]{a}`."""
    root = tmp_path / "run[1]{a}*"
    layer = option_layer({"extend-exclude": ["gen/*"]}, root)
    found = SettingsResolver(root, overrides=[layer]).main
    assert found.excludes_file(root / "gen" / "x.py")
    assert not found.excludes_file(root / "x.py")


def test_every_setting_knows_where_it_comes_from(write: Write) -> None:
    """`rlint config` can say which file or option decided."""
    root = write("rlint.toml", 'ignore = ["RL101"]\nextend-exclude = ["gen"]\nfix = true\n').parent
    origins = SettingsResolver(root, overrides=[option_layer({"fix": False}, root)]).main.origins
    assert origins["fix"] == (False, "command line")
    assert origins["select"][1] == "default, rlint.toml"
    assert origins["exclude"] == ([*DEFAULT_EXCLUDES, "gen"], "default, rlint.toml")
    assert origins["output-format"] == ("full", "default")


@pytest.mark.parametrize(
    ("required", "fits"),
    [
        ("0.1.0", True),
        ("==0.1", True),
        (">=0.1,<0.2", True),
        ("~=0.1.0", True),
        ("~=0.0.9", False),
        (">0.1.0", False),
        ("!=0.1.0", False),
        ("<0.10, >0.0.9", True),
        ("==0.1.*", True),
        (">=0.1.0rc1", True),
    ],
)
def test_required_version(required: str, fits: bool) -> None:
    """`required-version` compares versions as numbers."""
    assert satisfies("0.1.0", required) is fits
