"""Where everything is kept."""
