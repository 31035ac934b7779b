"""Networks of any depth, and torch as those on much data need it."""
