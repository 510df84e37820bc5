"""Ulysses sequence parallelism: each rank holds part of the tokens of each sequence and attends with part of the heads.

Importing this loads nothing; take what is needed from ``data`` (cutting up inputs), ``ulysses`` (exchange around an
attention) or ``async_ulysses`` (exchange overlapped with the projections).
"""
