"""What a model may call, behind one permission gate."""
