"""Plan files: written, read, checked, and edited by a person or on the page."""
