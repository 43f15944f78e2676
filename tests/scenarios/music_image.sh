#!/bin/sh
# Music in the image of mediad: under the filter that deploy/ gives its container, decoders are locked up and a track plays; where
# the engine's filter forbids the jail, the track is refused in words and nothing is decoded.
#
#   tests/scenarios/music_image.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-music-image-XXXXXX)
. tests/scenarios/common
. tests/scenarios/spoken
. tests/scenarios/members
BOB=502

make -s B="$B" "$B/tests/image_filter" || exit 1
mkdir -p "$D/music/The Waves" "$D/state"
tone "$D/music/The Waves/Night Train.wav" 440 30
# Without Landlock's calls and seccomp: an engine that hands none of them on.
perl -0pe 's/"seccomp",//' deploy/seccomp-mediad.json >"$D/no-jail.json"
start_guildd
start_brain
export PARLEY_MUSIC_FOLDERS=$D/music

answer_of() { api GET "/interactions/$1" | sed -nE 's/.*"(original|data)": ?\{.*"content": ?"((\\.|[^"\\])*)".*/\2/p'; }
answered() { [ -n "$(answer_of "$1")" ]; }
plays() { # the track; the answer goes to $answer
	id=$(api POST /interactions "{\"user_id\":\"$BOB\",\"channel_id\":\"$TEXT\",\"name\":\"music\",\"options\":[{\"name\":\"play\",\"type\":1,\"options\":[$(query "night train")]}]}" | field id)
	until_ok 15 answered "$id"
	answer=$(answer_of "$id")
	case $answer in Playing*) ;; *) false ;; esac
}
# jailed: a process of this mediad may open nothing more.
jailed() {
	local p
	for p in $(pgrep -x decoderd); do
		grep -q "$D/music" "/proc/$p/cmdline" && grep -qE '^Max open files +0 +0 ' "/proc/$p/limits" && return
	done 2>/dev/null
	false
}
mediad_under() { # FILTER NAME
	start "$2" "$B/tests/image_filter" "$1" "$B/mediad" --listen "$D/one.sock" --ca "$CA" --threads 1 --music-root "$D/music"
	mediad=$last
	until_ok 10 grep -q ' decoders ready=1' "$D/$2.log" || bad "$2" "no decoders: $(tail -2 "$D/$2.log")"
}
mediad_under deploy/seccomp-mediad.json image
grep -q 'decoders ready=1 jailed=1' "$D/image.log" && ok "under the image's filter decoders can be locked up" || bad "the jail" "$(grep decoder "$D/image.log")"
control 1
until_ok 10 registered || bad commands "not registered"
api POST /users "{\"id\":\"$BOB\",\"name\":\"bob\"}" >/dev/null
api POST "/guilds/$GUILD/members" "{\"user_id\":\"$BOB\"}" >/dev/null
api POST /users/$BOB/join "{\"guild_id\":\"$GUILD\",\"channel_id\":\"$VOICE\"}" >/dev/null
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
until_ok 10 plays && ok "a member queues a track" || bad "a member queues a track" "$answer"
until_ok 10 jailed && ok "and decoded in a jail" || bad "a decoder" "$(grep -a music "$D/image.log" | tail -2)"
grep -aq track_failed "$D/control1.log" && bad "nothing failed" "$(grep -a track_failed "$D/control1.log")" || ok "nothing failed"

kill9 "$mediad"
kill9 "$control"
mediad_under "$D/no-jail.json" open
control 2
until_ok 20 up $GUILD || bad "the call" "not up again"
until_ok 10 plays
until_ok 20 grep -aq 'track_failed.*decoders cannot be sandboxed' "$D/control2.log" && ok "without a jail the track is refused" ||
	bad "without a jail" "$(grep -a track "$D/control2.log" | tail -2)"
messages | grep -q 'decoders cannot be sandboxed on this system' && ok "in words" || bad "in words" "$(messages)"
jailed && bad "nothing is decoded" "a process is there" || ok "nothing is decoded"
report
