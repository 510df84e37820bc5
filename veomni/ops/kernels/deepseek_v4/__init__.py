"""The attention of DeepSeek V4: a light indexer selects keys, and the heads attend to those and to a sink.

Only the eager definitions so far; the model calls them, and there is nothing to select.
"""
