from veomni.ops.dispatch import OpSlot

veomni_moe_experts = OpSlot("moe_experts", "standard")


class Experts:
    def __init__(self):
        self.kernel = veomni_moe_experts.bound_kernel()

    def forward(self, hidden_states, indices, weights):
        if veomni_moe_experts.use_non_eager_impl:
            hidden_states = veomni_moe_experts(self, hidden_states, indices, weights)
        return self.kernel(self, hidden_states)
