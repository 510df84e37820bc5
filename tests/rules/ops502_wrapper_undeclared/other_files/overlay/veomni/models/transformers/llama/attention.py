from veomni.distributed import sequence_parallel
from veomni.distributed.sequence_parallel import get_op_wrapper as wrapper_of

CENTRED = ("rms_norm", "qwen3_5")
PLAIN = ("rms_norm", "standard")


def attend(x, weight, centred, op):
    norm = wrapper_of(CENTRED if centred else PLAIN)
    norm = wrapper_of(op_name="rms_norm", variant="standard")
    name = "rotary_pos_emb"
    rotary = sequence_parallel.get_op_wrapper(name)
    rotary = sequence_parallel.get_op_wrapper(op)
    return norm.forward(rotary.forward(x, weight, 1e-6)[0], weight, 1e-6)
