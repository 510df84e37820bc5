import torch


def eager_experts(module, hidden_states, indices, weights=None):
    return hidden_states


class Experts(torch.autograd.Function):
    @staticmethod
    def forward(ctx, module, hidden_states, indices, weights):
        return hidden_states
