"""OPS390: registrations whose content cannot be known without running the code, and some that can."""

from __future__ import annotations

from evaluation.mutations.draft import Mutation, append, plant
from evaluation.mutations.specs import FACTORY, GPU, spec_call
from evaluation.mutations.tree_places import LOAD_BALANCING


def _unknown(name: str, code: str) -> Mutation:
    """Add *code* below the registration of the load-balancing loss."""
    return plant("OPS390", name, append(LOAD_BALANCING, code))


MUTATIONS = (
    _unknown(
        "variant from the environment",
        f"""import os\n\nKERNEL_REGISTRY.register({spec_call(variant='os.environ["VARIANT"]')})  # OPS390""",
    ),
    _unknown(
        "name from the platform",
        f"import platform\n\nKERNEL_REGISTRY.register({spec_call(name='platform.machine()')})  # OPS390",
    ),
    _unknown("op from a file", f"KERNEL_REGISTRY.register({spec_call(op='open(__file__).readline()')})  # OPS390"),
    _unknown(
        "loop over a folder",
        f"import os\n\nfor _name in os.listdir('.'):  # OPS390:a\n"
        f"    KERNEL_REGISTRY.register({spec_call(name='_name')})  # OPS390:a",
    ),
    _unknown(
        "loop over what a library returns",
        f"for _name in torch.backends.available():  # OPS390:a\n"
        f"    KERNEL_REGISTRY.register({spec_call(name='_name')})  # OPS390:a",
    ),
    _unknown("keywords from a library", "KERNEL_REGISTRY.register(KernelSpec(**torch.load('spec.pt')))  # OPS390"),
    _unknown("spec from a library", "KERNEL_REGISTRY.register(torch.load('spec.pt'))  # OPS390"),
    _unknown(
        "variant from the command line",
        f"import sys\n\nKERNEL_REGISTRY.register({spec_call(variant='sys.argv[1]')})  # OPS390",
    ),
    _unknown(
        "variant from the time",
        f"import time\n\nKERNEL_REGISTRY.register({spec_call(variant='str(time.time())')})  # OPS390",
    ),
    _unknown(
        "name from random",
        f"""import random\n\nKERNEL_REGISTRY.register({spec_call(name='random.choice(["a", "b"])')})  # OPS390""",
    ),
    _unknown(
        "name from a version",
        f"""KERNEL_REGISTRY.register({spec_call(name='"triton" + torch.__version__')})  # OPS390""",
    ),
    _unknown(
        "name from an entry of an unknown table",
        f"""KERNEL_REGISTRY.register({spec_call(name='torch.load("t")["name"]')})  # OPS390""",
    ),
    _unknown(
        "name read in a helper",
        f"def _name():\n    return torch.load('name')\n\n\n"
        f"KERNEL_REGISTRY.register({spec_call(name='_name()')})  # OPS390",
    ),
    _unknown(
        "name put together from an unknown part",
        f"""import os\n\nKERNEL_REGISTRY.register({spec_call(name='f"triton_{os.getpid()}"')})  # OPS390""",
    ),
    _unknown(
        "loop that never ends",
        f"_i = 0\nwhile True:  # OPS390:a\n    _i += 1\n"
        f"    KERNEL_REGISTRY.register({spec_call(name='str(torch.rand(_i))')})  # OPS390:a",
    ),
    _unknown(
        "variant from a named tuple of a library",
        f"KERNEL_REGISTRY.register({spec_call(variant='torch.finfo(torch.float16).dtype')})  # OPS390",
    ),
    _unknown(
        "harmless: variant from a tuple",
        "_VARIANTS = ('standard', 'x')\n"
        f"""KERNEL_REGISTRY.register({spec_call(name='"cutlass"', variant="_VARIANTS[0]")})""",
    ),
    _unknown(
        "harmless: name by format", f"""KERNEL_REGISTRY.register({spec_call(name='"{}_{}".format("cut", "lass")')})"""
    ),
    _unknown(
        "harmless: loop over a dictionary",
        f"for _name, _top in {{'cutlass': 1, 'cute': 2}}.items():\n"
        f"    KERNEL_REGISTRY.register({spec_call(name='_name')})",
    ),
    _unknown(
        "harmless: enumerate and zip",
        f"for _i, (_a, _b) in enumerate(zip(('cu', 'xu'), ('te', 'ta'))):\n"
        f"    KERNEL_REGISTRY.register({spec_call(name='_a + _b')})",
    ),
    _unknown(
        "harmless: class attributes",
        f"class _Names:\n    CUTLASS = 'cutlass'\n\n\nKERNEL_REGISTRY.register({spec_call(name='_Names.CUTLASS')})",
    ),
    _unknown(
        "harmless: enumeration",
        f"from enum import Enum\n\n\nclass _Names(str, Enum):\n    CUTLASS = 'cutlass'\n\n\n"
        f"KERNEL_REGISTRY.register({spec_call(name='_Names.CUTLASS.value')})",
    ),
    _unknown(
        "harmless: keywords in a dictionary",
        f"_COMMON = dict(op_name='load_balancing_loss', variant='standard', hardware={GPU})\n"
        f"KERNEL_REGISTRY.register(KernelSpec(name='cutlass', factory={FACTORY}, **_COMMON))",
    ),
)
