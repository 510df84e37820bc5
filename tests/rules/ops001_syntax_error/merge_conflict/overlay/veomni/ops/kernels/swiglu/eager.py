SCALE = (1.0,
