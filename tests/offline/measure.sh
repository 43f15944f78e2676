#!/bin/sh
# Measures the recognition rate of offlined. `measure.sh` runs the whole measurement (about 20 minutes on 2 cores, in `make
# check-long`), `measure.sh short` a part of it for every check (about a minute).
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
make -s B="$B" "$B/offline_measure"
case ${1:-} in
short) set -- --every 15 --loss 0 ;;
'') set -- --loss 0,5,10 --verbose ;;
esac
exec "$B/offline_measure" "$@" --not-meant tests/offline/not_meant.txt --promised tests/offline/commands.txt \
	tests/offline/phrases_outside.txt tests/offline/phrases.txt
