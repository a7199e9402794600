#!/usr/bin/env bash
# Lints the contract; a warning fails. Usage: lint.sh
set -euo pipefail
cd "$(dirname "$0")"
[[ -d node_modules/@redocly ]] || npm ci --ignore-scripts --no-audit --no-fund --silent
npx --no-install redocly lint --config redocly.yaml --max-problems 1000 ../../static/openapi.json
