"""`--show-files`, `--show-settings`, `--show-schema` and `--timings`: what a run goes by, and how long it takes."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import asdict, fields
from pathlib import Path

import pytest
from support.command import Outcome, opslint
from support.fake_rules import fake_rule
from support.projects import write_base_tree, write_files

from veomni_opslint.cli.settings_view import render_settings
from veomni_opslint.dialect import Dialect
from veomni_opslint.discovery import Project
from veomni_opslint.rule_loader import load_rules
from veomni_opslint.settings import Settings, load_settings
from veomni_opslint.settings_schema import settings_schema

EVERYTHING = """
[tool.opslint]
select = ["OPS1", "unregistered-slot"]
extend-select = ["OPS303"]
ignore = ["OPS102"]
exclude = ["veomni/vendored \\"x\\""]
package = "fork"
baseline = "accepted.txt"
per-file-ignores = { "tests/*" = ["OPS201"] }
severity = { OPS303 = "error", OPS304 = "off" }
per-file-severity = { "tests/*" = { ALL = "info" }, "a.py" = { OPS1 = "off" } }

[tool.opslint.rules.lost-slot]
allowed = ["wan"]

[tool.opslint.dialect]
registry = "MY_REGISTRY"
extend-optional-packages = ["my_kernels"]
config_field_of = { a = "b" }
"""
RULES = (*load_rules(), fake_rule("ops399_lost_slot", limit=3, allowed=()))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small project."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"pyproject.toml": "", "tools/a.py": "", "configs/a.yaml": ""})
    return tmp_path


def test_files(tree: Path) -> None:
    """The files that findings would be reported for, and nothing is checked."""
    write_files(tree, {"veomni/ops/broken.py": "def f(:\n", "veomni/vendored/x.py": ""})
    write_files(tree, {"pyproject.toml": '[tool.opslint]\nexclude = ["vendored"]\n'})
    kernels = sorted(str(path.relative_to(tree)) for path in (tree / "veomni/ops/kernels").rglob("*.py"))
    assert opslint("veomni/ops/kernels", "--show-files", cwd=tree) == Outcome(0, "\n".join((*kernels, "")), "")
    everything = opslint(".", "--show-files", cwd=tree).out.splitlines()
    assert {"tools/a.py", "configs/a.yaml", "veomni/ops/broken.py"} <= set(everything)
    assert "veomni/vendored/x.py" not in everything


def test_settings_can_be_pasted(tmp_path: Path) -> None:
    """What is shown is TOML that gives the same settings again, with every key that there is."""
    write_files(tmp_path, {"pyproject.toml": EVERYTHING})
    settings = load_settings(str(tmp_path))
    shown = render_settings(Project(str(tmp_path), "fork", "fork", ()), settings, RULES)
    table = tomllib.loads(shown)["tool"]["opslint"]
    unset = {"file"} | {item.name for item in fields(Settings) if getattr(settings, item.name) is None}
    assert set(table) == {item.name.replace("_", "-") for item in fields(Settings) if item.name not in unset}
    write_files(tmp_path, {"pyproject.toml": shown})
    again = asdict(load_settings(str(tmp_path)))
    options = again.pop("rules")
    assert options["lost-slot"] == {"limit": 3, "allowed": ["wan"]}
    assert again == {key: value for key, value in asdict(settings).items() if key != "rules"}


def test_settings_of_a_project(tree: Path) -> None:
    """Where they come from, the root and the package stand above them."""
    shown = opslint("veomni", "--show-settings", cwd=tree).out
    assert shown.startswith(f"# settings: the default settings\n# root: {tree}\n# package under check: veomni\n")
    assert tomllib.loads(shown)["tool"]["opslint"]["select"] == ["ALL"]


def schema() -> dict[str, dict[str, dict[str, dict[str, object]]]]:
    """The schema, with a rule that has options."""
    return json.loads(settings_schema(RULES))


def test_schema_has_every_key() -> None:
    """Every setting and every field of the dialect stands in it."""
    keys = schema()["properties"]
    assert set(keys) == {item.name.replace("_", "-") for item in fields(Settings)} - {"file"}
    dialect = keys["dialect"]["properties"]
    assert {item.name for item in fields(Dialect)} <= set(dialect)
    assert ("extend-npu-guards" in dialect, "extend-registry" in dialect) == (True, False)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (EVERYTHING, True),
        ("[tool.opslint]\n", True),
        ('[tool.opslint]\nselct = ["ALL"]\n', False),
        ("[tool.opslint]\nselect = 'ALL'\n", False),
        ("[tool.opslint]\nselect = ['unregistered-slott']\n", False),
        ("[tool.opslint]\nselect = ['ops3', 'all']\n", True),
        ("[tool.opslint.severity]\nOPS301 = 'fatal'\n", False),
        ("[tool.opslint.severity]\nlost-slots = 'off'\n", False),
        ("[tool.opslint.per-file-severity]\n'a.py' = 'off'\n", False),
        ("[tool.opslint.rules.lost-slot]\nlimit = 'x'\n", False),
        ("[tool.opslint.rules.lost-slot]\nlimits = 3\n", False),
        ("[tool.opslint.dialect]\nregistri = 'X'\n", False),
        ("[tool.opslint.dialect]\nextend_npu_guards = ['X']\nop-slot = 'S'\n", True),
    ],
)
def test_schema_judges_like_the_reader(text: str, valid: bool) -> None:
    """A validator accepts with the schema what opslint accepts."""
    jsonschema = pytest.importorskip("jsonschema", reason="the schema is checked with jsonschema")
    validator = jsonschema.Draft7Validator(schema())
    validator.check_schema(schema())
    assert (not list(validator.iter_errors(tomllib.loads(text)["tool"]["opslint"]))) == valid


def test_schema_needs_no_project(tmp_path: Path) -> None:
    """It is written to a file as well, wherever one is."""
    assert opslint("--show-schema", "--output", "s.json", cwd=tmp_path) == Outcome(0, "", "")
    assert (tmp_path / "s.json").read_text(encoding="utf-8") == settings_schema(load_rules())


def test_timings(tree: Path) -> None:
    """On standard error, so that the report stays as it is: the stages in their order, then each rule that ran."""
    outcome = opslint("veomni", "--timings", "--select", "OPS301", "-q", cwd=tree)
    assert (outcome.status, outcome.out) == (0, "")
    rows = re.findall(r"^ +(?:[\d.]+|ms)  (.*)$", outcome.err, re.MULTILINE)
    rules = [*sorted(loaded.rule.code for loaded in load_rules() if loaded.always), "OPS301"]
    stages, ran = rows[: rows.index("rule")], rows[rows.index("rule") + 1 :]
    assert stages == [
        "stage",
        "discover",
        "load rules",
        "read",
        "parse and extract",
        "link and evaluate",
        "rules",
        "suppressions and baseline",
        "fixes",
        "all stages",
    ]
    assert sorted(ran) == rules
