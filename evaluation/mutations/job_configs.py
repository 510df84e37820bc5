"""OPS601 and OPS602: values and keys in YAML files of jobs that the arguments do not have."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, after, append, create, mark, plant, swap
from evaluation.mutations.tree_places import ARGUMENTS

DEEPSEEK_V4 = "configs/text/deepseek_v4.yaml"
QWEN3 = "configs/text/qwen3.yaml"
QWEN3_LORA = "configs/text/qwen3_lora.yaml"
NEW = "configs/text/new.yaml"
JOB = """
model:
  model_path: Qwen3-8B-Base
  ops_implementation:
    {model}
data:
  train_path: tulu-3-sft-mixture
train:
  global_batch_size: 8
"""


def _value(name: str, field: str, old: str, new: str, path: str = DEEPSEEK_V4) -> Mutation:
    return plant(
        "OPS601", name, swap(path, f"    {field}_implementation: {old}\n", f"    {field}_implementation: {new}\n")
    )


def _key(name: str, old: str, new: str, path: str = QWEN3) -> Mutation:
    return plant("OPS602", name, swap(path, old + "\n", new + "\n"))


MUTATIONS = (
    _value("misspelt", "cross_entropy_loss", "liger_kernel", "liger_kernal  # OPS601"),
    _value("prefix misspelt", "moe", "fused_triton", "fuse_triton  # OPS601"),
    _value("kernel of another op", "swiglu_mlp", "liger_kernel", "tilelang  # OPS601"),
    _value("none of the choices", "dsa_attention", "tilelang", "flashmla  # OPS601"),
    _value("choice of another field", "dsa_indexer", "tilelang", "flashmla_cudnn  # OPS601"),
    _value("in quotes", "rms_norm", "liger_kernel", '"ligerkernel"  # OPS601'),
    _value("with a hyphen", "rms_norm", "liger_kernel", "liger-kernel  # OPS601"),
    _value("capital letter", "mhc", "tilelang", "TileLang  # OPS601"),
    _value("attention misspelt", "attn", "flash_attention_2", "flash_attn_2  # OPS601", QWEN3),
    _value("eager misspelt", "rms_norm", "eager", "eagre  # OPS601", QWEN3_LORA),
    plant("OPS601", "in a new file", create(NEW, JOB.format(model="rms_norm_implementation: fused  # OPS601"))),
    plant(
        "OPS601",
        "through an anchor",
        create(
            NEW,
            JOB.format(model="rms_norm_implementation: &kernel npu  # OPS601\n    swiglu_mlp_implementation: *kernel"),
        ),
    ),
    plant(
        "OPS601",
        "flow style",
        create(NEW, JOB.format(model="{\n      mhc_implementation: triton,  # OPS601\n    }")),
    ),
    plant(
        "OPS601",
        "default that no kernel has",
        swap(
            ARGUMENTS,
            '    rms_norm_gated_implementation: str = field(\n        default="fla",',
            '    rms_norm_gated_implementation: str = field(\n        default="flaa",  # OPS601?',
        ),
    ),
    _value("harmless eager", "cross_entropy_loss", "liger_kernel", "eager"),
    _value("harmless other kernel", "moe", "fused_triton", "fused_quack"),
    _value("harmless without the prefix", "moe", "fused_triton", "triton"),
    _value("harmless alias of old files", "moe", "fused_triton", "fused"),
    _value("harmless quotes", "rms_norm", "liger_kernel", "'liger_kernel'"),
    _value("harmless comment", "rms_norm", "liger_kernel", "liger_kernel  # not liger_kernal"),
    _value("harmless kernel of an NPU", "moe", "fused_triton", "fused_npu"),
    _key(
        "op that is no field",
        "    attn_implementation: flash_attention_2",
        "    layer_norm_implementation: eager  # OPS602",
    ),
    _key("field misspelt", "  global_batch_size: 8", "  globl_batch_size: 8  # OPS602"),
    _key("field of another section", "  max_seq_len: 2048", "  max_seq_len: 2048\n  micro_batch_size: 1  # OPS602"),
    _key("section misspelt", "  gradient_checkpointing:", "  gradient_checkpoint:  # OPS602"),
    _key("one level too high", "    ulysses_size: 1", "    fsdp_config_mode: fsdp2  # OPS602\n    ulysses_size: 1"),
    _key("deep inside", "        enable: true", "        enabled: true  # OPS602"),
    _key("plural", "    lr: 1.0e-4", "    lrs: 1.0e-4  # OPS602"),
    _key("hyphens", "  init_device: meta", "  init-device: meta  # OPS602"),
    _key("capital letter", "  num_train_epochs: 3", "  Num_train_epochs: 3  # OPS602"),
    _key("top level", "train:", "trainer: {}  # OPS602\ntrain:"),
    plant(
        "OPS602", "ops in the wrong place", after(QWEN3, "train:", "rms_norm_implementation: eager  # OPS602", indent=2)
    ),
    plant(
        "OPS602",
        "in a new file",
        create(NEW, JOB.format(model="rms_norm_impl: eager  # OPS602")),
    ),
    plant(
        "OPS602",
        "renamed field",
        swap(ARGUMENTS, "    muon_expert_zero_comm: bool", "    muon_zero_comm: bool"),
        mark(DEEPSEEK_V4, "    muon_expert_zero_comm: true", "OPS602"),
        mark("configs/text/qwen3_moe_muon.yaml", "    muon_expert_zero_comm:", "OPS602"),
    ),
    _key(
        "harmless other order",
        "  global_batch_size: 8\n  micro_batch_size: 1",
        "  micro_batch_size: 1\n  global_batch_size: 8",
    ),
    _key("harmless comment", "  init_device: meta", "  # init_devise: meta\n  init_device: meta"),
    plant("OPS602", "harmless other file", create("configs/model_configs/new.yaml", "hidden_sise: 4096\nlayers: 3")),
    plant("OPS602", "harmless extra document", append("configs/text/qwen3.yaml", "# train: {globl_batch_size: 8}")),
)
