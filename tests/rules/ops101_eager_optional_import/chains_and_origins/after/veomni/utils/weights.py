def weight_names():
    from diffusers.utils import SAFETENSORS_WEIGHTS_NAME

    return ["model.safetensors", SAFETENSORS_WEIGHTS_NAME]
