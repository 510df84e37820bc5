def build_dataset(path):
    return [path]
