"""Whatever lies in a tree, opslint ends in time with a finding or a clear message, and never with a traceback."""
