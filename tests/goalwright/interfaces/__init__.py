"""Tests of the interfaces: the command line, the page, editors and MCP clients."""
