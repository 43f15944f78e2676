#!/bin/sh
# Several mediads under one control: a call goes to the mediad with the fewest calls, a mediad that dies affects only its own
# calls, one that comes back is used again, and a new control finds every call where it is. Meanwhile a member listens to the
# bot in the one call that must not be affected.
#
#   tests/scenarios/several.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-several-XXXXXX)
. tests/scenarios/common

start_control() {
	start control "$B/control" --media-sock "$D/one.sock" --media-sock "$D/two.sock" --state-dir "$D/state" --ca "$CA"
	control=$last
}
# where GUILD: the mediad its call was given to last, or found at.
where() { grep -E "call_(placed|found) guild=$1 " "$D/control.log" | tail -1 | sed -nE 's/.*path=.*\/([a-z]+)\.sock.*/\1/p'; }
placed() { grep -cE "call_placed guild=$1 " "$D/control.log"; }
said() { [ "$(grep -acE "$2" "$D/$1.log")" -ge "${3:-1}" ]; }
# facts GUILD CHANNEL: what may not change in a call that is left alone: SSRC, no jump of sequence numbers or of time.
facts() {
	local stats
	stats=$(api GET /stats)
	echo "ssrc $(session "$1" "$stats" | field ssrc) jumps $(stream "$2" "$stats" | field seq_jumps) odd $(stream "$2" "$stats" | field ts_odd) identify $(count "$1" voice_op_0 "$stats") resume $(count "$1" voice_op_7 "$stats")"
}
runs() { # how many unbroken runs of sealed packets alice was sent by the bot
	echo "$forwarded" | tr '{' '\n' | grep "\"user_id\":\"$BOT\"" | sed -nE 's/.*"runs": ?\[(.*)/\1/p' | grep -oE '\[[0-9]+, ?[0-9]+\]' | wc -l
}
heard_from_bot() { echo "$forwarded" | tr '{' '\n' | grep "\"user_id\":\"$BOT\"" | field count; }

start_guildd --set op4_same_server=1 --set record_forwarded=1
start_brain
new_guild Second
G2=$NEW T2=$NEW_TEXT V2=$NEW_VOICE
new_guild Third
G3=$NEW T3=$NEW_TEXT V3=$NEW_VOICE
new_guild Fourth
G4=$NEW T4=$NEW_TEXT V4=$NEW_VOICE
start_mediad one
one=$last
start_mediad two
start_mediad caller
start_control
until_ok 10 registered || bad commands "not registered"

# ---- placement by load ----
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "first call" "not up"
join "$T2" "$V2"
until_ok 10 up "$G2" || bad "second call" "not up"
join "$T3" "$V3"
until_ok 10 up "$G3" || bad "third call" "not up"
# The third goes where fewer are: with one each that is the first of them again.
is "calls go to the mediad with the fewest" "$(where $GUILD) $(where "$G2") $(where "$G3")" "one two one"
is "each mediad holds its own" "$(grep -c 'phase=up' "$D/one.log") $(grep -c 'phase=up' "$D/two.log")" "2 1"

# Each call has begun with silence, which was announced, and taken back a second later.
silent() { [ "$(api GET /stats | tr '{' '\n' | grep '"described"' | grep "\"user_id\":\"$BOT\"" | grep -c '"speaking":0')" = 3 ]; }
until_ok 5 silent || bad "the calls are silent" "no"

# ---- one dies, while the other's call is being heard ----
"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/caller.sock" --offlined "$B/offlined" --record "$D/brain" --out "$D/out" \
	--guild "$G2" --channel "$V2" --user $ALICE --bot $BOT --say "parley what can you do" >"$D/caller.out" 2>&1 &
caller=$!
started="$started $caller"
until_ok 15 grep -q "the caller begins to speak" "$D/caller.out" || bad "the person comes" "no"
op5=$(count $BOT voice_op_5)
until_ok 15 grep -q "the bot begins to speak" "$D/caller.out" && ok "the bot answers over the second mediad" || bad "the bot answers over the second mediad" "$(tail -1 "$D/caller.out")"
before=$(facts "$G2" "$V2") op5=$(($(count $BOT voice_op_5) - op5))
kill9 "$one"
died=$(date +%s%N)
until_ok 8 said control "call_moved guild=$G3" && ok "a lost call is moved, by name" || bad "a lost call is moved, by name" "$(where "$G3")"
until_ok 5 up $GUILD && until_ok 5 up "$G3" || bad "both lost calls come back" "no"
is "to the mediad that is left" "$(where $GUILD) $(where "$G3")" "two two"
within "within 5 s" $((($(date +%s%N) - died) / 1000000)) 0 5000
said control "call_state guild=$GUILD phase=unknown reason=media_lost" && said control "call_state guild=$G3 phase=unknown reason=media_lost" &&
	! said control "call_state guild=$G2 phase=unknown" && ok "only its calls were lost" || bad "only its calls were lost" "see control.log"
is "with one further Identify each" "$(count $GUILD voice_op_0) $(count "$G3" voice_op_0)" "2 2"
forwarded=$(api GET /users/$ALICE/forwarded)
speaks=$(session "$G2" | grep -o '"speaking":1')
kill "$caller"
is "the bot of the other call continues to speak" "$speaks" '"speaking":1'
is "its session was not affected" "$(facts "$G2" "$V2")" "$before"
is "without a gap in its sequence numbers" "$(runs)" 1
within "and that was sound" "$(heard_from_bot)" 100 5000
is "op 5 was sent once when it began" "$op5" 1

# ---- it comes back ----
start_mediad one
until_ok 5 said control "mediad_synced path=$D/one.sock " 2 && ok "a mediad that comes back is synced" || bad "a mediad that comes back is synced" "no"
join "$T4" "$V4"
until_ok 10 up "$G4" || bad "fourth call" "not up"
is "and is given the next call" "$(where "$G4")" one
is "moved calls stay where they are" "$(where $GUILD) $(where "$G2") $(where "$G3")" "two two two"

# ---- another control, both mediads holding calls ----
# What another control takes over is what was saved; that is a moment after it changed.
until_ok 5 grep -q "\"$G4\",\"channel\"" "$D/state/session.json" || bad "the fourth call is saved" "no"
for g in $GUILD $G2 $G3 $G4; do echo "$g $(session "$g" | field ssrc) $(count "$g" voice_op_0) $(count "$g" main_op_4)"; done >"$D/held"
for round in 1 2 3; do
	kill9 "$control"
	start_control
	until_ok 10 said control "mediad_synced .*synced=2 of=2" $((round + 2)) || bad "another control finds both mediads" "no"
done
sleep 0.5
for g in $GUILD $G2 $G3 $G4; do echo "$g $(session "$g" | field ssrc) $(count "$g" voice_op_0) $(count "$g" main_op_4)"; done >"$D/holds"
is "three further controls leave each call as it was" "$(cat "$D/holds")" "$(cat "$D/held")"
is "each is where it was" "$(where $GUILD) $(where "$G2") $(where "$G3") $(where "$G4")" "two two two one"
is "none was placed again" "$(placed $GUILD) $(placed "$G2") $(placed "$G3") $(placed "$G4")" "2 1 2 1"
said control call_stray && bad "no call is taken for a stray" "$(grep call_stray "$D/control.log")" || ok "no call is taken for a stray"
report
