"""Adapters from the calls of our slots to Liger's kernels. Imported by factories only, as liger_kernel is optional."""
