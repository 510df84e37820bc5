"""What a patch config says about one generated file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

Target = TypeVar("Target", bound=Callable[..., Any])
Kind = Literal["class", "function", "method"]


@dataclass(frozen=True)
class Patch:
    """One replacement, or with ``new`` an addition.

    ``name_map`` renames identifiers of the replacement, so that models can share it.
    """

    kind: Kind
    target: str
    replacement: Any
    description: str = ""
    name_map: Mapping[str, str] = field(default_factory=dict)
    new: bool = False


@dataclass(frozen=True)
class ImportSpec:
    """One import to add: ``from module import names`` or, without names, ``import module``."""

    module: str
    names: tuple[str, ...] = ()


@dataclass
class PatchConfig:
    """The changes to *source_module* that give the file *target_file* in the folder ``generated`` beside the config."""

    source_module: str
    target_file: str
    description: str = ""
    patches: list[Patch] = field(default_factory=list)
    imports: list[ImportSpec] = field(default_factory=list)
    post_import_blocks: list[str] = field(default_factory=list)
    helpers: list[Any] = field(default_factory=list)

    def add_import(self, module: str, names: Sequence[str] = ()) -> None:
        """Import *names* from *module*, or *module* itself, in the generated file."""
        self.imports.append(ImportSpec(module, tuple(names)))

    def add_post_import_block(self, block: str) -> None:
        """Put the code *block* below the imports of the generated file."""
        self.post_import_blocks.append(block)

    def add_helper(self, helper: Target) -> Target:
        """Put a function or class below the post-import blocks; usable as a decorator."""
        self.helpers.append(helper)
        return helper

    def replace_class(self, target: str, **options: Any) -> Callable[[Target], Target]:
        """Replace the class *target*; ``replacement=`` gives it directly, otherwise this is a decorator.

        Further options: ``description``, which becomes a comment, and ``name_map``.
        """
        return self._patch("class", target, **options)

    def replace_function(self, target: str, **options: Any) -> Callable[[Target], Target]:
        """Replace the module-level function *target*; used as ``replace_class``."""
        return self._patch("function", target, **options)

    def override_method(self, target: str, *, new: bool = False, **options: Any) -> Callable[[Target], Target]:
        """Replace the method *target* (``"Class.method"``), or with *new* add it; used as ``replace_class``."""
        return self._patch("method", target, new=new, **options)

    def _patch(
        self,
        kind: Kind,
        target: str,
        *,
        replacement: Any = None,
        description: str = "",
        name_map: Mapping[str, str] | None = None,
        new: bool = False,
    ) -> Callable[[Target], Target]:
        def add(value: Target) -> Target:
            self.patches.append(Patch(kind, target, value, description, dict(name_map or {}), new))
            return value

        if replacement is not None:
            add(replacement)
        return add
