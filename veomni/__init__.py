"""A small reference implementation of VeOmni's ops architecture: registry, slots, kernels, generated models.

Importing it needs the standard library only. torch is imported by the modules that compute, every other package by
the factory of the kernel that uses it.
"""
