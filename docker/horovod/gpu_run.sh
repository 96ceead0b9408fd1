#!/usr/bin/env bash
# Trains on all GPUs of this machine and checks what a run on GPUs must show. Not run yet: no GPU was at hand.
#
#   docker/horovod/gpu_run.sh PYTHON MNIST      a Python with a torch for CUDA, and the folder of MNIST's files
#
# It must show
#   1. the wheel with NCCL builds for this torch, and its operations are NCCL's;
#   2. one rank for each GPU, each on a GPU of its own;
#   3. NCCL at work: its own log names a ring of that many ranks;
#   4. an accuracy above 0.97 after 5 epochs, as on processors.
set -euo pipefail
python=$1 mnist=$2
cd "$(dirname "$0")/../.."
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

gpus=$("$python" -c 'import torch; print(torch.cuda.device_count())')
test "$gpus" -ge 1 || { echo "PyTorch finds no GPU here" >&2; exit 2; }

"$python" -m pip install --quiet -r docker/horovod/build-requirements.txt
"$python" -m pip install --quiet --no-deps --require-hashes -r docker/lock/cuda/nvcc.txt
wheel=$("$python" docker/horovod/build_wheel.py --nccl)
"$python" -m pip install --quiet --force-reinstall --no-deps "$wheel"
"$python" -m pip install --quiet -e '.[horovod,launch]'
"$python" -c 'import horovod.torch as hvd; assert hvd.nccl_built(), "the wheel has no NCCL"'

"$python" examples/digits/prepare.py --mnist "$mnist"
cat >"$home/job.toml" <<JOB
name = "gpu"
output = "out"
[hyperparameters]
algorithm = "horovod"
ring = "horovod"
epochs = 5
[channels]
train = { path = "$PWD/examples/digits/data/train" }
validation = { path = "$PWD/examples/digits/data/validation" }
[cluster]
hosts = 1
[environment]
NCCL_DEBUG = "INFO"
JOB
"$python" -m bandstand.cli --home "$home" train "$home/job.toml" --json >"$home/facts.json"
"$python" -m bandstand.cli --home "$home" logs gpu >"$home/log"

if [ "$gpus" -gt 1 ]; then
  grep -q "summed around horovod's ring: $gpus ranks on 1 hosts, $gpus each, on cuda" "$home/log" || { echo "not one rank for each GPU" >&2; exit 1; }
  grep -q "NCCL INFO .*nranks $gpus" "$home/log" || { echo "no ring of NCCL's in the log" >&2; exit 1; }
else
  grep -q "one rank on cuda:0" "$home/log" || { echo "the rank is not on the GPU" >&2; exit 1; }
  echo "one GPU only: NCCL had nothing to do" >&2
fi
"$python" - "$home/facts.json" <<'CHECK'
import json, sys

points = [p["value"] for p in json.load(open(sys.argv[1]))["metrics"] if p["name"] == "validation:accuracy"]
assert len(points) == 5 and points[-1] > 0.97, points
print("accuracy", points[-1])
CHECK
echo "as it must be, on $gpus GPUs"
