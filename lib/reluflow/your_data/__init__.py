"""One data set, five papers: which assumptions hold, what is promised, and what happens."""
