"""Programs that run in the peers' environments and import only their peer, the standard library and plain data."""
