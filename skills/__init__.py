"""What skills are: parse, discover, detect, list, read, install, check."""
