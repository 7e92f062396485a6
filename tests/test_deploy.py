"""The files of deploy/, checked without containers: fields, scripts, and every goalwright command."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from goalwright.batch import goals
from goalwright.interfaces.cli.main import cli

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
EXAMPLE = DEPLOY / "example"
# A stub that logs its name and arguments.
STUB = """#!/usr/bin/env python3
import json, os, sys
with open(os.environ["CALLS"], "a") as file:
    print(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]), file=file)
if sys.argv[0].endswith("scontrol"):
    print("node1\\nnode2\\nnode3")
"""


def called(script: Path, folder: Path, *programs: str, **env: str) -> list[list[str]]:
    """Run a script with stubs for programs; return their calls in order."""
    stubs = folder / "stubs"
    stubs.mkdir()
    for name in programs:
        (stubs / name).write_text(STUB)
        (stubs / name).chmod(0o755)
    path = f"{stubs}:{os.environ['PATH']}"
    given = {"PATH": path, "CALLS": str(folder / "calls"), "HOME": str(folder), **env}
    ran = subprocess.run(["bash", script], cwd=folder, env=given, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in (folder / "calls").read_text().splitlines()]


def parsed(arguments: list[str]) -> dict[str, Any]:
    """Parse the arguments of a goalwright command; raise if it refuses them."""
    command: click.Command = cli
    context = click.Context(cli, info_name="goalwright")
    while isinstance(command, click.Group):
        name, found, arguments = command.resolve_command(context, arguments)
        assert found is not None
        command, context = found, click.Context(found, parent=context, info_name=name)
    return command.make_context(context.info_name, list(arguments), parent=context.parent).params


def check_batch(arguments: list[str], workers: str) -> None:
    cluster = ["--engine", "ray", "--address", "auto", "--workers", workers, "--slots", "32", "--drain", "60"]
    at = arguments.index("--engine")
    assert arguments[at : at + len(cluster)] == cluster
    known = {option for one in _batch().params for option in one.opts}
    if "--engine" not in known:  # the engine needs an extra
        arguments = arguments[:at] + arguments[at + len(cluster) :]
    values = parsed(arguments)
    assert values["resume"] is True, "started again, it continues"
    assert (values["rpm"], values["max_cost"]) == (300, 1)


def _batch() -> click.Command:
    found = cli.get_command(click.Context(cli), "batch")
    assert found is not None
    return found


def test_the_example_runs_the_same_batch_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with goals.opened(EXAMPLE / "goals.jsonl") as file:
        assert [goal.id for goal in file] == ["haiku", "warp", "dag", "names", "compare", "quiz"]
    shutil.copy(EXAMPLE / "goals.jsonl", tmp_path)
    calls = called(EXAMPLE / "run.sh", tmp_path, "goalwright", EXAMPLE_WORKERS="7")
    assert [call[:2] for call in calls] == [["goalwright", "journal"], ["goalwright", "batch"]]
    assert parsed(calls[0][1:]) is not None
    monkeypatch.chdir(tmp_path)
    check_batch(calls[1][1:], "7")


def test_a_slurm_job_starts_a_head_and_workers_behind_a_token_and_cleans_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "activate").write_text("")
    shutil.copytree(DEPLOY, tmp_path / "deploy")
    job = {
        "SLURM_SUBMIT_DIR": str(tmp_path),
        "SLURM_JOB_ID": "41",
        "SLURM_JOB_NODELIST": "n",
        "SLURM_CPUS_PER_TASK": "4",
    }
    calls = called(tmp_path / "deploy" / "slurm.sh", tmp_path, "goalwright", "ray", "srun", "scontrol", **job)
    starts = sorted((call for call in calls if call[0] == "srun"), key=lambda call: call[4])
    assert [call[call.index("ray") : call.index("ray") + 3] for call in starts] == [
        ["ray", "start", "--head"],
        *[["ray", "start", "--address=node1:20041"]] * 2,
    ]
    assert [call[4] for call in starts] == ["--nodelist=node1", "--nodelist=node2", "--nodelist=node3"]
    monkeypatch.chdir(tmp_path / "goalwright-batch")
    check_batch(next(call for call in calls if call[:2] == ["goalwright", "batch"])[1:], "8")
    assert not list(tmp_path.glob(".ray-token*"))
    text = (DEPLOY / "slurm.sh").read_text()
    assert "umask 077" in text
    assert "RAY_AUTH_MODE=token" in text
    options = dict(re.findall(r"^#SBATCH --([\w-]+)=?(.*)$", text, re.MULTILINE))
    assert {"nodes", "ntasks-per-node", "cpus-per-task", "time", "signal"} <= options.keys()


def slurm_job(folder: Path, hosts: str, ray: str = "exit 0") -> subprocess.CompletedProcess[str]:
    """Run the script as a job on nodes, with a stub of `ray status`."""
    stubs = folder / "stubs"
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "activate").write_text("")
    shutil.copytree(DEPLOY, folder / "deploy")
    stubs.mkdir()
    note = 'echo "$(basename "$0") $*" >> "$CALLS"'
    scripts = {"goalwright": note, "srun": note, "ray": ray, "scontrol": f"printf '{hosts}'"}
    for name, text in scripts.items():
        (stubs / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (stubs / name).chmod(0o755)
    job = {"SLURM_SUBMIT_DIR": str(folder), "SLURM_JOB_ID": "41", "SLURM_JOB_NODELIST": "n", "SLURM_CPUS_PER_TASK": "4"}
    env = {"PATH": f"{stubs}:{os.environ['PATH']}", "CALLS": str(folder / "calls"), "HOME": str(folder), **job}
    script = folder / "deploy" / "slurm.sh"
    return subprocess.run(["bash", script], cwd=folder, env=env, capture_output=True, text=True, timeout=60)


def test_a_slurm_job_of_one_node_starts_workers_on_it(tmp_path: Path) -> None:
    ran = slurm_job(tmp_path, "node1\\n")
    assert ran.returncode == 0, ran.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    (head,) = (call for call in calls if call.startswith("srun"))
    assert "ray start --head" in head
    assert "--num-cpus=4" in head
    assert "--workers 4" in next(call for call in calls if call.startswith("goalwright batch"))


def test_a_slurm_job_whose_head_does_not_start_ends_with_a_message(tmp_path: Path) -> None:
    ran = slurm_job(tmp_path, "node1\\nnode2\\n", ray="exit 1")
    assert (ran.returncode, "Ray's head did not start on node1" in ran.stderr) == (1, True)
    assert not list(tmp_path.glob(".ray-token*"))


def test_compose_keeps_ports_inside_and_keys_out_of_the_file() -> None:
    document = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = document["services"]
    assert set(services) == {"db", "head", "worker", "batch"}
    assert not [name for name, service in services.items() if "ports" in service]
    assert services["worker"]["deploy"]["replicas"] == 2
    for name in ("head", "worker", "batch"):
        service = services[name]
        assert (service["build"]["dockerfile"], service["environment"]["RAY_AUTH_MODE"]) == (
            "deploy/Dockerfile",
            "token",
        )
        assert service["shm_size"]
        assert set(service["depends_on"]) <= set(services)
        for key in ("RAY_AUTH_TOKEN", "PGPASSWORD", "OPENAI_API_KEY"):
            assert service["environment"][key].startswith(f"${{{key}:"), "from the environment"
    assert services["batch"]["build"]["args"] == {"UID": "${GOALWRIGHT_UID:-1000}"}, "results belong to who started it"
    assert '--uid "$UID"' in (DEPLOY / "Dockerfile").read_text()
    assert services["head"]["command"][:3] == ["ray", "start", "--head"]
    assert services["batch"]["profiles"] == ["batch"]
    assert services["batch"]["command"][-1].endswith("exec run-example")
    drain = int(re.search(r"--drain (\d+)", (EXAMPLE / "run.sh").read_text())[1])  # type: ignore[index]
    assert int(services["batch"]["stop_grace_period"].removesuffix("s")) > drain
    volumes = {mount.split(":")[0] for service in services.values() for mount in service.get("volumes", ())}
    assert {name for name in volumes if not name.startswith(".")} == set(document["volumes"])


def test_the_rayjob_has_what_kuberay_needs() -> None:
    claim, job = yaml.safe_load_all((DEPLOY / "rayjob.yaml").read_text())
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    spec = job["spec"]
    known = {"entrypoint", "backoffLimit", "shutdownAfterJobFinishes", "ttlSecondsAfterFinished", "rayClusterSpec"}
    assert set(spec) == known
    assert spec["entrypoint"].endswith('exec run-example"')
    cluster = spec["rayClusterSpec"]
    assert set(cluster) == {"rayVersion", "authOptions", "headGroupSpec", "workerGroupSpecs"}
    assert cluster["authOptions"] == {"mode": "token"}
    (group,) = cluster["workerGroupSpecs"]
    assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    for one in (cluster["headGroupSpec"], group):
        assert all(isinstance(value, str) for value in one["rayStartParams"].values())
        pod = one["template"]["spec"]
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert container["envFrom"] == [{"secretRef": {"name": "goalwright"}}], "keys are in a Secret"
        assert not [row for row in container["env"] if re.search("KEY|PASSWORD|TOKEN", row["name"])]
        assert container["resources"]["limits"] == container["resources"]["requests"]
        mounts = {mount["name"] for mount in container.get("volumeMounts", ())}
        assert mounts == {volume["name"] for volume in pod.get("volumes", ())}
    volumes = cluster["headGroupSpec"]["template"]["spec"]["volumes"]
    assert volumes[0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]


def test_the_image_copies_the_package_and_does_not_run_as_root() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    copied = {name for line in re.findall(r"^COPY (?:--\S+ )?(.+) \S+$", text, re.MULTILINE) for name in line.split()}
    assert all((ROOT / name).exists() for name in copied)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert {
        name.partition("/")[0] for name in project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    } < copied
    assert project["project"]["readme"] in copied
    shown = {line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] == "!"}
    assert shown == copied
    assert text.index("USER goalwright") > text.rindex("RUN ")
    assert "'ray[default]'" in text, "RayJobs are submitted to the dashboard, which comes with it"


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("*.sh")), ids=lambda path: path.name)
def test_scripts_are_executable_and_valid(path: Path) -> None:
    assert os.access(path, os.X_OK)
    assert subprocess.run(["bash", "-n", path], check=False, timeout=30).returncode == 0
