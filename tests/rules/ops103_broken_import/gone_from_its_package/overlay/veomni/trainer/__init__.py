from . import callbacks
