"""Finding what a turn should be given: candidates, one ranking, the choice, and the request that carries it."""
