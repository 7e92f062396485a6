"""Reports as text: of a batch, of an evaluation, and of the selection of skills."""
