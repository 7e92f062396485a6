#!/usr/bin/env bash
# Run the example as a batch on the Ray cluster that this machine belongs to. Started again after a crash, it continues.
# Needs GOALWRIGHT_JOURNAL, the provider's key and, in the current folder, goals.jsonl.
set -euo pipefail
goalwright journal migrate
exec goalwright batch goals.jsonl -o results.jsonl --resume \
  --engine ray --address auto --workers "${EXAMPLE_WORKERS:-2}" --slots 32 --drain 60 \
  --model "${EXAMPLE_MODEL:-openai/gpt-6-luna}" --rpm 300 --max-cost 1
