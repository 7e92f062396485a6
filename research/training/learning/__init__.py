"""Learning the table on an accelerator: the teacher is tuned, explains texts to the table, and skills are ranked."""
