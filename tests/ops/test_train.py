"""The training example: it learns, it says what is wrong, and ranks that share sequences learn the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the training needs torch")
pytest.importorskip("yaml", reason="the configuration is YAML")

from veomni import train

ROOT = Path(__file__).parents[2]
SMALL = [
    str(ROOT / "configs" / "decoder.yaml"),
    "model.config.vocab_size=16", "model.config.hidden_size=32", "model.config.num_hidden_layers=1",
    "data.seq_len=16", "data.batch_size=4", "train.max_steps=30", "train.learning_rate=0.01", "train.log_steps=10",
]  # fmt: skip


def run(*arguments: str, ranks: int = 1) -> list[float]:
    """Train in processes of their own, on the CPU, and give the losses that they print."""
    launcher = [] if ranks == 1 else ["torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", "-m"]
    done = subprocess.run(
        [sys.executable, "-m", *launcher, "veomni.train", *SMALL, *arguments],
        cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [float(line.rpartition(" ")[2]) for line in done.stdout.splitlines() if " step " in line]


def test_it_learns(capsys: pytest.CaptureFixture[str]) -> None:
    """The loss falls to less than half, the bound kernels are said, and the bar is full at the end."""
    assert train.main(SMALL) == 0
    lines = capsys.readouterr().out.splitlines()
    steps = [line for line in lines if " step " in line]
    assert [line.split()[2] for line in steps] == ["1/30", "10/30", "20/30", "30/30"]
    assert steps[-1].startswith("#" * 30 + " ")
    assert float(steps[-1].split()[-1]) < float(steps[0].split()[-1]) / 2


def test_experts_learn_too(capsys: pytest.CaptureFixture[str]) -> None:
    """The mixture-of-experts decoder trains with its auxiliary loss."""
    sizes = "model.config={vocab_size: 16, hidden_size: 32, moe_intermediate_size: 16, num_hidden_layers: 1}"
    assert train.main([*SMALL[:1], *SMALL[4:], "model.model_type=moe_decoder", sizes]) == 0
    losses = [float(line.split()[-1]) for line in capsys.readouterr().out.splitlines() if " step " in line]
    assert losses[-1] < losses[0] / 2


def test_ranks_that_share_sequences_learn_the_same() -> None:
    """Two ranks with half of each sequence print the losses of one rank with all of it."""
    shared = run("train.ulysses_size=2", "train.async_ulysses=true", ranks=2)
    assert shared == pytest.approx(run(), abs=2e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no/such.yaml"], "no/such.yaml cannot be read"),
        ([SMALL[0], "model.config.hiden_size=3"], "model.config.hiden_size does not exist; did you mean hidden_size?"),
        ([SMALL[0], "model.model_type=decode"], "no model type 'decode'"),
        ([SMALL[0], "train.ulysses_size=2"], "ulysses_size 2 needs as many ranks; start them with torchrun"),
    ],
)
def test_what_cannot_be_trained_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """A wrong configuration ends with 2 and one line that says what is wrong."""
    assert train.main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a configuration the usage is printed."""
    assert train.main([]) == 2
    assert train.main(["--help"]) == 0
    assert capsys.readouterr().err.count("usage: python -m veomni.train") == 2


def test_the_bar_redraws_itself_in_a_terminal() -> None:
    """In a terminal the bar returns to the start of its line, and ends it when all is done."""

    class Terminal:
        text = ""

        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> None:
            self.text += text

        def flush(self) -> None:
            """Nothing is held back."""

    terminal = Terminal()
    progress = train._Progress(2, 1, terminal)
    progress.show([2.0])
    progress.show([2.0, 1.0])
    assert terminal.text == (f"\r{'#' * 15}{'.' * 15} step 1/2  loss 2.0000\r{'#' * 30} step 2/2  loss 1.0000\n")
