"""OPS001 and OPS003: files that are no Python, and files that are no text."""

from __future__ import annotations

from evaluation.mutations.draft import Edit, Mutation, append, broken, create, plant, raw, swap
from evaluation.mutations.tree_places import LLAMA_CONFIG, QWEN3_CONFIG, RMS_NORM_NPU

NEW = "veomni/utils/new_module.py"
WAN_TRITON = "veomni/ops/kernels/rotary/triton_wan.py"
SLOT = 'veomni_rms_norm = OpSlot("rms_norm", "standard")'
DECLARED = "# coding: {}\nSCALE = 1.0\n"


def _broken(name: str, code: str, path: str = NEW, *more: Edit) -> Mutation:
    """A new file that is no Python."""
    return plant("OPS001", name, broken(path), create(path, code), *more)


def _appended(name: str, code: str, path: str) -> Mutation:
    """Add what is no Python to a file."""
    return plant("OPS001", name, broken(path), append(path, code))


def _bytes(name: str, data: bytes, line: int = 1, path: str = NEW) -> Mutation:
    """A new file that is no text."""
    return plant("OPS003", name, raw(path, data, "OPS003", line))


def _text(name: str, data: bytes) -> Mutation:
    return plant("OPS003", name, raw(NEW, data))


MUTATIONS = (
    _broken("no colon", "def scale(x)  # OPS001\n    return x"),
    _broken("open bracket", "SCALES = (1.0,  # OPS001\nLIMIT = 7.0"),
    _broken("open string", 'NAME = "scale  # OPS001\nLIMIT = 7.0'),
    _broken("too far to the right", "SCALE = 1.0\n    LIMIT = 7.0  # OPS001"),
    _broken("back to no level", "def scale(x):\n        y = x\n    return y  # OPS001"),
    _broken("no body", "def scale(x):\nLIMIT = 7.0  # OPS001"),
    _broken("merge that was not finished", "SCALE = 1.0\n<<<<<<< HEAD  # OPS001\nLIMIT = 7.0\n=======\n>>>>>>> main"),
    _broken("keyword as a name", "class = 1.0  # OPS001"),
    _broken("older Python", 'print "scale"  # OPS001'),
    _broken("argument after a keyword", "SCALE = max(default=1.0, 7.0)  # OPS001"),
    _broken("typographic quotes", "NAME = \u201cscale\u201d  # OPS001"),
    _broken("number with a zero in front", "MODE = 0755  # OPS001"),
    _broken("formatted string", 'NAME = f"{scale limit}"  # OPS001'),
    _broken("except without try", "SCALE = 1.0\nexcept ValueError:  # OPS001\n    pass"),
    _broken("assignment to a call", "scale() = 1.0  # OPS001"),
    plant("OPS001", "null byte", raw(NEW, b"SCALE = 1.0\nLIMIT = \0 7.0\n", "OPS001", 2)),
    _appended("kernel file that was cut off", "def rms_norm_npu(  # OPS001", RMS_NORM_NPU),
    _appended("kernel file with a slip", "def scale(x):\n    return x +  # OPS001", WAN_TRITON),
    plant(
        "OPS001",
        "slot in a block",
        swap(QWEN3_CONFIG, SLOT, SLOT.replace('", "', '" "').replace(")", "") + "  # OPS001"),
    ),
    plant("OPS001", "name in a block", swap(LLAMA_CONFIG, SLOT, SLOT.replace(" = ", " rms = ") + "  # OPS001")),
    plant("OPS001", "harmless byte order mark", raw(NEW, b"\xef\xbb\xbfSCALE = 1.0\n")),
    plant("OPS001", "harmless line ends", raw(NEW, b"def scale(x):\r\n    return x\r\n")),
    plant("OPS001", "harmless tabs", raw(NEW, b"def scale(x):\n\tif x:\n\t\treturn x\n")),
    plant("OPS001", "harmless words", create(NEW, "match = 1\ncase = match\ntype = case")),
    plant("OPS001", "harmless empty file", raw(NEW, b"")),
    _bytes("unknown encoding", DECLARED.format("utf-9").encode()),
    _bytes("unknown encoding in the second line", b"#!/usr/bin/env python\n" + DECLARED.format("utf-9").encode(), 2),
    _bytes("unknown encoding for an editor", b"# -*- coding: unknown-8bit -*-\nSCALE = 1.0\n"),
    _bytes("unknown encoding for another editor", b"# vim: set fileencoding=utf-88 :\nSCALE = 1.0\n"),
    _bytes("no encoding of text", DECLARED.format("base64").encode()),
    _bytes("no encoding of text but of bytes", DECLARED.format("zlib").encode()),
    _bytes("another encoding in a comment", b"SCALE = 1.0  # f\xfcr alle\n"),
    _bytes("another encoding in a string", b"SCALE = 1.0\n\nNAME = 'Stra\xdfe'\n", 3),
    _bytes("another encoding far below", b"SCALE = 1.0\n" * 200 + b"NAME = '\xe9'\n", 201),
    _bytes("not what is declared", DECLARED.format("ascii").encode() + "NAME = 'é'\n".encode(), 3),
    _bytes("Chinese encoding", "SCALE = 1.0\nNAME = '算子'\n".encode("gbk"), 2),
    _bytes("two bytes a character", "SCALE = 1.0\n".encode("utf-16")),
    _bytes("mark of another encoding", b"\xef\xbb\xbf# coding: latin-1\nSCALE = 1.0\n"),
    _bytes("character that was cut off", b"SCALE = 1.0\nNAME = '\xe7\xae\n", 2),
    _bytes("half of a pair", b"NAME = '\xed\xa0\x80'\n"),
    _bytes("encoding of a kernel file", DECLARED.format("utf8-mb4").encode(), 1, "veomni/ops/kernels/rotary/new.py"),
    _bytes("far too long", b"# " + b"x" * 20_000_001),
    _text("harmless declared encoding", DECLARED.format("latin-1").encode() + b"NAME = '\xfc'\n"),
    _text("harmless word coding", b"# Encoding of the weights: bf16.\nSCALE = 1.0\n"),
    _text("harmless characters", "NAME = '算子 é'\n".encode()),
    plant("OPS003", "harmless other file", raw("veomni/utils/scales.txt", b"\xff\xfe\x00")),
)
