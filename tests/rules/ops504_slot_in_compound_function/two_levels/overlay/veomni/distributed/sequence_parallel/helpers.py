from veomni.models.transformers.llama import slots


def norm_or_none(x, weight):
    return _norm(x, weight) if weight is not None else x


def _norm(x, weight):
    if slots.veomni_rms_norm.use_non_eager_impl:
        return slots.veomni_rms_norm(x, weight, 1e-6)
    return x * weight
