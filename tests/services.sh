#!/bin/bash
# `make services`: runs the units of deploy/systemd under a real systemd. systemd boots as the first process of namespaces of its
# own, on a copy of this system in memory; the script holds the demo's conversation with the services and restarts each of them.
# Needs root, a kernel with overlayfs, and systemd's package. Changes nothing of this system.
#
#   tests/services.sh [build folder]      default: build
set -u
cd "$(dirname "$0")/.." || exit 1
B=${1:-build}
GUILD=41771983423143937 CHANNEL=127121515262115840
passed=0 failed=0
guildd= caller_mediad= boot=

if [ "${2:-}" = boot ]; then
	# Inside the namespaces: D is $3. The mounts end with the last process.
	D=$3
	set -e
	mount --make-rprivate /
	mount -t tmpfs tmpfs "$D/memory"
	R=$D/memory/root
	mkdir "$D/memory/upper" "$D/memory/work" "$R"
	mount -t overlay overlay -o "lowerdir=/,upperdir=$D/memory/upper,workdir=$D/memory/work" "$R"
	mount -t proc proc "$R/proc"
	mount --rbind /sys "$R/sys"
	umount -R "$R/sys/fs/cgroup"
	mount -t cgroup2 cgroup2 "$R/sys/fs/cgroup"
	mount --rbind /dev "$R/dev"
	mount -t tmpfs tmpfs "$R/run"
	mount -t tmpfs tmpfs "$R/tmp"
	rm -rf "$R/etc/parley" "$R/var/lib/parley"
	cp -a "$D/stage/." "$R/"
	systemd-sysusers --root="$R" parley.conf
	cd "$R"
	mkdir -p old
	pivot_root . old
	umount -l /old
	mount --make-rshared / # as systemd itself does where it is no guest
	exec env -i container=parley PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=parley-test.target \
		--log-target=journal --show-status=no
fi

[ "$(id -u)" = 0 ] || { echo "skip: services need root to boot a systemd of their own"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
D=$(mktemp -d /tmp/parley-services-XXXXXX)
# Where the system has only version 1 mounted, version 2 is there all the same.
own_groups=
if ! awk '$3 == "cgroup2" { found = 1 } END { exit !found }' /proc/mounts; then
	own_groups=$D/cgroup
	mkdir "$own_groups" && mount -t cgroup2 cgroup2 "$own_groups" || own_groups=
fi
groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/${D##*/}

end() {
	trap - EXIT INT TERM
	[ -z "$boot" ] || kill -9 "$boot" 2>/dev/null
	for p in $caller_mediad $guildd; do kill "$p" 2>/dev/null; done
	wait 2>/dev/null
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ -d "$groups" ] || break
		find "$groups" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.2
	done
	[ -z "$own_groups" ] || umount "$own_groups"
	if [ $failed = 0 ]; then rm -rf "$D"; else echo "logs are in $D"; fi
}
trap end EXIT
trap 'exit 1' INT TERM

ok() { passed=$((passed + 1)); echo "ok      $1"; }
bad() { failed=$((failed + 1)); echo "FAILED  $1: $2"; }
# check WHAT TEXT PATTERN
check() {
	case $2 in
	*"$3"*) ok "$1" ;;
	*) bad "$1" "\"$2\" has no \"$3\"" ;;
	esac
}
until_ok() { # SECONDS COMMAND…
	local n=$(($1 * 10))
	shift
	until "$@" >/dev/null 2>&1; do
		n=$((n - 1))
		[ $n -gt 0 ] || return 1
		sleep 0.1
	done
}
field() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$2" | head -1; }
first() { pgrep -P "$boot" -x systemd; }
inside() { nsenter -t "$(first)" --mount --pid --cgroup --ipc --uts -- "$@"; }
# shows UNIT PROPERTY: prints the property's value
shows() { inside systemctl show --value -p "$2" "$1"; }
said_of() { log "parley-$1" | grep -q "$2"; }
active() { inside systemctl is-active --quiet "$1"; }
log() { inside journalctl --no-pager -o cat -u "$1" 2>/dev/null; }
# told TIMES TEXT: whether control's log contains TEXT this often
told() { [ "$(log parley-control | grep -c "$2")" -ge "$1" ]; }
# answered FOLDER: a caller asks, with end-to-end encryption, and the bot speaks.
answered() {
	mkdir -p "$D/$1"
	timeout 60 "$B/caller" --api "$API" --media-sock "$D/caller.sock" --offlined "$B/offlined" --record "$D/$1" --out "$D/$1" \
		--guild $GUILD --channel $CHANNEL --user 501 --bot 900 --say "parley what time is it" >"$D/$1/caller" 2>&1
	grep -q 'the call is end-to-end encrypted' "$D/$1/caller" && grep -q 'the bot begins to speak' "$D/$1/caller"
}
conversation() { # WHAT FOLDER CALLS BRAINS: when control's log told of so many calls and brains that are up
	until_ok 40 told "$3" 'phase=up' && until_ok 40 told "$4" 'engine_up'
	if answered "$2"; then ok "$1"; else bad "$1" "$(tail -3 "$D/$2/caller")"; fi
}

make -s B="$B" DESTDIR="$D/stage" PREFIX=/usr install >/dev/null || { bad install "make install failed"; exit 1; }
"$B/guildd" --ready-file "$D/ready" >"$D/guildd.out" 2>"$D/guildd.log" &
guildd=$!
until_ok 10 test -s "$D/ready" || { bad start "guildd is not ready"; exit 1; }
CA=$(field ca "$D/ready") API=$(field control "$D/ready")
"$B/mediad" --listen "$D/caller.sock" --ca "$CA" >"$D/caller-mediad.log" 2>&1 &
caller_mediad=$!

# The files of an administrator, and the certificate authority and address of the simulated Discord.
etc=$D/stage/etc
mkdir -p "$etc/parley" "$etc/systemd/system/parley-mediad.service.d" "$etc/systemd/system/parley-control.service.d" "$D/memory"
chmod 755 "$D/stage" "$etc" "$etc/parley"
printf 'guildd.bot.token\n' >"$etc/parley/discord-token"
chmod 600 "$etc/parley/discord-token"
# A server of MCP is a program, which control runs in a sandbox.
make -s "$B/tests/mcp_server" || exit 1
install -m 755 "$B/tests/mcp_server" "$D/stage/usr/bin/parley-test-server"
# A track, in a folder that both halves may read.
mkdir -p "$D/stage/srv/music/The Lanterns"
perl -e 'binmode STDOUT; $n = 48000 * 40; print pack("a4Va4a4VvvVVvva4V", "RIFF", 36 + 2 * $n, "WAVE", "fmt ", 16, 1, 1, 48000, 96000, 2, 16, "data", 2 * $n);
	print pack("s<*", map { 8000 * sin($_ * 440 * 6.2831853 / 48000) } 0 .. $n - 1)' >"$D/stage/srv/music/The Lanterns/Night Train.wav"
chmod -R a+rX "$D/stage/srv"
printf '{\n  "discord_api": "%s",\n  "asr_wait_ms": 30000,\n  "first_audio_ms": 30000,\n  "music_folders": "/srv/music",\n  "mcp_servers": [%s]\n}\n' "$(field rest "$D/ready")" \
	'{"name": "toy", "command": ["/usr/bin/parley-test-server", "good"], "effects": "none"}' >"$etc/parley/parley.json"
install -m 644 "$CA" "$etc/parley/ca.pem"
for u in mediad control; do
	more=' --music-root /srv/music'
	[ $u = mediad ] || more=" --guild $GUILD --channel $CHANNEL"
	printf '[Service]\nExecStart=\n%s --ca /etc/parley/ca.pem%s\n' \
		"$(grep '^ExecStart=' "deploy/systemd/parley-$u.service")" "$more" >"$etc/systemd/system/parley-$u.service.d/here.conf"
done
printf '[Unit]\nRequires=basic.target\nAfter=basic.target\nWants=parley-mediad.service parley-control.service\nAllowIsolate=yes\n' \
	>"$etc/systemd/system/parley-test.target"

mkdir "$groups" || { bad start "no control group can be made"; exit 1; }
sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' x "$groups" \
	unshare --mount --pid --fork --kill-child --cgroup --ipc --uts "$PWD/tests/services.sh" "$B" boot "$D" >"$D/boot.log" 2>&1 &
boot=$!
until_ok 40 active parley-control || { bad start "$(tail -3 "$D/boot.log")"; log parley-control >"$D/control.log"; exit 1; }
check "both halves run" "$(inside systemctl is-active parley-mediad parley-control | tr '\n' ' ')" "active active"
until_ok 20 told 1 'phase=up' && ok "the bot is in the channel" || bad "the bot is in the channel" "$(log parley-control | tail -3)"
conversation "a question is answered" first 1 1

# ---- music ----
# request METHOD PATH [BODY]: a request to the simulated Discord's control API.
request() {
	local body=${3:-{\}}
	exec 3<>"/dev/tcp/127.0.0.1/${API##*:}"
	printf '%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' "$1" "$2" "${#body}" "$body" >&3
	cat <&3
	exec 3>&-
}
# jailed: a decoder process may open nothing, and has one filter more than the process that forked it.
jailed() {
	inside sh -c 'filters() { sed -n "s/^Seccomp_filters:[[:space:]]*//p" "/proc/$1/status"; }
		for p in $(pgrep -x decoderd); do
			grep -qE "^Max open files +0 +0 " /proc/$p/limits && [ "$(filters $p)" -gt "$(filters "$(ps -o ppid= -p $p | tr -d " ")")" ] && exit 0
		done 2>/dev/null; exit 1'
}
# music_ms: how long the longest sound of the bot lasted that has begun since $at.
music_ms() {
	request GET /history | tr '{' '\n' | grep '"sound"' | grep '"user_id":"900"' | sed -nE 's/.*"from_ms":([0-9]+).*"to_ms":([0-9]+).*/\1 \2/p' |
		awk -v at="$at" '$1 > at && $2 - $1 > most { most = $2 - $1 } END { print most + 0 }'
}
until_ok 20 said_of mediad 'decoders ready=1 jailed=1' && ok "the unit of mediad can lock decoders up" ||
	bad "the unit of mediad can lock decoders up" "$(log parley-mediad | grep decoder | tail -3)"
until_ok 20 said_of control 'music_tags files=1' && ok "so can that of control, which has tags read" ||
	bad "tags in the unit of control" "$(log parley-control | grep music | tail -3)"
mkdir "$D/play"
at=$(date +%s%3N)
"$B/mediad" --listen "$D/play.sock" --ca "$CA" >"$D/play/mediad.log" 2>&1 &
hears=$!
until_ok 10 test -S "$D/play.sock"
"$B/caller" --api "$API" --media-sock "$D/play.sock" --offlined "$B/offlined" --record "$D/play" --out "$D/play" \
	--guild $GUILD --channel $CHANNEL --user 501 --bot 900 --say "parley play night train" --wait 30 --quiet 4000 >"$D/play/caller" 2>&1 &
asks=$!
until_ok 40 jailed && ok "a track is decoded in a jail there" ||
	bad "a track is decoded in a jail there" "$(log parley-mediad | grep music | tail -2; log parley-control | grep -E 'music|track' | tail -2)"
sleep 8
request POST /interactions "{\"user_id\":\"501\",\"channel_id\":\"$CHANNEL\",\"name\":\"music\",\"options\":[{\"name\":\"stop\",\"type\":1,\"options\":[]}]}" >/dev/null
freed() { ! jailed; }
until_ok 10 freed && ok "and ends when it is told" || bad "and ends when it is told" "a decoder is still there"
kill -9 $asks $hears
wait $asks $hears 2>/dev/null
request POST /users/501/leave >/dev/null
sleep 1
[ "$(music_ms)" -gt 5000 ] && ok "and is heard" || bad "and is heard" "for $(music_ms) ms; $(log parley-mediad | grep music | tail -2)"

# ---- the restrictions ----
pid=$(shows parley-mediad MainPID)
status=$(inside cat "/proc/$pid/status")
check "mediad has a user of its own" "$(inside stat -c %U:%G "/proc/$pid")" "parley-mediad:parley"
check "mediad has no capability" "$status" "CapBnd:	0000000000000000"
check "mediad has its own filter besides systemd's" "warned $(log parley-mediad | grep -c ' sandbox ') times" "warned 0 times"
nices=$(inside sh -c "cut -d' ' -f19 /proc/$pid/task/*/stat" | sort -n | uniq | tr '\n' ' ')
check "frames come first" "$nices" "-10 "
check "key work is nicer" "${nices#-10 }" " "
# The 41st field is the policy; 2 is SCHED_RR. A user who may not raise limits cannot grant real time to a service either.
limit=$(inside sed -n 's/^Max realtime priority *\([0-9]*\).*/\1/p' "/proc/$pid/limits")
check "the audio threads run in real time, where that can be given" \
	"$limit $(inside sh -c "cut -d' ' -f41 /proc/$pid/task/*/stat" | sort -n | tail -1)" "$limit $((limit * 2))"
pid=$(shows parley-control MainPID)
check "control has a user of its own" "$(inside stat -c %U:%G "/proc/$pid")" "parley-control:parley"
check "so has its brain" "$(inside ps -o user:20= -C offlined)" "parley-control"
check "the state is its own" "$(inside stat -c '%U %a' /var/lib/parley)" "parley-control 700"
check "the socket is the group's" "$(inside stat -c '%U:%G %a' /run/parley/mediad.sock)" "parley-mediad:parley 660"
check "control cannot write elsewhere" "$(inside nsenter -t "$pid" --mount -- sh -c 'touch /etc/parley/x 2>&1')" "Read-only"
check "nobody else sees the token" "$(inside stat -c '%U %a' /etc/parley/discord-token)" "root 600"

# ---- restarts ----
inside systemctl restart parley-mediad
sleep 1
conversation "mediad restarted alone" mediad 2 1
inside systemctl restart parley-control
conversation "control restarted alone" control 3 2
inside systemctl kill -s KILL parley-mediad
until_ok 10 active parley-mediad && [ "$(shows parley-mediad NRestarts)" = 1 ] && ok "a killed mediad is started again" ||
	bad "a killed mediad is started again" "$(shows parley-mediad NRestarts)"
conversation "and answers" killed 4 2
# sounds: when the bot's sounds began, in ms since 1970, by the simulated Discord's own record.
sounds() { request GET /history | tr '{' '\n' | grep '"sound"' | grep '"user_id":"900"' | sed -nE 's/.*"from_ms":([0-9]+).*/\1/p'; }
speaks() { grep -q 'the bot begins to speak' "$D/kill/caller"; }
# back: the first sound since $at; its ms go to the file back.
back() { sounds | awk -v k="$at" '$1 > k { print $1 - k; found = 1; exit } END { exit !found }' >"$D/back"; }
# kill_answering: kills mediad in the middle of an answer, and waits for the next sound. Prints the reason if there is none.
kill_answering() {
	local asks hears rc=0
	rm -f "$D/kill.sock" "$D/kill/caller"
	"$B/mediad" --listen "$D/kill.sock" --ca "$CA" >"$D/kill/mediad.log" 2>&1 &
	hears=$!
	until_ok 10 test -S "$D/kill.sock"
	"$B/caller" --api "$API" --media-sock "$D/kill.sock" --offlined "$B/offlined" --record "$D/kill" --out "$D/kill" \
		--guild $GUILD --channel $CHANNEL --user 501 --bot 900 --say "parley what can you do" >"$D/kill/caller" 2>&1 &
	asks=$!
	if until_ok 40 speaks; then
		sleep 0.7
		at=$(date +%s%3N)
		inside kill -KILL "$(shows parley-mediad MainPID)"
		until_ok 20 back || { echo "the bot stays silent"; rc=1; }
	else
		echo "no answer: $(tail -1 "$D/kill/caller")"
		rc=1
	fi
	kill -9 $asks $hears
	wait $asks $hears
	request POST /users/501/leave >/dev/null
	return $rc
} 2>/dev/null
mkdir "$D/kill"
times=
for _ in $(seq "${KILLS:-10}"); do
	sleep 1
	why=$(kill_answering) || { bad "killed within an answer" "$why; before that it went on after${times} ms"; break; }
	times="$times $(cat "$D/back")"
done
# shellcheck disable=SC2086
worst=$(printf '%s\n' $times | sort -n | tail -1)
[ "$(echo $times | wc -w)" != "${KILLS:-10}" ] || ok "killed within an answer it is audible again, after${times} ms (the worst $worst)"

# ---- programs in a sandbox ----
# jails PROGRAM: whether it installs its own filter under the system calls that the unit and its drop-ins allow
jails() {
	local filter=() line
	while read -r line; do filter+=(-p "$line"); done < <(inside systemctl cat parley-control | grep '^SystemCall')
	inside systemd-run --quiet --wait -p NoNewPrivileges=yes "${filter[@]}" "$1" --check-jail
}
jails_of_decoders() {
	local p
	for p in decoderd imaged framed; do jails /usr/bin/$p || { echo "$p"; return 1; }; done
}
jails_of_decoders && ok "the decoders of control are jailed" || bad "the decoders of control are jailed" "the unit forbids it"
check "without the drop-in no program is run" "$(log parley-control | grep -c 'works=0') $(log parley-control | grep -c 'server=toy state=ready')" " 0"
until_ok 10 told 1 'sandbox works=0' && ok "and the log says so" || bad "and the log says so" "$(log parley-control | grep mcp | tail -3)"
inside install -D -m 644 /usr/share/parley/programs.conf /etc/systemd/system/parley-control.service.d/programs.conf
inside systemctl daemon-reload
inside systemctl restart parley-control
until_ok 30 told 1 'server=toy state=ready' && ok "with it a program runs in its sandbox" ||
	bad "with it a program runs in its sandbox" "$(log parley-control | grep -E 'mcp|sandbox' | tail -3)"
jails_of_decoders && ok "and the decoders are jailed all the same" || bad "and the decoders are jailed all the same" "the drop-in forbids it"
ends=$(inside pgrep -f 'parley-test-server good' | tail -1)
check "where it sees no state" "$(inside nsenter -t "${ends:-1}" --mount -- ls -d /var/lib/parley 2>&1)" "No such file"
inside rm -r /etc/systemd/system/parley-control.service.d/programs.conf
inside systemctl daemon-reload

# ---- faults are reported once ----
inside sh -c 'echo "{ \"silense_ms\": 1 }" >/etc/parley/parley.json'
inside systemctl restart parley-control
until_ok 10 inside systemctl is-failed --quiet parley-control
check "a fault in the settings file is told" "$(log parley-control)" "parley.json:1: there is no setting \"silense_ms\""
check "and tried once" "after $(shows parley-control NRestarts) restarts: $(shows parley-control ExecMainStatus)" "after 0 restarts: 2"
inside rm /etc/parley/discord-token
check "a missing token is told" "$(inside systemctl start parley-control 2>&1) $(inside systemctl status parley-control 2>&1)" "discord-token"

for u in mediad control; do log parley-$u >"$D/$u.log"; done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
