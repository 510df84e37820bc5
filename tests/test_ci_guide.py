"""The examples of docs/ci.md."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import yaml
from support.git import commit, git
from support.projects import write_base_tree, write_files

BROKEN = "def f(:\n"
ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
EXAMPLES = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)]


def test_pre_commit() -> None:
    """The example names hooks that there are, and the guide every hook."""
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    (config,) = (example for example in EXAMPLES if "repos" in example)
    assert [hook["id"] for repository in config["repos"] for hook in repository["hooks"]] == ["opslint"]
    assert {name for name in hooks if f"`{name}`" in GUIDE} == hooks == {"opslint", "opslint-fix"}


def test_github() -> None:
    """The example gives inputs that the action has; the table lists all of them with their defaults."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (workflow,) = (example for example in EXAMPLES if "jobs" in example)
    (step,) = (step for step in workflow["jobs"]["opslint"]["steps"] if "opslint" in step["uses"])
    assert set(step["with"]) <= set(action["inputs"])
    rows = re.findall(r"^\| `([a-z-]+)` \| (?:`([^`]*)`)? ?\|", GUIDE, re.MULTILINE)
    assert rows == [(name, spec["default"]) for name, spec in action["inputs"].items()]
    assert re.findall(r"`([a-z-]+)`", GUIDE.partition("Its outputs are")[2].partition(". ")[0]) == list(
        action["outputs"]
    )


def test_gitlab(tmp_path: Path) -> None:
    """The command of the example fails for what is new, and writes the reports that the job names."""
    (pipeline,) = (example for example in EXAMPLES if "opslint" in example)
    install, command = pipeline["opslint"]["script"]
    assert install.startswith("pip install ")
    write_base_tree(tmp_path)
    write_files(tmp_path, {"pyproject.toml": "", "veomni/old.py": BROKEN})
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    old = git(tmp_path, "rev-parse", "HEAD").strip()
    commit(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/opslint").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m veomni_opslint "$@"\n', encoding="utf-8"
    )
    (tmp_path / "bin/opslint").chmod(0o755)
    path = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    for base, status in ((old, 0), ("", 2)):
        environment = {**os.environ, **path, "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}
        assert subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, check=False).returncode == status
    write_files(tmp_path, {"veomni/new.py": BROKEN})
    environment = {**os.environ, **path, "CI_MERGE_REQUEST_DIFF_BASE_SHA": old}
    assert subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, check=False).returncode == 1
    reports = pipeline["opslint"]["artifacts"]["reports"]
    issues = json.loads((tmp_path / reports["codequality"]).read_text(encoding="utf-8"))
    assert [issue["location"]["path"] for issue in issues] == ["veomni/new.py"]
    assert ET.parse(tmp_path / reports["junit"]).getroot().attrib["failures"] == "1"
