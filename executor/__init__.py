"""Runs a plan: schedule, actions, tools in a task's loop, synthesis."""
