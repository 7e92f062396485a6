"""Tests of the documentation: its commands, examples, tables and links."""
