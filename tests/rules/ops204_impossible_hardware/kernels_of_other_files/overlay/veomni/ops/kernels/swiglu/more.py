from ...kernel_registry import KERNEL_REGISTRY
from .specs import spec

KERNEL_REGISTRY.register(spec("anything", lambda: max))
