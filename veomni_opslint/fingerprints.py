"""Identities of findings that survive unrelated edits, so that two runs can be compared."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from veomni_opslint.findings import Finding


def with_fingerprints(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings, sorted and each once; those that have no fingerprint yet get one.

    It is made of code, path and message, and of a number that tells equal ones apart in the order of the file.
    """
    unique = sorted(dict.fromkeys(findings), key=lambda finding: finding.sort_key)
    seen: Counter[tuple[str, str, str]] = Counter()
    result = []
    for finding in unique:
        key = (finding.code, finding.place.path, finding.message)
        seen[key] += 1
        if not finding.fingerprint:
            text = "\0".join((*key, str(seen[key])))
            digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
            finding = replace(finding, fingerprint=digest[:32])  # noqa: PLW2901
        result.append(finding)
    return tuple(result)
