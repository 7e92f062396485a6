"""The commands of `goalwright mcp`."""
