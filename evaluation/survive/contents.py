"""Odd contents of one Python file."""

from __future__ import annotations

import random
from collections.abc import Iterator

from evaluation.survive.case import ODD, Case, Expectation, written

DEPTH = 5_000
TEN_MB = 10_000_000


def cases(seed: int) -> Iterator[Case]:
    """One case for each content; *seed* decides what is random."""
    yield from _encodings()
    yield from _sizes()
    yield from _nested()
    chance = random.Random(seed)  # noqa: S311
    for number in range(8):
        yield _file(f"random bytes {number}", chance.randbytes(chance.randrange(1, 5000)), "finding")
        yield _file(f"random text {number}", _random_text(chance), "any")


def _large(name: str, content: str) -> Case:
    return Case(name, written(ODD, content), limit=90)


def _file(name: str, content: str | bytes, expects: Expectation) -> Case:
    return Case(name, written(ODD, content), expects)


def _encodings() -> Iterator[Case]:
    valid = 'NAME = "triton"\n\n\ndef kernel():\n    return NAME\n'
    latin = valid.replace("triton", "Größe").encode("latin-1")
    yield _file("byte order mark", b"\xef\xbb\xbf" + valid.encode(), "quiet")
    yield _file("byte order mark before a fault", b"\xef\xbb\xbfdef (:\n", "finding")
    yield _file("byte order mark twice", b"\xef\xbb\xbf\xef\xbb\xbf" + valid.encode(), "finding")
    yield _file("CRLF", valid.replace("\n", "\r\n"), "quiet")
    yield _file("CR only", valid.replace("\n", "\r"), "quiet")
    yield _file("mixed line ends", valid.replace("\n", "\r\n", 2).replace("\n\n", "\r\n"), "quiet")
    yield _file("form feeds and vertical tabs", "\f" + valid + "\f\nA = 1\n", "quiet")
    yield _file("line separators in a string", 'A = "\u2028\u2029\x85"\nB = 1\n', "quiet")
    yield _file("no newline at the end", valid.rstrip("\n"), "quiet")
    yield _file("backslash at the end", "A = 1 + \\", "finding")
    yield _file("latin-1 with a coding line", b"# -*- coding: latin-1 -*-\n" + latin, "quiet")
    yield _file(
        "latin-1 with a coding line below a comment",
        b"#!/usr/bin/python\n# vim: set fileencoding=latin-1 :\n" + latin,
        "quiet",
    )
    yield _file("latin-1 without a coding line", latin, "finding")
    yield _file("unknown coding", b"# coding: klingon\n" + valid.encode(), "finding")
    yield _file("coding that is no text coding", b"# coding: hex\n" + valid.encode(), "finding")
    yield _file("coding that contradicts the mark", b"\xef\xbb\xbf# coding: latin-1\n" + valid.encode(), "finding")
    yield _file("UTF-16", valid.encode("utf-16"), "finding")
    yield _file("UTF-7 coding line", b"# coding: utf-7\nA = '+AGE-'\n", "any")
    yield _file("broken UTF-8", valid.encode() + b"\xff\xfe\n", "finding")
    yield _file("surrogate in UTF-8", b'A = "\xed\xa0\x80"\n', "finding")
    yield _file("NUL byte", b"A = 1\x00\n", "finding")
    yield _file("NUL byte in a comment", b"A = 1  # \x00\n", "finding")
    yield _file("only NUL bytes", b"\x00" * 5000, "finding")
    yield _file("empty", b"", "quiet")
    yield _file("only spaces", b"   \n\t\n", "quiet")
    yield _file("only a comment", b"# nothing", "quiet")
    yield _file("tabs", "def kernel():\n\treturn 1\n", "quiet")
    yield _file("tabs and spaces", "def kernel():\n\tif 1:\n        return 1\n", "finding")
    yield _file("names in other scripts", "größe = 1\n\u2163 = 2\n\uff46\uff55\uff4c\uff4c = 3\n", "quiet")
    yield _file("newer syntax", "type Pair[T] = tuple[T, T]\n", "any")
    yield _file("older syntax", 'print "triton"\n', "finding")
    yield _file("conflict marks", f"<<<<<<< ours\n{valid}=======\n{valid}>>>>>>> theirs\n", "finding")
    yield _file("suppressions without end", "A = 1  # noqa: " + "OPS201," * 2000 + "\n", "any")
    yield _file("suppression with odd characters", "A = 1  # opslint: ignore[\u202e,,]][ \n", "any")


def _sizes() -> Iterator[Case]:
    line = "name_{} = call({}, 'text')\n"
    yield _large("ten megabytes of statements", "".join(line.format(n, n) for n in range(TEN_MB // 33)))
    yield _large("ten megabytes in one string", f'A = "{"x" * TEN_MB}"\n')
    yield _large("ten megabytes in one comment", f"# {'x' * TEN_MB}\n")
    yield _large("ten megabytes in one list", f"A = [{'1, ' * (TEN_MB // 3)}]\n")
    yield _large("ten megabytes of newlines", "\n" * TEN_MB)
    yield _large("ten megabytes of imports", "import torch_npu\n" * (TEN_MB // 17))
    yield _large("ten megabytes of slots", 'slot = OpSlot("a", "b")\n' * (TEN_MB // 24))
    yield _large("forty megabytes", "A = 1\n" * (4 * TEN_MB // 6))
    yield _large("number of a million digits", f"A = {'9' * 1_000_000}\n")


def _nested() -> Iterator[Case]:
    pairs = {
        "parentheses": ("(", ")"),
        "lists": ("[", "]"),
        "dictionaries": ("{1: ", "}"),
        "calls": ("f(", ")"),
        "subscripts": ("a[", "]"),
        "lambdas": ("lambda: ", ""),
        "negations": ("not ", ""),
        "signs": ("-", ""),
        "conditional expressions": ("1 if 1 else ", ""),
        "powers": ("2 ** ", ""),
        "comprehensions": ("[", " for _ in ()]"),
        "awaits": ("await ", ""),
    }
    for name, (left, right) in pairs.items():
        yield _file(f"nested {name}", f"A = {left * DEPTH}1{right * DEPTH}\n", "any")
        yield _file(f"nested {name}, fewer", f"A = {left * 90}1{right * 90}\n", "any")
    chains = {
        "attributes": ".b",
        "sums": " + 1",
        "disjunctions": " or a",
        "mixed conditions": " or a and b",
        "comparisons": " < 1",
        "calls": "()",
        "subscripts": "[0]",
        "strings": ' "x"',
    }
    for name, link in chains.items():
        yield _file(f"chain of {name}", f"A = {'a' if name != 'strings' else ''}{link * DEPTH}\n", "any")
    indented = {"ifs": "if a:", "functions": "def f():", "classes": "class C:", "loops": "for _ in a:", "tries": "try:"}
    for name, head in indented.items():
        for depth in (80, DEPTH):
            lines = "".join(f"{' ' * level}{head}\n" for level in range(depth))
            yield _file(f"{depth} nested {name}", f"{lines}{' ' * depth}pass\n", "any")
    yield _file("chain of elif", "if a:\n    pass\n" + "elif a:\n    pass\n" * DEPTH, "any")
    yield _file("decorators", "@a\n" * DEPTH + "def f():\n    pass\n", "any")
    yield _file("targets", "a = " * DEPTH + "1\n", "any")
    yield _file("formatted strings", f"A = {'f' + chr(34) + '{'}{'(' * 150}1{')' * 150}{'}' + chr(34)}\n", "any")
    yield _file("nested formats", f'A = f"{{1:{"{1:" * 500}{"}" * 500}}}"\n', "any")
    yield _file("parameters", f"def f({', '.join(f'a{n}' for n in range(DEPTH))}):\n    pass\n", "any")
    yield _file("branches in a row", "def f(a):\n" + "    if a:\n        return 1\n" * DEPTH, "any")


def _random_text(chance: random.Random) -> str:
    """Pieces of Python in no order."""
    pieces = (
        "def ", "class ", "import ", "from ", "if ", "else:", "(", ")", "[", "]", ":", "\n", "    ", "a", "=", '"""',
        "f'{", "}'", "\\\n", "@", "*", "lambda", "OpSlot(", "#",
    )  # fmt: skip
    return "".join(chance.choice(pieces) for _ in range(chance.randrange(10, 400)))
