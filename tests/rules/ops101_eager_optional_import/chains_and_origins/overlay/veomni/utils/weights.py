from diffusers.utils import SAFETENSORS_WEIGHTS_NAME


def weight_names():
    return ["model.safetensors", SAFETENSORS_WEIGHTS_NAME]
