#!/bin/sh
# beside: the other scenarios in make check: two minutes of music.
# A hostile music server and the real programs: its tracks are slow, break off, are refused, lead to a private address or in a circle,
# are noise, or never end. What is wrong with a track itself is told while the track before it plays; a server that is not reached, brings
# nothing or breaks off may be back by then: it is tried again meanwhile, without a word, and told in its turn. Each one is told with its
# reason, once; the music that plays meanwhile has no gap, the session stays, and what comes after them plays.
#
#   tests/scenarios/music_hostile.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-music-hostile-XXXXXX)
. tests/scenarios/common
. tests/scenarios/spoken
. tests/scenarios/members
CAROL=503

mkdir -p "$D/music" "$D/web" "$D/state"
tone "$D/music/Night Train.wav" 330 300
tone "$D/music/Sea Song.wav" 330 300
tone "$D/music/Old Bell.wav" 330 300
tone "$D/web/web.wav" 330 8
start private perl -MIO::Socket::INET -e '
	my $s = IO::Socket::INET->new(Listen => 16, LocalAddr => "127.0.0.1") or die;
	$| = 1;
	print $s->sockport, "\n";
	while (my $c = $s->accept) { print "asked\n" }'
until_ok 5 test -s "$D/private.out" || bad start "no private server"
start web perl tests/standins/hostile_music.pl "$D/web/web.wav" "$(head -1 "$D/private.out")"
until_ok 5 test -s "$D/web.out" || bad start "no web server: $(cat "$D/web.log")"
web=127.0.0.1:$(cat "$D/web.out")

make -s build/tests/listener || exit 1
start_guildd
start_brain
start_mediad listener
start one "$B/mediad" --listen "$D/one.sock" --ca "$CA" --threads 1 --music-root "$D/music" --music-address "$web"
mediad=$last
until_ok 5 test -S "$D/one.sock" || bad start "no mediad"
export PARLEY_MUSIC_FOLDERS=$D/music PARLEY_MUSIC_WEB=1 PARLEY_WEB_READ_ALLOWED=$web PARLEY_MUSIC_CONTROL=everyone
control 1
until_ok 10 registered || bad commands "not registered"
api POST /users "{\"id\":\"$CAROL\",\"name\":\"carol\"}" >/dev/null
api POST "/guilds/$GUILD/members" "{\"user_id\":\"$CAROL\"}" >/dev/null
lease=$(api POST /users/$CAROL/join "{\"guild_id\":\"$GUILD\",\"channel_id\":\"$VOICE\"}")
start carol build/tests/listener "$D/listener.sock" 1 $CAROL $GUILD $VOICE "$(echo "$lease" | field session_id)" \
	"$(echo "$lease" | field token)" "$(echo "$lease" | field endpoint)" 900000 yes tone:330 listen $BOT
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
in_force() { api GET /history | tr '{' '\n' | grep -c "\"what\":\"in\",\"user_id\":\"$BOT\""; }
before=$(in_force)

answer_of() { api GET "/interactions/$1" | sed -nE 's/.*"(original|data)": ?\{.*"content": ?"((\\.|[^"\\])*)".*/\2/p'; }
answered() { [ -n "$(answer_of "$1")" ]; }
ask() { # SUBCOMMAND [OPTIONS]: the answer goes to $answer
	id=$(api POST /interactions "{\"user_id\":\"$CAROL\",\"channel_id\":\"$TEXT\",\"name\":\"music\",\"options\":[{\"name\":\"$1\",\"type\":1,\"options\":[${2:-}]}]}" | field id)
	until_ok 15 answered "$id"
	answer=$(answer_of "$id")
}
add() { # NAME…: tracks of the server
	for name in "$@"; do
		ask add "$(query "http://$web/$name.wav")"
		case $answer in Added*|Playing*) ;; *) bad "$name is added" "$answer" ;; esac
	done
}
plays() { ask "$1" "$(query "$2")"; case $answer in *"$2"*) ;; *) false ;; esac; }
# told_of WORDS: how many messages tell so of a track.
told_of() { messages | grep -o 'I cannot play [^"]*' | grep -c "$1"; }
tells() { [ "$(told_of "play $1[^a-z:]*wav: $2\.")" -gt 0 ]; }
# fails SECONDS NAME REASON: it is told so, once.
fails() {
	until_ok "$1" tells "$2" "$3" && ok "$2: $3" || bad "$2" "not told so: $(messages | grep -o '"content":"[^"]*"')"
	is "and $2 is told once" "$(told_of "play $2[^a-z]")" 1
}
# silent NAME…: the channel has no word about them.
silent() {
	for name in "$@"; do
		is "$name is not told before its turn" "$(told_of "play ${name}[^a-z]")" 0
	done
}
# tried_again NAME TIMES: its server was not reached, nor was it that often after that.
unreached() { grep -ac ' music_failed .*reason=unreachable' "$D/one.log"; }
is_tried() { [ "$(unreached)" -ge $((unreached + 1 + $1)) ]; }
tried_again() {
	until_ok 60 is_tried "$2" && ok "$1 is tried again while another plays" || bad "$1" "$(grep -a music_failed "$D/one.log" | tail -3)"
	silent "$1"
}
# forget NAME…: nothing waits any more, nor does what failed and would be tried once more.
forget() {
	ask clear
	ask queue
	for name in "$@"; do
		case $answer in *"$name"*) bad "$name is cleared" "$answer" ;; esac
	done
}
levels() { grep -c "^level $BOT " "$D/carol.out"; }
# The amplitude of the music in each half second from line N on; the quietest.
quietest() { sed -n "s/^level $BOT .* \([0-9]*\)$/\1/p" "$D/carol.out" | tail -n "+$(($1 + 1))" | sort -n | head -1; }
# The end of the bot's last sound, in ms, and its packets until then.
sounds() {
	api GET /history | tr '{' '\n' | grep '"sound"' | grep "\"user_id\":\"$BOT\"" | sed -nE 's/.*"from_ms":([0-9]+),"to_ms":([0-9]+),"packets":([0-9]+).*/\2 \3/p' |
		awk '{ n += $2; to = $1 } END { print to, n + 0 }'
}
# begins TITLE: it plays, and is measured from now on.
begins() {
	until_ok 15 shows "Now playing.*$1" && ok "$1 plays" || bad "$1" "$(messages | grep -o '"content":"[^"]*"')"
	sleep 2
	at=$(levels)
	from=$(sounds)
}
# undisturbed WHAT: since then every packet has come, at its level.
undisturbed() {
	local to
	to=$(sounds)
	within "$1: share of the packets that came, in thousandths" "$(echo "$from $to" | awk '{ print int(20000 * ($4 - $2) / ($3 - $1) + 0.5) }')" 980 1020
	within "$1: its level, in thousandths" $((1000 * $(quietest "$at") / loud)) 900 1100
}

until_ok 20 plays play "Night Train" || bad "Night Train" "$answer"
begins "Night Train"
loud=$(sed -n "s/^level $BOT .* \([0-9]*\)$/\1/p" "$D/carol.out" | tail -1)
processes=$(pgrep -c -P "$(pgrep -d, -P "$(pgrep -d, -P "$mediad")")")

ask add "$(query "http://$web/probed.wav")"
case $answer in *"its port is neither 80 nor 443"*) ok "probed: its port is refused" ;; *) bad probed "$answer" ;; esac
unreached=$(unreached)
add refuses private breaks slow
plays add "Sea Song" || bad "Sea Song" "$answer"
fails 20 refuses "the server refused the request"
fails 20 private "the address may not be read"
tried_again breaks 2
silent slow
undisturbed "meanwhile"
ask skip
fails 20 breaks "the server cannot be reached"
fails 60 slow "the decoder process made no progress"

begins "Sea Song"
forget breaks slow
unreached=$(unreached)
add circle garbage endless lines
plays add "Old Bell" || bad "Old Bell" "$answer"
fails 20 circle "the server refused the request"
fails 20 garbage "the format is not supported"
fails 30 endless "the format is not supported"
tried_again lines 1
undisturbed "meanwhile"
ask skip
fails 30 lines "the server cannot be reached"

begins "Old Bell"
forget lines
unreached=$(unreached)
add closes halfway
plays add "Night Train" || bad "Night Train" "$answer"
tried_again closes 1
silent halfway
undisturbed "meanwhile"
ask skip
fails 30 closes "the server cannot be reached"
until_ok 10 shows 'Now playing.*halfway' && ok "halfway plays" || bad halfway "$(messages | grep -o '"content":"[^"]*"')"
fails 30 halfway "the server cannot be reached"
begins "Night Train"
forget closes
for name in refuses private breaks slow circle garbage endless lines closes halfway; do
	is "$name was told once" "$(told_of "play ${name}[^a-z]")" 1
done
is "the session has stayed" "$(in_force)" "$before"
is "nobody has asked at the private address" "$(grep -c asked "$D/private.out")" 0
alone() { [ "$(pgrep -c -P "$(pgrep -d, -P "$(pgrep -d, -P "$mediad")")")" -le "$processes" ]; }
until_ok 10 alone && ok "no process of theirs is left" || bad processes "$(pgrep -a decoderd)"
report
