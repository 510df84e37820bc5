import quack

TILE = quack.TILE
