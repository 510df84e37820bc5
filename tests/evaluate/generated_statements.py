# ruff: noqa: E501 - a case is easier to read on one line.
"""Random statements that register specs, one function for each idiom."""

from __future__ import annotations

from collections.abc import Callable

from evaluate.generated_code import Code

Block = list[str]


def indented(block: Block) -> Block:
    """The block one level deeper."""
    return [f"    {line}" if line else line for line in block]


def _direct(code: Code) -> Block:
    return [code.register(code.kernel_spec())]


def _variable(code: Code) -> Block:
    name = code.fresh("spec_")
    return [f"{name} = {code.kernel_spec()}", code.register(name)]


def _rows(code: Code, fields: int = 3, count: int | None = None) -> str:
    rows = [f"({', '.join(code.text() for _ in range(fields))},)" for _ in range(count or code.rng.randrange(1, 4))]
    return f"[{', '.join(rows)}]" if code.chance(0.5) else f"({', '.join(rows)},)"


def row_spec(op: str, variant: str, name: str, factory: str, hardware: str) -> str:
    """A KernelSpec with these expressions as its fields."""
    return f"KernelSpec(name={name}, op_name={op}, variant={variant}, factory={factory}, hardware={hardware})"


def _loop(code: Code) -> Block:
    factory, hardware = code.factory(), code.hardware()
    return [f"for op, variant, name in {_rows(code)}:",
            f"    {code.register(row_spec('op', 'variant', 'name', factory, hardware))}"]  # fmt: skip


def _loop_with_factories(code: Code) -> Block:
    rows = ", ".join(f"({code.text()}, {code.factory()}, {code.hardware()})" for _ in range(2))
    return [
        f"for op, factory, hw in [{rows}]:",
        f"    {code.register(row_spec('op', code.text(), code.text(), 'factory', 'hw'))}",
    ]


def _star_unpacking(code: Code) -> Block:
    register = code.register(row_spec("op", "rest[0]", "'_'.join(rest)", code.factory(), code.hardware()))
    return [f"for op, *rest in {_rows(code)}:", f"    {register}"]


def _enumerated(code: Code) -> Block:
    start = code.one_of("", ", start=1", ", 5")
    spec = row_spec("f'{op}{i}'", "variant", code.text(), code.factory(), code.hardware())
    return [f"for i, (op, variant) in enumerate({_rows(code, 2)}{start}):", f"    {code.register(spec)}"]


def _zipped(code: Code) -> Block:
    spec = row_spec("op", code.text(), "name", code.factory(), code.hardware())
    sources = f"[{code.text()}, {code.text()}], ({code.text()}, {code.text()}, 'x')"
    return [f"for op, name in zip({sources}):", f"    {code.register(spec)}"]


def _dict_items(code: Code) -> Block:
    table = code.fresh("TABLE_")
    entries = ", ".join(f"{code.text()} + '{i}': ({code.text()}, {code.factory()})" for i in range(2))
    order = code.one_of(".items()", ".items()", "sorted", "reversed")
    source = f"{table}.items()" if order == ".items()" else f"{order}({table}.items(), key=lambda kv: kv[0])" \
        if order == "sorted" else f"reversed(list({table}.items()))"  # fmt: skip
    spec = row_spec("op", "variant", code.text(), "factory", code.hardware())
    return [f"{table} = {{{entries}}}", f"{table}['extra'] = ({code.text()}, {code.factory()})",
            f"for op, (variant, factory) in {source}:", f"    {code.register(spec)}"]  # fmt: skip


def _dict_keys(code: Code) -> Block:
    table = code.fresh("TABLE_")
    spec = row_spec("op", f"{table}[op]", code.text(), code.factory(), code.hardware())
    return [f"{table} = dict.fromkeys([{code.text()}, {code.text()}], {code.text()})",
            f"{table}.update(zed={code.text()})", f"for op in {code.one_of(table, table + '.keys()')}:",
            f"    {code.register(spec)}"]  # fmt: skip


def _product(code: Code) -> Block:
    spec = row_spec("op", "variant", code.text(), code.factory(), code.hardware())
    if code.chance(0.5):
        return [f"for op, variant in itertools.product([{code.text()}, {code.text()}], ('p', 'q')):",
                f"    {code.register(spec)}"]  # fmt: skip
    return [f"for op in ({code.text()}, {code.text()}):", "    for variant in ['p', 'q', 'r']:",
            f"        if variant == {code.one_of(repr('q'), repr('z'))}:",
            f"            {code.one_of('continue', 'break')}", f"        {code.register(spec)}"]  # fmt: skip


def _filtered(code: Code) -> Block:
    spec = row_spec("op", "variant", code.text(), code.factory(), code.hardware())
    source = code.one_of(f"filter(lambda row: len(row[0]) > 5, {_rows(code, 2, 3)})",
                         f"[row for row in {_rows(code, 2, 3)} if row[0] != row[1]]",
                         f"itertools.chain({_rows(code, 2)}, {_rows(code, 2)})",
                         f"itertools.islice({_rows(code, 2, 3)}, 2)", f"set({_rows(code, 2, 1)})")  # fmt: skip
    return [f"for op, variant in {source}:", f"    {code.register(spec)}"]


def _helper(code: Code) -> Block:
    name = code.fresh("add_")
    register = code.register(row_spec("op", "variant", "name", "factory", "hardware"))
    code.add(f"def {name}(op, variant='standard', *, name={code.text()}, factory={code.factory()}, hardware=HW('gpu')):",
             f"    {register}")  # fmt: skip
    calls = [f"{name}({code.text()})", f"{name}({code.text()}, {code.text()}, factory={code.factory()})",
             f"{name}(op={code.text()}, name={code.text()}, hardware={code.hardware()})"]  # fmt: skip
    if code.chance(0.4):
        return [f"for op in [{code.text()}, {code.text()}]:", f"    {name}(op, {code.text()})"]
    return [code.rng.choice(calls)]


def _variadic_helper(code: Code) -> Block:
    name = code.fresh("add_all_")
    code.add(f"def {name}(*specs, force=False, **named):", "    for spec in specs:",
             f"        {code.registry()}.register(spec, force=force)", "    for key, spec in named.items():",
             "        KERNEL_REGISTRY.register(replace(spec, name=key))", "    return len(specs)")  # fmt: skip
    return [
        f"{name}({code.kernel_spec()}, *[{code.kernel_spec()}], force={code.one_of('True', 'False')}, k={code.kernel_spec()})"
    ]


def _nested_helper(code: Code) -> Block:
    outer = code.fresh("register_group_")
    spec = row_spec("prefix + op", "variant", code.text(), "factory", "hw")
    code.add(f"def {outer}(prefix, hw={code.hardware()}):",
             f"    def add(op, variant, factory={code.factory()}):",
             "        if not op:", "            return None",
             f"        {code.register(spec)}", "        return op", "    return add")  # fmt: skip
    name = code.fresh("add_")
    return [f"{name} = {outer}({code.text()})", f"{name}({code.text()}, {code.text()})", f"{name}('', 'never')",
            f"{outer}('z', hw={code.hardware()})({code.text()}, 'direct')"]  # fmt: skip


def _recursion(code: Code) -> Block:
    name = code.fresh("count_down_")
    spec = row_spec("op + str(n)", code.text(), code.text(), code.factory(), code.hardware())
    code.add(f"def {name}(op, n):", "    if n <= 0:", "        return", f"    {code.register(spec)}",
             f"    {name}(op, n - 1)")  # fmt: skip
    return [f"{name}({code.text()}, {code.rng.randrange(1, 4)})"]


def _decorator(code: Code) -> Block:
    name = code.fresh("kernel_")
    spec = row_spec("op", "variant", "name or function.__name__", "function", "hardware")
    code.add(f"def {name}(op, variant, name=None, hardware=HW('any')):", "    def decorate(function):",
             f"        {code.register(spec)}", "        return function", "    return decorate")  # fmt: skip
    factory = code.fresh("decorated_")
    return [f"@{name}({code.text()}, {code.text()}{code.one_of('', ', name=' + code.word())})", f"def {factory}():",
            "    return None"]  # fmt: skip


def _list_then_loop(code: Code) -> Block:
    name = code.fresh("SPECS_")
    block = [f"{name} = [{code.kernel_spec()}]"]
    if code.chance(0.6):
        block.append(f"{name}.append({code.kernel_spec()})")
    if code.chance(0.4):
        block.append(f"{name} += [{code.kernel_spec()}]")
    if code.chance(0.3):
        block.append(f"{name}.extend(s for s in ({code.kernel_spec()},))")
    if code.chance(0.3):
        block.append(f"{name}.insert(0, {name}.pop())")
    if code.chance(0.3):
        block += [f"if {code.flag()}:", f"    {name}.append({code.kernel_spec()})"]
    return [*block, f"for spec in {code.one_of(name, f'reversed({name})', f'list({name})', f'{name}[:]')}:",
            f"    {code.register('spec')}"]  # fmt: skip


def _comprehension(code: Code) -> Block:
    factory, hardware = code.factory(), code.hardware()
    spec = row_spec("op", "v", code.text(), factory, hardware)
    clauses = (
        f"for op in [{code.text()}, {code.text()}] for v in ('x', 'y') if v != {code.one_of(repr('x'), repr('w'))}"
    )
    return code.rng.choice([
        [f"[{code.registry()}.register({spec}) {clauses}]"],
        [f"list(map(KERNEL_REGISTRY.register, [{spec} {clauses}]))"],
        [f"for spec in ({spec} {clauses}):", f"    {code.register('spec')}"],
        [f"any(register({spec}) {clauses})"],
    ])  # fmt: skip


def _generator_function(code: Code) -> Block:
    name = code.fresh("specs_of_")
    code.add(f"def {name}(ops):", "    for op in ops:",
             f"        yield {row_spec('op', code.text(), code.text(), code.factory(), code.hardware())}",
             f"    yield from ({code.kernel_spec()},)")  # fmt: skip
    return [f"for spec in {name}([{code.text()}, {code.text()}]):", f"    {code.register('spec')}"]


def _class_registrar(code: Code) -> Block:
    name = code.fresh("Registrar")
    spec = row_spec("self.op", "variant", "self.name", "factory", "self.hw")
    code.add(f"class {name}:", f"    name = {code.text()}", f"    hw = {code.hardware()}", "",
             "    def __init__(self, op, **options):", "        self.op = op",
             "        if 'name' in options:",
             "            self.name = options['name']", "",
             f"    def add(self, variant, factory={code.factory()}):", f"        {code.register(spec)}",
             "        return self", "", "    @classmethod", "    def build(cls, op):", "        return cls(op)")  # fmt: skip
    return code.rng.choice([
        [f"{name}({code.text()}).add({code.text()}).add('second')"],
        [f"{name}.build({code.text()}).add({code.text()}, factory={code.factory()})"],
        [f"{name}({code.text()}, name={code.text()}).add(variant={code.text()})"],
    ])  # fmt: skip


def _while(code: Code) -> Block:
    index = code.fresh("index_")
    spec = row_spec(f"{code.text()} + str({index})", code.text(), code.text(), code.factory(), code.hardware())
    return [f"{index} = 0", f"while {index} < {code.rng.randrange(1, 4)}:", f"    {code.register(spec)}", f"    {index} += 1",
            *(["else:", f"    {code.register(code.kernel_spec())}"] if code.chance(0.3) else [])]  # fmt: skip


def _match(code: Code) -> Block:
    subject = code.one_of("WORDS[0]", "(WORDS[0], 'y')", "len(WORDS)")
    return [f"match {subject}:", "    case 'alpha' | 'beta':", *indented(indented(_direct(code))),
            "    case (first, 'y') if first:", *indented(indented(_direct(code))),
            "    case _:", *indented(indented(_direct(code)))]  # fmt: skip


def _global_counter(code: Code) -> Block:
    counter, name = code.fresh("COUNTER_"), code.fresh("numbered_")
    spec = row_spec("op", f"'v' + str({counter})", code.text(), code.factory(), code.hardware())
    code.add(
        f"{counter} = 0",
        f"def {name}(op):",
        f"    global {counter}",
        f"    {counter} += 1",
        f"    {code.register(spec)}",
    )
    return [f"{name}({code.text()})", f"{name}({code.text()})"]


def _deleted(code: Code) -> Block:
    table = code.fresh("TABLE_")
    spec = row_spec("op", "variant", code.text(), code.factory(), code.hardware())
    return [f"{table} = {{'a': {code.text()}, 'b': {code.text()}, 'c': {code.text()}}}", f"del {table}['b']",
            f"{table}.pop('a', None)", f"for op, variant in {table}.items():", f"    {code.register(spec)}"]  # fmt: skip


def _annotated(code: Code) -> Block:
    name = code.fresh("spec_")
    return [f"{name}: KernelSpec = {code.kernel_spec()}", f"({name}_b := {name})", code.register(f"{name}_b")]


def _fallback(code: Code) -> Block:
    table = code.fresh("TABLE_")
    return [f"{table} = {{'a': {code.text()}}}", "try:", f"    chosen = {table}['{code.rng.choice('ab')}']",
            "except KeyError:", f"    chosen = {code.text()}",
            code.register(row_spec("chosen", code.text(), code.text(), code.factory(), code.hardware()))]  # fmt: skip


IDIOMS: tuple[Callable[[Code], Block], ...] = (
    _direct, _direct, _variable, _loop, _loop, _loop_with_factories, _star_unpacking, _enumerated, _zipped, _dict_items,
    _dict_keys, _product, _filtered, _helper, _helper, _variadic_helper, _nested_helper, _recursion, _decorator,
    _list_then_loop, _list_then_loop, _comprehension, _generator_function, _class_registrar, _while, _match,
    _global_counter, _deleted, _annotated, _fallback,
)  # fmt: skip


def wrapped(code: Code, block: Block) -> Block:
    """The block as it is, or inside another statement."""
    choice = code.rng.randrange(14)
    if choice == 0:
        return [f"if {code.flag()}:", *indented(block)]
    if choice == 1:
        other = code.rng.choice(IDIOMS)(code)
        return [f"if {code.flag()}:", *indented(block), "else:", *indented(other)]
    if choice == 2:
        name = code.fresh("setup_")
        early = [f"    if not {code.flag()}:", "        return"] if code.chance(0.5) else []
        return [f"def {name}():", *early, *indented(block), f"{name}()"]
    if choice == 3:
        return [
            "try:",
            "    import optional_a",
            "except ImportError:",
            "    optional_a = None",
            "else:",
            *indented(block),
        ]
    if choice == 4:
        return ["try:", *indented(block), "finally:", "    done = True"]
    if choice == 5:
        return ["with contextlib.nullcontext():", *indented(block)]
    if choice == 6:
        return [f"if {code.one_of('True', 'typing.TYPE_CHECKING', 'not typing.TYPE_CHECKING', '__name__ == ' + repr('__main__'))}:",
                *indented(block)]  # fmt: skip
    return block
