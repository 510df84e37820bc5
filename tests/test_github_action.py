"""action.yml: its steps, run as GitHub runs them, on a machine that knows only the variables that GitHub sets."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from support.git import ENVIRONMENT, commit, git
from support.projects import write_base_tree, write_files

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
BROKEN = "def f(:\n"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


class Job(NamedTuple):
    """How the steps ended: the first status that is not 0, what they printed, their outputs and the page of the job."""

    status: int
    log: str
    outputs: Mapping[str, str]
    page: str


def run(workspace: Path, github: Mapping[str, str] | None = None, **inputs: str) -> Job:
    """Run the steps but that of the installation, which is there already, and those that use other actions."""
    runner = workspace.parent / "runner"
    shutil.rmtree(runner, ignore_errors=True)
    (runner / "opslint/bin").mkdir(parents=True)
    for name in ("python", "opslint"):
        text = f'#!/bin/sh\nexec "{sys.executable}" {"-m veomni_opslint" if name == "opslint" else ""} "$@"\n'
        (runner / "opslint/bin" / name).write_text(text, encoding="utf-8")
        (runner / "opslint/bin" / name).chmod(0o755)
    files = {"GITHUB_OUTPUT": runner / "output", "GITHUB_STEP_SUMMARY": runner / "page.md"}
    for file in files.values():
        file.write_text("", encoding="utf-8")
    values = {name: str(spec["default"]) for name, spec in ACTION["inputs"].items()}
    values |= {name.replace("_", "-"): value for name, value in inputs.items()}
    log, status = "", 0
    for name in ("Check", "End"):
        step = STEPS[name]
        outputs = _outputs(files["GITHUB_OUTPUT"])
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(runner),
            "PYTHONPATH": str(ROOT),
            **ENVIRONMENT,
            "GITHUB_EVENT_NAME": "push",
            "GITHUB_SHA": "",
            "RUNNER_TEMP": str(runner),
            **{key: str(file) for key, file in files.items()},
            **(github or {}),
            **{key: _value(text, values, outputs) for key, text in step["env"].items()},
        }
        script = runner / "script.sh"
        script.write_text(step["run"], encoding="utf-8")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=workspace,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        log, status = log + done.stdout, done.returncode
        if status:
            break
    return Job(status, log, _outputs(files["GITHUB_OUTPUT"]), files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8"))


def _value(text: str, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> str:
    def of(match: re.Match[str]) -> str:
        kind, _, name = match[1].rpartition(".")
        return {"inputs": inputs, "steps.check.outputs": outputs}[kind][name]

    return re.sub(r"\$\{\{ (\S+) \}\}", of, text)


def _outputs(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text(encoding="utf-8").splitlines())


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A checkout of a project without faults."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    write_base_tree(folder)
    write_files(folder, {"pyproject.toml": ""})
    git(folder, "init", "-q")
    commit(folder)
    return folder


def test_definition() -> None:
    """Every input is used and described; scripts get values through the environment, where they cannot be code."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert ACTION["runs"]["using"] == "composite"
    for name, spec in ACTION["inputs"].items():
        assert spec["description"]
        assert f"inputs.{name}" in text
        assert isinstance(spec["default"], str)
    for step in STEPS.values():
        assert ("run" in step) == (step.get("shell") == "bash")
        assert "${{" not in step.get("run", "")
    assert STEPS["Upload to code scanning"]["with"]["sarif_file"] == "${{ steps.check.outputs.sarif-file }}"


def test_install_names_a_python_that_is_too_old(tmp_path: Path) -> None:
    """The installation does not fail somewhere inside pip."""
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (tmp_path / "python3").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path), "GITHUB_ACTION_PATH": "."}
    done = subprocess.run(
        ["bash", "-e", "-c", STEPS["Install opslint"]["run"]],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == (
        "::error title=opslint::opslint needs Python 3.11 or newer as python3; set it up before this step\n"
    )


def test_clean(workspace: Path) -> None:
    """A summary in the log and on the page; the SARIF file is there."""
    job = run(workspace)
    assert (job.status, job.log) == (0, "no findings in 25 files\n")
    assert job.page == "## opslint\n\nno findings in 25 files\n"
    assert job.outputs == {"status": "0", "sarif-file": f"{workspace.parent}/runner/opslint.sarif"}


def test_findings(workspace: Path) -> None:
    """They are annotations, and the job fails after its other steps could run."""
    write_files(workspace, {"veomni/broken.py": BROKEN, "veomni/unused.py": "x = 1  # noqa: OPS001\n"})
    job = run(workspace)
    assert job.status == 1
    error, warning, summary = job.log.splitlines()
    assert error.startswith("::error file=veomni/broken.py,line=1,col=7,")
    assert warning.startswith("::warning file=veomni/unused.py,line=1,")
    assert summary == "1 error and 1 warning in 2 of 27 files (1 fixable with --fix)"
    assert "| error | OPS001 syntax-error | veomni/broken.py:1 |" in job.page
    assert job.outputs["status"] == "1"


def test_inputs(workspace: Path) -> None:
    """Several paths, options with spaces, strictness, a folder below and a baseline reach opslint."""
    write_files(workspace, {"veomni/unused file.py": "x = 1  # noqa: OPS001\n", "veomni/broken.py": BROKEN})
    paths = "veomni/ops\nveomni/unused file.py\n"
    assert run(workspace, paths=paths).status == 0
    assert run(workspace, paths=paths, strict="true").status == 1
    assert run(workspace, paths=paths, strict="true", arguments="--ignore\nOPS002\n").status == 0
    assert run(workspace, paths="unused file.py", working_directory="veomni", strict="true").status == 1
    arguments = ["veomni", "--baseline", "b.txt", "--write-baseline"]
    subprocess.run([sys.executable, "-m", "veomni_opslint", *arguments], cwd=workspace, check=True, capture_output=True)
    assert run(workspace, paths="veomni", baseline="b.txt", strict="true").status == 0


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"strict": "yes"}, "::error title=opslint::input strict: has to be true or false"),
        ({"new_only": ""}, "::error title=opslint::input new-only: has to be true or false"),
        ({"upload_sarif": "1"}, "::error title=opslint::input upload-sarif: has to be true or false"),
        ({"paths": " \n"}, "::error title=opslint::input paths: names no path"),
        ({"working_directory": "nowhere"}, "::error title=opslint::input working-directory: there is no such folder"),
        ({"paths": "nowhere"}, "opslint: error: nowhere: no such file or folder"),
        ({"baseline": "nowhere"}, "opslint: error: --baseline nowhere: no such file; `--write-baseline` makes it"),
        ({"arguments": "--selct=OPS1"}, "opslint: error: unknown option --selct; did you mean `--select`?"),
        ({"paths": "--exit-zero"}, "opslint: error: --exit-zero: no such file or folder"),
        ({"paths": "$(touch owned)\n`touch owned`"}, "opslint: error: $(touch owned): no such file or folder"),
    ],
)
def test_misuse(workspace: Path, inputs: dict[str, str], said: str) -> None:
    """A wrong input ends the job with an error that says what is wrong; nothing of it is run."""
    job = run(workspace, **inputs)
    assert job.status == 2
    assert said in job.log
    assert job.log.splitlines()[-1].startswith("::error title=opslint::")
    assert (job.outputs, job.page) == ({}, "")
    assert not (workspace / "owned").exists()


def test_upload_holds_no_suppressed_findings(workspace: Path) -> None:
    """Code scanning would open alerts for them."""
    write_files(workspace, {"veomni/broken.py": f"{BROKEN}# opslint: ignore-file[OPS001] old\n", "veomni/b.py": BROKEN})
    kept = {}
    for upload in ("false", "true"):
        job = run(workspace, upload_sarif=upload)
        document = json.loads(Path(job.outputs["sarif-file"]).read_text(encoding="utf-8"))
        kept[upload] = [result["ruleId"] for result in document["runs"][0]["results"] if not result["suppressions"]]
        assert len(document["runs"][0]["results"]) == {"false": 2, "true": 1}[upload] or kept[upload]
    assert kept["true"] == kept["false"]


@pytest.mark.parametrize("depth", [1, 2, 50])
@pytest.mark.parametrize("checked_out", ["merge", "head"])
def test_pull_request(workspace: Path, tmp_path: Path, depth: int, checked_out: str) -> None:
    """Only what the base does not have fails, in a shallow clone, too; a merge into the branch itself is no base."""
    write_files(workspace, {"veomni/old.py": BROKEN})
    commit(workspace)
    git(workspace, "checkout", "-q", "-b", "topic")
    write_files(workspace, {"veomni/new.py": BROKEN})
    commit(workspace)
    git(workspace, "checkout", "-q", "main")
    write_files(workspace, {"veomni/later.py": BROKEN})
    commit(workspace)
    git(workspace, "checkout", "-q", "topic")
    git(workspace, "merge", "-q", "--no-ff", "-m", "m", "main")
    git(workspace, "update-ref", "refs/pull/1/head", "topic")
    git(workspace, "checkout", "-q", "--detach", "main")
    git(workspace, "merge", "-q", "--no-ff", "-m", "m", "topic")
    git(workspace, "update-ref", "refs/pull/1/merge", "HEAD")
    git(workspace, "config", "uploadpack.allowReachableSHA1InWant", "true")
    merge = git(workspace, "rev-parse", "HEAD").strip()
    clone = tmp_path / "clone"
    clone.mkdir()
    git(clone, "init", "-q")
    git(clone, "remote", "add", "origin", workspace.as_uri())
    git(clone, "fetch", "-q", "--no-tags", f"--depth={depth}", "origin", f"refs/pull/1/{checked_out}")
    git(clone, "checkout", "-q", "--detach", "FETCH_HEAD")
    github = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_BASE_REF": "main", "GITHUB_SHA": merge}
    job = run(clone, github)
    assert job.status == 1, job.log
    annotation, summary = job.log.splitlines()
    assert annotation.startswith("::error file=veomni/new.py,line=1,")
    assert " (2 in " in summary
    assert run(clone, github, new_only="false").log.count("::error ") == 3


def test_base_that_cannot_be_fetched(workspace: Path) -> None:
    """It is an error, and never taken for a base without findings or for one with all of them."""
    github = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_BASE_REF": "main", "GITHUB_SHA": "0"}
    job = run(workspace, github)
    assert job.status == 2
    assert job.log.splitlines()[-1] == (
        "::error title=opslint::the base branch main cannot be fetched; check out with fetch-depth 0"
    )
