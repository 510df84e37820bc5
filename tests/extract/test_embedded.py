"""Code in strings: what it is, and where each part of it stands in the file."""

from __future__ import annotations

import ast
import inspect
import random
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.facts import facts_of, written
from support.string_forms import StringForms

from veomni_opslint.facts import EmbeddedBlock, FileFacts, ParseProblem, Span

STATEMENTS = [
    "S{i} = OpSlot(\"op{i}\", 'v')",
    "É{i} = OpSlot('öp{i}', \"🙂\")",
    "if A: S{i} = OpSlot(name{i}, variant='zz')",
    "S{i} = [  # 🙂 \"\\ '\n    OpSlot('op{i}zz',\n        \"v{i}\")]",
    "import mod{i}",
    "import mod{i}zz",
    "from pkg{i} import zz as é{i}",
    "try:\n    from .p{i} import (\n        a{i},\n    )\nexcept ImportError:\n    pass",
    'def f{i}():\n    import mod{i}\n    return """\n  {{x}}\n""", "\\\\\\n"',
    "T{i} = {{1: 'a\\t{{}}'}}",
    "# käse {i} \"'\\ {{zz}}",
    "U{i} = '''\n\\é\n'''",
    "",
]


class Recorder:
    """Stands for the config of a patch file."""

    def __init__(self) -> None:
        self.blocks: list[str] = []

    def add_post_import_block(self, block: str) -> None:
        self.blocks.append(block)


def run(text: str) -> list[str]:
    """The blocks that a file gives to patch generation, as it makes code of them."""
    config = Recorder()
    names = {"config": config, "textwrap": textwrap, "dedent": textwrap.dedent, "inspect": inspect}
    exec(text, {**names, "cleandoc": inspect.cleandoc})
    return [textwrap.dedent(block).strip() for block in config.blocks]


def code_of(chosen: list[int], margin: str, around: tuple[str, str]) -> str:
    """Code of the chosen statements, indented, with something before and behind."""
    code = "\n".join(STATEMENTS[number].format(i=index) for index, number in enumerate(chosen))
    return around[0] + textwrap.indent(code, margin) + around[1]


def spans_of(facts: FileFacts) -> list[Span]:
    """The spans of all imports, imported names and slots."""
    imports = [imported.span for imported in facts.imports]
    names = [name.span for imported in facts.imports for name in imported.names]
    return sorted([*imports, *names, *(slot.span for slot in facts.slots)])


def expected_spans(code: str, form: StringForms, text: str) -> list[Span]:
    """The same from where the characters of the code were written to."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import | ast.ImportFrom) or (isinstance(node, ast.Call) and "OpSlot" in ast.dump(node)):
            found.extend([node, *node.names] if isinstance(node, ast.ImportFrom) else [node])
    return sorted(_span(ast.get_source_segment(code, node) or "", form, text) for node in found)


def _span(segment: str, form: StringForms, text: str) -> Span:
    """Where a part of the code, whose first and last line occur once, was written to."""
    lines = segment.split("\n")
    first = form.text.index(lines[0])
    last = form.text.index(lines[-1].strip(), first) + len(lines[-1].strip()) - 1
    return (*_position(text, form.places[first][0]), *_position(text, sum(form.places[last])))


def _position(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, len(before.rpartition("\n")[2].encode())


@settings(deadline=None, max_examples=600)
@given(
    chosen=st.lists(st.integers(0, len(STATEMENTS) - 1), max_size=6),
    margin=st.sampled_from(["", "    ", "\t", "  "]),
    around=st.sampled_from([("", ""), ("\n", "\n"), ("\n\n  ", "\n    "), ("", "  \n \n"), ("    \n", "")]),
    source=st.randoms(use_true_random=False),
)
def test_every_form(chosen: list[int], margin: str, around: tuple[str, str], source: random.Random) -> None:
    """However a block is written, its code is what Python makes of it, and all in it is at its real place."""
    form = StringForms(source, code_of(chosen, margin, around))
    text = form.file()
    (code,) = run(text)
    (block,) = facts_of(text, path="veomni/x_patch_gen_config.py").embedded
    assert block.callee == "config.add_post_import_block"
    assert written(text, block.call).startswith("config.add_post_import_block(")
    try:
        ast.parse(code)
    except SyntaxError:
        assert block.facts is None
        return
    assert block.problem is None
    assert block.facts is not None
    assert block.facts.text == code
    assert spans_of(block.facts) == expected_spans(code, form, text)


def blocks_of(text: str) -> tuple[EmbeddedBlock, ...]:
    """The blocks of a patch config."""
    return facts_of(text, path="veomni/x_patch_gen_config.py").embedded


def slots_of(text: str) -> list[tuple[str | None, str | None, str]]:
    """Op, variant and written text of every slot in the blocks, all of which are understood."""
    found = []
    for block in blocks_of(text):
        assert block.facts is not None
        found.extend((slot.op_name, slot.variant, written(text, slot.span)) for slot in block.facts.slots)
    return found


@pytest.mark.parametrize(
    "text",
    [
        'B = """X = OpSlot("rms_norm", "standard")"""\nconfig.add_post_import_block(B)\n',
        'B: str = """X = OpSlot("rms_norm", "standard")"""\nconfig.add_post_import_block(B)\n',
        'A = """X = OpSlot("rms_norm", """\nB = A\nC = B + """"standard")"""\nconfig.add_post_import_block(C)\n',
        'def add(config):\n    code = \'X = OpSlot("rms_norm", "standard")\'\n    config.add_post_import_block(code)\n',
        'if NEW:\n    config.add_post_import_block(\'X = OpSlot("rms_norm", "standard")\')\n',
        'for config in configs:\n    config.add_post_import_block(\'X = OpSlot("rms_norm", "standard")\')\n',
        'make().add_post_import_block(\'X = OpSlot("rms_norm", "standard")\')\n',
        'add_post_import_block(\'X = OpSlot("rms_norm", "standard")\')\n',
        'config.add_post_import_block(block=\'X = OpSlot("rms_norm", "standard")\')\n',
        'L = ["import a", \'X = OpSlot("rms_norm", "standard")\']\nconfig.add_post_import_block("\\n".join(L))\n',
    ],
)
def test_where_blocks_are_found(text: str) -> None:
    """A block may be held by a name or a list, and be given anywhere to any config."""
    assert [(op, variant) for op, variant, _ in slots_of(text)] == [("rms_norm", "standard")]


def test_values_in_f_strings() -> None:
    """Names and literals of the file fill the holes, also with quotes around them; such a slot has its whole text."""
    text = (
        'OP = "rms_norm"\nN = 2\nconfig.add_post_import_block(\n'
        '    f"""\n    X = OpSlot({OP!r}, \'{\'standard\'}\')\n    Y = OpSlot("{OP}{N}", \'é{True!s}\')\n    """\n)\n'
    )
    assert slots_of(text) == [
        ("rms_norm", "standard", "OpSlot({OP!r}, '{'standard'}')"),
        ("rms_norm2", "éTrue", "OpSlot(\"{OP}{N}\", 'é{True!s}')"),
    ]


@pytest.mark.parametrize(
    ("argument", "at"),
    [
        ("CODE", "CODE"),
        ("code()", "code()"),
        ("other.CODE", "other.CODE"),
        ("twice", "twice"),
        ("looped", "looped"),
        ("parameter", "parameter"),
        ("imported", "imported"),
        ("itself", "itself"),
        ("'%s' % x", "'%s' % x"),
        ("'{}'.format(x)", "'{}'.format(x)"),
        ("'x'.replace('x', 'y')", "'x'.replace('x', 'y')"),
        ("'x' * 2", "'x' * 2"),
        ("'x' + CODE", "'x' + CODE"),
        ("f'{CODE}'", "f'{CODE}'"),
        ("f'{KNOWN:>10}'", "f'{KNOWN:>10}'"),
        ("'\\n'.join(CODE)", "'\\n'.join(CODE)"),
        ("'\\n'.join(['x', CODE])", "'\\n'.join(['x', CODE])"),
        ("'\\n'.join(['x', *CODE])", "'\\n'.join(['x', *CODE])"),
        ("textwrap.dedent(CODE)", "textwrap.dedent(CODE)"),
        ("textwrap.dedent(text='x')", "textwrap.dedent(text='x')"),
        ("'x' if CODE else 'y'", "'x' if CODE else 'y'"),
        ("b'x'", "b'x'"),
        ("1", "1"),
        ("*CODE", "config.add_post_import_block(*CODE)"),
        ("**CODE", "config.add_post_import_block(**CODE)"),
        ("", "config.add_post_import_block()"),
    ],
)
def test_unknown_code(argument: str, at: str) -> None:
    """What the file alone does not tell is a problem at the argument, and never a guess."""
    before = (
        "KNOWN = 'x'\ntwice = 'import a'\ntwice = 'import b'\nlooped = 'import a'\nfor looped in CODE: pass\n"
        "parameter = 'import a'\ndef f(parameter): pass\nimported = 'import a'\nimport imported\n"
        "itself = itself + 'x'\n"
    )
    text = f"{before}é = '🙂'; config.add_post_import_block({argument})\n"
    line = before.count("\n") + 1
    column = len("é = '🙂'; ") + (0 if at.startswith("config") else len("config.add_post_import_block("))
    problem = ParseProblem(line, column, "the code is not a string that is known statically")
    call = (line, 12 + 1, line, len(text.split("\n")[line - 1].encode()))
    assert blocks_of(text) == (EmbeddedBlock(call, "config.add_post_import_block", None, problem, known=False),)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('config.add_post_import_block("""\n    x = 1\n    y = = 2\n""")\n', 3, 8),
        ('config.add_post_import_block("x = 1\\ny = = 2\\n")\n', 1, 41),
        ('config.add_post_import_block(\n    "x = 1\\n"\n    "y = = 2\\n"\n)\n', 3, 9),
        ('config.add_post_import_block("\\n".join([\n    "x = 1",\n    "y = = 2",\n]))\n', 3, 9),
        ('config.add_post_import_block(textwrap.dedent("""\n    é = 1; y = = 2\n"""))\n', 2, 15),
        ('A = """\nx = 1\ny = = 2\n"""\n\nconfig.add_post_import_block(A)\n', 3, 4),
    ],
)
def test_syntax_error(text: str, line: int, column: int) -> None:
    """A fault in the code is at the line and column of the file where it is written."""
    (block,) = blocks_of(text)
    problem = ParseProblem(line, column, "in the code of config.add_post_import_block: invalid syntax")
    assert (block.facts, block.problem) == (None, problem)


@pytest.mark.parametrize("code", ["x = (\\n", "'''", "if x:\\n", "x\\0", "", "\\n\\n", "  \\n ", "# x"])
def test_odd_code(code: str) -> None:
    """Code that ends too early, or is none, is a problem or has no facts; the place is in the file."""
    (block,) = blocks_of(f'\nconfig.add_post_import_block("{code}")\n')
    if block.problem is None:
        assert block.facts is not None
        assert (block.facts.imports, block.facts.refs, block.facts.slots) == ((), (), ())
    else:
        assert block.problem.line == 2
        assert 30 <= block.problem.column <= 30 + len(code)


def test_several_blocks() -> None:
    """Each call is a block of its own, in order."""
    text = 'a.add_post_import_block("import x")\nb.add_post_import_block(y)\na.add_post_import_block("import z")\n'
    found = [(block.callee, block.facts and block.facts.imports[0].module) for block in blocks_of(text)]
    assert found == [
        ("a.add_post_import_block", "x"),
        ("b.add_post_import_block", None),
        ("a.add_post_import_block", "z"),
    ]


def test_conditions_in_a_block() -> None:
    """The code of a block is analysed as that of a file is."""
    text = 'config.add_post_import_block("""\nif is_torch_npu_available():\n    import torch_npu\n""")\n'
    (block,) = blocks_of(text)
    assert block.facts is not None
    (imported,) = block.facts.imports
    assert (imported.module, imported.when) == ("torch_npu", ("call", "is_torch_npu_available", ()))


def test_huge_values() -> None:
    """A text that grows beyond all code is given up, whatever it is made of."""
    doubling = "".join(f"A{index} = A{index + 1} + A{index + 1}\n" for index in range(30))
    (block,) = blocks_of(f"{doubling}A30 = 'import a\\n'\nconfig.add_post_import_block(A0)\n")
    assert (block.facts, block.problem) == (
        None,
        ParseProblem(32, 29, "the code is not a string that is known statically"),
    )
