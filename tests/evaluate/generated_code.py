"""Random module-level code that builds strings, hardware requirements, factories and specs in every way we know."""

from __future__ import annotations

import random

FLAGS = ("HAS_A", "HAS_B", "HAS_C")
WORDS = ("rms_norm", "moe_experts", "rotary", "standard", "causal", "full", "fused_qk", "liger", "npu_x", "swi-glu")


class Code:
    """The text of one module in the making: what its expressions need is put in front of them."""

    def __init__(self, rng: random.Random, shared: tuple[str, ...] = (), *, certainty: float = 0.992) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.count = 0
        self.shared = shared
        self.certainty = certainty
        self.depth = 0

    def fresh(self, prefix: str) -> str:
        """A name that is new in this module."""
        self.count += 1
        return f"{prefix}{self.count}"

    def add(self, *lines: str) -> None:
        """Put lines at the end of the module."""
        self.lines.extend(lines)

    def one_of(self, *options: str) -> str:
        """One of the options."""
        return self.rng.choice(options)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.rng.random() < probability

    def flag(self) -> str:
        """A condition that only the running program knows."""
        name = self.rng.choice(FLAGS)
        return self.one_of(name, f"hostinfo.{name}", f"hostinfo.available('{name}')", f"is_ready('{name}')")

    def word(self) -> str:
        """A string literal."""
        return repr(self.rng.choice(WORDS) + str(self.rng.randrange(40)))

    def text(self) -> str:
        """An expression that gives a string."""
        if self.depth >= 3 or self.chance(0.35):
            return self.one_of(self.word(), self.word(), *(self.shared or (self.word(),)))
        if not self.chance(self.certainty):
            return self.one_of("hostinfo.name()", f"({self.word()} if {self.flag()} else {self.word()})")
        self.depth += 1
        try:
            return self.rng.choice(_TEXTS)(self)
        finally:
            self.depth -= 1

    def number(self) -> str:
        """An expression that gives a compute capability."""
        return self.one_of(
            "80", "90", "7 * 10", "int('75')", "len('x') * 80", "max(70, 90)", "sum([40, 30])", "100 - 10"
        )

    def hardware(self) -> str:
        """An expression that gives a HardwareRequirement."""
        return self.rng.choice(_HARDWARE)(self)

    def factory(self) -> str:
        """An expression that gives a factory."""
        return self.rng.choice(_FACTORIES)(self)

    def kernel_spec(self) -> str:
        """An expression that gives a KernelSpec."""
        if self.depth >= 2:
            return _keywords(self)
        self.depth += 1
        try:
            return self.rng.choice(_SPECS)(self)
        finally:
            self.depth -= 1

    def registry(self) -> str:
        """An expression that gives the registry."""
        return self.one_of("KERNEL_REGISTRY", "KERNEL_REGISTRY", "R", "kr.KERNEL_REGISTRY", "get_registry()")

    def register(self, spec: str) -> str:
        """A call that registers the spec."""
        force = self.one_of("", "", "", ", force=True", ", True")
        if self.chance(0.2):
            return f"register({spec}{force})"
        if self.chance(0.1):
            return f"{self.registry()}.register(spec={spec}{force if '=' in force else ''})"
        return f"{self.registry()}.register({spec}{force})"


def _constant(code: Code) -> str:
    name = code.fresh("NAME_")
    code.add(f"{name} = {code.text()}")
    return name


def _class_attribute(code: Code) -> str:
    name = code.fresh("Names")
    code.add(f"class {name}:", f"    first = {code.text()}", "    second = first + '_x'")
    return f"{name}.{code.one_of('first', 'second')}"


def _enum(code: Code) -> str:
    name = code.fresh("Kind")
    base = code.one_of("enum.Enum", "enum.StrEnum", "str, enum.Enum")
    code.add(f"class {name}({base}):", f"    ONE = {code.word()}", "    TWO = 'two_kinds'")
    uses = [f"{name}.ONE.value", f"{name}.TWO.name", f"{name}['ONE'].value", f"{name}('two_kinds').name",
            f"[m.value for m in {name}][0]"]  # fmt: skip
    if base == "enum.StrEnum":
        uses += [f"f'{{{name}.TWO}}'", f"{name}.ONE + '_e'", f"str({name}.TWO)"]
    return code.one_of(*uses)


def _function(code: Code) -> str:
    name, first, second = code.fresh("name_of_"), code.text(), code.text()
    code.add(f"def {name}(base, suffix='s', *rest, upper=False, **options):",
             "    if upper:",
             "        return (base + suffix).upper()",
             "    if rest:",
             "        return '-'.join((base, *rest))",
             "    return f\"{base}{suffix}{options.get('end', '')}\"")  # fmt: skip
    return code.one_of(f"{name}({first})", f"{name}({first}, {second})", f"{name}({first}, 'q', 'r', {second})",
                       f"{name}(base={first}, upper=True)", f"{name}({first}, end={second})",
                       f"{name}(*[{first}, 'u'], **{{'end': 'v'}})")  # fmt: skip


def _object(code: Code) -> str:
    name = code.fresh("Row")
    if code.chance(0.5):
        code.add("@dataclasses.dataclass", f"class {name}:", "    op: str", f"    tag: str = {code.word()}")
    else:
        code.add(f"class {name}(typing.NamedTuple):", "    op: str", f"    tag: str = {code.word()}")
    return code.one_of(f"{name}({code.text()}).tag", f"{name}(op={code.text()}, tag={code.text()}).op",
                       f"{name}({code.text()}).op.lower()")  # fmt: skip


def _walrus(code: Code) -> str:
    name = code.fresh("kept_")
    code.add(f"{name}_twice = ({name} := {code.text()}) + {name}[:1]")
    return code.one_of(name, f"{name}_twice")


_TEXTS = (
    lambda c: f"({c.text()} + '_' + {c.text()})",
    lambda c: f'f"{{{c.word()}}}_{{{c.rng.randrange(9)}:03d}}"',
    lambda c: f"'_'.join(({c.text()}, {c.text()}))",
    lambda c: f"'_'.join(part for part in [{c.text()}, {c.word()}] if part)",
    lambda c: f"'{{}}-{{}}'.format({c.text()}, {c.text()})",
    lambda c: f"'{{b}}{{a}}'.format(a={c.text()}, b={c.text()})",
    lambda c: f"('%s_%s' % ({c.text()}, {c.text()}))",
    lambda c: f"('%(x)s' % {{'x': {c.text()}}})",
    lambda c: (
        f"{c.text()}"
        + c.one_of(
            ".upper()",
            ".title()",
            ".replace('_', '-')",
            ".removeprefix('rms')",
            "[2:]",
            ".split('_')[0]",
            ".rpartition('_')[2]",
            ".zfill(9)",
            "[::-1]",
            ".strip('s')",
        )
    ),
    lambda c: f"({c.text()}, {c.text()})[{c.rng.randrange(2)}]",
    lambda c: f"{{'k': {c.text()}, **{{'m': {c.text()}}}}}['{c.rng.choice('km')}']",
    lambda c: f"{{'k': {c.text()}}}.get({c.one_of(repr('k'), repr('z'))}, {c.text()})",
    lambda c: f"({c.text()} if {c.one_of('True', 'len(WORDS) > 2', '__name__ == ' + repr('x'))} else {c.text()})",
    lambda c: f"({c.one_of(repr(''), 'None', c.text())} or {c.text()})",
    lambda c: f"sorted([{c.text()}, {c.text()}])[0]",
    lambda c: f"max({c.text()}, {c.text()}, key=len)",
    lambda c: f"next(x for x in [{c.text()}, 'zz'] if x)",
    lambda c: f"list(map(str.upper, [{c.text()}]))[0]",
    lambda c: f"functools.reduce(lambda p, q: p + q, [{c.text()}, 'r'], 's')",
    lambda c: f"(lambda x, y='t': x + y)({c.text()})",
    lambda c: f"WORDS[{c.rng.randrange(3)}]",
    lambda c: f"dict(zip(('a', 'b'), ({c.text()}, {c.text()})))['{c.rng.choice('ab')}']",
    lambda c: f"[a + b for a, b in [({c.text()}, 'k'), ('l', 'm')]][{c.rng.randrange(2)}]",
    lambda c: f"getattr(types.SimpleNamespace(op={c.text()}), 'op')",
    lambda c: f"str({c.number()})",
    lambda c: f"operator.itemgetter(0)([{c.text()}])",
    _constant,
    _class_attribute,
    _enum,
    _function,
    _object,
    _walrus,
)


def _device(code: Code) -> str:
    return code.one_of("'gpu'", "'npu'", "'any'", "['gpu', 'mlu']", "('gpu', 'npu')", "DEVICES[0]", "'GPU'.lower()")


def _hardware_variable(code: Code) -> str:
    name = code.fresh("hw_")
    code.add(f"{name} = {code.hardware()}")
    return name


def _hardware_helper(code: Code) -> str:
    name = code.fresh("gpu_")
    code.add(f"def {name}(low=None, *, device='gpu'):", "    return HardwareRequirement(device, low)")
    return code.one_of(f"{name}()", f"{name}({code.number()})", f"{name}(device={_device(code)})")


_HARDWARE = (
    lambda c: f"HardwareRequirement({_device(c)})",
    lambda c: f"HardwareRequirement(device_type={_device(c)})",
    lambda c: f"HardwareRequirement(device_type='gpu', min_compute_capability={c.number()})",
    lambda c: f"HardwareRequirement('gpu', {c.number()}, max_compute_capability={c.number()})",
    lambda c: f"HW(**{{'device_type': {_device(c)}, 'min_compute_capability': {c.number()}}})",
    lambda c: f"dataclasses.replace(HardwareRequirement('gpu'), min_compute_capability={c.number()})",
    lambda c: f"functools.partial(HardwareRequirement, 'npu')(min_compute_capability={c.number()})",
    lambda c: f"HardwareRequirement('gpu', {c.number()} if {c.flag()} else None)" if c.chance(0.1) else "HW('npu')",
    _hardware_variable,
    _hardware_helper,
)


def _def_factory(code: Code) -> str:
    name = code.fresh("factory_")
    code.add(f"def {name}():", "    from optional_a import kernel", "", "    return kernel")
    return name


def _closure(code: Code) -> str:
    name = code.fresh("make_")
    inner = code.one_of("def factory():\n        return target\n    return factory", "return lambda: target",
                        "def first():\n        return 1\n\n    def second():\n        return target\n"
                        "    return second if WORDS else first")  # fmt: skip
    code.add(f"def {name}(target):", *f"    {inner}".split("\n"))
    return f"{name}({code.text()})"


def _method(code: Code) -> str:
    name = code.fresh("Kernels")
    code.add(f"class {name}:", "    @staticmethod", "    def build():", "        return 1", "",
             "    @classmethod", "    def make(cls):", "        return cls")  # fmt: skip
    return f"{name}.{code.one_of('build', 'make')}"


def _class(code: Code) -> str:
    name = code.fresh("Kernel")
    code.add(f"class {name}:", "    pass")
    return name


def _table_factory(code: Code) -> str:
    first, second = _def_factory(code), _def_factory(code)
    return code.one_of(f"{{'a': {first}, 'b': {second}}}['b']", f"globals()['{first}']", f"[{first}, {second}][0]",
                       f"({first} if {code.flag()} else {second})" if code.chance(0.1) else first)  # fmt: skip


_FACTORIES = (
    _def_factory,
    _def_factory,
    _def_factory,
    _closure,
    _method,
    _class,
    _table_factory,
    lambda _: "lambda: None",
    lambda c: f"functools.partial({_def_factory(c)})",
    lambda c: f"functools.partial({_closure(c)}, 1, x=2)",
    lambda _: "hostinfo.kernel",
    lambda _: "shared_factory",
    lambda _: "hostinfo.make_kernel()",
)


def _fields(code: Code) -> list[tuple[str, str]]:
    fields = [
        ("name", code.text()), ("op_name", code.text()), ("variant", code.text()), ("factory", code.factory()),
        ("hardware", code.hardware()),
    ]  # fmt: skip
    if code.chance(0.5):
        fields.append(("description", code.text()))
    return fields


def _keywords(code: Code) -> str:
    fields = _fields(code)
    code.rng.shuffle(fields)
    return f"{code.one_of('KernelSpec', 'Spec')}({', '.join(f'{name}={value}' for name, value in fields)})"


def _positional(code: Code) -> str:
    return f"KernelSpec({', '.join(value for _, value in _fields(code))})"


def _mapping(code: Code) -> str:
    fields = _fields(code)
    name = code.fresh("common_")
    code.add(f"{name} = dict({', '.join(f'{key}={value}' for key, value in fields[2:])})")
    rest = ", ".join(f"{key}={value}" for key, value in fields[:2])
    return code.one_of(f"KernelSpec({rest}, **{name})", f"KernelSpec(**{{**{name}, 'name': {code.text()}, "
                       f"'op_name': {code.text()}}})")  # fmt: skip


def _partial_spec(code: Code) -> str:
    fields = _fields(code)
    name = code.fresh("NewSpec")
    code.add(f"{name} = functools.partial(KernelSpec, {fields[1][0]}={fields[1][1]}, hardware={fields[4][1]})")
    return f"{name}(name={fields[0][1]}, variant={fields[2][1]}, factory={fields[3][1]})"


def _helper_spec(code: Code) -> str:
    name, fields = code.fresh("spec_of_"), dict(_fields(code))
    code.add(f"def {name}(op, variant='standard', *extra, hw=HardwareRequirement('gpu'), **more):",
             f"    name = more.pop('name', None) or {fields['name']}",
             "    if extra:",
             "        variant = '_'.join([variant, *extra])",
             f"    return KernelSpec(name, op, variant, more.get('factory', {fields['factory']}), hw)")  # fmt: skip
    return code.one_of(f"{name}({fields['op_name']})", f"{name}({fields['op_name']}, {fields['variant']}, 'e')",
                       f"{name}(op={fields['op_name']}, hw={fields['hardware']}, name={code.word()})",
                       f"{name}({fields['op_name']}, factory={code.factory()})")  # fmt: skip


def _replaced(code: Code) -> str:
    base = code.fresh("base_")
    code.add(f"{base} = {_keywords(code)}")
    changes = code.one_of(f"variant={code.text()}", f"factory={code.factory()}", f"hardware={code.hardware()}")
    return f"replace({base}, name={code.text()}, {changes})"


def _subclass(code: Code) -> str:
    name = code.fresh("NpuSpec")
    fields = dict(_fields(code))
    code.add("@dataclasses.dataclass(frozen=True)", f"class {name}(KernelSpec):",
             f"    hardware: object = HardwareRequirement({_device(code)})", "    origin: str = 'x'")  # fmt: skip
    return f"{name}({fields['name']}, {fields['op_name']}, {fields['variant']}, {fields['factory']})"


_SPECS = (
    _keywords, _keywords, _keywords, _positional, _mapping, _partial_spec, _helper_spec, _helper_spec, _replaced,
    _subclass,
)  # fmt: skip
