"""Programs that run in the peers' environments: each imports its peer, the standard library and plain data."""
