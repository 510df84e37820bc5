from .calls import call, keep
from .generated.patched_modeling_llama_gpu import veomni_rms_norm as norm


class Layer:
    def __init__(self):
        keep(self, norm)

    def forward(self, x):
        return call(norm, x)
