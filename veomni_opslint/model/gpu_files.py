"""Files that only the factories of GPU kernels load."""

from __future__ import annotations

from dataclasses import dataclass, field

from veomni_opslint.model.ops_model import OpsModel
from veomni_opslint.registrations import Unknown

_GPU = "gpu"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GpuFiles:
    """Tells them from files that other hosts load as well. A tree without a registry has none."""

    model: OpsModel
    _known: dict[str, bool] = field(default_factory=dict, repr=False)
    _importers: dict[str, list[tuple[str, int]]] = field(default_factory=dict, repr=False)
    _factories: set[tuple[str, str]] = field(default_factory=set, repr=False)

    def __contains__(self, module: str) -> bool:
        """Whether every import of a module of the ops package is made by a GPU factory or by such a file."""
        if not module.startswith(f"{self.model.ops_package}.") or not self.model.registrations.kernel_specs:
            return False
        known = self._known.get(module)
        if known is None:
            if not self._importers:
                self._find_importers()
            self._known[module] = True
            importers = self._importers.get(module, [])
            known = self._known[module] = bool(importers) and all(
                self._is_factory(importer, scope) or importer in self for importer, scope in importers
            )
        return known

    def _is_factory(self, module: str, scope: int) -> bool:
        facts = self.model.module(module)
        current = facts.scopes[scope]
        while current.index > 0:
            if (module, current.qualname) in self._factories:
                return True
            current = facts.scopes[current.parent]
        return False

    def _find_importers(self) -> None:
        for spec in self.model.registrations.kernel_specs:
            if isinstance(spec.factory, Unknown) or isinstance(spec.hardware, Unknown):
                continue
            device = spec.hardware.device_type
            if not isinstance(device, Unknown) and (device == _GPU or (isinstance(device, tuple) and _GPU in device)):
                self._factories.add((spec.factory.module, spec.factory.qualname))
        for module, facts in self.model.modules_in(self.model.package):
            for imported in facts.imports:
                for target in self.model.symbols.loaded_by(module, imported):
                    if target != module and not module.startswith(f"{target}."):
                        self._importers.setdefault(target, []).append((module, imported.scope))
