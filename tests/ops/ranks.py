"""What each rank of the sequence-parallel tests runs: the model on part of the tokens against the model on all."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import torch
from torch import distributed

from veomni.arguments import OpsImplementationConfig
from veomni.distributed.parallel_state import ParallelState, get_parallel_state, init_parallel_state, set_parallel_state
from veomni.distributed.sequence_parallel import data, ulysses
from veomni.models.auto import build_foundation_model
from veomni.models.transformers.decoder.configuration_decoder import DecoderConfig
from veomni.models.transformers.moe_decoder.configuration_moe_decoder import MoeDecoderConfig
from veomni.ops.config import set_ops_config
from veomni.ops.kernels.load_balancing_loss.eager import load_balancing_loss_eager

TOKENS = 8
SMALL = DecoderConfig(vocab_size=19, hidden_size=16, intermediate_size=12, num_labels=3)
SMALL_MOE = MoeDecoderConfig(vocab_size=19, hidden_size=16, moe_intermediate_size=12)
# Here the ranks are on the CPU, where Triton's kernels need its interpreter.
WRAPPERS = ("eager", "triton") if os.environ.get("TRITON_INTERPRET") == "1" and find_spec("triton") else ("eager",)


def run(rank: int, world: int, rendezvous: str) -> None:
    """Join the ranks and run every check; an exception here fails the test."""
    os.environ["RANK"] = str(rank)
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world)
    try:
        check_groups(rank, world)
        init_parallel_state(world)
        check_exchange(rank, world)
        check_gather(rank, world)
        for asynchronous in (False, True):
            set_parallel_state(replace(get_parallel_state(), async_ulysses=asynchronous))
            for architecture in ("ForCausalLM", "ForSequenceClassification"):
                for loss in ("eager", "chunk_loss"):
                    check_model(SMALL, architecture, loss)
        for wrappers in WRAPPERS:
            check_model(SMALL, "ForCausalLM", "chunk_loss", wrappers)
        check_model(SMALL_MOE, "ForCausalLM", "chunk_loss")
    finally:
        distributed.destroy_process_group()


def check_groups(rank: int, world: int) -> None:
    """Pairs share sequences; ranks at the same place of each pair share the data."""
    state = init_parallel_state(2)
    assert (state.sp_size, state.sp_rank, state.dp_size, state.dp_rank) == (2, rank % 2, world // 2, rank // 2)
    assert distributed.get_process_group_ranks(state.sp_group) == [rank // 2 * 2, rank // 2 * 2 + 1]
    assert distributed.get_process_group_ranks(state.dp_group) == list(range(rank % 2, world, 2))


def check_exchange(rank: int, world: int) -> None:
    """Tokens go for heads and back, and gradients the other way."""
    group = get_parallel_state().sp_group
    whole = torch.arange(2.0 * TOKENS * world * 3).view(2, TOKENS, world, 3)
    part = whole.chunk(world, 1)[rank].clone().requires_grad_()
    heads = ulysses.gather_seq_scatter_heads(part, group)
    assert torch.equal(heads, whole[:, :, rank : rank + 1])
    back = ulysses.gather_heads_scatter_seq(heads, group)
    assert torch.equal(back, part)
    (back * part.detach()).sum().backward()
    assert torch.equal(part.grad, part.detach())


def check_gather(rank: int, world: int) -> None:
    """Parts come together; each rank's use of the whole adds to the gradient of the part."""
    group = get_parallel_state().sp_group
    whole = torch.arange(2.0 * TOKENS).view(2, TOKENS)
    part = data.slice_input_tensor(whole, 1, group).requires_grad_()
    gathered = data.gather_outputs(part, 1, group)
    assert torch.equal(gathered, whole)
    (gathered * (rank + 1)).sum().backward()
    assert torch.equal(part.grad, torch.full_like(part, world * (world + 1) / 2))


def check_model(config: Any, architecture: str, loss_name: str, wrappers: str = "eager") -> None:
    """Loss and every gradient, summed over the ranks, are those of the whole sequence on one rank."""
    state = get_parallel_state()
    torch.manual_seed(0)
    ops = OpsImplementationConfig.all_eager(cross_entropy_loss_implementation=loss_name)
    model = build_foundation_model(config, ops, architecture)
    set_ops_config(replace(ops, rms_norm_implementation=wrappers, rotary_pos_emb_implementation=wrappers))
    input_ids = torch.randint(19, (2, TOKENS))
    causal = architecture == "ForCausalLM"
    labels = torch.where(input_ids < 3, -100, input_ids) if causal else input_ids % 3

    set_parallel_state(ParallelState())
    expected, expected_aux = model(input_ids, labels).loss, auxiliary_loss(model, input_ids, state.sp_size)
    expected_gradients = torch.autograd.grad(expected + expected_aux, list(model.parameters()))
    set_parallel_state(state)

    if causal:
        labels = torch.cat((labels[:, 1:], torch.full((2, 1), -100)), 1)
    parts = [data.slice_input_tensor(x, 1, state.sp_group) for x in (input_ids, labels)]
    output = model(*parts, **({"shifted": True} if causal else {}))
    aux = getattr(output, "aux_loss", torch.zeros(()))
    gradients = torch.autograd.grad(output.loss + aux, list(model.parameters()))
    torch.testing.assert_close(output.loss, expected)
    torch.testing.assert_close(sum_over_ranks(aux, state), expected_aux.detach())
    for mine, reference in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(sum_over_ranks(mine, state), reference, rtol=1e-4, atol=1e-6)


def auxiliary_loss(model: Any, input_ids: torch.Tensor, parts: int) -> torch.Tensor:
    """The mean over *parts* of the sequence of the load-balancing loss of each; zero for a model without experts."""
    if not isinstance(model.config, MoeDecoderConfig):
        return torch.zeros(())
    layers = [logits.view(2, TOKENS, -1).chunk(parts, dim=1) for logits in model.model(input_ids)[1]]
    config, losses = model.config, []
    for part in zip(*layers, strict=True):
        logits = [x.flatten(0, 1) for x in part]
        losses.append(load_balancing_loss_eager(logits, config.num_experts, config.num_experts_per_tok))
    return torch.stack(losses).mean()


def sum_over_ranks(x: torch.Tensor, state: ParallelState) -> torch.Tensor:
    total = x.detach().clone()
    distributed.all_reduce(total, group=state.sp_group)
    return total
