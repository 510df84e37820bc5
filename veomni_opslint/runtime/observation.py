"""What was seen when the program was run: the one product that rules judge and reports show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from veomni_opslint.findings import Place
from veomni_opslint.model import OpsModel

Status: TypeAlias = Literal["ok", "gated", "missing", "broken", "not-callable", "crashed", "timeout"]
Key: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback; ``place`` where it is in the project, else ``file`` says where it is."""

    file: str
    line: int
    function: str
    text: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception of the program, its innermost frame last."""

    type: str
    message: str
    frames: tuple[Frame, ...]

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type


@dataclass(frozen=True, slots=True)
class CallState:
    """Calling a kernel with its examples. Errors are relative to the largest value of a result, in *dtype*.

    ``reason`` says why it did not pass; ``backward`` is None where there is no gradient.
    """

    passed: bool
    examples: int = 0
    dtype: str = ""
    forward: float | None = None
    backward: float | None = None
    allowed: float | None = None
    reason: str = ""
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class KernelState:
    """One kernel spec of the running program and what resolving it gave.

    ``reason`` says in words why the status is not ``ok``; ``missing`` names the package and ``extra`` the extra of the
    project that brings it. ``hardware`` is whether the requirement holds, None where the program cannot say.
    ``returned`` describes the kernel. ``output`` is what it printed. ``call`` is what calling it gave, None where it
    was not called.
    """

    op_name: str
    variant: str
    name: str
    fields: Mapping[str, object]
    factory_place: Place | None
    status: Status
    hardware: bool | None = None
    reason: str = ""
    missing: str = ""
    extra: str = ""
    returned: str = ""
    seconds: float | None = None
    failure: Failure | None = None
    output: str = ""
    call: CallState | None = None

    @property
    def key(self) -> Key:
        """What identifies a kernel."""
        return self.op_name, self.variant, self.name

    @property
    def title(self) -> str:
        """As messages and tables name it."""
        return f"{self.op_name}/{self.variant} `{self.name}`"


@dataclass(frozen=True, slots=True)
class ImportLink:
    """One step of a chain of imports: *importer* imports *module* at that line."""

    importer: str
    module: str
    file: str
    line: int
    place: Place | None


@dataclass(frozen=True, slots=True)
class LoadedOptional:
    """An optional package that importing the ops package loaded, and through whom."""

    package: str
    chain: tuple[ImportLink, ...]


@dataclass(frozen=True, slots=True)
class PackageCost:
    """What importing the modules of one package took, without what they import of others."""

    package: str
    seconds: float
    memory: int
    modules: int


@dataclass(frozen=True, slots=True)
class ImportState:
    """Importing the ops package. ``status`` is ``ok``, ``missing``, ``broken``, ``crashed`` or ``timeout``."""

    status: Status
    seconds: float = 0.0
    memory: int = 0
    packages: tuple[PackageCost, ...] = ()
    optional: tuple[LoadedOptional, ...] = ()
    reason: str = ""
    missing: str = ""
    failure: Failure | None = None
    output: str = ""


@dataclass(frozen=True, slots=True)
class ModuleState:
    """A module with slots as it is once it is imported, or why it cannot be."""

    name: str
    status: Status
    slots: tuple[Mapping[str, object], ...] = ()
    config_slots: tuple[Mapping[str, object], ...] = ()
    reason: str = ""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class BindingState:
    """One slot of a model as the program bound it: ``bound``, ``eager``, ``error`` or ``missing``.

    ``expected`` is what ``opslint bind`` says for this device, with its reason. A package that is ``missing`` is what
    no one can know from the source.
    """

    model: str
    var: str
    place: Place
    expected: str
    expected_reason: str
    status: str
    kernel: str = ""
    reason: str = ""
    missing: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the program did what is known statically."""
        return self.status in {self.expected, "missing"} or self.expected == "unknown"


@dataclass(frozen=True, slots=True)
class Environment:
    """The machine. ``device`` is ``gpu``, ``npu`` or ``cpu``; versions are None for what is not installed."""

    python: str = ""
    executable: str = ""
    platform: str = ""
    device: str = "cpu"
    devices: tuple[str, ...] = ()
    compute_capability: int | None = None
    driver: str | None = None
    cuda: str | None = None
    cann: str | None = None
    packages: Mapping[str, str | None] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RuntimeRun:
    """The project as it is known statically, and the same as it ran.

    ``modules`` are those with slots, ``config_fields`` those of the ops config, None where that cannot be imported.
    ``bindings`` are the slots that were bound, if that was asked for. ``called`` is whether kernels were called where
    there are examples for them. ``simulated`` is the device that was pretended, with the packages that were replaced;
    empty for the real machine.
    """

    model: OpsModel
    environment: Environment
    imported: ImportState
    kernels: tuple[KernelState, ...] = ()
    op_specs: tuple[Mapping[str, object], ...] = ()
    modules: tuple[ModuleState, ...] = ()
    config_fields: tuple[Mapping[str, object], ...] | None = None
    bindings: tuple[BindingState, ...] = ()
    called: bool = False
    simulated: str = ""
    stand_ins: tuple[str, ...] = ()
