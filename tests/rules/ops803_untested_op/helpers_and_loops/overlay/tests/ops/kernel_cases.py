NAMES = ("rms_norm", "liger_kernel")
