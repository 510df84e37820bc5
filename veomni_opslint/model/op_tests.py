"""The tests of the ops, and which names they have in them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from veomni_opslint.model.ops_model import OpsModel

_KERNELS = "kernels"


def texts_of_tests(model: OpsModel) -> Mapping[str, str]:
    """The text of the tests of the ops and of their helpers below a line with the path; none where no test was read."""
    if not model.test_modules:
        return {}
    inside = f"{model.project.package_path}/"
    folder = f"/{model.dialect.ops_package}/"
    found = {path: f"{path}\n{facts.text}" for path, facts in model.files.items() if folder in f"/{path}"}
    tests = {facts.path for facts in model.test_modules.values()}
    if not tests & found.keys():
        return {}
    return {path: text for path, text in found.items() if not path.startswith(inside)}


def folder_of_op(model: OpsModel, module: str) -> str:
    """The folder of an op, where it has one: ``rms_norm`` of ``veomni.ops.kernels.rms_norm.npu``."""
    parts = module.removeprefix(f"{model.ops_package}.").split(".")
    if _KERNELS not in parts:
        return ""
    rest = parts[parts.index(_KERNELS) + 1 :]
    return rest[0] if rest else ""


def has_word(text: str, word: str) -> bool:
    """Whether a text has a word, alone or as a part of an identifier: ``npu`` in ``test_npu_kernels``."""
    return word in text and word_pattern(word).search(text) is not None


def word_pattern(word: str) -> re.Pattern[str]:
    """What ``has_word`` looks for."""
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])")
