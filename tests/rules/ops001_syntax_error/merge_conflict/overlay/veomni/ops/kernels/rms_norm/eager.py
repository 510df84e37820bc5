def rms_norm(x):
<<<<<<< HEAD
    return x
=======
    return -x
>>>>>>> fork
