#!/usr/bin/env bash
# Fetches the page's libraries again at their pinned versions and checks what came. Usage: static/vendor/update.sh
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() { # PACKAGE VERSION FILE TARGET SHA256
    (cd "$work" && npm pack --silent "$1@$2" >/dev/null && tar xzf "${1##*/}-$2.tgz")
    echo "$5  $work/package/$3" | sha256sum --check --quiet
    mkdir -p "$(dirname "$4")"
    install -m 644 "$work/package/$3" "$4"
    rm -rf "$work/package"
}
fetch htm 3.1.1 preact/standalone.module.js htm-preact-3.1.1/standalone.module.js 72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7
fetch htm 3.1.1 LICENSE htm-preact-3.1.1/LICENSE-htm 740725f7252e750af735d0028cc534970772f513331e9f68150fede8fb3ce00f
fetch preact 10.19.3 LICENSE htm-preact-3.1.1/LICENSE-preact 1fe6958409c8c257a70c587a18b6f7f412b179b456630790d30b2ec9a8e4b7d4
fetch uplot 1.6.32 dist/uPlot.esm.js uplot-1.6.32/uPlot.esm.js 5dd9b3281aa64b461b42d9945f6adb2649d346502b12281a9ae0d46599a80eba
fetch uplot 1.6.32 dist/uPlot.min.css uplot-1.6.32/uPlot.min.css df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04
fetch uplot 1.6.32 LICENSE uplot-1.6.32/LICENSE 8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd
