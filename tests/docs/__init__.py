"""What the documentation shows is run as it is shown."""
