#!/bin/sh
# The soundboard: what others play reaches the room.
#
#   tests/scenarios/sounds.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-sounds-XXXXXX)
. tests/scenarios/common

start_guildd
start_brain
start_mediad one
start control "$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
api POST /users/$ALICE/join "{\"guild_id\":\"$GUILD\",\"channel_id\":\"$VOICE\"}" >/dev/null
api POST /users/$ALICE/sound "{\"guild_id\":\"$GUILD\",\"sound_id\":\"2\"}" >/dev/null
heard() { grep -qs "sound_heard guild=$GUILD user=$1 sound=$2" "$D/control.log"; }
until_ok 10 heard $ALICE 2 && ok "the room gets an event for a soundboard sound" || bad "the room gets an event for a soundboard sound" "it is not"
report
