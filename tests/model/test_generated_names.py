"""What names stand for in the module that a patch config generates."""

from __future__ import annotations

import pytest
from support.symbols import deep_facts, shown, symbols_of

from veomni_opslint.dialect import Dialect
from veomni_opslint.model.generated_names import GeneratedNames
from veomni_opslint.model.patch_imports import find_patch_imports

CONFIG = "p.models.mini_gpu_patch_gen_config"
GENERATED = "p.models.generated.patched_modeling_mini_gpu"
RENAMED = Dialect(override_method="new_method", replace_function="new_function", add_helper="helper")
FILES = {
    "p/kernels.py": "def fast(x): return x\n",
    "p/models/mini_gpu_patch_gen_config.py": "config.add_import('p.kernels', ['fast'])\n"
    "@config.{override_method}('Block.forward')\ndef block_forward(self, x):\n    def inner(): pass\n"
    "@config.{replace_function}('rotate')\ndef fast_rotate(x): return x\n"
    "@config.{add_helper}\ndef helped(x): return x\n"
    "def beside(x): return x\n",
    "p/models/generated/patched_modeling_mini_gpu.py": "def rotate(x): return x\ndef kept(x): return x\n",
}


def names_of(dialect: Dialect) -> GeneratedNames:
    """The names of a project whose config is written in a dialect."""
    verbs = {name: getattr(dialect, name) for name in ("override_method", "replace_function", "add_helper")}
    symbols = symbols_of({path: text.format_map(verbs) for path, text in FILES.items()})
    requested = find_patch_imports(symbols.modules, dialect)
    return GeneratedNames(symbols, frozenset({(CONFIG, "veomni_slot")}), requested, dialect)


@pytest.mark.parametrize("dialect", [Dialect(), RENAMED], ids=["plain", "renamed"])
def test_names(dialect: Dialect) -> None:
    """Patched, imported and kept names of the module, and the slots of the config, whatever patching is called."""
    expected = {"Block.forward", "rotate", "helped", "fast", "veomni_slot", "kept"}
    assert names_of(dialect).of(CONFIG) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rotate", [f"scope {CONFIG}:fast_rotate"]),
        ("helped", [f"scope {CONFIG}:helped"]),
        ("veomni_slot", [f"value {CONFIG}:veomni_slot"]),
        ("fast", ["scope p.kernels:fast"]),
        ("kept", [f"scope {GENERATED}:kept"]),
        ("beside", [f"scope {CONFIG}:beside"]),
        ("unknown", []),
    ],
)
def test_targets(name: str, expected: list[str]) -> None:
    """What the config says comes before what the generated module has, and that before what is beside the patches."""
    names = names_of(Dialect())
    assert shown(names.symbols, names.targets(CONFIG, name)) == expected


def test_patch_around() -> None:
    """A function in a patch belongs to it; one beside patches to none, nor does any in a module that is no config."""
    names = names_of(Dialect())
    facts = deep_facts(names.symbols)(CONFIG)
    found = {one.name: names.patch_around(CONFIG, facts, one.index) for one in facts.scopes if one.index}
    assert {name: patch and patch.target for name, patch in found.items()} == {
        "block_forward": "Block.forward", "inner": "Block.forward", "fast_rotate": "rotate", "helped": "helped",
        "beside": None,
    }  # fmt: skip
    kernels = names.symbols.modules["p.kernels"]
    assert names.patch_around("p.kernels", kernels, 1) is None
