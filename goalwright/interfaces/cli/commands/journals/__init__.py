"""Commands for the journal itself: `group` lists them; `prune` is the one of `traces`."""
