"""The legacy registry of ops: pointers, patches of models, and what it refuses."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import pytest

from veomni.arguments import OpsImplementationConfig
from veomni.ops import apply_ops_config, build_ALL_OPS, format_kernel_functions, kernel_registry
from veomni.ops.config import get_ops_config, registry, set_ops_config
from veomni.ops.config.registry import BackendSpec, OpScope, OpSpec
from veomni.utils import import_utils

EFFECTS, NOTE = "entries_under_test:effects", "entries_under_test:note"
ELSEWHERE = BackendSpec("entries_under_test:double", target_override="Tims")


@pytest.fixture(autouse=True)
def clean_state(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """An empty registry, and a module that entries can be taken from."""
    monkeypatch.setattr(registry, "_OPS", {})
    entries = ModuleType("entries_under_test")
    entries.double = lambda x: 2 * x
    entries.make_triple = lambda: lambda x: 3 * x
    entries.effects = []
    entries.note = lambda: entries.effects.append("noted")
    entries.pointer = None
    monkeypatch.setitem(sys.modules, "entries_under_test", entries)
    yield entries
    set_ops_config(None)


def op(scope: OpScope = OpScope.PER_MODEL, **options: object) -> OpSpec:
    backends = {
        "double": BackendSpec("entries_under_test:double"),
        "triple": BackendSpec("entries_under_test:make_triple", entry_is_factory=True),
        "effect": BackendSpec("entries_under_test:double", side_effect="entries_under_test:note"),
        "npu": BackendSpec("entries_under_test:double", requires=("torch_npu",)),
        "typo": BackendSpec("entries_under_test:double", requires=("torch_gpu",)),
        "broken": BackendSpec("entries_under_test.double"),
    }
    values = {"config_field": "times_implementation", "label": "times", "default": "double", "backends": backends}
    return OpSpec(name="times", scope=scope, **{**values, **options})


def patch(value: str, **options: object) -> tuple[ModuleType, list[str]]:
    registry.register_op(op())
    set_ops_config(SimpleNamespace(times_implementation=value))
    module = ModuleType("model")
    module.times = lambda x: x
    module.Times = type("Times", (), {"forward": staticmethod(lambda x: x)})
    return module, registry.apply_per_model_patches(module, "Model", {"times": "times"}, **options)


def test_a_backend_takes_the_place_of_an_attribute() -> None:
    """The selected backend, or what its factory makes, replaces the attribute of the module."""
    module, applied = patch("double")
    assert (module.times(5), applied) == (10, ["times (double)"])
    module, _ = patch("triple")
    assert module.times(5) == 15


def test_a_model_may_add_a_backend_and_say_another_target() -> None:
    """A backend of the model alone can replace the forward of another class."""
    spec = BackendSpec(
        "entries_under_test:make_triple", replace_forward=True, entry_is_factory=True, target_override="Times"
    )
    module, _ = patch("mine", extra_backends={"times": {"mine": spec}})
    module.Times.forward = staticmethod(module.Times.forward)
    assert (module.times(5), module.Times().forward(5)) == (5, 15)


def test_eager_keeps_the_model_and_custom_patches_run_last() -> None:
    """Eager changes nothing; a custom patch sees the configuration and may report what it did."""
    module, applied = patch("eager", custom_patches=lambda config, done: done.append(config.times_implementation))
    assert (module.times(5), applied) == (5, ["eager"])


def test_a_model_runs_the_side_effect(clean_state: ModuleType) -> None:
    """The side effect of a backend runs where a model is patched, too."""
    module, _ = patch("effect")
    assert (module.times(4), clean_state.effects) == (8, ["noted"])


def test_a_misspelt_target_is_refused() -> None:
    """An attribute that the module does not have is not made, whichever backend is selected."""
    registry.register_op(op())
    for value in ("double", "eager"):
        set_ops_config(SimpleNamespace(times_implementation=value))
        module = ModuleType("model")
        with pytest.raises(ValueError, match="model has no 'tims' to bind a backend to"):
            registry.apply_per_model_patches(module, "Model", {"times": "tims"})
        assert not hasattr(module, "tims")


def test_a_backend_needs_the_hardware_of_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package is not enough: what is made of it runs on a GPU."""
    monkeypatch.setattr(import_utils, "is_package_available", lambda _: True)
    monkeypatch.setattr(kernel_registry, "is_cuda_available", lambda: False)
    registry.register_op(op(backends={"double": BackendSpec("entries_under_test:double", requires=("triton",))}))
    set_ops_config(SimpleNamespace(times_implementation="double"))
    module = ModuleType("model")
    module.times = abs
    with pytest.raises(RuntimeError, match="it needs gpu, which this machine does not have; choose eager"):
        registry.apply_per_model_patches(module, "Model", {"times": "times"})


def test_a_scope_may_be_a_plain_string() -> None:
    """The value of a scope means the scope."""
    registry.register_op(op("per_model"))
    set_ops_config(SimpleNamespace(times_implementation="double"))
    module = ModuleType("model")
    module.times = abs
    assert registry.apply_per_model_patches(module, "Model", {"times": "times"}) == ["times (double)"]
    assert registry.list_ops(OpScope.PER_MODEL) == registry.list_ops() == [op()]


def test_without_a_configuration_nothing_is_patched() -> None:
    """A model built outside a job stays as it is."""
    registry.register_op(op())
    module = ModuleType("model")
    assert registry.apply_per_model_patches(module, "Model", {"times": "times"}) == []
    assert not hasattr(module, "times")


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        ("quadruple", {}, "is no backend for Model; choose broken, double, eager, effect, triple"),
        ("double", {"extra_backends": {"times": {"double": None}}}, "cannot be used by Model; choose broken, eager"),
        (
            "npu",
            {},
            (
                "times_implementation='npu' cannot be used: it needs npu, which this machine does not have; "
                "choose broken, double, eager, effect, triple"
            ),
        ),
        ("double", {"extra_backends": {"tims": {}}}, "Model has extra_backends of tims, which it does not patch"),
        ("mine", {"extra_backends": {"times": {"mine": ELSEWHERE}}}, "model has no 'Tims' to bind a backend to"),
        ("typo", {}, "requires names 'torch_gpu'; known are liger_kernel, torch_npu, triton"),
        ("broken", {}, "is not of the form 'module:attribute'"),
    ],
)
def test_a_selection_that_cannot_work_is_refused(value: str, options: dict[str, object], message: str) -> None:
    """An unknown, opted-out or missing backend is an error with the choices, never a silent fallback."""
    with pytest.raises((ValueError, RuntimeError)) as caught:
        patch(value, **options)
    assert message in str(caught.value)


def test_wrong_targets_are_refused() -> None:
    """A target that is no op, or an op with a pointer, is an error of the model."""
    registry.register_op(op(OpScope.GLOBAL, global_slot="entries_under_test:pointer"))
    set_ops_config(SimpleNamespace(times_implementation="double"))
    for name, error in (("divided", KeyError), ("times", ValueError)):
        with pytest.raises(error, match=name):
            registry.apply_per_model_patches(ModuleType("model"), "Model", {name: "times"})


def test_a_pointer_is_bound_and_the_side_effect_runs(clean_state: ModuleType) -> None:
    """A global op rebinds its pointer to the selected backend and then runs the backend's side effect."""
    registry.register_op(op(OpScope.GLOBAL, global_slot="entries_under_test:pointer"))
    assert registry.apply_global_ops(SimpleNamespace(times_implementation="effect")) == ["times (effect)"]
    assert clean_state.pointer(4) == 8
    assert clean_state.effects == ["noted"]
    registry.apply_global_ops(SimpleNamespace(times_implementation="triple"))
    assert clean_state.pointer(4) == 12
    for value in ("none", "eager"):
        with pytest.raises(ValueError, match=f"'{value}' is no backend of times; choose broken, double, effect, trip"):
            registry.apply_global_ops(SimpleNamespace(times_implementation=value))


def test_a_side_effect_sees_the_new_configuration(clean_state: ModuleType) -> None:
    """What a backend does beside its work may depend on the other fields of the configuration."""
    clean_state.note = lambda: clean_state.effects.append(get_ops_config())
    registry.register_op(op(OpScope.GLOBAL, global_slot="entries_under_test:pointer"))
    config = SimpleNamespace(times_implementation="effect")
    apply_ops_config(config)
    assert clean_state.effects == [config]


def test_a_misspelt_pointer_is_refused(clean_state: ModuleType) -> None:
    """A pointer that does not exist is not made, as nothing would call it."""
    registry.register_op(op(OpScope.GLOBAL, global_slot="entries_under_test:pinter"))
    with pytest.raises(ValueError, match="entries_under_test has no 'pinter' to bind a backend to"):
        registry.apply_global_ops(SimpleNamespace(times_implementation="double"))
    assert not hasattr(clean_state, "pinter")


@pytest.mark.parametrize("spec", [BackendSpec(EFFECTS), BackendSpec(NOTE, entry_is_factory=True)])
def test_what_cannot_be_called_is_not_bound(clean_state: ModuleType, spec: BackendSpec) -> None:
    """A backend that is no function, or a factory that returns none, is an error in both scopes."""
    with pytest.raises(TypeError, match=f"the backend {spec.entry} is .*, which cannot be called"):
        patch("mine", extra_backends={"times": {"mine": spec}})
    registry._OPS.clear()
    backends = {"double": spec}
    registry.register_op(op(OpScope.GLOBAL, global_slot="entries_under_test:pointer", backends=backends))
    with pytest.raises(TypeError, match=f"the backend {spec.entry} is .*, which cannot be called"):
        registry.apply_global_ops(SimpleNamespace(times_implementation="double"))
    assert clean_state.pointer is None


def test_no_pointer_changes_where_one_cannot(clean_state: ModuleType) -> None:
    """Every selection is looked at before the first pointer is bound, and before the configuration is installed."""
    registry.register_op(op(OpScope.GLOBAL, global_slot="entries_under_test:pointer"))
    registry.register_op(
        OpSpec(
            name="sign", config_field="sign_implementation", label="sign", scope=OpScope.GLOBAL, default="npu",
            backends={"npu": BackendSpec("entries_under_test:double", requires=("torch_npu",))},
            global_slot="entries_under_test:pointer",
        )
    )  # fmt: skip
    config = SimpleNamespace(times_implementation="double", sign_implementation="npu")
    with pytest.raises(RuntimeError, match="does not have; nothing else can run on this machine"):
        apply_ops_config(config)
    assert (clean_state.pointer, get_ops_config()) == (None, None)


def test_specs_that_cannot_work_are_refused() -> None:
    """A wrong scope, pointer, target or default, and a second spec of one name are errors."""
    pointer = "entries_under_test:pointer"
    for scope, options in ((OpScope.GLOBAL, {}), ("global", {}), (OpScope.PER_MODEL, {"global_slot": pointer})):
        with pytest.raises(ValueError, match="a global op needs a global_slot, and no other has one"):
            op(scope, **options)
    with pytest.raises(ValueError, match="'everywhere' is not a valid OpScope"):
        op("everywhere")
    with pytest.raises(ValueError, match="no backend of it can have a target in a model"):
        op(OpScope.GLOBAL, global_slot=pointer, backends={"double": ELSEWHERE})
    with pytest.raises(ValueError, match="the default 'eager'"):
        op(OpScope.GLOBAL, global_slot=pointer, default="eager")
    with pytest.raises(ValueError, match="the default 'half'"):
        op(default="half")
    registry.register_op(op())
    registry.register_op(op())
    with pytest.raises(ValueError, match="already registered with another spec"):
        registry.register_op(op(label="other"))
    assert [registry.get_op("times"), *registry.list_ops(OpScope.GLOBAL)] == [op()]


def test_the_configuration_binds_every_pointer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Applying a configuration binds the global ops of the package, and the pointers can be listed."""
    pytest.importorskip("torch", reason="the backends need torch")
    monkeypatch.undo()
    applied = apply_ops_config(OpsImplementationConfig.all_eager())
    assert applied == ["load-balancing loss (eager)"]
    assert [name for name, _ in build_ALL_OPS()] == ["_fused_moe_forward", "_load_balancing_loss"]
    assert format_kernel_functions() == "_fused_moe_forward = None\n_load_balancing_loss = load_balancing_loss_eager"
