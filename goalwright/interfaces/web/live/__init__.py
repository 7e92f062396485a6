"""What many open pages share: their streams, the news that wakes them, and what is read once for all of them."""
