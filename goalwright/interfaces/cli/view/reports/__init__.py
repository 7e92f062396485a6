"""What was measured, as text: a batch, an evaluation, and how well goals find their skills."""
