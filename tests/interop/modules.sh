#!/bin/sh
# The npm packages of this folder. The lock file pins everything. Of all install scripts only zlib-sync's may run
# (package.json, allowScripts).
set -eu
cd "$(dirname "$0")"
if ! cmp -s package-lock.json node_modules/.parley-lock; then
	echo 'installing the npm packages of tests/interop' >&2
	npm ci --no-audit --no-fund --loglevel=error >&2
	cp package-lock.json node_modules/.parley-lock
fi
