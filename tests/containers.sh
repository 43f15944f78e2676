#!/bin/sh
# `make containers`: builds the images of deploy/, holds the demo's conversation between containers, verifies their restrictions,
# and restarts each process while the other continues. Uses Docker if an engine is running, else Debian's podman.
#
#   tests/containers.sh      KEEP=1 leaves the containers running
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/.." || exit 1
cache=$PWD/build/containers
project=parleytest
file=deploy/docker-compose.yml
mkdir -p "$cache"
D=$(mktemp -d /tmp/parley-containers-XXXXXX)
. tests/scenarios/common

# ---- the engine ----
if docker info >/dev/null 2>&1 && docker compose version >/dev/null 2>&1; then
	engine=docker
else
	engine=podman
	deploy/deps.sh containers || exit 1
	. tests/containers-podman
fi
engine() { command "$engine" "$@"; }
compose() {
	if [ $engine = docker ]; then
		docker compose -p $project -f $file --profile local --profile discord "$@"
	else
		podman_compose "$@"
	fi
}
end() {
	trap - EXIT INT TERM
	if [ -z "${KEEP:-}" ]; then
		compose down -v >>"$D/compose.log" 2>&1
	fi
	[ $failed = 0 ] && rm -rf "$D" || echo "logs are in $D"
}
trap end EXIT
trap 'exit 1' INT TERM

cid() { engine ps -aq --filter "label=com.docker.compose.project=$project" --filter "label=com.docker.compose.service=$1" | head -1; }
log() { engine logs "$(cid "$1")" 2>&1; }
said() { [ "$(log "$1" | grep -acE "$2")" -ge "${3:-1}" ]; } # SERVICE PATTERN [TIMES]
# tasks FILE: reads FILE of each thread of mediad in /proc. Its filters allow exec in a shell, but not fork.
tasks() { inside local-mediad sh -c "exec cat /proc/1/task/*/$1" 2>/dev/null; }
inside() { # SERVICE COMMAND…
	local s=$1
	shift
	engine exec "$(cid "$s")" "$@"
}
# look SERVICE TEMPLATE: prints a field of the engine's description of the container.
look() { engine inspect -f "$2" "$(cid "$1")"; }
began() { look "$1" '{{.State.StartedAt}} {{.State.Pid}}'; }
running() { [ "$(look "$1" '{{.State.Running}}')" = true ]; }
ended() { ! running "$1"; }
# The engine's own health state; without systemd, podman runs a health check only on request.
healthy() {
	if [ $engine = docker ]; then
		[ "$(look "$1" '{{.State.Health.Status}}')" = healthy ]
	else
		podman healthcheck run "$(cid "$1")" >/dev/null 2>&1
	fi
}

# ---- images ----
base=${PARLEY_BASE:-}
if [ -z "$base" ]; then
	base=docker.io/library/debian:12-slim
	[ $engine = docker ] || base=$(podman_base)
fi
skipped=0
export PARLEY_BASE=$base
echo "building the images from $base with $engine"
for target in mediad control local; do
	engine build ${build_options:-} --build-arg BASE="$base" -f deploy/Dockerfile --target $target -t parley-$target . >"$D/build-$target.log" 2>&1 && ok "image parley-$target" ||
		{ bad "image parley-$target" "$(tail -3 "$D/build-$target.log")"; exit 1; }
done
engine images --format '{{.Repository}} {{.Size}}' | grep -E 'parley-(mediad|control|local) ' | sed 's/^/        /'

# ---- the conversation ----
# speaks N: the caller has held its N-th conversation, and both sides computed the same privacy code. On an overloaded machine
# audio has gaps, which the caller rejects; therefore it may try three times. The log of a container goes on when it is started again.
heard=0
speaks() {
	local try
	for try in 1 2 3; do
		[ $try = 1 ] || again
		until_ok 90 ended caller || bad "conversation $1" "the caller is still there"
		log caller | tail -n "+$((heard + 1))" >"$D/caller-$1.log"
		heard=$(log caller | wc -l)
		[ "$(look caller '{{.State.ExitCode}}')" != 0 ] || break
		grep -a correlation "$D/caller-$1.log" | tail -1 | sed "s/^/        try $try: /"
	done
	is "conversation $1: the answer's audio arrived" "$(look caller '{{.State.ExitCode}}')" 0
	log local-control >"$D/control-$1.log"
	tests/privacy.sh "$D/caller-$1.log" "$D/control-$1.log" >"$D/privacy-$1" && ok "conversation $1: encrypted from end to end, the same privacy code on both sides" ||
		bad "conversation $1: encrypted from end to end" "$(cat "$D/privacy-$1")"
}
again() { engine start "$(cid caller)" >/dev/null; }
compose up -d guildd brain >"$D/compose.log" 2>&1 && until_ok 60 inside brain test -s /room/brain/ready &&
	compose up -d local-mediad local-control caller >>"$D/compose.log" 2>&1 || { bad "up" "$(tail -3 "$D/compose.log")"; exit 1; }
speaks 1
grep -aE 'speak|encrypted|heard|said' "$D/caller-1.log" | sed 's/^/        /'

# ---- the restrictions ----
status() { inside "$1" cat /proc/1/status | sed -n "s/^$2:[[:space:]]*//p"; }
for s in local-mediad local-control; do
	uid=7001
	[ $s = local-control ] && uid=7002
	is "$s does not run as root" "$(status $s Uid | tr '\t' ' ') $(status $s Gid | tr '\t' ' ')" "$uid $uid $uid $uid 7000 7000 7000 7000"
	for set in CapInh CapPrm CapEff CapBnd CapAmb; do is "$s: $set" "$(status $s $set)" 0000000000000000; done
	is "$s cannot get new privileges" "$(status $s NoNewPrivs)" 1
	is "$s has a seccomp filter" "$(status $s Seccomp)" 2
	is "$s publishes no port" "$(look $s '{{len .HostConfig.PortBindings}}')" 0
	is "$s has a read-only root" "$(inside $s cat /proc/mounts | awk '$2 == "/" { split($4, o, ","); print o[1] }')" ro
	until_ok 60 healthy $s && ok "$s is healthy" || bad "$s is healthy" "$(look $s '{{json .State}}')"
done
inside local-control touch /usr/bin/x 2>/dev/null && bad "nothing can be written there" "it can" || ok "nothing can be written there"
inside local-control sh -c 'cat /run/secrets/local-token >/dev/null && ! env | grep -q "^DISCORD_TOKEN="' && ok "the token comes as a file" || bad "the token comes as a file" "no"
is "the command is the documented one" "$(inside local-control cat /proc/1/cmdline | tr '\0' ' ' | cut -d' ' -f1-3)" "control --media-sock /run/mediad.sock"
is "the socket belongs to mediad and the group" "$(inside local-control stat -Lc '%u %g %a' /run/mediad.sock)" "7001 7000 660"

# ---- mediad's own filters inside the engine's ----
said local-mediad ' sandbox ' && bad "mediad's own filters work in the container" "$(log local-mediad | grep -a ' sandbox ')" || ok "mediad's own filters work in the container"
filters=$(tasks status | sed -n 's/^Seccomp_filters:[[:space:]]*//p' | sort -n | head -1)
within "each thread is under both" "${filters:-0}" 2 9
nice=$(tasks stat | awk '{ sub(/.*\) /, ""); print $17 }' | sort -n | tail -1)
within "the worker gives way to the audio threads" "${nice:-0}" 1 19
# The field is the policy; 2 is SCHED_RR.
if [ "${PARLEY_RTPRIO:-1}" != 1 ]; then
	skipped=$((skipped + 1))
	echo "skip    the audio threads come first: this machine may not allow it"
else
	first=$(tasks stat | awk '{ sub(/.*\) /, ""); print $39 }' | grep -cx 2)
	within "the audio threads come first, without a capability" "$first" 1 32
fi
inside local-mediad sh -c 'echo started | cat' >/dev/null 2>&1 && bad "no process can be started beside it" "it can" || ok "no process can be started beside it"

# ---- mediad's container is restarted ----
up_times() { log local-control | grep -acE 'call_state .*phase=up'; }
before=$(up_times) control=$(began local-control)
engine restart -t 5 "$(cid local-mediad)" >/dev/null
until_ok 30 said local-control 'call_state .*phase=up' $((before + 1)) && ok "mediad restarted: the call comes back" || bad "mediad restarted: the call comes back" "$(log local-control | tail -3)"
again
speaks 2
is "control kept running" "$(began local-control)" "$control"
until_ok 30 healthy local-mediad && ok "and mediad is healthy" || bad "and mediad is healthy" "no"
mediad=$(began local-mediad) before=$(up_times)
anew() { running local-mediad && [ "$(began local-mediad)" != "$mediad" ]; }
engine kill -s KILL "$(cid local-mediad)" >/dev/null
# Some engines take this for a stop by the user and do not restart the container.
until_ok 1 anew || engine start "$(cid local-mediad)" >/dev/null
until_ok 30 said local-control 'call_state .*phase=up' $((before + 1)) && ok "mediad killed: the call comes back" || bad "mediad killed: the call comes back" "$(log local-control | tail -3)"
is "control kept running then, too" "$(began local-control)" "$control"
# A crash, unlike `engine kill`, is no wish of the user: the engine's restart policy brings mediad back. Its process is killed from
# outside; where that process cannot be seen (an engine in a machine of its own) this is left out.
was_up() { log local-control | grep -a ' call_state .*phase=up' | tail -1 | cut -d' ' -f1; }
times=
for _ in 1 2 3 4 5; do
	pid=$(look local-mediad '{{.State.Pid}}') before=$(up_times) mediad=$(began local-mediad)
	kill -0 "$pid" 2>/dev/null || break
	at=$(date +%s%3N)
	kill -9 "$pid"
	until_ok 30 said local-control 'call_state .*phase=up' $((before + 1)) || { bad "mediad crashed" "the call does not come back"; break; }
	times="$times $(($(date -d "$(was_up)" +%s%3N) - at))"
	until_ok 30 running local-mediad
	sleep 2
done
if [ -n "$times" ]; then
	ok "mediad crashed: the engine starts it again, and the call is back after${times} ms"
else
	skipped=$((skipped + 1))
	echo "skip    mediad's process cannot be seen from here"
fi

# ---- control's container is restarted ----
joined() { log local-mediad | grep -acE 'phase=identifying'; }
mediad=$(began local-mediad) before=$(joined)
engine restart -t 5 "$(cid local-control)" >/dev/null
until_ok 60 healthy local-control && ok "control restarted: it is healthy again" || bad "control restarted: it is healthy again" "$(log local-control | tail -3)"
is "mediad kept running" "$(began local-mediad)" "$mediad"
is "and the call with it: nobody identified again" "$(joined)" "$before"
again
speaks 3

# ---- the part of the real room that needs no secret ----
closed() { look "$1" '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}} {{.Config.User}}'; }
compose up -d mediad >>"$D/compose.log" 2>&1
until_ok 60 healthy mediad && ok "mediad of the real room is healthy" || bad "mediad of the real room is healthy" "$(log mediad | tail -3)"
is "and as restricted as the local one" "$(closed mediad)" "$(closed local-mediad)"

# ---- the health checks can fail ----
inside local-mediad mediad --health /run/parley/nobody.sock >/dev/null && bad "a mediad that is not there is not healthy" "it is" || ok "a mediad that is not there is not healthy"
inside local-control control --health --state-dir /tmp/none >/dev/null && bad "a control that is not there is not healthy" "it is" || ok "a control that is not there is not healthy"

# ---- nothing is left ----
if [ -z "${KEEP:-}" ]; then
	compose down -v >>"$D/compose.log" 2>&1
	is "no container is left" "$(engine ps -aq --filter "label=com.docker.compose.project=$project" | wc -l)" 0
	is "no network is left" "$(engine network ls --format '{{.Name}}' | grep -c "^${project}_")" 0
	is "no volume is left" "$(engine volume ls -q | grep -c "^${project}_")" 0
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
