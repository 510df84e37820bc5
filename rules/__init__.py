"""The rules of opslint, one stem each; installed as ``veomni_opslint.rules``."""

if __name__ != "veomni_opslint.rules":
    raise ImportError(
        "the folder rules/ is the package veomni_opslint.rules, not a top-level package: "
        "install opslint (`pip install -e .`) and import veomni_opslint.rules"
    )
