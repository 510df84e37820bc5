from torch import nn

from veomni.ops.dispatch import OpSlot

veomni_rms_norm = OpSlot("rms_norm", "standard")

from liger_kernel.transformers.rms_norm import LigerRMSNorm as LlamaRMSNorm
from liger_kernel.transformers.swiglu import LigerSwiGLUMLP as LlamaMLP


class LlamaDecoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.input_layernorm = LlamaRMSNorm(config.hidden_size)
        self.mlp = LlamaMLP(config)
