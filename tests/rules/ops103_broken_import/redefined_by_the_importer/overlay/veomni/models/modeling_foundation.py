from .modeling_qwen3 import Qwen3DecoderLayer as OriginalQwen3DecoderLayer


class Qwen3DecoderLayer(OriginalQwen3DecoderLayer):
    pass
