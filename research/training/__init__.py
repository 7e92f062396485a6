"""How the encoder that selects skills is trained and judged; none of it is installed."""
