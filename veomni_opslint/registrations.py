"""What module-level code registers, as the evaluator learns it without running the code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from veomni_opslint.findings import Place


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that cannot be known statically, and why. No rule reports on one."""

    reason: str


T = TypeVar("T")
Known: TypeAlias = T | Unknown

FactoryKind = Literal["function", "lambda", "partial", "class", "method", "call", "external", "other"]


class Factory(NamedTuple):
    """The value given as ``factory=``.

    ``function``: a def of the project; ``lambda``; ``partial``: ``functools.partial`` of something;
    ``class``: a class of the project; ``method``: an attribute of a project class; ``call``: the result of a call
    that could not be followed (``factory=make()``); ``external``: an attribute of a package outside the project;
    ``other``: a value that is none of these (a string, None, a number).
    ``module`` and ``qualname`` name the definition in the project (empty otherwise); ``place`` is the ``def``,
    ``class`` or ``lambda``. ``text`` is the expression as written at the registration, ``written`` its place.
    For a closure made by a project helper, ``closure`` is true. ``bound`` is how many positional arguments a
    partial supplies, the receiver of a bound method included, ``bound_names`` the keywords; both refer to the
    underlying callable named by ``qualname``.
    """

    kind: FactoryKind
    text: str
    written: Place
    module: str = ""
    qualname: str = ""
    place: Place | None = None
    closure: bool = False
    bound: int = 0
    bound_names: tuple[str, ...] = ()
    dotted: str = ""


class Hardware(NamedTuple):
    """A HardwareRequirement as registered; ``device_type`` may be several where a fork allows a list."""

    device_type: Known[str | tuple[str, ...]]
    min_compute_capability: Known[int | None]
    max_compute_capability: Known[int | None]
    place: Place


class KernelSpec(NamedTuple):
    """One ``KERNEL_REGISTRY.register(KernelSpec(...))`` that module-level code performs.

    ``place`` is the registering call (inside a helper: the call of ``register`` there), ``spec_place`` the
    ``KernelSpec(...)`` call. ``caller`` is the module-level statement that led there, when it is another place.
    ``conditions`` are the source texts of the conditions, not known to hold, under which the registration runs.
    """

    op_name: str
    variant: str
    name: str
    factory: Known[Factory]
    hardware: Known[Hardware]
    description: Known[str]
    force: Known[bool]
    conditions: tuple[str, ...]
    place: Place
    spec_place: Place
    caller: Place
    module: str


class Backend(NamedTuple):
    """A BackendSpec of an OpSpec."""

    entry: Known[str]
    requires: Known[tuple[str, ...]]
    side_effect: Known[str | None]
    replace_forward: Known[bool]
    entry_is_factory: Known[bool]
    target_override: Known[str | None]
    place: Place
    entry_place: Place


class OpSpec(NamedTuple):
    """One ``register_op(OpSpec(...))``; ``scope`` is ``"GLOBAL"`` or ``"PER_MODEL"``.

    ``place`` is the registering call, ``spec_place`` the ``OpSpec(...)`` call.
    """

    name: str
    config_field: Known[str]
    label: Known[str]
    scope: Known[str]
    default: Known[str]
    global_slot: Known[str | None]
    backends: Known[tuple[tuple[str, Backend], ...]]
    conditions: tuple[str, ...]
    place: Place
    module: str
    spec_place: Place


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A registration that runs, or may run, whose content could not be known.

    ``op_name`` and ``variant`` are those of a kernel that is registered, where they at least are known; ``of_op`` when
    it is an OpSpec that is registered, and no kernel.
    """

    place: Place
    reason: str
    op_name: str | None = field(default=None, compare=False)
    variant: str | None = field(default=None, compare=False)
    of_op: bool = field(default=False, compare=False)


class Registrations(NamedTuple):
    """All that evaluating the project's modules found, in order of module path and then of execution."""

    kernel_specs: tuple[KernelSpec, ...] = ()
    op_specs: tuple[OpSpec, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    evaluated_modules: tuple[str, ...] = ()
