#!/bin/sh
# `make bench`: runs the benches of tests/bench/rows, prints a table and writes build/bench.jsonl and build/bench/NAME.raw.
#
#   ROW=name   only the bench that makes this row (its other rows come along)
#   LATE="S N" seconds and turns of each sender of music_late; "30 120" makes an hour of each, and takes two and more
#
# A missed goal is not a failure; a bench that cannot run is.
set -eu
cd "$(dirname "$0")/../.."
out=build/bench.jsonl
mkdir -p build/bench
raw=build/bench
export BENCH_RAW="$PWD/$raw" BIN="$PWD/build"
rows=tests/bench/rows
field() { sed 's/#.*//' "$rows" | awk -F'|' -v n="$1" 'NF >= 4 { gsub(/^[ \t]+|[ \t]+$/, "", $n); if (!seen[$n]++) print $n }'; }

if [ -n "${ROW:-}" ]; then
	benches=$(sed 's/#.*//' "$rows" | awk -F'|' -v row="$ROW" '{ gsub(/[ \t]/, "", $1); gsub(/[ \t]/, "", $3) } $1 == row { print $3 }')
	[ -n "$benches" ] || { echo "bench: no row is called $ROW; they are:" >&2; field 1 >&2; exit 2; }
else
	benches=$(field 3)
fi

new=$(mktemp)
trap 'rm -f "$new" "$new.err" "$new.chaos" "$new.killed"' EXIT
failed=0
for b in $benches; do
	[ -t 2 ] && printf '%s …\n' "$b" >&2
	case $b in
	chaos)
		[ -n "${ROW:-}" ] || continue
		build/chaos --seeds "${BENCH_SEEDS:-1000}" --rows >"$new.chaos" || { echo "bench: $b failed" >&2; failed=1; }
		grep '^{' "$new.chaos" >>"$new"
		grep -v '^{' "$new.chaos" >&2
		;;
	sound)
		[ -n "${ROW:-}" ] || continue
		for kind in "--rooms 12" "--rooms 8 --noise"; do
			# shellcheck disable=SC2086
			ROWS="$new" tests/sound/run.sh --items "${SOUND_ITEMS:-60}" $kind >&2 || { echo "bench: $b failed" >&2; failed=1; }
		done
		;;
	open_mic_calls)
		[ -n "${ROW:-}" ] || continue
		ROWS="$new" tests/sound/run.sh --rooms 5 --open-mic 600 >&2 || { echo "bench: $b failed" >&2; failed=1; }
		;;
	dashboard)
		[ -n "${ROW:-}" ] || continue
		make -s build/caller
		ROWS="$new" tests/dashboard.sh build >"$new.err" || { cat "$new.err" >&2; echo "bench: $b failed" >&2; failed=1; }
		;;
	xss)
		[ -n "${ROW:-}" ] || continue
		ROWS="$new" tests/dashboard/xss.sh build >"$new.err" || { cat "$new.err" >&2; echo "bench: $b failed" >&2; failed=1; }
		;;
	hostile)
		disturbed=0
		DECODER_FILES=91 build/tests/decoder damaged_files >&2 || disturbed=1
		printf '{"name": "decoder_kills", "value": %s, "unit": "", "n": 1001}\n' "$disturbed" >>"$new"
		;;
	hostile_pictures)
		disturbed=0
		PICTURE_FILES=143 build/tests/picture damaged_pictures_disturb_no_other_one >&2 || disturbed=1
		printf '{"name": "image_kills", "value": %s, "unit": "", "n": 1001}\n' "$disturbed" >>"$new"
		;;
	music_killed)
		tests/scenarios/music_killed.sh build >"$new.killed" || { echo "bench: $b failed" >&2; failed=1; }
		sed -nE 's/^resume_error_ms ([0-9]+)$/\1/p' "$new.killed" | sort -n | awk '{ worst = $1 }
			END { if (NR) printf "{\"name\": \"resume_error_ms\", \"value\": %d, \"unit\": \"ms\", \"n\": %d}\n", worst, NR }' >>"$new"
		;;
	shown_screen)
		: >"$new.killed"
		for s in share golive_watch; do
			tests/scenarios/$s.sh build >>"$new.killed" || { echo "bench: $s failed" >&2; failed=1; }
		done
		awk '/^frames_kept / { n += $2; k++ } END { if (k) printf "{\"name\": \"frames_kept\", \"value\": %d, \"unit\": \"\", \"n\": %d}\n", n, k }' "$new.killed" >>"$new"
		;;
	music_late) build/bench/music_late ${LATE:-} >>"$new" || { echo "bench: $b failed" >&2; failed=1; } ;;
	escape) build/tests/escape --rows >>"$new" || { echo "bench: $b failed" >&2; failed=1; } ;;
	pixels | room_load)
		[ -n "${ROW:-}" ] || continue
		"build/bench/$b" >>"$new" || { echo "bench: $b failed" >&2; failed=1; }
		;;
	*.mjs) tests/interop/run.sh --bench "$b" >>"$new" || { echo "bench: $b failed" >&2; failed=1; } ;;
	*) "build/bench/$b" >>"$new" || { echo "bench: $b failed" >&2; failed=1; } ;;
	esac
done

# A new row replaces the older row of the same name.
touch "$out"
awk -F'"' 'FILENAME == ARGV[1] { seen[$4] = 1; next } !($4 in seen)' "$new" "$out" >"$new.old"
cat "$new.old" "$new" >"$out"
rm -f "$new.old"

awk -v rows="$rows" '
BEGIN {
	while ((getline line < rows) > 0) {
		if (line ~ /^#/ || split(line, f, "|") < 4) continue
		for (i in f) gsub(/^[ \t]+|[ \t]+$/, "", f[i])
		goal[f[1]] = f[2]; what[f[1]] = f[4]
	}
	printf "%-22s %12s %-8s %-10s %s\n", "row", "value", "unit", "goal", "what"
}
{
	name = $0; sub(/.*"name": ?"/, "", name); sub(/".*/, "", name)
	value = $0; sub(/.*"value": ?/, "", value); sub(/[,}].*/, "", value)
	unit = $0; sub(/.*"unit": ?"/, "", unit); sub(/".*/, "", unit)
	miss = ""
	split(goal[name], g, " ")
	if (g[1] == "<=" && value + 0 > g[2] + 0 || g[1] == ">=" && value + 0 < g[2] + 0) miss = " (short)"
	printf "%-22s %12s %-8s %-10s %s%s\n", name, value, unit, goal[name], what[name], miss
}' "$new"
exit $failed
