"""Random module-level code that builds hardware requirements, factories and specs in every way we know."""

from __future__ import annotations

from evaluate.generated_text import TextCode


class Code(TextCode):
    """The text of one module in the making, with all that a registration needs."""

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
