from .triton import swiglu_triton_forward
from .reference import swiglu
