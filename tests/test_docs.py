"""The guides tell what is true: commands, options, settings, formats and links exist, examples give what they show."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from dataclasses import asdict, fields
from pathlib import Path

import pytest
from support.command import opslint
from support.projects import write_base_tree, write_files

from veomni_opslint.cli.parsers import CHECK, COMMANDS, parse
from veomni_opslint.dialect import Dialect
from veomni_opslint.reporters import FORMATS
from veomni_opslint.rule_loader import load_rules
from veomni_opslint.settings import Settings, load_settings

ROOT = Path(__file__).parent.parent
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = sorted((ROOT / "rules").glob("*.md"))
TEXT = {path.name: path.read_text(encoding="utf-8") for path in GUIDES}
OPTIONS = {command: set(COMMANDS[command]().option_names()) for command in COMMANDS}

each_guide = pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@each_guide
def test_links_lead_somewhere(guide: Path) -> None:
    """Every relative link names a file of the repository."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", guide.read_text(encoding="utf-8"))
    assert [link for link in links if not (guide.parent / link).exists()] == []


@pytest.mark.parametrize("path", [*GUIDES, *PAGES], ids=lambda path: path.name)
def test_options_named_exist(path: Path) -> None:
    """Every option in code style is one of opslint's, or of a tool that is named before it."""
    known = set().union(*OPTIONS.values())
    named = re.findall(r"`(?:opslint [^`]*?)?(--[a-z-]+)[^`]*`", path.read_text(encoding="utf-8"))
    assert [name for name in named if name not in known | {"--strict"}] == []


@each_guide
def test_commands_are_understood(guide: Path) -> None:
    """Every `opslint …` in code style or in a shell block is a command line that parses."""
    text = guide.read_text(encoding="utf-8")
    shell = "".join(blocks(text, "(?:sh|console)"))
    commands = re.findall(r"`(opslint [^`]*)`", text) + re.findall(r"^(?:\$ )?(opslint .*)$", shell, re.MULTILINE)
    for command in commands:
        words = shlex.split(command.replace("PATH…", "veomni").replace("[PATH]", "veomni").partition("#")[0])[1:]
        name, rest = (words[0], words[1:]) if words and words[0] in COMMANDS else (CHECK, words)
        parse(name, [word for word in rest if word != "…"])


def test_every_option_is_documented() -> None:
    """What `check` and `registry` can do stands in a guide."""
    text = "\n".join(TEXT.values()) + opslint("--help").out
    for command in (CHECK, "registry"):
        assert [name for name in OPTIONS[command] if name.startswith("--") and name not in text] == []


def test_make_targets_exist() -> None:
    """Every `make x` that a guide names is a target."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for text in TEXT.values() for name in re.findall(r"`make ([a-z]+)`|^make ([a-z]+)", text)}
    assert {name for pair in named for name in pair if name} <= targets


def test_settings_table() -> None:
    """The table of settings lists exactly the keys that there are."""
    table = re.findall(r"^\| `([a-z-]+)` \|", TEXT["configuration.md"], re.MULTILINE)
    assert table == [item.name.replace("_", "-") for item in sorted_settings()]


def sorted_settings() -> list[object]:
    """The fields of the settings in the order of the guide."""
    order = [
        "select",
        "extend_select",
        "ignore",
        "per_file_ignores",
        "severity",
        "per_file_severity",
        "exclude",
        "require_reason",
        "package",
        "baseline",
        "rule_paths",
        "rules",
        "dialect",
    ]
    known = {item.name: item for item in fields(Settings) if item.name != "file"}
    assert sorted(known) == sorted(order)
    return [known[name] for name in order]


def test_settings_examples_are_valid(tmp_path: Path) -> None:
    """The examples can be pasted; the list of the dialect's fields is complete and shows the defaults."""
    examples = blocks(TEXT["configuration.md"], "toml")
    for example in examples:
        write_files(tmp_path, {"pyproject.toml": example})
        load_settings(str(tmp_path))
    shown = tomllib.loads(examples[-1])["tool"]["opslint"]["dialect"]
    assert list(shown) == [item.name for item in fields(Dialect)]
    assert asdict(load_settings(str(tmp_path)).dialect) == asdict(Dialect())


def test_output_formats_table() -> None:
    """The table of formats lists exactly those that there are."""
    section = TEXT["output.md"].partition("## Exit status")[0]
    assert re.findall(r"^\| `([a-z]+)` \|", section, re.MULTILINE) == list(FORMATS)


def test_json_tables(tmp_path: Path) -> None:
    """The tables of the JSON formats list exactly the keys that come out."""
    write_base_tree(tmp_path)
    write_files(tmp_path, {"opslint.toml": "", "veomni/broken.py": "("})
    check, registry = TEXT["output.md"].split("## The registry")
    report = json.loads(opslint("veomni", "--output-format", "json", cwd=tmp_path).out)
    tables = re.split(r"^\| .* \| \|$", check, flags=re.MULTILINE)[1:]
    for table, keys in zip(tables, (report["findings"][0], report["summary"], report["coverage"]), strict=True):
        first_cells = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
        assert re.findall(r"`(\w+)`", " ".join(first_cells)) == list(keys)
    document = json.loads(opslint("registry", "--format", "json", cwd=tmp_path).out)
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", registry, re.MULTILINE))
    assert [*rows, "wrappers"] == [key for key in document if key != "wrappers"] + ["wrappers"]
    assert "`wrappers` is one object" in registry
    for key, cell in rows.items():
        if document[key]:
            named = re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", cell))
            assert set(named) == set(document[key][0]), key


def test_rules_named_exist() -> None:
    """A rule in a guide is one that there is, but for the examples of how to write one."""
    known = {loaded.rule.code for loaded in load_rules()}
    named = {code for name, text in TEXT.items() if name != "CONTRIBUTING.md" for code in re.findall(r"OPS\d{3}", text)}
    assert sorted(named - known) == []


def test_guides_are_short() -> None:
    """A guide that nobody reads to the end helps nobody."""
    assert [name for name, text in TEXT.items() if text.count("\n") > 300] == []


@each_guide
def test_console_examples(guide: Path, tmp_path: Path) -> None:
    """A console block is what a terminal shows in the tree of tests/docs_tree laid over the base tree."""
    write_base_tree(tmp_path)
    overlay = ROOT / "tests/docs_tree"
    write_files(
        tmp_path,
        {
            str(path.relative_to(overlay)): path.read_text(encoding="utf-8")
            for path in overlay.rglob("*")
            if path.is_file()
        },
    )
    text = guide.read_text(encoding="utf-8")
    for block in blocks(text, "console"):
        commands = re.findall(r"^\$ (.*)$", block, re.MULTILINE)
        assert block.startswith("$ ")
        said = "".join(f"$ {command}\n{_said(command, tmp_path)}" for command in commands)
        if os.environ.get("OPSLINT_UPDATE_GOLDEN"):
            text = text.replace(block, said)
            guide.write_text(text, encoding="utf-8")
        else:
            assert said == block


def _said(command: str, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    assert program == "opslint"
    outcome = opslint(*arguments, cwd=folder)
    return outcome.out + outcome.err
