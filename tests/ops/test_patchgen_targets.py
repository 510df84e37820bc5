"""Patches of what is there twice or as a property, renamed annotations, and configs that are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("libcst", reason="files are generated with libcst")

from veomni.patchgen.__main__ import main
from veomni.patchgen.source_module import parse_source, split_header

Project = Callable[[str, str], str]

SOURCE = """
import functools


def area(radius: int) -> int: ...
def area(radius):
    return radius**2


class Shape:
    @property
    def width(self):
        return self._width

    @width.setter
    def width(self, width):
        self._width = width

    @functools.cached_property
    def height(self):
        return 1

    if area:
        def size(self):
            return 2

    def name(self):
        return "shape"


class Empty: pass
"""

CONFIG = """
import functools
from veomni.patchgen import PatchConfig

config = PatchConfig(source_module="shapes.inner.source", target_file="patched.py")


def half(x):
    return x


"""


@pytest.fixture
def body_of(patch_project: Project, tmp_path: Path) -> Callable[[str], str]:
    """Generate with the patches of a config, and give what stands below the imports."""

    def generate(patches: str) -> str:
        assert main([patch_project(SOURCE, CONFIG + patches)]) == 0
        text = (tmp_path / "shapes" / "inner" / "generated" / "patched.py").read_text()
        return text.partition("import functools\n")[2]

    return generate


def test_a_patch_replaces_the_definition_that_is_in_force(body_of: Callable[[str], str]) -> None:
    """Of two functions the second, of a property the getter; its setter stays."""
    patches = '''
@config.replace_function("area")
def area_patched(radius):
    return 1

@config.override_method("Shape.width")
@property
def width_patched(self):
    return 2

@config.override_method("Shape.height")
@functools.cached_property
def height_patched(self):
    return 3

@config.override_method("Empty.name", new=True, description="""one
two""")
def name_patched(self):
    return "empty"
'''
    expected = (
        SOURCE.replace("radius**2", "1")
        .replace("self._width\n\n", "2\n\n")
        .replace("return 1\n\n    if", "return 3\n\n    if")
    )
    expected = expected.replace(
        "class Empty: pass\n",
        'class Empty:\n    pass\n\n    # Patched: one\n    # two\n    def name(self):\n        return "empty"\n',
    )
    assert body_of(patches) == expected.partition("import functools\n")[2]


def test_a_name_map_renames_quoted_annotations(body_of: Callable[[str], str]) -> None:
    """What an annotation says in quotes is renamed, but no other text and no value of a Literal."""
    patches = """
from typing import Literal

config.add_import("typing", names=["Literal"])


@config.replace_function("area", name_map={"Other": "Shape"})
def area_patched(radius: "list[Other]", kind: Literal["Other"], shape: list["Other | None"]) -> "Other.Other":
    by_name: 'Other' = Other
    return "Other"
"""
    assert body_of(patches).partition("def area(radius: int) -> int: ...\n")[2].partition("\n\n\nclass")[0] == (
        'def area(radius: "list[Shape]", kind: Literal["Other"], shape: list["Shape | None"]) -> "Shape.Other":\n'
        "    by_name: 'Shape' = Shape\n"
        '    return "Other"'
    )


def test_what_needs_escaping_is_escaped(patch_project: Project, tmp_path: Path) -> None:
    """A description with quotes and backslashes is the docstring, and an empty block is nothing."""
    config = CONFIG + 'config.description = "a \\"\\"\\" b \\\\ c"\nconfig.add_post_import_block("  \\n")\n'
    assert main([patch_project(SOURCE, config)]) == 0
    module: dict[str, str] = {}
    exec((tmp_path / "shapes" / "inner" / "generated" / "patched.py").read_text(), module)
    assert module["__doc__"] == 'A """ b \\ c.'


@pytest.mark.parametrize(
    ("source", "header", "comments"),
    [
        ("# Licence\n\n# why\nimport math\n", "# Licence", ["", "# why"]),
        ("# Licence\nimport math\n", "# Licence", []),
        ("# Licence\n# more\n\nimport math\n", "# Licence\n# more", [""]),
        ('# Licence\n\n"""Text."""\n\n# why\nimport math\n', "# Licence", ["", "# why"]),
        ("import math\n", "", []),
    ],
)
def test_comments_at_the_top(patch_project: Project, source: str, header: str, comments: list[str]) -> None:
    """A licence is of the module, what stands right above the first statement is of that statement."""
    patch_project(source, CONFIG)
    found, body = split_header(parse_source("shapes.inner.source"))
    lines = [line.comment.value if line.comment else "" for line in body[0].leading_lines]
    assert (found, lines) == (header, comments)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ('config.override_method("Circle.size", replacement=half)', "has no method Circle.size to patch"),
        ('config.replace_class("Shap", replacement=PatchConfig)', "has no class Shap to patch; did you mean Shape?"),
        ('config.replace_function("Shape.name", replacement=half)', "'Shape.name' is no function"),
        ('config.override_method("area", replacement=half)', "'area' is no method"),
        ('config.override_method("Shape.nam", replacement=half)', "did you mean name?; new=True adds a method"),
        ('config.override_method("Shape.size", replacement=half)', "has no method Shape.size to patch"),
        ('config.override_method("Shape.name", replacement=half, new=True)', "has Shape.name already"),
        ('config.override_method("Shape.width", replacement=half)', "Shape.width must stay a property"),
        (
            '@config.override_method("Shape.name")\n@property\ndef name(self):\n    return half',
            "Shape.name must not become a property",
        ),
        ('config.replace_function("area", replacement=3)', "the source of 3 cannot be read"),
        ('config.replace_function("area", replacement=PatchConfig)', "cannot replace the function area"),
        ('config.replace_class("Shape", replacement=half)', "cannot replace the class Shape"),
        (
            'for _ in range(2):\n    config.override_method("Shape.name", replacement=half)',
            "the patch of Shape.name would undo the one of Shape.name before it",
        ),
        (
            """config.override_method("Shape.name", replacement=half)
config.replace_class("Shape", replacement=PatchConfig)""",
            "the patch of Shape would undo the one of Shape.name before it",
        ),
        (
            "def lost():\n    return missing\nconfig.add_helper(lost)",
            "patched.py uses missing, which it does not define; add an import",
        ),
        (
            'config.replace_function("area", replacement=half, name_map={"x": "1"})',
            "Name '1' is not a valid identifier",
        ),
        ('config.replace_function("area", replacement=half, name_map={"x": "None"})', "patched.py would not run"),
        (
            "@config.add_helper\ndef area(x):\n    return x",
            "what the config adds as area is hidden by the definition of",
        ),
        (
            'config.add_import("math", names=["pi as Shape"])',
            "what the config adds as Shape is hidden by the definition",
        ),
        ('config.add_import("__future__", names=["annotations"])', "patched.py would not run"),
        (
            'config.add_import("math", names=["a b"])',
            "the import cannot be parsed: invalid syntax in `from math import",
        ),
        ('config.add_post_import_block("x = = 1")', "the post-import block cannot be parsed: invalid syntax in `x = ="),
        ('config.source_module = "no.such.module"', "no.such.module cannot be found"),
        ('config.source_module = ""', "the source module  cannot be found"),
        ('config.source_module = "math"', "the source module math has no Python source"),
        ('config.source_module = "shapes"', "the source module shapes has no Python source"),
        ('config.target_file = "../patched.py"', "must be a name, without a folder"),
        ("config = 3", "has no variable `config` that is a PatchConfig"),
        ("import no_such_package", "cannot be imported (in line 11): ModuleNotFoundError: No module named"),
        ("undefined", "cannot be imported (in line 11): NameError: name 'undefined' is not defined"),
        ('config.replace_class("Shape", nam_map={})', "cannot be imported (in line 11): TypeError"),
        ("def (:", "cannot be imported: SyntaxError: invalid syntax (shapes_patch_gen_config.py, line 11)"),
    ],
)
def test_what_cannot_be_applied_is_refused(
    patch_project: Project, capsys: pytest.CaptureFixture[str], extra: str, message: str
) -> None:
    """A config that does not fit its source ends with 2 and says why, on one line."""
    assert main([patch_project(SOURCE, CONFIG + extra)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def (:", "the source module shapes.inner.source cannot be parsed: "),
        ("from ... import lost", "has an import that cannot work: attempted relative import beyond top-level package"),
        ("# coding: no-such\npass", "the source module shapes.inner.source cannot be read: unknown encoding"),
    ],
)
def test_a_source_that_cannot_be_used_is_refused(
    patch_project: Project, capsys: pytest.CaptureFixture[str], source: str, message: str
) -> None:
    """A source that Python could not import ends with 2 and says why."""
    assert main([patch_project(source, CONFIG)]) == 2
    assert message in capsys.readouterr().err
