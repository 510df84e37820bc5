# ruff: noqa: E501 - a case is easier to read on one line.
"""Random statements about conditions, exceptions and other modules that register specs, one function for each idiom."""

from __future__ import annotations

from evaluate.generated_code import Code
from evaluate.generated_statements import IDIOMS, Block, indented, row_spec


def _either_name(code: Code) -> Block:
    name = code.fresh("chosen_")
    initial = code.chance(0.3)
    block = [f"{name} = {code.text()}"] if initial else []
    block += [f"if {code.flag()}:", f"    {name} = {code.text()}"]
    if code.chance(0.3):
        block += [f"elif {code.flag()}:", f"    {name} = {code.text()}"]
    if not initial or code.chance(0.6):
        block += ["else:", f"    {name} = {code.text()}"]
    spec = row_spec(name, code.text(), f"{name} + '_n'", code.factory(), code.hardware())
    return (
        [*block, f"if {code.flag()}:", f"    {code.register(spec)}"]
        if code.chance(0.4)
        else [*block, code.register(spec)]
    )


def _conditional_rows(code: Code) -> Block:
    rows = code.fresh("ROWS_")
    spec = row_spec("op", "variant", code.text(), code.factory(), code.hardware())
    return [f"{rows} = [({code.text()}, {code.text()})]", f"if {code.flag()}:",
            f"    {rows} {code.one_of('+=', '=')} [({code.text()}, 'v1'), ({code.text()}, 'v2')]",
            f"{rows} += [row for row in [({code.text()}, 'v3')] if {code.flag()}]",
            f"for op, variant in {code.one_of(rows, f'[*{rows}, (1 and ' + code.text() + ', ' + code.text() + ')]')}:",
            f"    {code.register(spec)}"]  # fmt: skip


def _conditional_table(code: Code) -> Block:
    table = code.fresh("TABLE_")
    spec = row_spec("op", "variant", code.text(), code.factory(), code.hardware())
    change = code.one_of(f"{table}['b'] = {code.text()}", f"{table}['c'] = {code.text()}", f"del {table}['a']",
                         f"{table}.update(d={code.text()})")  # fmt: skip
    use = code.one_of(f"{table}.items()", f"list({table}.items())", f"sorted({table}.items())")
    return [f"{table} = {{'a': {code.text()}, 'b': {code.text()}}}", f"if {code.flag()}:", f"    {change}",
            f"for op, variant in {use}:", f"    {code.register(spec)}"]  # fmt: skip


def _loop_with_exit(code: Code) -> Block:
    spec = row_spec("op", code.text(), code.text(), code.factory(), code.hardware())
    exit_ = code.one_of("continue", "break")
    block = [f"for op in ['first', {code.text()}, 'last']:", f"    if op {code.one_of('==', '!=')} 'last':",
             f"        if {code.flag()}:", f"            {exit_}", f"    {code.register(spec)}"]  # fmt: skip
    return [*block, "else:", f"    {code.register(code.kernel_spec())}"] if code.chance(0.4) else block


def _early_return(code: Code) -> Block:
    name = code.fresh("maybe_add_")
    spec = row_spec("op", "variant", code.text(), code.factory(), code.hardware())
    code.add(f"def {name}(op):", f"    if {code.flag()}:", f"        {code.one_of('return None', 'variant = op.upper()')}",
             "    else:", f"        variant = {code.text()}", f"    if {code.flag()}:", "        variant += '_late'",
             f"    {code.register(spec)}", "    return variant")  # fmt: skip
    return [f"{name}({code.text()})"]


def _pick(code: Code) -> Block:
    name = code.fresh("pick_")
    code.add(f"def {name}(value):", f"    if {code.flag()}:", "        return value + '_1'",
             f"    if {code.one_of('value', code.flag())}:", "        return value + '_2'",
             f"    raise {code.one_of('ValueError', 'KeyError')}(value)")  # fmt: skip
    spec = row_spec("found", code.text(), code.text(), code.factory(), code.hardware())
    return ["try:", f"    found = {name}({code.text()})", f"except {code.one_of('Exception', '(ValueError, KeyError)')}:",
            f"    found = {code.text()}", code.register(spec)]  # fmt: skip


def _import_or(code: Code) -> Block:
    name = code.fresh("HAS_OPTIONAL_")
    handler = code.one_of("except ImportError:", "except (ImportError, AttributeError):", "except ModuleNotFoundError:")
    if code.chance(0.5):
        return ["try:", "    import optional_a", *indented(IDIOMS[0](code)), handler, *indented(IDIOMS[0](code))]
    return ["try:", "    from optional_a import kernel as optional_kernel", f"    {name} = True", handler,
            f"    {name} = False", f"if {code.one_of(name, 'not ' + name)}:", *indented(IDIOMS[2](code))]  # fmt: skip


def _helper_elsewhere(code: Code) -> Block:
    return [code.one_of(f"helpers.add({code.text()}, {code.factory()})",
                        f"add_elsewhere({code.text()}, factory={code.factory()}, variant={code.text()})",
                        f"helpers.GROUP.add({code.text()}, {code.factory()})",
                        f"for op in ({code.text()}, 'b'): add_elsewhere(op, {code.factory()})")]  # fmt: skip


def _decorated_elsewhere(code: Code) -> Block:
    name = code.fresh("decorated_")
    lines = [f"@helpers.kernel({code.text()}, variant={code.text()})", f"def {name}():", "    return 1"]
    return lines if code.chance(0.6) else ["if True:", *indented(lines)]


def _collected(code: Code) -> Block:
    return [code.one_of(f"helpers.COLLECTED.append(({code.text()}, {code.factory()}))",
                        f"helpers.collect({code.text()}, {code.factory()})",
                        f"helpers.COLLECTED += [({code.text()}, {code.factory()})]")]  # fmt: skip


def _register_many(code: Code) -> Block:
    return [
        f"{code.registry()}.register_many([{code.kernel_spec()}, {code.kernel_spec()}]{code.one_of('', ', force=True')})"
    ]


def _unknown_loop(code: Code) -> Block:
    if not code.chance(0.3):
        return IDIOMS[0](code)
    spec = row_spec(code.one_of("op", code.text()), code.text(), code.text(), code.factory(), code.hardware())
    if "op_name=op," in spec:
        return ["for op in hostinfo.names():", f"    {code.register(spec)}"]
    return ["for op in hostinfo.one():", f"    {code.register(spec)}"]


def _escaped(code: Code) -> Block:
    if not code.chance(0.3):
        return IDIOMS[0](code)
    name = code.fresh("ROWS_")
    spec = row_spec("op", code.text(), code.text(), code.factory(), code.hardware())
    return [f"{name} = [{code.text()}]", f"hostinfo.change({name})", f"for op in {name}:", f"    {code.register(spec)}"]


def _subclasses(code: Code) -> Block:
    name = code.fresh("Kernel")
    spec = row_spec("op", "cls.__name__", "cls.tag", "cls.build", code.hardware())
    code.add(f"class {name}:", f"    tag = {code.text()}", "", "    def __init_subclass__(cls, op='none', **options):",
             "        super().__init_subclass__(**options)", f"        {code.register(spec)}", "",
             "    @classmethod", "    def build(cls):", "        return cls")  # fmt: skip
    return [f"class {name}A({name}, op={code.text()}):", f"    tag = {code.text()}", "", f"class {name}B({name}A):",
            "    pass"]  # fmt: skip


FLOW = (
    _either_name, _conditional_rows, _conditional_table, _loop_with_exit, _early_return, _pick, _import_or,
    _helper_elsewhere, _decorated_elsewhere, _collected, _register_many, _unknown_loop, _escaped, _subclasses,
)  # fmt: skip

HELPERS = """\
from .kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

COLLECTED = []


def add(op, factory, variant="standard", *, name="helper"):
    KERNEL_REGISTRY.register(KernelSpec(name, op, variant, factory, HardwareRequirement("gpu")))


def kernel(op, variant="standard", **options):
    def decorate(function):
        add(op, function, variant, name=options.get("name", function.__name__))
        return function

    return decorate


def collect(op, factory):
    COLLECTED.append((op, factory))


class Group:
    def __init__(self, variant):
        self.variant = variant

    def add(self, op, factory):
        add(op, factory, self.variant, name="group")


GROUP = Group("grouped")
"""
FINAL = """\
from . import helpers
from .kernel_registry import KERNEL_REGISTRY, HardwareRequirement, KernelSpec

for number, (op, factory) in enumerate(helpers.COLLECTED):
    KERNEL_REGISTRY.register(KernelSpec(f"c{number}", op, "collected", factory, HardwareRequirement("any")))
"""
