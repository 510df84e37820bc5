"""One slip that is reported in a generated file and in its patch config: each finding names the place of the other."""

from __future__ import annotations

from pathlib import Path

from support.projects import run_rule, write_base_tree, write_files

GENERATED = "veomni/models/transformers/llama/generated/patched_modeling_llama_gpu.py"
CONFIG = "veomni/models/transformers/llama/llama_gpu_patch_gen_config.py"
SLOT = 'OpSlot("swiglu_mlp", "standard")'
WRONG = 'OpSlot("swiglu_mlp", "standrad")'
REGISTERED = ("veomni/ops/kernels/swiglu/__init__.py", "`triton` is registered for `swiglu_mlp`, variant `standard`")


def related(root: Path) -> list[tuple[str, list[tuple[str, str]]]]:
    """The findings of OPS301 with the places that they name."""
    return [
        (finding.place.path, [(one.place.path, one.message) for one in finding.related])
        for finding in run_rule(root, "OPS301").findings
    ]


def write(root: Path, *wrong: str) -> None:
    """The base tree with the slot misspelt in some files."""
    write_base_tree(root)
    write_files(
        root, {"pyproject.toml": "", **{path: (root / path).read_text().replace(SLOT, WRONG) for path in wrong}}
    )


def test_twins(tmp_path: Path) -> None:
    """The one to put right is said."""
    write(tmp_path, GENERATED, CONFIG)
    assert related(tmp_path) == [
        (GENERATED, [REGISTERED, (CONFIG, "the same slip, in the patch config: start here")]),
        (CONFIG, [REGISTERED, (GENERATED, "the same slip, in the file made from it")]),
    ]


def test_one_of_them_alone(tmp_path: Path) -> None:
    """A slip in one of the files has no twin."""
    write(tmp_path, GENERATED)
    assert related(tmp_path) == [(GENERATED, [REGISTERED])]


def test_different_slips(tmp_path: Path) -> None:
    """Findings of one rule about different things are two slips."""
    write(tmp_path, GENERATED)
    config = (tmp_path / CONFIG).read_text()
    write_files(tmp_path, {CONFIG: config.replace('OpSlot("rms_norm", "standard")', 'OpSlot("rms_norm", "x")')})
    assert [one for _, places in related(tmp_path) for one in places if "slip" in one[1]] == []
    assert [path for path, _ in related(tmp_path)] == [GENERATED, CONFIG]


def test_two_devices(tmp_path: Path) -> None:
    """With the slip in the files of two devices, each generated file goes with the config of its own device."""
    write(tmp_path, GENERATED, CONFIG)
    for path in (GENERATED, CONFIG):
        write_files(tmp_path, {path.replace("_gpu", "_npu"): (tmp_path / path).read_text()})
    found = [(path, places[-1]) for path, places in related(tmp_path)]
    generated, config = GENERATED.replace("_gpu", "_npu"), CONFIG.replace("_gpu", "_npu")
    assert found == [
        (GENERATED, (CONFIG, "the same slip, in the patch config: start here")),
        (generated, (config, "the same slip, in the patch config: start here")),
        (CONFIG, (GENERATED, "the same slip, in the file made from it")),
        (config, (generated, "the same slip, in the file made from it")),
    ]
