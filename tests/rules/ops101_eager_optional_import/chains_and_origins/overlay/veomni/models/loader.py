from ..utils.weights import weight_names


def load(folder):
    return [folder / name for name in weight_names()]
