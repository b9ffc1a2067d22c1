"""Isolated runs of configured agents, and what is kept of them."""
