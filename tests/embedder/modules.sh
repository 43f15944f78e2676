#!/bin/sh
# Installs the npm packages of this folder. The lock file pins each by its hash, and no install script runs.
set -eu
cd "$(dirname "$0")"
if ! cmp -s package-lock.json node_modules/.parley-lock; then
	npm ci --no-audit --no-fund --ignore-scripts --loglevel=error >&2
	cp package-lock.json node_modules/.parley-lock
fi
