#!/bin/sh
# The npm packages of this folder; the lock file pins everything, and no install script runs. They take half a gigabyte.
set -eu
cd "$(dirname "$0")"
if ! cmp -s package-lock.json node_modules/.parley-lock; then
	# Not ci: it insists on optional packages of other platforms, which not every registry carries.
	npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error >&2
	cp package-lock.json node_modules/.parley-lock
fi
