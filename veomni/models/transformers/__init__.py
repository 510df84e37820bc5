"""Model packages. Each registers how to load its modeling module, which is imported when a model is built."""

from . import decoder, deepseek_v3, deepseek_v4, hybrid_decoder, moe_decoder, wan

__all__ = ["decoder", "deepseek_v3", "deepseek_v4", "hybrid_decoder", "moe_decoder", "wan"]
