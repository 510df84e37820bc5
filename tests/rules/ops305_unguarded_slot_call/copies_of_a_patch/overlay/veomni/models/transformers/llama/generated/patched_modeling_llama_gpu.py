from torch import nn

from veomni.ops.dispatch import OpSlot

veomni_rms_norm = OpSlot("rms_norm", "standard")


class LlamaRMSNorm(nn.Module):
    def forward(self, x):
        """Norm of a Llama."""
        # The kernel, where there is one.
        if self.training:
            return veomni_rms_norm(x, self.weight)

        if x is None:
            return LlamaRMSNorm.forward(self, self.weight)
        return x * self.weight
