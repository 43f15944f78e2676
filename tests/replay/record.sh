#!/bin/sh
# Records the fault journals of this folder again, with the built programs and the simulated Discord. Run it when the output has
# changed, and only after finding out why. tests/replay/faults.sh replays them.
#
#   tests/replay/record.sh [FAULT…]      default: all; BIN=folder of the programs (build), OUT=folder (this one)
#
# In each fault a caller asks a question in a call and gets an answer; FAULT.mediad and FAULT.control are the journals of the
# bot's two programs. For a program that is killed, it is the journal of its successor.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${BIN:-build}
OUT=${OUT:-tests/replay}
GUILD=41771983423143937 VOICE=127121515262115840 BOT=900 USER=501
FAULTS=${*:-loss resume move mediad-restart control-restart music}
pids= guildd= mediad= control=
umask 077

end() {
	for p in $pids; do kill "$p" 2>/dev/null; done
	wait 2>/dev/null
	pids=
	rm -rf "${D:-}"
}
trap end EXIT
trap 'exit 1' INT TERM

api() { # METHOD PATH [BODY]: one request to guildd's control port; prints the body
	local body=${3:-} line
	exec 3<>"/dev/tcp/127.0.0.1/$API" || return 1
	printf '%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
		"$1" "$2" "${#body}" "$body" >&3
	while IFS= read -r line <&3; do [ "$line" = $'\r' ] && break; done
	cat <&3
	exec 3>&-
}
field() { sed -nE "s/.*\"$1\": ?\"?((\\\\.|[^\",}])*).*/\\1/p" | head -1; }
wait_for() { # WHAT COMMAND…: at most 30 s
	local what=$1 n=300
	shift
	until "$@" >/dev/null 2>&1; do
		n=$((n - 1))
		[ $n -gt 0 ] || { echo "record: no $what" >&2; tail -n 5 "$D"/*.log >&2; exit 1; }
		sleep 0.1
	done
}
start() { # NAME COMMAND…: its log is NAME.log, its pid in $last
	local name=$1
	shift
	"$@" >"$D/$name.out" 2>>"$D/$name.log" </dev/null &
	last=$!
	pids="$last $pids"
}
said() { [ "$(grep -acE "$2" "$D/$1.log")" -ge "${3:-1}" ]; } # LOG PATTERN [TIMES]
ends() { # PID: in good order, so that its journal is whole
	kill "$1" && wait "$1"
}
dies() { kill -9 "$1" && wait "$1" 2>/dev/null; }

start_mediad() { # [JOURNAL]
	start mediad "$B/mediad" --listen "$D/mediad.sock" --ca "$CA" --threads 1 ${music:+--music-root "$music"} ${1:+--journal "$1"}
	mediad=$last
	wait_for mediad test -S "$D/mediad.sock"
}
start_control() { # [JOURNAL]
	start control env -u XDG_RUNTIME_DIR DISCORD_TOKEN=guildd.bot.token PARLEY_DISCORD_API="$REST" PARLEY_BRAIN_URL="$BRAIN" \
		${music:+PARLEY_MUSIC_FOLDERS="$music"} "$B/control" --media-sock "$D/mediad.sock" --guild $GUILD --channel $VOICE --state-dir "$D/state" --ca "$CA" \
		${1:+--journal "$1"}
	control=$last
}
call_is_up() { wait_for "call" said mediad "call_state .*phase=up" "${1:-1}"; }
# ask: starts the caller, which asks and records the answer, in the background; answered waits for its end.
ask() {
	start caller "$B/caller" --api "$GUILDD" --media-sock "$D/caller.sock" --offlined "$B/offlined" --record "$D/brain" \
		--out "$D/caller" --guild $GUILD --channel "${1:-$VOICE}" --user $USER --bot $BOT --say "thank you parley"
	caller=$last
}
speaks() { wait_for "question" grep -q "the caller begins to speak" "$D/caller.out"; }
answered() {
	wait "$caller"
	said control ' turn .*reason=answered' || { echo "record: no answer" >&2; tail -n 3 "$D/control.log" "$D/caller.out" >&2; exit 1; }
}

world() { # everything but the bot
	D=$(mktemp -d /tmp/parley-record-XXXXXX)
	mkdir "$D/brain" "$D/caller"
	start guildd "$B/guildd" --set seed=1
	guildd=$last
	wait_for guildd grep -q '"rest"' "$D/guildd.out"
	REST=$(field rest <"$D/guildd.out") CA=$(field ca <"$D/guildd.out") GUILDD=$(field control <"$D/guildd.out")
	API=${GUILDD##*:}
	start offlined "$B/offlined" --listen 127.0.0.1:0 --record "$D/brain"
	wait_for offlined grep -q '"url"' "$D/offlined.out"
	BRAIN=$(field url <"$D/offlined.out")
	start caller-mediad "$B/mediad" --listen "$D/caller.sock" --ca "$CA" --threads 1
	wait_for "caller's mediad" test -S "$D/caller.sock"
}

shown() { api GET "/channels/$VOICE/messages" | grep -q "$1"; }
make_music() { # a bell of 0.4 s
	music=$D/music
	mkdir "$music"
	perl -e '$n = 19200; binmode STDOUT; print pack("a4Va4a4VvvVVvva4V", "RIFF", 36 + 2 * $n, "WAVE", "fmt ", 16, 1, 1, 48000, 96000, 2, 16, "data", 2 * $n);
		print pack("s<", 8000 * exp(-$_ / 9600) * sin($_ * 880 * 6.2831853 / 48000)) for 0 .. $n - 1' >"$music/Bell.wav"
}

record() { # FAULT
	local fault=$1 first_mediad=$D/$1.mediad first_control=$D/$1.control music=
	[ "$fault" != music ] || make_music
	[ "$fault" != mediad-restart ] || first_mediad=
	[ "$fault" != control-restart ] || first_control=
	start_mediad "$first_mediad"
	start_control "$first_control"
	call_is_up
	case $fault in
	loss)
		api POST /switches '{"loss_permille":150,"jitter_ms":40,"reorder_permille":50,"dup_permille":50}' >/dev/null
		ask
		answered
		;;
	resume)
		ask
		speaks
		sleep 0.4
		api POST /users/$BOT/drop '{"which":"voice"}' >/dev/null
		wait_for resume said mediad "phase=up reason=resumed"
		answered
		api POST /interactions "{\"channel_id\":\"$VOICE\",\"user_id\":\"$USER\",\"name\":\"status\"}" >/dev/null
		wait_for command said control "command .*kind=status"
		sleep 0.4
		;;
	move)
		other=$(api POST /guilds/$GUILD/channels '{"type":"voice","name":"Other"}' | field id)
		api POST /users/$BOT/move "{\"channel_id\":\"$other\"}" >/dev/null
		call_is_up 2
		api POST /users/$BOT/new-server >/dev/null
		call_is_up 3
		ask "$other"
		answered
		;;
	mediad-restart)
		dies "$mediad"
		start_mediad "$D/$fault.mediad"
		call_is_up 2
		ask
		answered
		;;
	control-restart) # while it speaks: what mediad has of the answer goes on
		ask
		wait_for answer grep -q "the bot begins to speak" "$D/caller.out"
		dies "$control"
		wait_for loss said mediad control_lost
		start_control "$D/$fault.control"
		wait_for resume said control "resumed"
		wait "$caller"
		;;
	music) # a short one: the journal holds the decoded sound, 192 KB a second
		wait_for "library" said control "music_library .*tracks=1"
		ask
		speaks
		api POST /interactions "{\"channel_id\":\"$VOICE\",\"user_id\":\"$USER\",\"name\":\"music\",\"options\":[{\"name\":\"play\",\"type\":1,\"options\":[{\"name\":\"query\",\"type\":3,\"value\":\"bell\"}]}]}" >/dev/null
		wait_for "music" shown "Now playing.*Bell"
		answered
		;;
	*)
		echo "record: no such fault: $fault" >&2
		exit 2
		;;
	esac
	ends "$control" || echo "record: control ended badly" >&2
	ends "$mediad" || echo "record: mediad ended badly" >&2
	for p in mediad control; do
		"$B/$p" --log fatal --replay "$D/$fault.$p" >"$D/replayed" || { echo "record: $fault.$p does not replay" >&2; exit 1; }
		cmp -s "$D/replayed" "$D/$p.out" || { echo "record: $fault.$p replays to another end" >&2; exit 1; }
		cp "$D/$fault.$p" "$OUT/$fault.$p"
		chmod 644 "$OUT/$fault.$p" # the keys in it opened a call on this machine that is over
		echo "$fault.$p: $(stat -c %s "$OUT/$fault.$p") bytes"
	done
}

for fault in $FAULTS; do
	world
	record "$fault"
	end
done
