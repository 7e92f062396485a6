"""The commands of `goalwright skills`."""
