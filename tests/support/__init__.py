"""What several tests share: the rule pages, small projects, and running the command line."""
