"""The training example: it learns, it says what is wrong, and ranks that share sequences learn the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the training needs torch")
pytest.importorskip("yaml", reason="the configuration is YAML")

from veomni import train
from veomni.arguments import ModelArguments, OpsImplementationConfig, VeOmniArguments
from veomni.distributed.parallel_state import ParallelState, set_parallel_state

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
        ([SMALL[0], "model.model_type=decode"], "error: no model type 'decode'; there are: decoder, "),
        ([SMALL[0], "model.config.vocab_size=0"], "model.config: vocab_size must be positive, not 0"),
        (
            [SMALL[0], "model.config.num_attention_heads=3"],
            "hidden_size=128 must be a multiple of num_attention_heads=3",
        ),
        ([SMALL[0], "data.seq_len=1"], "data: seq_len must be at least 2, not 1"),
        ([SMALL[0], "train.learning_rate=.nan"], "train.learning_rate=nan must be a finite number"),
        ([SMALL[0], "train.learning_rate=0"], "train: learning_rate must be positive, not 0.0"),
        ([SMALL[0], "train.weight_decay=-1"], "train: weight_decay must be at least 0, not -1.0"),
        ([SMALL[0], "train.warmup_steps=-5"], "train: warmup_steps must be at least 0, not -5"),
        ([SMALL[0], "train.aux_loss_weight=-1"], "train: aux_loss_weight must be at least 0, not -1.0"),
        ([SMALL[0], "train.async_ulysses=true"], "train: async_ulysses hides the exchange between ranks, so ulysses"),
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
    assert error.count("\n") == 1
    assert message in error


@pytest.mark.parametrize(
    ("model_type", "state", "message"),
    [
        ("hybrid_decoder", {"sp_size": 2}, "hybrid_decoder cannot be trained on parts of sequences"),
        ("moe_decoder", {"sp_size": 2, "async_ulysses": True}, "moe_decoder has no attention for async_ulysses"),
        ("decoder", {"sp_size": 2, "async_ulysses": True}, None),
        ("decoder", {"sp_size": 3}, "4 query heads and 2 key heads cannot be divided among 3 ranks"),
    ],
)
def test_ranks_that_cannot_share_a_model_are_refused(
    model_type: str, state: dict[str, int], message: str | None
) -> None:
    """Before the first step: a model without the exchange, and heads that cannot be divided."""
    model = ModelArguments(model_type, {}, OpsImplementationConfig.all_eager())
    expected = pytest.raises(ValueError, match=message) if message else nullcontext()
    with expected:
        train._build(VeOmniArguments(model), ParallelState(**state))


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"sp_size": 3}, "seq_len=64 must be a multiple of ulysses_size=3"),
        ({"dp_size": 3}, "batch_size=8 must be a multiple of 3 data-parallel ranks"),
    ],
)
def test_data_that_ranks_cannot_share_are_refused(state: dict[str, int], message: str) -> None:
    """Sequences and batches that cannot be cut into equal parts are refused before a model is built."""
    set_parallel_state(ParallelState(**state))
    try:
        with pytest.raises(ValueError, match=message):
            train._start(VeOmniArguments(ModelArguments("decoder")))
    finally:
        set_parallel_state(ParallelState())


def begin() -> subprocess.Popen[str]:
    """Start a long training, and return once it has made its first step."""
    training = subprocess.Popen(
        [sys.executable, "-m", "veomni.train", *SMALL, "train.max_steps=100000", "train.log_steps=1"],
        cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert next(line for line in training.stdout if " step " in line).split()[2] == "1/100000"
    return training


def test_ctrl_c_ends_the_training() -> None:
    """An interruption is said in a word, and the status is that of interrupted programs."""
    with begin() as training:
        training.send_signal(signal.SIGINT)
        assert (training.communicate()[1], training.returncode) == ("\ninterrupted\n", 130)


def test_a_closed_pipe_ends_the_training() -> None:
    """Where nobody reads the progress any more the training ends without a word."""
    with begin() as training:
        training.stdout.close()
        assert (training.stderr.read(), training.wait()) == ("", 141)


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
