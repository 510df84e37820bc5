from .kernel_registry import KERNEL_REGISTRY


class OpSlot:
    def __init__(self, op_name, variant):
        self.op_name = op_name
        self.variant = variant
        self._kernel = None

    def bind(self, name):
        self._kernel = KERNEL_REGISTRY.resolve(self.op_name, self.variant, name)

    @property
    def use_non_eager_impl(self):
        return self._kernel is not None

    def bound_kernel(self):
        return self._kernel

    def __call__(self, *args, **kwargs):
        return self._kernel(*args, **kwargs)


class OpsConfigSlot:
    def __init__(self, field_name, default="eager"):
        self.field_name = field_name
        self.value = default

    def bind(self, ops_config):
        self.value = getattr(ops_config, self.field_name)
