"""The state of one evaluation, and what its parts offer each other."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from veomni_opslint.conditions import Condition
from veomni_opslint.dialect import Dialect
from veomni_opslint.evaluate.cells import Cell, Opaque, Value
from veomni_opslint.evaluate.forks import Forks
from veomni_opslint.evaluate.frames import Frame, Module
from veomni_opslint.evaluate.limits import MAX_STEPS, GivenUp, NotPlain
from veomni_opslint.evaluate.path import Exit
from veomni_opslint.evaluate.roots import Words
from veomni_opslint.evaluate.values import Arguments, Choice, Class, External, Field, Instance, Maybe, Role
from veomni_opslint.facts import FileFacts
from veomni_opslint.registrations import KernelSpec, OpSpec, Unresolved


class Core(Forks):
    """What all parts of the evaluator share. The methods that raise NotImplementedError are those of later parts."""

    def __init__(self, modules: Mapping[str, FileFacts], packages: frozenset[str], dialect: Dialect) -> None:
        super().__init__()
        self.dialect = dialect
        self.facts = modules
        self.packages = packages
        self._modules: dict[str, Module] = {}
        self.prefixes = frozenset(
            name[:end] for name in modules for end in range(len(name)) if name[end] == "."
        ) | frozenset(modules)
        self.roles: dict[str, Role] = {
            dialect.kernel_spec: "kernel_spec",
            dialect.hardware_requirement: "hardware",
            dialect.op_spec: "op_spec",
            dialect.backend_spec: "backend_spec",
            dialect.op_scope: "op_scope",
        }
        self.words: Mapping[str, Words] = {}
        self.kernel_specs: list[KernelSpec] = []
        self.op_specs: list[OpSpec] = []
        self.unresolved: list[Unresolved] = []
        self.running: list[Module] = []
        self.statements: list[ast.AST] = []
        self.steps = MAX_STEPS
        self.nesting = 0
        self.calls = 0
        self.dry = 0
        self.watched = 0
        self.foreign: list[tuple[Cell, str, object]] = []
        self.here: tuple[ast.AST, Frame] | None = None
        self.bodies: dict[ast.FunctionDef | ast.AsyncFunctionDef, tuple[list[ast.stmt] | None, bool]] = {}
        self.resolving: list[Value] = []
        self._outside: dict[str, Value] = {}

    def module(self, name: str) -> Module | None:
        """The project module of that name; None when there is none, or it could not be parsed."""
        found = self._modules.get(name)
        if found is None:
            facts = self.facts.get(name)
            if facts is not None and facts.tree is not None:
                found = self._modules[name] = Module(name, facts, name in self.packages)
        return found

    def evaluated(self) -> tuple[str, ...]:
        """The modules that have run."""
        return tuple(sorted(name for name, module in self._modules.items() if module.state == "done"))

    def spend(self, steps: int = 1) -> None:
        """Count work.

        Raises:
            GivenUp: the module needs more than is allowed.
        """
        self.steps -= steps
        if self.steps < 0:
            raise GivenUp("the code of this module takes too long to follow")

    def outside(self, dotted: str) -> Value:
        """What a dotted name outside the project stands for; the names of the dialect are known there too."""
        last = dotted.rpartition(".")[2]
        if last == "TYPE_CHECKING":
            return False
        if last != self.dialect.registry and last not in self.roles:
            return External(dotted)
        known = self._outside.get(dotted)
        if known is None:
            known = self._outside[dotted] = self._dialect_value(last)
        return known

    def _dialect_value(self, name: str) -> Value:
        if name == self.dialect.registry:
            registry = Instance(Class(self.dialect.registry_class, self.dialect.registry_class, None, ()))
            registry.own_role = "registry"
            registry.cls.opaque_base = "lies outside the project"
            return registry
        cls = Class(name, name, None, ())
        cls.role = self.roles[name]
        if cls.role == "op_scope":
            cls.opaque_base = "lies outside the project"
        else:
            cls.flavor = "dataclass"
            cls.fields = tuple(Field(field, DEFAULTS.get(field)) for field in self._fields(cls.role))
        return cls

    def _fields(self, role: Role) -> tuple[str, ...]:
        dialect = self.dialect
        if role == "kernel_spec":
            return dialect.kernel_spec_fields
        if role == "hardware":
            return dialect.hardware_fields
        return dialect.op_spec_fields if role == "op_spec" else dialect.backend_spec_fields

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def block(self, body: list[ast.stmt], frame: Frame) -> list[Exit]:
        """Run statements; the exits say when they end other than by reaching the end."""
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Bind a target of an assignment or a loop."""
        raise NotImplementedError

    def assign_name(self, name: str, value: Value, frame: Frame) -> None:
        """Bind a name."""
        raise NotImplementedError

    def call(self, function: Value, arguments: Arguments) -> Value:
        """The result of a call."""
        raise NotImplementedError

    def invoke(self, function: Value, *values: Value) -> Value:
        """The result of a call that Python makes, of a dunder method or a callback, at the present place."""
        if self.here is None:
            raise NotPlain("is called from an unknown place")
        return self.call(function, Arguments(values, {}, *self.here))

    def unknown_call(self, callee: str, reason: str, arguments: Arguments) -> Value:
        """The result of a call that cannot be followed, after what it may have done."""
        raise NotImplementedError

    def instantiate(self, cls: Class, arguments: Arguments) -> Value:
        """The result of calling a class."""
        raise NotImplementedError

    def fill(self, instance: Instance, cls: Class, arguments: Arguments) -> None:
        """Set the attributes that the ``__init__`` of a dataclass or named tuple sets."""
        raise NotImplementedError

    def make_dataclass(self, cls: Class, options: dict[str, Value]) -> Class:
        """What the dataclass decorator makes of a class."""
        raise NotImplementedError

    def replaced(self, value: Instance, arguments: Arguments) -> Value:
        """A copy of an instance with some fields replaced by the keywords of the call."""
        raise NotImplementedError

    def import_named(self, name: str, text: str) -> Value:
        """The module that ``importlib.import_module`` gives for an absolute name."""
        raise NotImplementedError

    def attribute(self, value: Value, name: str, text: str) -> Value:
        """An attribute of a value; *text* is the expression, for messages."""
        raise NotImplementedError

    def set_attribute(self, value: Value, name: str, content: Value) -> None:
        """Set an attribute of a value."""
        raise NotImplementedError

    def truth_of(self, value: Value, text: str) -> Condition:
        """The condition under which a value is true; *text* is the expression, for reports."""
        raise NotImplementedError

    def compare(self, operator: ast.cmpop, left: Value, right: Value, text: str) -> Value:
        """The result of one comparison."""
        raise NotImplementedError

    def binary(self, operator: ast.operator, left: Value, right: Value) -> Value:
        """The result of a binary operator; raises NotPlain when the operands do not tell."""
        raise NotImplementedError

    def boolean(self, formula: Condition) -> Value:
        """The value True where the formula holds and False elsewhere."""
        raise NotImplementedError

    def subscript(self, value: Value, index: Value, text: str) -> Value:
        """The element of a value at an index or key."""
        raise NotImplementedError

    def iterate(self, value: Value) -> Iterator[Value]:
        """The elements of an iterable, ``Maybe`` where they may be absent; raises NotPlain when not known."""
        raise NotImplementedError

    def unknown_rounds(self, body: Callable[[], list[Exit]], text: str) -> list[Exit]:
        """Run the body of a loop whose number of rounds is not known."""
        raise NotImplementedError

    def resolve(self, value: Value) -> Value:
        """The value of a name imported from the project, looked up on first use."""
        raise NotImplementedError

    def load(self, name: str) -> Module | None:
        """The module, run if it has not been; None when the project has no such file, or it cannot be parsed."""
        raise NotImplementedError

    def module_attribute(self, module: str, name: str) -> Value:
        """An attribute of a project module."""
        raise NotImplementedError

    def register_kernel(self, arguments: Arguments) -> Value:
        """Record a call of the registry's register method."""
        raise NotImplementedError

    def register_op(self, arguments: Arguments) -> Value:
        """Record a call of the function that registers an OpSpec."""
        raise NotImplementedError

    def report_unresolved(
        self,
        node: ast.AST,
        frame: Frame,
        reason: str,
        pair: tuple[str | None, str | None] = (None, None),
        of_op: bool = False,
    ) -> None:
        """Record a registration that cannot be known."""
        raise NotImplementedError


DEFAULTS: dict[str, Value] = {
    "min_compute_capability": None,
    "max_compute_capability": None,
    "global_slot": None,
    "backends": None,
    "side_effect": None,
    "target_override": None,
    "requires": (),
    "description": "",
    "replace_forward": False,
    "entry_is_factory": False,
}


def reason_of(value: Value) -> str:
    """Why a value is not known, as the continuation of a sentence about it; empty when it is known."""
    if isinstance(value, Opaque):
        return value.reason
    if isinstance(value, External):
        return f"comes from {value.dotted.removeprefix('builtins.')}, which is known only at run time"
    if isinstance(value, Choice):
        return next((reason for _, option in value.options if (reason := reason_of(option))), "")
    if isinstance(value, Maybe):
        return reason_of(value.value)
    return ""


def known(value: Value) -> Value:
    """The value itself.

    Raises:
        NotPlain: the value is not known.
    """
    reason = reason_of(value)
    if reason:
        raise NotPlain(reason)
    return value
