"""Slots: binding, guards, and the model that is built through them."""

import pytest

from veomni.ops.dispatch import OpsConfigSlot, OpSlot
from veomni.ops.kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec, UnknownKernelError


@pytest.fixture
def slot(monkeypatch: pytest.MonkeyPatch) -> OpSlot:
    monkeypatch.setattr(KERNEL_REGISTRY, "_specs", {})
    KERNEL_REGISTRY.register(KernelSpec("plain", "neg", "standard", lambda: lambda x: -x, HardwareRequirement("any")))
    return OpSlot("neg", "standard")


def test_a_fresh_slot_is_eager_and_cannot_be_called(slot: OpSlot) -> None:
    """Before it is bound a slot has no kernel, and calling it says what to do."""
    assert (slot.use_non_eager_impl, slot.bound_name, slot.bound_kernel()) == (False, None, None)
    with pytest.raises(RuntimeError, match="check use_non_eager_impl"):
        slot(1)


def test_a_bound_slot_calls_its_kernel(slot: OpSlot) -> None:
    """After binding the slot is callable, and the kernel can be kept by an instance."""
    slot.bind("plain")
    kernel = slot.bound_kernel()
    slot.bind("eager")
    assert kernel is not None
    assert kernel(2) == -2
    assert slot.use_non_eager_impl is False


def test_a_failed_bind_keeps_the_old_kernel(slot: OpSlot) -> None:
    """An unknown name is an error and leaves the binding as it was."""
    slot.bind("plain")
    with pytest.raises(UnknownKernelError):
        slot.bind("fast")
    assert (slot.bound_name, slot(3)) == ("plain", -3)


@pytest.mark.parametrize("made", [None, 3])
def test_what_cannot_be_called_is_not_bound(slot: OpSlot, made: object) -> None:
    """A factory that returns no kernel is an error: bound, None would be eager without a word."""
    slot.bind("plain")
    KERNEL_REGISTRY.register(KernelSpec("odd", "neg", "standard", lambda: made, HardwareRequirement("any")))
    with pytest.raises(TypeError, match=f"the factory of kernel 'odd' of neg/standard returned {made}"):
        slot.bind("odd")
    assert (slot.bound_name, slot(3)) == ("plain", -3)


def test_a_config_slot_takes_its_field() -> None:
    """A config slot holds its default until it is bound to a configuration."""

    class Config:
        speed = "high"

    slot = OpsConfigSlot("speed")
    assert slot.value == "eager"
    slot.bind(Config())
    assert slot.value == "high"
