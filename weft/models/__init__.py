"""Language models: litellm behind the planner's port, and what is wrapped around a call."""
