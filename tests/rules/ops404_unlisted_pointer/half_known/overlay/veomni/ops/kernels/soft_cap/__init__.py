_soft_cap_forward = None


def soft_cap_forward(hidden_states):
    if _soft_cap_forward is None:
        raise NotImplementedError("no fused MoE kernel is bound: set moe_implementation")
    return _soft_cap_forward(hidden_states)


def apply_veomni_soft_cap_patch(kernel):
    global _soft_cap_forward
    _soft_cap_forward = kernel
