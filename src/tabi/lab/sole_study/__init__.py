"""``tabi study``: sweeps that answer a question of a paper, with a report of their own."""
