#!/bin/sh
# PyTorch's files for CPUs lie in an index of PyTorch's own, which a build has to be told: the general index has
# them for GPUs only, several times the size. Asked at once rather than after minutes of compiling.
# Usage: ACCELERATOR=cpu check_index.sh WHEELS
set -eu

[ "$ACCELERATOR" = cpu ] || exit 0
[ -z "${PIP_NO_INDEX:-}${PIP_INDEX_URL:-}${PIP_EXTRA_INDEX_URL:-}" ] || exit 0
for wheel in "$1"/torch-*.whl; do
  [ ! -e "$wheel" ] || exit 0
done
cat >&2 <<'END'
PyTorch for CPUs is not in the general package index. Name PyTorch's own one, the address that
https://pytorch.org/get-started/locally/ shows behind --index-url for Linux, Pip, Python and CPU:
  docker build --build-arg PIP_EXTRA_INDEX_URL=ADDRESS .
The stage xgboost needs none: docker build --target xgboost .
END
exit 1
