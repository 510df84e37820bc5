from .fused import fused_mlp, fused_norm
from .generated import patched_modeling_llama_gpu as modeling


class Layer:
    def forward(self, x):
        x = fused_norm(x, self.weight)
        if modeling.veomni_swiglu_mlp.use_non_eager_impl:
            x = fused_mlp(self, x)
        return x


class Bare:
    def forward(self, x):
        return modeling.veomni_rms_norm(x, self.weight)
