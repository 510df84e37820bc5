from torch import nn
from torch.nn import functional

from veomni.ops.dispatch import OpSlot

veomni_rms_norm = OpSlot("rms_norm", "standard")
veomni_swiglu_mlp = OpSlot("swiglu_mlp", "standrad")


class LlamaRMSNorm(nn.Module):
    def forward(self, hidden_states):
        if veomni_rms_norm.use_non_eager_impl:
            return veomni_rms_norm(hidden_states, self.weight, self.variance_epsilon)
        return self.weight * functional.rms_norm(hidden_states, self.weight.shape, eps=self.variance_epsilon)


class LlamaMLP(nn.Module):
    def forward(self, x):
        if veomni_swiglu_mlp.use_non_eager_impl:
            return veomni_swiglu_mlp(self, x)
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))
