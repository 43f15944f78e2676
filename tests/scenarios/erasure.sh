#!/bin/sh
# Erasures through the real programs: a conversation begins anew for a person who was never in the room but whom the memory of the
# server knows, an erasure whose control was killed is carried out by the next one, the answers to /consent survive the restore of an
# older backup, nobody is heard when they cannot be read, and an erasure beside a control with a damaged database ends with an error.
#
#   tests/scenarios/erasure.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-erasure-XXXXXX)
. tests/scenarios/common
CAROL=503777123456789012 DAVE=504777123456789012 NOW=$(date +%s)

start_control() { # NUMBER
	start "control$1" "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
	control=$last
	until_ok 20 up $GUILD || bad "control $1" "the call is not up"
}
holds() { cat "$D/state"/parley.db* "$D/turns" "$D/turns.old" 2>/dev/null | grep -aq "$1"; }
erased() { # LOG TIMES
	[ "$(grep -c 'person_erased error=""' "$D/$1.log")" -ge "$2" ]
}
fact() { # ID USER TEXT
	echo "{\"id\":$1,\"guild\":\"$GUILD\",\"owner\":\"0\",\"said_by\":\"$2\",\"name\":\"x\",\"type\":\"plan\",\"tags\":\"[]\",\"text\":\"$3\",\"written_ms\":${NOW}000,\"valid_from_ms\":${NOW}000,\"valid_until_ms\":null,\"superseded_by\":null}"
}

start_guildd
start_brain
start_mediad mediad
export PARLEY_TURNS="$D/turns"
start control1 "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
control=$last
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
echo "{\"format\":\"parley-memory-1\",\"facts\":[$(fact 1 $CAROL 'the frobozz opens in May'),$(fact 2 $DAVE 'the xyzzy closes in June')]}" >"$D/facts"
"$B/control" --import-memory "$D/facts" --state-dir "$D/state" >"$D/imported" 2>&1 || bad "the facts" "$(cat "$D/imported")"

"$B/control" --erase $CAROL --state-dir "$D/state" >"$D/erased" 2>&1 || bad "control --erase" "$(cat "$D/erased")"
is "a conversation that may quote an absent person begins anew" "$(grep -c conversation_erased "$D/control1.log")" 1
is "the new conversation is told no earlier lines" "$(grep -c ' continued guild=' "$D/control1.log")" 1
holds frobozz && bad "her fact is gone" "it is not" || ok "her fact is gone"
"$B/control" --erase 505777123456789012 --state-dir "$D/state" >"$D/erased" 2>&1 || bad "control --erase" "$(cat "$D/erased")"
is "one that cannot quote the person goes on" "$(grep -c conversation_erased "$D/control1.log")" 1

# The control stands still with the request in its database.
kill -STOP "$control"
echo "{\"user\":\"$DAVE\"}" >>"$D/turns"
echo "{\"user\":\"$DAVE\"}" >"$D/turns.old"
"$B/control" --erase $DAVE --state-dir "$D/state" >"$D/erased" 2>&1 &
asks=$!
started="$started $asks"
sleep 1
kill9 "$asks"
kill9 "$control"
holds xyzzy && ok "an erasure is interrupted" || bad "an erasure is interrupted" "nothing is left"
start_control 2
until_ok 20 erased control2 1 && ok "the next control carries it out" || bad "the next control carries it out" "no receipt"
holds xyzzy || holds $DAVE && bad "nothing of him is left" "$(grep -al "xyzzy\|$DAVE" "$D/state"/* "$D"/turns*)" || ok "nothing of him is left"

# An answer to /consent, a backup from before it, and a key that is gone.
"$B/control" --backup "$D/backup" --state-dir "$D/state" >/dev/null || bad "the backup" "not written"
id=$(api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"consent\",\"options\":[{\"name\":\"answer\",\"type\":3,\"value\":\"neither\"}]}" | field id)
answered() { api GET "/interactions/$id" | grep -q 'not heard'; }
until_ok 10 answered && ok "/consent is answered" || bad "/consent" "$(api GET "/interactions/$id")"
is "what she said before leaves the conversation" "$(grep -c "words_withdrawn.* user=$ALICE" "$D/control2.log")" 1
kill9 "$control"
rm -f "$D/state/parley.db-wal" "$D/state/parley.db-shm"
cp "$D/backup" "$D/state/parley.db"
start_control 3
logged() { grep -q "$2" "$D/$1.log"; }
until_ok 10 logged control3 'consents_replayed changed=1' && ok "a restored backup does not lose the refusal" ||
	bad "a restored backup does not lose the refusal" "$(grep -a consents "$D/control3.log")"
until_ok 10 logged control3 mediad_hello
kill9 "$control"
mv "$D/state/subject-key" "$D/key"
start_control 4
until_ok 10 logged control4 consents_unread && ok "without the key the log says that nobody is heard" || bad "without the key" "no line"
id=$(api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"consent\"}" | field id)
told_so() { api GET "/interactions/$id" | grep -q 'hear nobody, except'; }
until_ok 10 told_so && ok "/consent says so, too" || bad "/consent" "$(api GET "/interactions/$id")"

# A database in which control finds damage after a crash: whoever asks for an erasure beside it is told so, at once.
kill9 "$control"
mv "$D/key" "$D/state/subject-key"
sqlite3 "$D/state/parley.db" "PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null || bad "the WAL" "not emptied"
page=$(sqlite3 "$D/state/parley.db" "SELECT rootpage FROM sqlite_schema WHERE name = 'utterances'")
head -c 4096 /dev/zero | tr '\0' Z | dd of="$D/state/parley.db" bs=4096 seek=$((page - 1)) conv=notrunc 2>/dev/null
start control5 "$B/control" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"
control=$last
until_ok 20 logged control5 store_fault || bad "the damage is found" "$(tail -n 3 "$D/control5.log")"
timeout 20 "$B/control" --erase $DAVE --state-dir "$D/state" >"$D/erased" 2>&1
is "an erasure beside a control without database fails" $? 1
grep -q "nobody is erased. Once it can, run this command again" "$D/erased" && grep -q 'parley.db is damaged: .* restore a backup' "$D/erased" &&
	ok "and says what is wrong and what to do" || bad "and says what is wrong and what to do" "$(cat "$D/erased")"
# A backup takes its place, in which he is as he was.
kill9 "$control"
rm -f "$D/state/parley.db-wal" "$D/state/parley.db-shm"
cp "$D/backup" "$D/state/parley.db"
start_control 6
"$B/control" --erase $DAVE --state-dir "$D/state" >"$D/erased" 2>&1 && ok "with a restored backup it is done" ||
	bad "with a restored backup it is done" "$(cat "$D/erased")"
report
