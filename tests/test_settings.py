"""Reading settings: every key, and every way to get one wrong."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from veomni_opslint.dialect import Dialect
from veomni_opslint.errors import RunError
from veomni_opslint.findings import Severity
from veomni_opslint.settings import Settings, load_settings

EVERYTHING = """
select = ["OPS1", "OPS301"]
extend-select = ["unused-kernel"]
ignore = ["OPS102"]
exclude = ["veomni/vendored"]
package = "fork"
baseline = "accepted.txt"
rule-paths = ["tools/rules"]
per-file-ignores = { "tests/*" = ["OPS201"] }
severity = { OPS303 = "error", OPS304 = "off" }
per-file-severity = { "tests/*" = { ALL = "info" } }

[rules.new-device-patch]
allowed = ["wan"]

[dialect]
registry = "MY_REGISTRY"
extend-optional-packages = ["my_kernels"]
npu_guards = ["on_npu"]
config_field_of = { a = "b" }
extend_value_prefix_of = { c = "d" }
"""


def load(tmp_path: Path, text: str, name: str = "opslint.toml") -> Settings:
    """The settings of a project with one settings file."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    return load_settings(str(tmp_path))


def test_no_file(tmp_path: Path) -> None:
    """Without a file everything is at its default."""
    assert asdict(load_settings(str(tmp_path))) == asdict(Settings())


@pytest.mark.parametrize("name", ["opslint.toml", "pyproject.toml"])
def test_every_key(name: str, tmp_path: Path) -> None:
    """Both files know the same keys."""
    text = EVERYTHING
    if name == "pyproject.toml":
        text = "[tool.opslint]" + text.replace("[rules.", "[tool.opslint.rules.").replace(
            "[dialect", "[tool.opslint.dialect"
        )
    standard = Dialect()
    dialect = replace(
        standard,
        registry="MY_REGISTRY",
        optional_packages=(*standard.optional_packages, "my_kernels"),
        npu_guards=("on_npu",),
        config_field_of={"a": "b"},
        value_prefix_of={**standard.value_prefix_of, "c": "d"},
    )
    expected = Settings(
        file=str(tmp_path / name),
        select=("OPS1", "OPS301"),
        extend_select=("unused-kernel",),
        ignore=("OPS102",),
        per_file_ignores=(("tests/*", ("OPS201",)),),
        severity=(("OPS303", Severity.ERROR), ("OPS304", "off")),
        per_file_severity=(("tests/*", (("ALL", Severity.INFO),)),),
        exclude=("veomni/vendored",),
        package="fork",
        baseline="accepted.txt",
        rule_paths=("tools/rules",),
        rules={"new-device-patch": {"allowed": ["wan"]}},
        dialect=dialect,
    )
    assert asdict(load(tmp_path, text, name)) == asdict(expected)


def test_opslint_toml_goes_before_pyproject(tmp_path: Path) -> None:
    """With both files, opslint.toml alone counts."""
    load(tmp_path, '[tool.opslint]\nselect = ["OPS1"]\n', "pyproject.toml")
    assert load(tmp_path, 'ignore = ["OPS2"]\n').select == ("ALL",)


def test_pyproject_of_other_tools(tmp_path: Path) -> None:
    """A pyproject.toml without our table is no settings file."""
    assert asdict(load(tmp_path, '[project]\nname = "x"\n[tool.ruff]\nselect = 1\n', "pyproject.toml")) == asdict(
        Settings()
    )


def test_given_file_may_be_called_anything(tmp_path: Path) -> None:
    """`--config FILE` reads FILE instead of the project's own."""
    load(tmp_path, 'ignore = ["OPS2"]\n')
    (tmp_path / "strict.toml").write_text('ignore = ["OPS3"]\n', encoding="utf-8")
    assert load_settings(str(tmp_path), str(tmp_path / "strict.toml")).ignore == ("OPS3",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selct = []", ":1: selct: unknown key; did you mean `select`?"),
        ("zzzzz = 1", ":1: zzzzz: unknown key"),
        ("file = 'x'", ":1: file: unknown key"),
        ("\nselect = 'OPS1'", ":2: select: has to be a list of strings, not a string ('OPS1')"),
        ("select = [1]", ":1: select: has to be a list of strings, not a list ([1])"),
        ("exclude = ['']", ":1: exclude: has to be a list of strings, not a list (['']"),
        ("package = 3", ":1: package: has to be a string, not an integer (3)"),
        ("package = ''", ":1: package: has to be a string, not a string ('')"),
        ("dialect = []", ":1: dialect: has to be a table, not a list ([])"),
        ("[dialect]\nregistri = 'x'", ":2: [dialect] registri: unknown key; did you mean `registry`?"),
        ("[dialect]\nregistry = true", ":2: [dialect] registry: has to be a string, not a boolean (True)"),
        ("[dialect]\nextend-registry = 'x'", ":2: [dialect] extend-registry: `registry` is one string"),
        ("[dialect]\ndevice_types = 'gpu'", ":2: [dialect] device_types: has to be a list of strings"),
        ("[dialect]\nconfig_field_of = { a = 1 }", "[dialect.config_field_of] a: has to be a string, not an integer"),
        ("[rules]\nx = 1", ":2: [rules] x: has to be a table, not an integer (1)"),
        ("[per-file-ignores]\n'a' = 'b'", ":2: [per-file-ignores] a: has to be a list of strings"),
        ("[severity]\nOPS1 = 'eror'", ":2: [severity] OPS1: has to be one of error, warning, info, off, not 'eror'"),
        ("[severity]\nOPS1 = false", ":2: [severity] OPS1: has to be one of error, warning, info, off, not False"),
        ("[per-file-severity]\na = 'off'", ":2: [per-file-severity] a: has to be a table, not a string ('off')"),
        (
            "[per-file-severity.a]\nOPS1 = 'of'",
            ":2: [per-file-severity.a] OPS1: has to be one of error, warning, info, off, not 'of'; did you mean `off`?",
        ),
        ("[tool.opslint]\nselect = []", ":1: tool: unknown key; outside pyproject.toml the keys stand at the top"),
        ("select = [", ": is not valid TOML: "),
        ("a = 1\na = 2", ": is not valid TOML: "),
    ],
)
def test_mistakes_name_file_line_and_key(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is wrong, the message says where and what was meant."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError) as error:
        load(tmp_path, text)
    assert str(error.value).startswith(f"opslint.toml{message}") or f": {message}" in str(error.value)


def test_mistake_in_pyproject_names_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In pyproject.toml the same key may stand in the tables of several tools."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError) as error:
        load(tmp_path, "[tool.other]\nselekt = 1\n[tool.opslint]\n\nselekt = 1\n", "pyproject.toml")
    assert str(error.value) == "pyproject.toml:5: [tool.opslint] selekt: unknown key; did you mean `select`?"


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder, a file in another encoding and a missing file are told apart."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    for name, message in (
        ("latin.toml", "latin.toml: is not UTF-8, as TOML has to be"),
        ("missing.toml", "missing.toml: no such configuration file"),
        (".", ".: cannot be read: Is a directory"),
    ):
        with pytest.raises(RunError) as error:
            load_settings(str(tmp_path), name)
        assert str(error.value) == message


def test_settings_file_that_is_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a pipe might never end, so one in the place of the settings is an error."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "pyproject.toml")
    with pytest.raises(RunError, match=r"^pyproject.toml: cannot be read: it is no file$"):
        load_settings(str(tmp_path))
