"""One turn on its way: events, the reply's checkpoints, its owner, the end of a model's stream."""
