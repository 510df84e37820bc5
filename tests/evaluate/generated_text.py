"""Random module-level code that builds strings in every way we know."""

from __future__ import annotations

import random

FLAGS = ("HAS_A", "HAS_B", "HAS_C")
WORDS = ("rms_norm", "moe_experts", "rotary", "standard", "causal", "full", "fused_qk", "liger", "npu_x", "swi-glu")


class TextCode:
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


def _constant(code: TextCode) -> str:
    name = code.fresh("NAME_")
    code.add(f"{name} = {code.text()}")
    return name


def _class_attribute(code: TextCode) -> str:
    name = code.fresh("Names")
    code.add(f"class {name}:", f"    first = {code.text()}", "    second = first + '_x'")
    return f"{name}.{code.one_of('first', 'second')}"


def _enum(code: TextCode) -> str:
    name = code.fresh("Kind")
    base = code.one_of("enum.Enum", "enum.StrEnum", "str, enum.Enum")
    code.add(f"class {name}({base}):", f"    ONE = {code.word()}", "    TWO = 'two_kinds'")
    uses = [f"{name}.ONE.value", f"{name}.TWO.name", f"{name}['ONE'].value", f"{name}('two_kinds').name",
            f"[m.value for m in {name}][0]"]  # fmt: skip
    if base == "enum.StrEnum":
        uses += [f"f'{{{name}.TWO}}'", f"{name}.ONE + '_e'", f"str({name}.TWO)"]
    return code.one_of(*uses)


def _function(code: TextCode) -> str:
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


def _object(code: TextCode) -> str:
    name = code.fresh("Row")
    if code.chance(0.5):
        code.add("@dataclasses.dataclass", f"class {name}:", "    op: str", f"    tag: str = {code.word()}")
    else:
        code.add(f"class {name}(typing.NamedTuple):", "    op: str", f"    tag: str = {code.word()}")
    return code.one_of(f"{name}({code.text()}).tag", f"{name}(op={code.text()}, tag={code.text()}).op",
                       f"{name}({code.text()}).op.lower()")  # fmt: skip


def _walrus(code: TextCode) -> str:
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
