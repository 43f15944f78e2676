#!/bin/sh
# Music by voice, through the real programs with the embedded engine: Alice asks for a track, pauses it, lets it go on, asks a question
# while it plays, goes to the next track, and chooses one of two. Carol, who only listens, hears each of it. Commands that are a whole
# utterance, and answers to "which one?", need no model.
#
#   tests/scenarios/played.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-played-XXXXXX)
. tests/scenarios/common
. tests/scenarios/spoken
CAROL=503

make -s build/tests/listener || exit 1
export PARLEY_LOG_WORDS=1 PARLEY_MUSIC_FOLDERS="$D/music" PARLEY_MUSIC_LATCH_S=0
start_guildd --set op4_same_server=1
start_brain
mkdir "$D/music"
# tone FILE HZ: two minutes of a sine.
tone() {
	perl -e '
		my ($hz, $rate, $s) = ($ARGV[0], 24000, 120);
		my $pcm = join "", map { pack "s<", 8000 * sin(6.283185307 * $hz * $_ / $rate) } 0 .. $rate * $s - 1;
		print "RIFF", pack("V", 36 + length $pcm), "WAVEfmt ", pack("VvvVVvv", 16, 1, 1, $rate, 2 * $rate, 2, 16), "data",
			pack("V", length $pcm), $pcm;' "$2" >"$1"
}
tone "$D/music/Blue Moon.wav" 440
tone "$D/music/Night Train.wav" 880
tone "$D/music/Toto - Africa.wav" 330
tone "$D/music/Weezer - Africa.wav" 660
start one "$B/mediad" --listen "$D/one.sock" --ca "$CA" --threads 1 --music-root "$D/music"
until_ok 5 test -S "$D/one.sock" || bad start "no mediad"
start_mediad caller
start_mediad listener
control 1
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"

api POST /users "{\"id\":\"$CAROL\",\"name\":\"carol\"}" >/dev/null
api POST "/guilds/$GUILD/members" "{\"user_id\":\"$CAROL\"}" >/dev/null
lease=$(api POST /users/$CAROL/join "{\"guild_id\":\"$GUILD\",\"channel_id\":\"$VOICE\"}")
build/tests/listener "$D/listener.sock" 1 $CAROL $GUILD $VOICE "$(echo "$lease" | field session_id)" "$(echo "$lease" | field token)" \
	"$(echo "$lease" | field endpoint)" 600000 yes listen $BOT >"$D/carol.told" 2>"$D/carol.err" &
started="$started $!"
until_ok 10 grep -qs up "$D/carol.told" || bad carol "not in the call"

# What Carol heard in the last half second: the tone of HZ, or nothing.
hears() { tail -1 "$D/carol.told" | awk -v hz="$1" '/^level/ { exit !($3 > 2000 && $4 > hz * 0.95 && $4 < hz * 1.05) } { exit 1 }'; }
silence() { tail -1 "$D/carol.told" | awk '/^level/ { exit !($3 < 100) } { exit 1 }'; }
heard() { until_ok 15 "$@"; }
last() { tail -1 "$D/carol.told"; }

# wants WHAT WORDS HEARD…: Alice says the words, again if they were not understood, and Carol hears it.
wants() {
	what=$1 words=$2
	shift 2
	for try in 1 2 3; do
		says "$words"
		heard "$@" && break
	done
	"$@" && ok "$what" || bad "$what" "$(last) $answer"
}

heard silence || bad "before" "there is a sound: $(last)"
wants "a track that was asked for is heard" "parley play blue moon" hears 440
wants "paused music is not heard" "parley pause the music" silence
is "and no model was asked" "$(turns | tail -1 | grep -oE 'reason=[a-z_]*')" reason=music_control
wants "it goes on" "parley go on with the music" hears 440
says "parley what time is it"
echo "$answer" | grep -q "It is" && ok "a question is answered while music plays" || bad "a question is answered while music plays" "$answer"
heard hears 440 && ok "and the music goes on after it" || bad "and the music goes on after it" "$(last)"
says "tell me a joke"
is "without the wake latch only words for the bot are answered" "$(turns | tail -1 | grep -oE 'reason=[a-z_]*') $answer" 'reason=not_awake said=""'
heard hears 440 && ok "and the music plays on" || bad "and the music plays on" "$(last)"
wants "another track is queued" "parley queue night train" hears 440
is "by a tool" "$(grep -ac 'tool_called .*name=music_queue_add code=ok' "$D/control1.log")" 1
wants "the next one follows" "parley next song" hears 880
wants "stopped music is not heard" "parley stop the music" silence

# ---- which one? ----
for try in 1 2 3; do
	says "parley play africa"
	echo "$answer" | grep -q "Which one" && break
done
case $answer in
*"one, Africa by Toto, or two, Africa by Weezer"*) which="the second one" ;;
*"one, Africa by Weezer, or two, Africa by Toto"*) which="the first one" ;;
*) which="never mind" ;;
esac
is "two tracks that fit are offered" "$(echo "$answer" | grep -c "Which one: one, Africa by")" 1
wants "the chosen one is heard" "$which" hears 660
is "and no model was asked" "$(turns | tail -1 | grep -oE 'reason=[a-z_]*')" reason=chosen
report
