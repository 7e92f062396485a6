"""Goal to plan: prompts, the model port, decomposition, validation."""
