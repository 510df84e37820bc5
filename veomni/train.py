"""Trains a small model on synthetic data: ``python -m veomni.train CONFIG [section.key=value ...]``.

Under ``torchrun`` the ranks share the batches and, with ``train.ulysses_size``, the sequences.
"""

from __future__ import annotations

import inspect
import logging
import math
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

import torch
from torch import distributed

from .arguments import ArgumentsError, VeOmniArguments, build_arguments, load_arguments
from .distributed.parallel_state import ParallelState, get_parallel_state, init_parallel_state
from .distributed.sequence_parallel.async_ulysses import async_ulysses_attention
from .distributed.sequence_parallel.data import slice_input_tensor
from .distributed.sequence_parallel.ulysses import key_head_copies
from .models.auto import build_foundation_model
from .models.loader import MODELING_REGISTRY
from .ops import apply_ops_patch, format_kernel_functions
from .ops.kernels.cross_entropy.reduction import shift_labels
from .utils.device import get_device_type, get_dist_comm_backend, set_device

_BAR = 30
_INTERRUPTED = 130
_BROKEN_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the configuration, train, and return 0; 2 where the configuration or the machine does not allow it.

    130 after Ctrl-C, and 141 where nobody reads the progress any more.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0].startswith("-"):
        print("usage: python -m veomni.train CONFIG [section.key=value ...]", file=sys.stderr)
        return 0 if words and words[0] in {"-h", "--help"} else 2
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    # A closed pipe shall end the training below, and not be reported for each line.
    logging.raiseExceptions = False
    try:
        return _run(words[0], words[1:])
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read the progress is gone; without this the interpreter complains when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    finally:
        if distributed.is_initialized():
            distributed.destroy_process_group()


def train(model: torch.nn.Module, job: VeOmniArguments) -> list[float]:
    """Train *model* as *job* says, show the progress on rank 0, and return the loss of each step."""
    state, options = get_parallel_state(), job.train
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: _learning_rate(step, options.warmup_steps, options.max_steps)
    )
    progress = _Progress(
        options.max_steps, options.log_steps, sys.stdout if os.environ.get("RANK", "0") == "0" else None
    )
    losses = []
    for batch in _batches(job, state):
        loss = _step(model, batch, options.aux_loss_weight, state)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        progress.show(losses)
    return losses


def _run(path: str, overrides: Sequence[str]) -> int:
    try:
        job = load_arguments(VeOmniArguments, path, overrides)
        state = _start(job)
        model = _build(job, state)
    except (ArgumentsError, ValueError, KeyError, RuntimeError, ImportError) as error:
        # The text of a KeyError is the repr of its message.
        print(f"error: {error.args[0] if isinstance(error, KeyError) and error.args else error}", file=sys.stderr)
        return 2
    train(model, job)
    return 0


def _start(job: VeOmniArguments) -> ParallelState:
    apply_ops_patch()
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if job.train.ulysses_size > world:
        raise ValueError(f"ulysses_size {job.train.ulysses_size} needs as many ranks; start them with torchrun")
    if world > 1:
        set_device(int(os.environ.get("LOCAL_RANK", "0")))
        distributed.init_process_group(get_dist_comm_backend())
        init_parallel_state(job.train.ulysses_size, async_ulysses=job.train.async_ulysses)
    state = get_parallel_state()
    if job.data.seq_len % state.sp_size:
        raise ValueError(f"seq_len={job.data.seq_len} must be a multiple of ulysses_size={state.sp_size}")
    if job.data.batch_size % state.dp_size:
        raise ValueError(f"batch_size={job.data.batch_size} must be a multiple of {state.dp_size} data-parallel ranks")
    return state


def _build(job: VeOmniArguments, state: ParallelState) -> torch.nn.Module:
    # The same on every rank, so that all begin with the same weights.
    torch.manual_seed(job.train.seed)
    config = build_arguments(MODELING_REGISTRY.config(job.model.model_type), job.model.config, "model.config")
    model = build_foundation_model(config, job.model.ops_implementation)
    if state.sp_size > 1:
        _check_parallel(model, config, state)
    logging.getLogger(__name__).info(format_kernel_functions())
    for parameter in model.parameters():
        # Buffers keep their precision: rounded frequencies would turn far positions by wrong angles.
        parameter.data = parameter.data.to(getattr(torch, job.train.dtype))
    return model.to(get_device_type())


def _check_parallel(model: torch.nn.Module, config: Any, state: ParallelState) -> None:
    if "shifted" not in inspect.signature(model.forward).parameters:
        raise ValueError(f"{config.model_type} cannot be trained on parts of sequences; set ulysses_size to 1")
    if state.async_ulysses and not hasattr(sys.modules[type(model).__module__], async_ulysses_attention.__name__):
        raise ValueError(f"{config.model_type} has no attention for async_ulysses; set it to false")
    key_head_copies(config.num_attention_heads, config.num_key_value_heads, state.sp_size)


def _step(model: torch.nn.Module, batch: torch.Tensor, aux_loss_weight: float, state: ParallelState) -> torch.Tensor:
    """Leave the gradients of the whole batch in the parameters, on every rank, and return its loss."""
    if state.sp_size > 1:
        parts = (slice_input_tensor(x, 1, state.sp_group) for x in (batch, shift_labels(batch)))
        output = model(*parts, shifted=True)
    else:
        output = model(batch, batch)
    loss = output.loss
    aux_loss = getattr(output, "aux_loss", None)
    (loss if aux_loss is None else loss + aux_loss_weight * aux_loss).backward()
    loss = loss.detach()
    if distributed.is_initialized():
        for parameter in model.parameters():
            if parameter.grad is not None:
                # Summed over the parts of a sequence, averaged over the parts of the batch: one sum over all ranks.
                distributed.all_reduce(parameter.grad)
                parameter.grad /= state.dp_size
        distributed.all_reduce(loss, group=state.dp_group)
        loss /= state.dp_size
    return loss


def _batches(job: VeOmniArguments, state: ParallelState) -> Iterator[torch.Tensor]:
    """Walks through a fixed permutation of the vocabulary; at a noisy step the walk jumps somewhere else."""
    generator = torch.Generator().manual_seed(job.train.seed)
    vocabulary = int(job.model.config.get("vocab_size", 256))
    successor = torch.randperm(vocabulary, generator=generator)
    shape = job.data.batch_size, job.data.seq_len
    for _ in range(job.train.max_steps):
        tokens = torch.randint(vocabulary, shape, generator=generator)
        jumps = torch.rand(shape, generator=generator) < job.data.noise
        for t in range(1, shape[1]):
            tokens[:, t] = torch.where(jumps[:, t], tokens[:, t], successor[tokens[:, t - 1]])
        yield tokens.chunk(state.dp_size)[state.dp_rank].to(get_device_type())


def _learning_rate(step: int, warmup: int, total: int) -> float:
    """Linear warm-up, then half a cosine down to a tenth."""
    if step < warmup:
        return (step + 1) / warmup
    return 0.55 + 0.45 * math.cos(math.pi * (step - warmup) / max(1, total - warmup))


class _Progress:
    """A bar that redraws itself in a terminal; elsewhere, one line now and then."""

    def __init__(self, total: int, every: int, out: TextIO | None) -> None:
        self._total, self._every, self._out = total, every, out

    def show(self, losses: Sequence[float]) -> None:
        """Show how far the training is and the loss of the last step."""
        step = len(losses)
        if self._out is None:
            return
        done = _BAR * step // self._total
        text = f"{'#' * done}{'.' * (_BAR - done)} step {step}/{self._total}  loss {losses[-1]:.4f}"
        if self._out.isatty():
            self._out.write(f"\r{text}" + ("\n" if step == self._total else ""))
        elif step == 1 or step % self._every == 0 or step == self._total:
            self._out.write(f"{text}\n")
        self._out.flush()


if __name__ == "__main__":
    sys.exit(main())
