"""Whether the names that the settings give the ops architecture are those of the project."""

from __future__ import annotations

from veomni_opslint.dialect import Dialect
from veomni_opslint.model import OpsModel
from veomni_opslint.settings import Settings

# The names by which specs, slots and the config are found. Any other override cannot make all of them disappear.
_RECOGNISED_BY = (
    "registry", "registry_class", "register_method", "kernel_spec", "kernel_spec_fields", "op_slot", "config_slot",
    "register_op", "op_spec", "op_spec_fields", "ops_config",
)  # fmt: skip


def doubt_about_dialect(model: OpsModel, settings: Settings) -> str | None:
    """A note that names the overrides of the dialect, where with them nothing of the ops architecture is found.

    None where something is found, and where nothing is overridden: an older generation has none of it.
    """
    standard = Dialect()
    changed = [name for name in _RECOGNISED_BY if getattr(settings.dialect, name) != getattr(standard, name)]
    registered = model.registrations.kernel_specs or model.registrations.op_specs
    if not changed or registered or model.slots or model.config_slots or model.ops_config is not None:
        return None
    names = ", ".join(f"`{name}`" for name in changed)
    return (
        f"{settings.describe()}: dialect: with its {names} there is no kernel spec, no slot and no ops config in "
        f"{model.project.package_path}, so hardly any rule had something to check"
    )
