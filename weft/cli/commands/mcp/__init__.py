"""The commands of `weft mcp`: MCP servers as tools, and weft as an MCP server."""
