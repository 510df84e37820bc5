def triton_experts(hidden_states, indices):
    return hidden_states
