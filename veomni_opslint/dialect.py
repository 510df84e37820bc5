"""Every VeOmni-specific name that the engine or a rule depends on, as data that a fork can override."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """Names of the ops architecture. Overridden field by field under ``[tool.opslint.dialect]``.

    Package paths (``ops_package`` and the like) are relative to the package under check.
    """

    registry: str = "KERNEL_REGISTRY"
    registry_class: str = "KernelRegistry"
    register_method: str = "register"
    resolve_method: str = "resolve"
    hardware_check: str = "is_satisfied"
    examples_module: str = "examples"
    examples_table: str = "EXAMPLES"
    kernel_spec: str = "KernelSpec"
    kernel_spec_fields: tuple[str, ...] = ("name", "op_name", "variant", "factory", "hardware", "description")
    hardware_requirement: str = "HardwareRequirement"
    hardware_fields: tuple[str, ...] = ("device_type", "min_compute_capability", "max_compute_capability")
    device_types: tuple[str, ...] = ("gpu", "npu", "any")
    npu_device_types: tuple[str, ...] = ("npu",)
    op_slot: str = "OpSlot"
    config_slot: str = "OpsConfigSlot"
    slot_guard: str = "use_non_eager_impl"
    slot_kernel: str = "bound_kernel"
    bind_function: str = "_bind_veomni_ops"
    register_op: str = "register_op"
    op_spec: str = "OpSpec"
    op_spec_fields: tuple[str, ...] = (
        "name", "config_field", "label", "scope", "default", "backends", "global_slot",
    )  # fmt: skip
    backend_spec: str = "BackendSpec"
    backend_spec_fields: tuple[str, ...] = (
        "entry", "requires", "side_effect", "replace_forward", "entry_is_factory", "target_override",
    )  # fmt: skip
    op_scope: str = "OpScope"
    ops_config: str = "OpsImplementationConfig"
    model_keys: tuple[str, ...] = ("model_type", "model_path", "config_path")
    implementation_suffix: str = "_implementation"
    eager: str = "eager"
    config_field_of: dict[str, str] = field(default_factory=lambda: {"moe_experts": "moe_implementation"})
    value_prefix_of: dict[str, str] = field(default_factory=lambda: {"moe_experts": "fused_"})
    npu_allowed: str = "_NPU_ALLOWED"
    npu_required: str = "_NPU_REQUIRED"
    npu_fallback: str = "_NPU_DEFAULT_FALLBACK"
    ops_package: str = "ops"
    models_package: str = "models"
    generated_folder: str = "generated"
    generated_prefix: str = "patched_modeling_"
    patch_config_suffix: str = "patch_gen_config"
    post_import_block: str = "add_post_import_block"
    post_import_blocks: str = "post_import_blocks"
    add_import: str = "add_import"
    add_helper: str = "add_helper"
    add_helper_after: str = "add_helper_after"
    patch_config: str = "PatchConfig"
    override_method: str = "override_method"
    replace_function: str = "replace_function"
    replace_class: str = "replace_class"
    drop_import_names: str = "drop_import_names"
    exclude_from_output: str = "exclude_from_output"
    optional_packages: tuple[str, ...] = (
        "liger_kernel", "triton", "torch_npu", "flash_attn", "flash_attn_interface", "quack", "fla", "tilelang",
        "tile_kernels", "flash_qla", "flash_mla", "magi_attention", "fla_npu", "diffusers",
    )  # fmt: skip
    npu_packages: tuple[str, ...] = ("torch_npu", "fla_npu", "torch.npu")
    gpu_packages: tuple[str, ...] = (
        "liger_kernel", "flash_attn", "flash_attn_interface", "quack", "fla", "tilelang", "tile_kernels", "flash_qla",
        "flash_mla", "magi_attention",
    )  # fmt: skip
    npu_guards: tuple[str, ...] = (
        "is_torch_npu_available", "IS_NPU_AVAILABLE", "is_npu_available", "is_npu", "IS_NPU", "_IS_NPU_AVAILABLE",
    )  # fmt: skip
    cuda_guards: tuple[str, ...] = ("IS_CUDA_AVAILABLE", "is_cuda_available")
    device_helpers: dict[str, str] = field(
        default_factory=lambda: {
            "type": "get_device_type", "module": "get_torch_device", "id": "get_device_id",
            "backend": "get_dist_comm_backend", "synchronize": "synchronize", "empty_cache": "empty_cache",
            "set_device": "set_device",
        }
    )  # fmt: skip
    npu_device_names: tuple[str, ...] = ("npu", "ascend", "hccl")
    availability_checks: tuple[str, ...] = (
        "is_package_available", "_is_package_available", "find_spec", "is_module_available", "package_available",
    )  # fmt: skip
    device_patch: str = "device_patch"
    apply_per_model_patches: str = "apply_per_model_patches"
    device_patch_models: tuple[str, ...] = ("wan", "deepseek_v3", "deepseek_v4")
    loss_mapping: str = "LOSS_MAPPING"
    loss_function: str = "loss_function"
    pointer_setters: tuple[str, ...] = ("apply_", "bind_")
    pointer_list: str = "build_ALL_OPS"
    check_requires: str = "_check_requires"
    config_readers: tuple[str, ...] = ("get_ops_config",)
    config_appliers: tuple[str, ...] = ("apply_ops_config", "apply_global_ops")
    wrapper_module: str = "op_wrappers"
    get_wrapper: str = "get_op_wrapper"
    supported_implementations: str = "_SUPPORTED_IMPLEMENTATIONS"
    supported_variants: str = "_SUPPORTED_VARIANTS"
    default_variants: str = "_DEFAULT_VARIANTS"
    config_fields: str = "_CONFIG_FIELDS"
    builders: str = "_BUILDERS"
