from hub import flash

_flash = flash
