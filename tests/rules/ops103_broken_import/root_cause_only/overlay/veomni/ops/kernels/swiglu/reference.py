def swiglu(gate, up):
    return gate * up
