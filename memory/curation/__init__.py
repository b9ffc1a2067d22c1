"""What is done with memories afterwards: by hand, by upkeep, back in time, out of orca and into it."""
