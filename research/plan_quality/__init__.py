"""Plan quality: goalwright's plans against public gold graphs, beside the same model with each set's own published prompt.

    python -m plan_quality SETS [--goals N] [--half tune|report] [--only NAME]… [--json]

SETS is a folder with checkouts of the sets, which are fetched and not shipped: GNN4TaskPlan (UltraTool and TMDB),
WorFBench, NESTFUL and Plan-over-Graph. The model is the largest that `goalwright models list` shows as installed, greedy, the
same for both sides. Prompts were tuned on one half of each set; the other is reported.
"""
