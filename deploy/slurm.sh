#!/usr/bin/env bash
#SBATCH --job-name=goalwright-batch
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=4
#SBATCH --time=08:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
# Runs the example on the nodes of a job: a Ray head on the first node, workers on the others (on the same with --nodes=1).
# Submit it from a shared folder with goalwright[ray] in .venv. Set GOALWRIGHT_JOURNAL to PostgreSQL, and PGPASSFILE and the
# provider's key in the environment of sbatch. A requeued job resumes.
set -euo pipefail

folder=${SLURM_SUBMIT_DIR:-$PWD}
# shellcheck disable=SC1091
source "$folder/.venv/bin/activate"

# Other users of the nodes can reach Ray's ports, so a token is needed; only you can read its file.
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="$folder/.ray-token-$SLURM_JOB_ID"
(umask 077 && python -c 'import secrets; print(secrets.token_hex(32), end="")' > "$RAY_AUTH_TOKEN_PATH")

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${nodes[0]}
port=$((20000 + SLURM_JOB_ID % 20000))  # differs between jobs on a node

started=()
on_end() {
  kill "${started[@]}" 2>/dev/null || true
  rm -f "$RAY_AUTH_TOKEN_PATH"
}
trap on_end EXIT

others=$((${#nodes[@]} - 1))
srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" \
  ray start --head --node-ip-address="$head" --port="$port" --num-cpus=$((others ? 0 : SLURM_CPUS_PER_TASK)) \
  --dashboard-host=127.0.0.1 --block &
started+=($!)
export RAY_ADDRESS="$head:$port"
until timeout 10 ray status > /dev/null 2>&1; do
  if ((SECONDS > 180)) || ! kill -0 "${started[0]}" 2>/dev/null; then
    echo "Ray's head did not start on $head: see the output of ray start above" >&2
    exit 1
  fi
  sleep 1
done
for node in "${nodes[@]:1}"; do
  srun --overlap --nodes=1 --ntasks=1 --nodelist="$node" \
    ray start --address="$RAY_ADDRESS" --num-cpus="$SLURM_CPUS_PER_TASK" --block &
  started+=($!)
done

work="$folder/goalwright-batch"
mkdir -p "$work"
cp -n "$folder/deploy/example/goals.jsonl" "$work/"
cd "$work"
export EXAMPLE_WORKERS=$(((others ? others : 1) * SLURM_CPUS_PER_TASK))
"$folder/deploy/example/run.sh" &
batch=$!
trap 'kill -TERM "$batch"' TERM  # running goals have --drain seconds to end
wait "$batch" || { status=$?; wait "$batch" || exit "$status"; }
