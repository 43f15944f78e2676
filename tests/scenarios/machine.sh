#!/bin/sh
# A machine that is wrong: its disk is full before the start and in service, its clock is years behind.
#
#   tests/scenarios/machine.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
# Without root a user namespace lets it mount its own full disk.
[ "$(id -u)" = 0 ] || ! unshare -rm true 2>/dev/null || exec unshare -rm bash "$PWD/tests/scenarios/machine.sh" "$@"
B=${1:-build}
D=$(mktemp -d /tmp/parley-machine-XXXXXX)
. tests/scenarios/common
case $B in /*) ;; *) B=$PWD/$B ;; esac
disk=
trap '[ -z "$disk" ] || rm -f "$disk/filler"; for p in $started; do kill "$p" 2>/dev/null; done; wait 2>/dev/null; [ -z "$disk" ] || umount "$disk"; end' EXIT

start_guildd
start_mediad mediad
export PARLEY_BRAIN_URL=ws://127.0.0.1:9/

# ---- the clock: the voice server speaks TLS with guildd's certificate, which is a day old at most ----
perl -e 'print pack "q", -10 * 365 * 86400' >"$D/clock"
VOICE_AT=$(field voice <"$D/ready")
checked() { env LD_PRELOAD="$B/chaos_clock.so" CHAOS_CLOCK="$D/clock" "$@" --media-sock "$D/mediad.sock" --state-dir "$D/state" --ca "$CA"; }
if [ -e "$B/chaos_clock.so" ]; then
	out=$(PARLEY_DISCORD_API="https://$VOICE_AT/api/v10" checked "$B/control" --check 2>&1)
	case $out in
	*"missing  clock: Discord's certificate is not valid at the time that this machine's clock shows (20"*) ok "check names a wrong clock" ;;
	*) bad "check names a wrong clock" "$out" ;;
	esac
	PARLEY_DISCORD_API="https://$VOICE_AT/api/v10" start late checked "$B/control"
	until_ok 10 grep -q "clock_wrong.*Set the clock" "$D/late.log" && ok "so does a start" || bad "so does a start" "$(tail -3 "$D/late.log")"
	pkill -P "$last" 2>/dev/null
	kill "$last" 2>/dev/null
	wait "$last" 2>/dev/null
else
	bad "the clock" "there is no $B/chaos_clock.so: make chaos-bins"
fi

# ---- the disk ----
mkdir "$D/disk"
if ! mount -t tmpfs -o size=24m tmpfs "$D/disk" 2>/dev/null; then
	echo "skip: a full disk needs root, or user namespaces, to mount one"
	echo "$passed passed, $failed failed, 1 skipped"
	[ $failed = 0 ]
	exit
fi
disk=$D/disk
check() { out=$("$B/control" --media-sock "$D/mediad.sock" --state-dir "$disk/state" --ca "$CA" --check 2>&1); }
check
case $out in *"ok       state directory"*) ok "check finds room on the disk" ;; *) bad "check finds room on the disk" "$out" ;; esac
fill() { dd if=/dev/zero of="$disk/filler" bs=64k 2>/dev/null; }
fill
check
case $out in *"missing  state directory: $disk/state: No space left on device; 16 MiB are needed"*) ok "check finds a full disk" ;; *) bad "check finds a full disk" "$out" ;; esac
rm "$disk/filler"
start control "$B/control" --media-sock "$D/mediad.sock" --state-dir "$disk/state" --ca "$CA"
control=$last
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
fill
command() { api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"$1\"}" >/dev/null; }
full() { command status && grep -q "is full: nothing more is remembered" "$D/control.log"; }
until_ok 15 full && ok "a disk that fills up is told" || bad "a disk that fills up is told" "$(grep store "$D/control.log" | tail -3)"
room() { api GET "/channels/$VOICE/messages"; }
times_said() { room | grep -oF "$1" | wc -l; }
said() { [ "$(times_said "$1")" -gt 0 ]; }
FULL="The disk where I run is full" ROOM="There is room on the disk again"
until_ok 15 said "$FULL" && ok "so is the room" || bad "so is the room" "$(room)"
answered() { STATUS=$(api GET "/interactions/$1" | sed -nE 's/.*"content": ?"((\\.|[^"\\])*)".*/\1/p') && [ -n "$STATUS" ]; }
status_has() {
	local id
	id=$(api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"status\"}" | field id)
	STATUS=
	until_ok 5 answered "$id" && case $STATUS in *"$1"*) true ;; *) false ;; esac
}
until_ok 8 status_has "disk was full 1× (now)" && ok "and status says so" || bad "and status says so" "$STATUS"
sleep 4
is "once" "$(grep -c "is full: nothing more is remembered" "$D/control.log") $(times_said "$FULL") $(times_said "$ROOM")" "1 1 0"
rm "$disk/filler"
well() { command status && grep -q store_well "$D/control.log"; }
until_ok 45 well && ok "and remembers again when there is room" || bad "and remembers again when there is room" "$(grep store "$D/control.log" | tail -3)"
until_ok 15 said "$ROOM" && ok "the room is told that, too" || bad "the room is told that, too" "$(room)"
if status_has "disk was full 1× (now)"; then bad "and status" "$STATUS"; else ok "and status does not say that it lasts"; fi
is "nothing was told twice" "$(times_said "$FULL") $(times_said "$ROOM")" "1 1"
fill
command leave
gone() { ! up $GUILD; }
until_ok 5 gone && join $TEXT $VOICE && until_ok 5 up $GUILD && ok "the bot works on" || bad "the bot works on" "$(tail -3 "$D/control.log")"
rm "$disk/filler"
kill "$control"
wait "$control"
is "it ends well" $? 0
report
