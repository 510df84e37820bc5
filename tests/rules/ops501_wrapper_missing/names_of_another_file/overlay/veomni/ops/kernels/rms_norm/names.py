IMPLEMENTATIONS = frozenset({"eager", "liger_kernel", "npu"})
VARIANTS = ("standard", "gemma")
