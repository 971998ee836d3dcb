"""Commands of controllers: their columns, their targets, and who writes them."""
