"""orca's memory core."""
