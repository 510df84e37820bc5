from .op_wrappers import get_op_wrapper  # noqa: F401
