#!/bin/sh
# What goes wrong with a provider, as a user hears or reads it: a stand-in (tests/standins) plays each fault, a member asks a
# question, and either the answer comes all the same or one plain sentence says why not, once.
#
#   tests/scenarios/brains.sh [build folder] [FAULT…]      default: build, all of them
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
[ $# = 0 ] || shift
chosen=" $* "
D=$(mktemp -d /tmp/parley-brains-XXXXXX)
. tests/scenarios/common

start_guildd
start_brain
hears=$(echo "$PARLEY_BRAIN_URL" | sed -E 's,.*:([0-9]+)/.*,\1,')
unset PARLEY_BRAIN_URL
start_mediad caller

# said PATTERN: how often control told the channel so.
said() { grep -a ' told guild=' "$D/control-$name.log" | grep -cE "$1"; }
answered() { grep -aq ' turn .*stage=ended.* reason=answered' "$D/control-$name.log"; }
words() { [ "$(said "$1")" -gt 0 ]; }

# fault NAME WANTED: plays the script on stdin. WANTED is `answer`, or a pattern of the sentence that must be read once. $url and
# the variables before the call change what control is told about the provider.
fault() {
	name=$1 wanted=$2
	cat >"$D/$name.script"
	case $chosen in "  " | *" $name "*) ;; *) return ;; esac
	start "standin-$name" "$B/standin" openai --offlined "$hears" --script "$D/$name.script" --record "$D/record-$name"
	standin=$last
	until_ok 5 grep -qs '"port"' "$D/standin-$name.out" || bad "$name" "no stand-in"
	port=$(field port <"$D/standin-$name.out")
	cat >"$D/$name.json" <<-END
		{"providers": [{"name": "brain", "dialect": "openai", "url": "$(echo "${url:-http://127.0.0.1:PORT/v1}" | sed "s/PORT/$port/")"},
		               {"name": "recogniser", "dialect": "embedded", "url": "http://127.0.0.1:$hears/v1"}],
		 "roles": {"voice": ["brain"], "transcribe": ["recogniser"]}}
	END
	start "mediad-$name" "$B/mediad" --listen "$D/$name.sock" --ca "$CA" --threads 1
	mediad=$last
	until_ok 5 test -S "$D/$name.sock"
	start "control-$name" env ${environment:-} "$B/control" --media-sock "$D/$name.sock" --state-dir "$D/state-$name" --ca "$CA" \
		--config "$D/$name.json"
	control=$last
	until_ok 10 registered && until_ok 10 grep -aq ' ready .*text=' "$D/control-$name.log" &&
		until_ok 10 grep -aq mediad_synced "$D/control-$name.log" || bad "$name" "control did not start"
	join $TEXT $VOICE
	until_ok 10 up $GUILD || bad "$name" "the bot did not join"
	[ "${ask:-yes}" = no ] || ask
	if [ "$wanted" = answer ]; then
		until_ok 30 answered && ok "$name: answered all the same" || bad "$name" "not answered"
	elif until_ok 30 words "$wanted"; then
		sleep 3
		is "$name: told once" "$(said "$wanted")" 1
	else
		bad "$name" "nobody was told: $wanted"
	fi
	for p in ${caller:-} $control $mediad $standin; do
		kill "$p" 2>/dev/null
		wait "$p" 2>/dev/null
	done
	caller=
}

# ---- what nobody needs to notice ----
fault unknown_events answer <<'END'
open extra
END
fault split_frames answer <<'END'
open split 5
END
fault fifteen_megabytes answer <<'END'
update huge 15000000
END
fault second_response answer <<'END'
response 1 error conversation_already_has_active_response Conversation already has an active response in progress.
END
fault nothing_to_cancel answer <<'END'
open error response_cancel_not_active Cancellation failed: no active response found
END
fault empty_commit answer <<'END'
open error input_audio_buffer_commit_empty Error committing input audio buffer: buffer too small.
END
fault late_session answer <<'END'
connect 1 delay 2000
END
fault dropped_socket answer <<'END'
connect 1 abort
END
fault session_expired answer <<'END'
item 1 expire
END
fault invalid_utf8 answer <<'END'
item 1 bytes 7b 22 ff fe 22 3a 31 7d
END

# ---- what one sentence says ----
fault wrong_key 'does not accept its key' <<'END'
connect status 401 Incorrect API key provided.
END
fault quota 'its credit is used up' <<'END'
response fail insufficient_quota You exceeded your current quota.
END
fault rate_limit 'asks me to slow down' <<'END'
response fail rate_limit_exceeded Rate limit reached.
END
fault never_answers 'does not answer' <<'END'
response silent
END
fault never_connects 'I cannot reach the service' <<'END'
connect silent
END
url=http://nowhere.invalid:PORT/v1
fault no_name 'I cannot reach the service' </dev/null
url=https://127.0.0.1:PORT/v1
fault no_tls 'I cannot reach the service' </dev/null
url=http://provider.invalid/v1
environment="http_proxy=http://127.0.0.1:$hears https_proxy=http://127.0.0.1:$hears all_proxy=http://127.0.0.1:$hears no_proxy=127.0.0.1,localhost"
fault proxy_refuses 'I cannot reach the service' </dev/null
url='' environment=

# ---- what breaks off ----
fault mid_word 'I could not answer that' <<'END'
response 1 gap 60
response 1 audio 6 abort
END
# The answer may have begun to play, or may still be unheard.
fault half_open 'I could not answer that|does not answer' <<'END'
response 1 gap 60
response 1 audio 6 halfopen
END
report
