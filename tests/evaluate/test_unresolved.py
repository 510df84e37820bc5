# ruff: noqa: E501 - a case is easier to read on one line.
"""Registrations that cannot be known, and the reasons given for it; nothing is guessed."""

from __future__ import annotations

import pytest
from evaluate.pruned import FIRST_LINE, evaluated, names

CASES = {
    "environment": ("R(spec('a', variant=os.environ.get('V', 'x')))",
                    ["? variant comes from os.environ.get(), which is known only at run time"]),
    "external value": ("R(spec(outside.NAME))", ["? name comes from outside.NAME, which is known only at run time"]),
    "part of a string": ("R(spec(f'a_{outside.NAME}'))", ["? name comes from outside.NAME, which is known only at run time"]),
    "undefined": ("R(spec(nowhere))", ["? name uses the name nowhere, which is not defined here"]),
    "not a string": ("R(spec('a', variant=3))", ["? variant is not a string"]),
    "unknown spec": ("R(outside.spec())", ["? the KernelSpec comes from outside.spec(), which is known only at run time"]),
    "no spec": ("@R\ndef kernel():\n    pass", ["? what is registered is no KernelSpec"]),
    "keywords from outside": ("R(KernelSpec(name='a', **outside.rest()))",
                              ["? op_name comes from outside.rest(), which is known only at run time"]),
    "rounds": ("for n in outside.names():\n    R(spec(n))", ["? name comes from outside.names(), which is known only at run time"]),
    "what a loop changes": ("i = 0\nfor _ in outside.names():\n    R(spec(f'a{i}'))\n    i += 1",
                            ["? name changes in a loop whose rounds are not known"]),
    "order of a set": ("for i, n in enumerate({'a', 'b'}):\n    R(spec(f'{n}{i}'))", ["? name depends on the order of a set"]),
    "changed elsewhere": ("rows = ['a']\noutside.change(rows)\nfor n in rows:\n    R(spec(n))",
                          ["? name was handed to outside.change(), which may have changed it"]),
    "registry handed over": ("outside.fill(KERNEL_REGISTRY)", ["? KERNEL_REGISTRY is handed to outside.fill(), which cannot be followed"]),
    "method handed over": ("outside.each(KERNEL_REGISTRY.register, 1)",
                           ["? KERNEL_REGISTRY.register is handed to outside.each(), which cannot be followed"]),
    "spec handed over": ("R\noutside.add([spec('a')])", ["? a KernelSpec is handed to outside.add(), which cannot be followed"]),
    "callback handed over": ("def add():\n    R(spec('a'))\noutside.later(add)",
                             ["? add(), which registers kernels, is handed to outside.later(), which cannot be followed"]),
    "mapped over the unknown": ("list(map(R, outside.specs()))",
                                [("? KERNEL_REGISTRY.register is handed to map(), with something that comes from outside.specs(), "
                                 "which is known only at run time")]),
    "asynchronous": ("async def add():\n    R(spec('a'))\noutside.run(add())", ["? add() registers kernels, but is asynchronous"]),
    "decorated from outside": ("@outside.retry(3)\ndef add():\n    R(spec('a'))\nadd()",
                               ["? add() registers kernels, but is decorated by outside.retry(3), which is not followed"]),
    "made by __new__": ("class C:\n    def __new__(cls):\n        return object.__new__(cls)\n    def add(self):\n        R(spec('a'))\nC().add()",
                        ["? C() registers kernels, but is made by C.__new__, which is not followed"]),
    "object handed over": ("class C:\n    def __init__(self):\n        self.n = 'a'\nc = C()\noutside.change(c)\nR(spec(c.n))",
                           ["? name was handed to outside.change(), which may have changed it"]),
    "filled by a decorated function": ("rows = []\n@outside.retry\ndef fill():\n    rows.append('a')\nfill()\nfor n in rows:\n    R(spec(n))",
                                       ["? name changes in fill(), which cannot be followed"]),
    "filled by a callback": ("rows = []\ndef fill(n):\n    rows.append(n)\noutside.each(fill)\nfor n in rows:\n    R(spec(n))",
                             ["? name changes in fill(), which cannot be followed"]),
    "filled without end": ("rows = []\ndef fill(n):\n    rows.append(n)\n    fill(n + 'x')\nfill('a')\nfor n in rows:\n    R(spec(n))",
                           ["? name calls functions within each other too deeply"]),
    "attribute that may have been set": ("class C:\n    pass\nc = C()\noutside.fill(c)\nR(spec(getattr(c, 'n', 'none')))",
                                         ["? name was handed to outside.fill(), which may have changed it"]),
    "keys with their own equality": (("class K:\n    def __eq__(self, other):\n        return True\n    def __hash__(self):\n        return 1\n"
                                     "R(spec({K(): 'a'}[K()]))"), ["? name is looked up by a key that is not known"]),
    "key that is not there": ("R(spec({'a': 'b'}['c']))", ["? this code looks up a key that is not there"]),
    "arguments that do not fit": ("R(KernelSpec('a'))", ["? this code leaves out the argument op_name"]),
    "some of several": ("R(spec('a' if HAS_A else outside.NAME))",
                        ["a if HAS_A", "? name comes from outside.NAME, which is known only at run time"]),
    "reading the registry": ("R(spec(f'n{len(KERNEL_REGISTRY.names())}'))", ["? name depends on what is registered"]),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), CASES.values(), ids=CASES)
def test_reason(code: str, expected: list[str]) -> None:
    """What is not known is said with its reason."""
    assert names("R = KERNEL_REGISTRY.register\n" + code) == expected


CALM = {
    "logging": "rows = ['a']\noutside.logger.info('%s', rows)\nprint(rows)\nlen(rows)\nrows.count('a')",
    "standard library": "import json, copy\nrows = ['a']\njson.dumps(rows)\ncopy.copy(rows)",
    "strings": "rows = ('a',)\noutside.check(rows, 'a')",
    "frozen objects": "class C(KernelSpec):\n    pass\nhw = HardwareRequirement('gpu')\noutside.show(hw)\nrows = [hw.device_type[:0] + 'a']",
    "calls that only pass names": "@outside.retry\ndef other():\n    pass\nother()\nrows = ['a']",
    "a function that only reads": "rows = ['a']\ndef show():\n    return len(rows)\noutside.later(show)",
    "iterating over it": "rows = ['a']\nfor n in rows:\n    outside.check(n)",
}


@pytest.mark.parametrize("code", CALM.values(), ids=CALM)
def test_harmless_calls(code: str) -> None:
    """Calls that do not change what they are given leave it known."""
    assert names(code + "\nfor n in rows:\n    KERNEL_REGISTRY.register(spec(n))") == ["a"]


def test_other_fields_may_be_unknown() -> None:
    """A spec whose factory, hardware or description is not known is kept."""
    (item,) = evaluated(
        "KERNEL_REGISTRY.register(KernelSpec('a', 'op', 'v', outside.table[0], outside.HW, outside.TEXT), outside.FORCE)"
    ).kernel_specs
    assert (item.factory.reason, item.hardware.reason, item.description.reason, item.force.reason) == (
        "factory comes from outside.table, which is known only at run time",
        "hardware comes from outside.HW, which is known only at run time",
        "description comes from outside.TEXT, which is known only at run time",
        "force comes from outside.FORCE, which is known only at run time",
    )


def test_place_of_a_reason() -> None:
    """The place is the registering call."""
    (item,) = evaluated("def add(n):\n    KERNEL_REGISTRY.register(spec(n))\nadd(outside.NAME)").unresolved
    assert (item.place.path, item.place.line - FIRST_LINE, item.place.column) == ("ops/kernels.py", 2, 5)
