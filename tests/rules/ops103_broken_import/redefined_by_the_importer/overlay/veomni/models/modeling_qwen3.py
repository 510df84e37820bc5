import transformers.models.qwen3.modeling_qwen3 as hf_qwen3
