"""Compares goalwright's plans with public gold graphs, beside the same model with each set's own prompt.

    python -m plan_quality SETS [--goals N] [--half tune|report] [--only NAME]… [--json]

SETS is a folder with checkouts of GNN4TaskPlan (UltraTool and TMDB), WorFBench, NESTFUL and Plan-over-Graph. Both sides
use the largest installed model of `goalwright models list`, greedily. Prompts were tuned on one half of each set; the other
half is reported.
"""
