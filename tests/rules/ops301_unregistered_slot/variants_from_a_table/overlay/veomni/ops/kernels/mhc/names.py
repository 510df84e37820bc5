OP = "mhc"
VARIANTS = ("pre", "post")


class Variant:
    HEAD = "head"
    TAIL = "tail"
