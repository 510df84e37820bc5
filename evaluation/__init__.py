"""Judge opslint on a real tree and its history; run by hand, not part of the wheel."""
