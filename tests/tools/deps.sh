#!/usr/bin/env bash
# Installs those packages of a list (one a line, # comments) that the machine lacks. Does nothing, quickly, when all are
# there. Keeps postgresql-common from starting a cluster of its own. Usage: deps.sh LIST [LAST_SECTION]; with a section's
# name (`# [NAME]` in the list), only the list up to and with that section.
set -euo pipefail
list=$1
last=${2:-}
mapfile -t wanted < <(awk -v last="$last" '
    /^# \[.*\]/ { if (last != "" && seen) exit; if ($2 == "[" last "]") seen = 1; next }
    /^#/ { next } NF { print $1 }' "$list")
# dpkg-query fails when it has never heard of one of the names, which is what a bare machine is like: that is an answer, no error.
have=$({ dpkg-query -W -f '${Package} ${Status}\n' "${wanted[@]}" 2>/dev/null || true; } |
    awk '/install ok installed/ { print $1 }')
missing=()
for package in "${wanted[@]}"; do
    grep -qx -- "$package" <<<"$have" || missing+=("$package")
done
# A Node.js installed by other means than Debian's package serves as well.
if command -v node >/dev/null && command -v npm >/dev/null; then
    kept=()
    for package in "${missing[@]}"; do
        [[ $package == nodejs || $package == npm ]] || kept+=("$package")
    done
    missing=("${kept[@]}")
fi
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || {
        echo "These packages are missing and need root to install: ${missing[*]}" >&2
        echo "Run as root: apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 1
    }
    as_root=(sudo)
fi
echo "Installing ${#missing[@]} missing packages: ${missing[*]}"
# Debian makes and starts a cluster on install unless told otherwise before the package is unpacked.
conf=/etc/postgresql-common/createcluster.d/rackrate.conf
if [[ ! -e $conf ]]; then
    "${as_root[@]}" mkdir -p "${conf%/*}"
    echo 'create_main_cluster = false' | "${as_root[@]}" tee "$conf" >/dev/null
fi
# nginx is used by benchmarks only, on a port of their own; its service must not start here.
install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
        apt-get install -y -q --no-install-recommends "${missing[@]}"
}
"${as_root[@]}" apt-get update -q
install
