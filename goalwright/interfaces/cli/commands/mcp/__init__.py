"""The commands of `goalwright mcp`: MCP servers as tools, and goalwright as an MCP server."""
