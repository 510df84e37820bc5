from .tiles import TILE


def swiglu_quack(mlp, x):
    return mlp(x[:TILE])
