"""samples/slurm without Slurm: what its jobs give to the program. tests/slurm/slurm.sh runs them on a Slurm."""

import os

import pytest
import xtts_precompute as xp
from support import PROGRAM, PROJECT, make_corpus, ran

BUILD = PROJECT / "samples/slurm/build.sh"
if not BUILD.exists():
    pytest.skip("samples/ is not here", allow_module_level=True)

# Runs a job at once, and each element of an array.
SBATCH = """#!/usr/bin/env bash
elements=1
while [[ $1 == --* ]]; do
  [[ $1 != --array=* ]] || elements=${1#--array=1-}
  shift
done
for element in $(seq "${elements%%%*}"); do
  SLURM_ARRAY_TASK_ID=$element bash "$@" >&2 || exit
done
echo 7
"""


def test_limits_reach_the_plan_the_parts_and_the_set(tmp_path):
    make_corpus(tmp_path / "data", 37)
    for number in range(0, 36, 6):
        (tmp_path / f"data/clip-{number:03}.wav").write_text("no sound")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/sbatch").write_text(SBATCH)
    (tmp_path / "bin/sbatch").chmod(0o755)
    (tmp_path / "bin/xtts-precompute").symlink_to(PROGRAM)
    variables = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "SLURM_CPUS_PER_TASK": "1"}

    def build(limits):
        options = ["--layout", "packed", "--set", "max_frames=52428"]
        return ran("bash", BUILD, tmp_path / "data", tmp_path / "out", 3, *options, environment={**variables, **limits})

    refused = build({})
    assert refused.returncode == 3, refused.stderr
    done = build({"LIMITS": "--max-rejects 40% --max-dropped 20%"})
    assert done.returncode == 0, done.stderr
    assert len(xp.open(tmp_path / "out").ids) == 31
