#!/bin/sh
# A base image from Debian's packages, for builds with no image registry at hand: Debian 12, whose Python is 3.11.
# Usage: docker/base.sh [NAME]; needs root, debootstrap and a running engine.
set -eu

name=${1:-bandstand-base:bookworm}
suite=bookworm

[ "$(id -u)" = 0 ] || { echo "docker/base.sh: only root can unpack a base system; run it with sudo" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "docker/base.sh: debootstrap is missing: apt-get install debootstrap" >&2; exit 1; }
command -v docker >/dev/null || { echo "docker/base.sh: there is no docker command: apt-get install docker.io" >&2; exit 1; }

# The mirror that this machine's own apt uses, else debootstrap's default.
mirror=$(apt-get indextargets --format '$(SITE)' "Codename: $suite" 2>/dev/null | head -n 1 || true)
security=$(apt-get indextargets --format '$(SITE)' "Codename: $suite-security" 2>/dev/null | head -n 1 || true)

work=$(mktemp -d)
clear_up() {
  umount "$work/root/proc" "$work/root/sys" 2>/dev/null || true
  umount "$work" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap clear_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# dpkg waits for the disk after every file; in memory that costs nothing.
mount -t tmpfs -o size=2g,mode=700 tmpfs "$work" 2>/dev/null || echo "(without a file system in memory this takes longer)"
root=$work/root

echo "Unpacking Debian $suite ..."
debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates "$suite" "$root" ${mirror:+"$mirror"} \
  >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
umount "$root/proc" "$root/sys" 2>/dev/null || true

if [ -n "$security" ]; then
  echo "deb $security $suite-security main" >>"$root/etc/apt/sources.list"
  echo "Installing its security updates ..."
  { chroot "$root" apt-get -q update && DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get -qy upgrade; } \
    >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
fi

# What no job reads, and what differs from one build to the next.
chroot "$root" apt-get clean
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/* "$root"/var/log/* "$root"/tmp/* "$root"/run/* \
  "$root"/usr/share/doc/* "$root"/usr/share/man/* "$root"/usr/share/info/* "$root"/usr/share/locale/* \
  "$root"/etc/resolv.conf "$root"/etc/hostname "$root"/etc/machine-id "$root"/var/lib/dbus/machine-id
find "$root/usr/lib" -name __pycache__ -type d -prune -exec rm -rf {} +
# As python:slim has it: no documentation, no translations, nothing recommended.
printf 'path-exclude /usr/share/%s/*\n' doc man info locale >"$root/etc/dpkg/dpkg.cfg.d/slim"
printf 'APT::Install-Recommends "false";\n' >"$root/etc/apt/apt.conf.d/slim"

# Sorted names and one time for what is newer: the same packages make the same layer.
tar --create --directory "$root" --one-file-system --sort=name --numeric-owner \
  --mtime="@${SOURCE_DATE_EPOCH:-315532800}" . |
  docker import --change 'CMD ["python3"]' \
    --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8' - "$name" >/dev/null
echo "Made $name"
