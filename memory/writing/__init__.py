"""What becomes memory: what is worth keeping, whose words they are, and how it is written down."""
