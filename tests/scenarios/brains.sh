#!/bin/sh
# What goes wrong with a provider, as a user hears or reads it: a stand-in (tests/standins) plays each fault of brains.matrix, a member
# asks a question, and either the answer comes all the same or one plain sentence says why not, once.
#
#   tests/scenarios/brains.sh [build folder] [PROVIDER|PROVIDER/FAULT…]      default: build, the whole matrix, in three lanes
#   KEEP=folder                                                              the records of the stand-ins go there, as record-PROVIDER-FAULT
#   tests/scenarios/brains.sh --matrix                                       only whether each fault names each provider once
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
PROVIDERS="openai xai gemini elevenlabs chat responses anthropic"
LANES=${LANES:-3}
# cells: FAULT PROVIDER WANTED SCRIPT, divided by tabs.
cells() {
	awk -F ' [|] ' '!/^#/ && NF { n = split($3, p, " "); for (i = 1; i <= n; i++) print $1 "\t" p[i] "\t" $2 "\t" $4 }' \
		tests/scenarios/brains.matrix
}
# Prints each fault that does not name each provider once, and each cell that says nothing.
holes() {
	cells | awk -F '\t' -v all="$PROVIDERS" '
		{ at[$1] = 1; n[$1, $2]++; if (!(" " all " " ~ " " $2 " ")) print $1 ": there is no provider " $2
		  if ($3 == "-" && $4 !~ /^not applicable: ......../) print $1 "/" $2 ": no reason why it does not apply"
		  if ($4 == "") print $1 "/" $2 ": no script" }
		END { k = split(all, p, " "); for (f in at) for (i = 1; i <= k; i++)
			if (n[f, p[i]] != 1) print f "/" p[i] ": " n[f, p[i]] + 0 " lines, not 1" }'
}
if [ "${1:-}" = --matrix ]; then
	wrong=$(holes)
	[ -z "$wrong" ] && echo "brains.matrix: $(cells | wc -l) cells, $(cells | grep -c 'not applicable:') of them not applicable" && exit 0
	echo "$wrong"
	exit 1
fi
B=${1:-build}
[ $# = 0 ] || shift
if [ $# = 0 ]; then
	wrong=$(holes)
	[ -z "$wrong" ] || { echo "$wrong"; exit 1; }
	sums=$(mktemp /tmp/parley-brains-sums-XXXXXX)
	export B sums
	for p in $PROVIDERS; do echo "$p"; done |
		xargs -P "$LANES" -I{} bash -c 'out=$(tests/scenarios/brains.sh "$B" {}); echo "$out"; echo "$out" | tail -1 >>"$sums"'
	awk -v lanes="$(echo "$PROVIDERS" | wc -w)" '/ passed, / { p += $1; f += $3; n++ }
		END { if (n < lanes) f += lanes - n; print p + 0 " passed, " f + 0 " failed, 0 skipped"; exit f > 0 }' "$sums"
	status=$?
	rm -f "$sums"
	exit $status
fi
D=$(mktemp -d /tmp/parley-brains-XXXXXX)
. tests/scenarios/common
[ -z "${KEEP:-}" ] || trap 'mkdir -p "$KEEP"; cp -r "$D"/record-* "$KEEP"; end' EXIT

# Stand-ins say tones and hear the words of their scripts: speech has no part in this.
question="parley what can you do"
start_guildd
mkdir "$D/brain" "$D/out"
# Serves the roles that are not at fault.
echo "commit transcript $question
answer can you do => I can tell you the time and the date, count for you, play music, remember what you tell me, look things up, and talk about whatever you like for as long as you like." >"$D/local.script"
start_standin local openai
local=http://127.0.0.1:$port/v1
refuses=http://127.0.0.1:$API # guildd, which is no proxy
# xAI's own speech to text, which is not at fault either.
cp "$D/local.script" "$D/hearing.script"
start_standin hearing xai
hearing=http://127.0.0.1:$port/v1
start_mediad caller
# Its voice gateway serves TLS with a certificate that nobody here trusts.
start stranger "$B/guildd" --ready-file "$D/stranger-ready"
until_ok 10 test -s "$D/stranger-ready" || bad start "no second guildd"
untrusted=$(field voice <"$D/stranger-ready")

# chat: what the room's chat holds, a line for each message; since the fault began: without the first $before.
messages() { api GET "/channels/$VOICE/messages" | grep -oE '"content": ?"([^"\\]|\\.)*"'; }
chat() { messages | tail -n +$((before + 1)); }
# said PATTERN: how many messages there say so.
said() { chat | grep -cE "$1"; }
turns() { grep -acE " turn .*stage=ended.* reason=$1" "$D/control-$name.log"; }
answered() { [ "$(turns answered)" -gt 0 ]; }
words() { [ "$(said "$1")" -gt 0 ]; }
answered_or_told() { answered || words "$1"; }

# config PROVIDER PORT URL FAULT: which provider has which role.
config() {
	local roles more= speech=
	[ "$4" != unheard_words ] || speech=', "speech": ["local"]'
	case $1 in
	xai)
		roles='"voice": ["brain"], "transcribe": ["hearing"]'
		more=", {\"name\": \"hearing\", \"dialect\": \"xai_stt\", \"url\": \"$hearing\"}"
		;;
	openai | gemini) roles='"voice": ["brain"], "transcribe": ["local"]' ;;
	elevenlabs) roles='"text": ["local"], "speech": ["brain"], "transcribe": ["local"]' ;;
	*) roles='"text": ["brain"], "speech": ["local"], "transcribe": ["local"]' ;;
	esac
	echo "{\"providers\": [{\"name\": \"brain\", \"dialect\": \"$1\", \"url\": \"$3\"},"
	echo "{\"name\": \"local\", \"dialect\": \"openai\", \"url\": \"$local\"}$more], \"roles\": {$roles$speech}"
	[ -z "$speech" ] || echo ', "answer_audio": "speech"'
	case $1 in openai | xai | gemini) ;; *) echo ', "reply_path": "brain"' ;; esac
	echo "}"
}
# address FAULT PROVIDER PORT: the provider's address in the settings of control.
address() {
	local path=/v1
	[ "$2" != gemini ] || path=
	case $1 in
	no_name) echo "http://nowhere.invalid:$3$path" ;;
	no_tls) echo "https://127.0.0.1:$3$path" ;;
	untrusted) echo "https://$untrusted$path" ;;
	proxy_refuses) echo "https://provider.invalid$path" ;;
	*) echo "http://127.0.0.1:$3$path" ;;
	esac
}
# ask_question FAULT: in the background, as `ask`; of an answer that is cut, another question 2 s into it.
ask_question() {
	local more=
	case $1 in after_the_cut | unheard_words) more="2000 $question" ;; esac
	"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/caller.sock" --offlined "$B/offlined" --record "$D/brain" \
		--out "$D/out" --guild $GUILD --channel $VOICE --user $ALICE --bot $BOT --say "$question" \
		${more:+--line "$more"} >"$D/ask-$name.out" 2>&1 &
	caller=$!
	started="$started $caller"
}
# late PROVIDER: how much sound of the first answer the stand-in sent after control had cut it.
late() {
	local cut
	case $1 in
	openai | xai) cut='"type":"response.cancel"' ;;
	gemini) cut='"interrupted":true' ;;
	elevenlabs) cut='"close_context":true' ;;
	esac
	sed -n "/$cut/,\$p" "$D/record-$name/events.jsonl" | grep '"what":"out"' | grep -cE '"type":"response.output_audio.delta"|"inlineData"|"audio":"'
}
# replaced: how many lines control put in the place of another, each a beginning of the answer; how many of those it deleted; how many
# errors the stand-in sent.
replaced() {
	local sent whole line text deleted=0 put=0
	sent=$D/record-$name/events.jsonl
	whole=$(sed -n 's/^answer .* => //p' "$D/$name.script")
	while read -r line; do
		text=$(echo "$line" | sed -nE 's/.*"output_text","text":"([^"]*)".*/\1/p')
		case $whole in "$text"?*) [ -z "$text" ] || put=$((put + 1)) ;; esac
		grep -q "\"conversation.item.delete\",\"item_id\":\"$(echo "$line" | field previous_item_id)\"" "$sent" &&
			deleted=$((deleted + 1))
	done < <(grep -a '"what":"in"' "$sent" | grep '"previous_item_id"')
	echo "$put $deleted $(grep -a '"what":"out"' "$sent" | grep -c '"type":"error"')"
}
# waited: the ms between the first refusal and what the stand-in was asked next.
waited() {
	awk 'match($0, /"at": ?[0-9]+/) { at = substr($0, RSTART, RLENGTH); gsub(/[^0-9]/, "", at) }
		!from && /"what":"status"/ && /429/ { from = at; next }
		from && /"what":"request"/ { printf "%d", (at - from) / 1000000; exit }' "$D/record-$name/events.jsonl"
}
judge() { # FAULT PROVIDER WANTED
	case $3 in
	answer) until_ok 60 answered && ok "$name: answered all the same" || bad "$name" "not answered" ;;
	tools)
		until_ok 60 answered && ok "$name: answered" || bad "$name" "not answered"
		is "$name: every tool was called and returned" "$(grep -ac 'tool_called .*code=ok' "$D/control-$name.log")" \
			"$(grep -c ' call ' "$D/$name.script")"
		;;
	waits)
		until_ok 60 answered && ok "$name: answered all the same" || bad "$name" "not answered"
		# A computer under load asks later.
		within "$name: after the wait that it asked for" "$(waited)" 2000 30000
		is "$name: and nobody is told" "$(chat | grep -cE "service that|reach the|could not")" 0
		;;
	cut)
		until_ok 60 answered && ok "$name: the second question is answered" || bad "$name" "the second question is not answered"
		is "$name: the first answer was cut" "$(turns interrupted)" 1
		within "$name: sound of the first came after the cut" "$(late "$2")" 1 1000
		;;
	heard)
		until_ok 60 answered && ok "$name: the second question is answered" || bad "$name" "the second question is not answered"
		is "$name: the first answer was cut" "$(turns interrupted)" 1
		is "$name: the words that were heard replace it" "$(replaced)" "1 1 0"
		;;
	*)
		# Either is right: an answer, or the sentence.
		case $3 in "answer or "*)
			set -- "$1" "$2" "${3#answer or }"
			until_ok 60 answered_or_told "$3"
			if answered && ! words "$3"; then
				ok "$name: answered all the same"
				return
			fi
			;;
		esac
		if until_ok 60 words "$3"; then
			sleep 3
			is "$name: told once" "$(said "$3")" 1
			is "$name: and nothing else" "$(chat | grep -cE "service|brain|reach|answer")" 1
			is "$name: in plain words" "$(chat | grep -E "$3" | sed 's/^"content": *//' | grep -cE '[_{}<>]|https?:|[0-9]{3}')" 0
		else
			bad "$name" "nobody was told: $3"
		fi
		;;
	esac
}
# fault FAULT PROVIDER WANTED SCRIPT
fault() {
	local proxies=
	name=$2-$1
	{
		echo "commit transcript $question"
		echo "$4" | sed 's/ *;; */\n/g; s/^-$//'
	} >"$D/$name.script"
	[ "$1" != proxy_refuses ] || proxies="http_proxy=$refuses https_proxy=$refuses all_proxy=$refuses no_proxy=127.0.0.1,localhost"
	start_standin "$name" "$2"
	standin=$last
	config "$2" "$port" "$(address "$1" "$2" "$port")" "$1" >"$D/$name.json"
	start "mediad-$name" "$B/mediad" --listen "$D/$name.sock" --ca "$CA" --threads 1
	mediad=$last
	until_ok 5 test -S "$D/$name.sock"
	start "control-$name" env $proxies "$B/control" --media-sock "$D/$name.sock" --state-dir "$D/state-$name" --ca "$CA" \
		--config "$D/$name.json"
	control=$last
	until_ok 10 registered && until_ok 10 grep -aq ' ready .*text=' "$D/control-$name.log" &&
		until_ok 10 grep -aq mediad_synced "$D/control-$name.log" || bad "$name" "control did not start"
	before=$(messages | wc -l)
	join $TEXT $VOICE
	until_ok 10 up $GUILD || bad "$name" "the bot did not join"
	ask_question "$1"
	judge "$1" "$2" "$3"
	for p in ${caller:-} $control $mediad $standin; do
		kill "$p" 2>/dev/null
		wait "$p" 2>/dev/null
	done
	caller=
}

chosen=" $* "
while IFS=$'\t' read -r fault provider wanted script; do
	case $chosen in *" $provider "* | *" $provider/$fault "*) ;; *) continue ;; esac
	case $script in "not applicable: "*) continue ;; esac
	fault "$fault" "$provider" "$wanted" "$script"
done < <(cells)
report
