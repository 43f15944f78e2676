#!/bin/sh
# modules.sh [folder]: the npm packages of this folder of tests/ (interop). The lock file pins everything. Of all install scripts only
# zlib-sync's may run (package.json, allowScripts).
set -eu
folder=${1:-interop}
cd "$(dirname "$0")/../$folder"
if ! cmp -s package-lock.json node_modules/.parley-lock; then
	echo "installing the npm packages of tests/$folder" >&2
	npm ci --no-audit --no-fund --loglevel=error >&2
	cp package-lock.json node_modules/.parley-lock
fi
