#!/bin/sh
# Install packages into a virtual environment so that two builds make the same files.
# Usage: install.sh VENV FILE...; a FILE is a list of pinned and hashed packages, or a wheel.
set -eu

venv=$1
shift

words=
for file; do
  case $file in *.txt) words="$words -r $file" ;; *) words="$words $file" ;; esac
done
case $words in *-r\ *) words="--require-hashes $words" ;; esac
# shellcheck disable=SC2086
/build/venv/bin/pip --python "$venv/bin/python" install --quiet --no-deps --no-compile $words

site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
# The tests of libraries, and headers for compilers, of which there are none here.
find "$site"/numpy "$site"/scipy "$site"/pyarrow "$site"/torch -depth -type d \
  \( -name tests -o -path "$site/pyarrow/include" -o -path "$site/torch/include" \) -exec rm -rf {} + 2>/dev/null || true
# Where a wheel came from stands in no file of it.
rm -f "$site"/*.dist-info/direct_url.json
settle() { find "$venv" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +; }
settle
# Compiled once, here: a job's user may not write, and time is paid for. One process and a fixed seed, so that
# the result is the same each time. By time stamp: a hash would be checked at each start.
PYTHONHASHSEED=0 "$venv/bin/python" -m compileall -q -j 1 --invalidation-mode timestamp "$site" >/dev/null || true
settle
