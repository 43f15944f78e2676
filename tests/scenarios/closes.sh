#!/bin/sh
# Every close code of the voice gateway, each in a call of its own: verifies the action with its number of Identifies and
# Resumes, and that retries end when a gateway closes every connection. The codes and their actions come from proto/voice.def.
#
#   tests/scenarios/closes.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-closes-XXXXXX)
. tests/scenarios/common

start_guildd --set op4_same_server=1
# No provider listens at this address, because the scenario tests calls only.
export PARLEY_BRAIN_URL=ws://127.0.0.1:9/
# One line per code: code action cool_ms guild text voice. No frame carries 1006: guildd drops the connection.
rows() { sed -nE 's/^[[:space:]]*CLOSE\(([0-9]+), [a-z_]+, ([A-Z]+), ([A-Z_]+), ([0-9]+), .*/\1 \2 \3 \4/p' proto/voice.def; }
while read -r code action reason cool; do
	new_guild "Code $code"
	echo "$code $action $reason $cool $NEW $NEW_TEXT $NEW_VOICE"
done < <(rows) >"$D/rows"
is "the table has rows" "$(($(wc -l <"$D/rows") >= 20))" 1
start_mediad mediad
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
while read -r _ _ _ _ _ text voice; do join "$text" "$voice"; done <"$D/rows"
all_up() { [ "$(api GET /stats | grep -oE '"connected":true,"described":true' | wc -l)" = "$(wc -l <"$D/rows")" ]; }
until_ok 20 all_up && ok "a call for each code" || bad "a call for each code" "not all are up"
sleep 0.3 # the silence that opens a call has left

# ---- each code once ----
before=$(api GET /stats)
while read -r code _ _ _ guild _ _; do
	if [ "$code" = 1006 ]; then
		api POST /users/$BOT/drop "{\"which\":\"voice\",\"guild_id\":\"$guild\"}"
	else
		api POST /users/$BOT/close "{\"which\":\"voice\",\"guild_id\":\"$guild\",\"code\":$code}"
	fi >/dev/null
done <"$D/rows"
sleep 0.4
early=$(api GET /stats)
all_back() { # those that ought to be up are
	local stats
	stats=$(api GET /stats)
	while read -r code action _ cool guild _ _; do
		case $action in FATAL) continue ;; esac
		[ "$cool" -lt 60000 ] || continue
		case $(session "$guild" "$stats") in *'"connected":true,"described":true'*) ;; *) return 1 ;; esac
	done <"$D/rows"
}
until_ok 12 all_back || bad "calls come back" "not all"
sleep 0.3
after=$(api GET /stats)
while read -r code action reason cool guild _ _; do
	ids=$(($(count "$guild" voice_op_0 "$after") - $(count "$guild" voice_op_0 "$before")))
	soon=$(($(count "$guild" voice_op_0 "$early") - $(count "$guild" voice_op_0 "$before")))
	resumes=$(($(count "$guild" voice_op_7 "$after") - $(count "$guild" voice_op_7 "$before")))
	same=$([ "$(session "$guild" "$before" | field ssrc)" = "$(session "$guild" "$after" | field ssrc)" ] && echo same || echo new)
	[ -n "$(session "$guild" "$after")" ] || same=none
	why=$(grep -E "call_state guild=$guild .*code=$code " "$D/control.log" | sed -nE 's/.*reason=([a-z_]+).*/\1/p' | head -1)
	[ "$code" = 1006 ] && why=$(grep -E "call_state guild=$guild phase=resuming" "$D/control.log" | sed -nE 's/.*reason=([a-z_]+).*/\1/p' | head -1)
	got="Identify $ids, Resume $resumes, session $same, reason $why"
	low=$(echo "$reason" | tr '[:upper:]' '[:lower:]')
	case $action in
	RESUME | ONCE)
		want="Identify 0, Resume 1, session same, reason $low"
		# guildd ends the session with this code, so it refuses the Resume and mediad joins a new session.
		[ "$code" != 4013 ] || want="Identify 1, Resume 1, session new, reason $low"
		;;
	FRESH | WAIT) want="Identify $((cool >= 60000 ? 0 : 1)), Resume 0, session $([ "$cool" -ge 60000 ] && echo none || echo new), reason $low" ;;
	FATAL) want="Identify 0, Resume 0, session none, reason $low" ;;
	esac
	is "$code $action" "$got" "$want"
	[ "$cool" = 0 ] || is "$code cools down" "$soon" 0
done <"$D/rows"

# ---- a gateway that closes every connection ----
before=$(api GET /stats)
switch '{"voice_refuse":4006}'
while read -r _ _ _ _ guild _ _; do
	api POST /users/$BOT/close "{\"which\":\"voice\",\"guild_id\":\"$guild\",\"code\":4006}" >/dev/null
done <"$D/rows"
sleep 4
after=$(api GET /stats)
most=0 least=99
while read -r code action _ cool guild _ _; do
	[ "$action" != FATAL ] && [ "$cool" -lt 60000 ] || continue
	n=$(($(count "$guild" voice_op_0 "$after") - $(count "$guild" voice_op_0 "$before")))
	[ "$n" -le $most ] || most=$n
	[ "$n" -ge $least ] || least=$n
done <"$D/rows"
within "refused at once: no call tries more than four times in four seconds" $most 1 4
within "and each tries" $least 1 4
report
