from docker import from_env
from helpers import run

from tasks.train import main, evaluate
