"""``tabi validate papers``: the experiments of five papers, run and written into one page."""
