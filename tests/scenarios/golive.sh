#!/bin/sh
# A stream (Go Live) between two mediads under DAVE: one person of guildd publishes a film, another watches it. What the viewer gets is
# the film, byte for byte: key frames alone, then every frame, also where packets are lost.
#
#   tests/scenarios/golive.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-golive-XXXXXX)
. tests/scenarios/common
needs golive
OWNER=601 VIEWER=602

start_guildd
GATEWAY=$(field gateway <"$D/ready")
for person in "$OWNER owner" "$VIEWER viewer"; do
	set -- $person
	api POST /bots "{\"id\":\"$1\",\"name\":\"$2\",\"token\":\"$2.token\",\"person\":true}" >/dev/null
	api POST "/guilds/$GUILD/members" "{\"user_id\":\"$1\"}" >/dev/null
	start "$2" "$B/mediad" --listen "$D/$2.sock" --ca "$CA" --threads 1
	until_ok 10 test -S "$D/$2.sock" || bad "the mediad of the $2" "did not start"
done

# watched CODEC FILM [every] [FRAMES]: what the viewer got goes to $D/golive.out.
watched() {
	local codec=$1 film=$2
	shift 2
	"$B/golive" "$GATEWAY" "$CA" $GUILD $VOICE "$codec" "$film" owner.token viewer.token "$D/owner.sock" "$D/viewer.sock" "$@" >"$D/golive.out" 2>&1
}
of() { tail -1 "$D/golive.out" | grep -oE "(^| )$1=[0-9]+" | cut -d= -f2; }

for film in "h264 tests/data/golive/film.h264" "vp8 tests/data/golive/film.vp8.ivf" "av1 tests/data/golive/film.av1.ivf"; do
	set -- $film
	[ -s "$2" ] || { bad "$1" "no film $2"; continue; }
	watched "$1" "$2" 2 && ok "key frames of $1, byte for byte ($(tail -1 "$D/golive.out"))" || bad "key frames of $1" "$(tail -3 "$D/golive.out")"
	watched "$1" "$2" every 45 && ok "every frame of $1" || bad "every frame of $1" "$(tail -3 "$D/golive.out")"
	is "frames of $1 that were dropped on the way" "$(of gap)" 0
	# The viewer requests lost packets again, or else the next key frame: every frame that arrives is whole.
	switch '{"loss_permille":30,"up_loss_permille":30,"delay_ms":20,"jitter_ms":10}'
	watched "$1" "$2" every 45 && ok "every frame of $1 over a bad network" || bad "$1 over a bad network" "$(tail -3 "$D/golive.out")"
	[ "$(of again)" -gt 0 ] && ok "packets of $1 were sent again ($(of again))" || bad "packets of $1" "none was sent again"
	switch '{"loss_permille":0,"up_loss_permille":0,"delay_ms":0,"jitter_ms":0}'
done
is "video in the clear" "$(count $OWNER video_plaintext)" 0
report
