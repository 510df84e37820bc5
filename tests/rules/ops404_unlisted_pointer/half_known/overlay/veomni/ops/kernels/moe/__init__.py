_fused_moe_forward = None


def fused_moe_forward(hidden_states):
    if _fused_moe_forward is None:
        raise NotImplementedError("no fused MoE kernel is bound: set moe_implementation")
    return _fused_moe_forward(hidden_states)


def apply_veomni_fused_moe_patch(kernel):
    global _fused_moe_forward
    _fused_moe_forward = kernel
