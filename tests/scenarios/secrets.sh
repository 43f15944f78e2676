#!/bin/sh
# Secrets of a call are in memory as long as they are needed, and no longer: session id and token of the lease, and the key of the
# transport encryption. control passes a lease on and keeps nothing of it. mediad needs it until the session ends, for a resume.
# (guildd's session id is also that of the main gateway, which control keeps to resume it.)
# The memory of both is searched, the libraries' buffers included.
#
#   tests/scenarios/secrets.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-secrets-XXXXXX)
. tests/scenarios/common

make -s build/tests/search-memory || exit 1
start_guildd
start_brain
start_mediad mediad
mediad=$last
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
control=$last
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
gone() { [ -z "$(session $GUILD)" ]; }

# The key as it stands in op 4, from its second byte on: "12,34,…".
decimal() { echo "$1" | cut -c3-34 | sed 's/../ 0x&/g' | xargs printf '%d,' | sed 's/,$//'; }
# learn: what to search for, of the session that is up.
learn() {
	local s
	s=$(api GET /users/$BOT/secrets)
	token=$(echo "$s" | field token) session=$(echo "$s" | field session_id) key=$(echo "$s" | field secret_key)
	[ -n "$token" ] && [ -n "$session" ] && [ ${#key} = 64 ] || bad "the secrets of the session" "unknown"
}
# search PID: how often session id, token, key and the key's JSON are in its memory; where, in search.log.
search() {
	build/tests/search-memory "$1" "session=text:$session" "token=text:$token" "key=$key" "json=text:$(decimal "$key")" >"$D/found"
	[ $? = 77 ] && { echo "0 passed, 0 failed, 1 skipped: the memory of processes may not be read here"; exit 0; }
	{ echo "$2"; cat "$D/found"; } >>"$D/search.log"
	cut -d' ' -f2 "$D/found" | paste -sd' '
}

learn
sleep 1
read -r a b c d <<<"$(search $mediad up)"
read -r _ e f g <<<"$(search $control up)"
is "control has passed the lease on and has nothing of it" "$e $f $g" "0 0 0"
is "mediad has the lease once" "$a $b" "1 1"
within "and the key" "$c" 1 3
is "but not as it came" "$d" 0
api POST /users/$BOT/leave "{\"guild_id\":\"$GUILD\"}" >/dev/null
until_ok 8 gone || bad "the call ends" "$(session $GUILD)"
sleep 1.5
is "nothing is in mediad's memory after the call" "$(search $mediad left)" "0 0 0 0"
read -r _ e f g <<<"$(search $control left)"
is "nor in control's" "$e $f $g" "0 0 0"
[ $failed = 0 ] || cat "$D/search.log"
report
