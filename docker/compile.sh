#!/bin/sh
# Put the wheels of packages that no index has as a wheel into a folder: from /build/wheels, else compiled.
# Usage: compile.sh FOLDER NAME...; names are those of the wheels' files.
set -eu

made=$1
shift

missing=
for name; do
  cp /build/wheels/"$name"-*.whl "$made/" 2>/dev/null || missing="$missing $name"
done
[ -n "$missing" ] || exit 0

if [ -n "${PIP_NO_INDEX:-}" ]; then
  echo "There is no package index, and docker/wheels has no wheel of:$missing. Run: python docker/wheels.py" >&2
  exit 1
fi
if ! command -v c++ >/dev/null || ! command -v cmake >/dev/null; then
  apt-get -q update
  DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends g++ cmake make python3-dev
fi
python3 -m venv /build/compiling
pip="/build/compiling/bin/pip --quiet --disable-pip-version-check"
for name in $missing; do
  if [ "$name" = horovod ]; then
    $pip install --no-deps --require-hashes -r "/build/lock/$ACCELERATOR/horovod.txt"
    $pip install wheel
    nccl=
    if [ "$ACCELERATOR" != cpu ]; then
      nccl=--nccl
      $pip install --no-deps --require-hashes -r "/build/lock/$ACCELERATOR/nvcc.txt"
    fi
    /build/compiling/bin/python /build/horovod/build_wheel.py --into "$made" $nccl
  else
    grep "^$name==" /build/built.txt >/build/one.txt
    $pip wheel --no-deps --require-hashes --no-binary :all: --wheel-dir "$made" -r /build/one.txt
  fi
done
