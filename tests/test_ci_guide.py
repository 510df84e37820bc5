"""The examples of docs/ci.md."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
EXAMPLES = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)]


def test_pre_commit() -> None:
    """The example names hooks that there are, and the guide every hook."""
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    (config,) = (example for example in EXAMPLES if "repos" in example)
    assert [hook["id"] for repository in config["repos"] for hook in repository["hooks"]] == ["opslint"]
    assert {name for name in hooks if f"`{name}`" in GUIDE} == hooks == {"opslint", "opslint-fix"}
