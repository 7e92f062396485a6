"""Tests of executor/approvals."""
