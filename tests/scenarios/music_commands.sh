#!/bin/sh
# /music through the real programs: a title is suggested and added, the message about what plays is posted and edited, its buttons
# skip by vote and refuse what needs a DJ, a late press reaches no other track, and a restart of control leaves one message.
#
#   tests/scenarios/music_commands.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-music-commands-XXXXXX)
. tests/scenarios/common
. tests/scenarios/spoken
BOB=502 CAROL=503 DAVE=504

shown() { api GET "/interactions/$1"; }
content() { shown "$1" | sed -nE 's/.*"(original|data)": ?\{.*"content": ?"((\\.|[^"\\])*)".*/\2/p'; }
answered() { [ -n "$(content "$1")" ]; }
# music USER SUBCOMMAND [OPTIONS]: the answer goes to $answer.
music() {
	id=$(api POST /interactions "{\"user_id\":\"$1\",\"channel_id\":\"$TEXT\",\"name\":\"music\",\"options\":[{\"name\":\"$2\",\"type\":1,\"options\":[${3:-}]}]}" | field id)
	until_ok 10 answered "$id"
	answer=$(content "$id")
}
query() { echo "{\"name\":\"query\",\"type\":3,\"value\":\"$1\"}"; }
# typing USER SUBCOMMAND OPTION TEXT: the suggestions go to $answer.
typing() {
	id=$(api POST /interactions "{\"user_id\":\"$1\",\"channel_id\":\"$TEXT\",\"type\":4,\"data\":{\"name\":\"music\",\"type\":1,\"options\":[{\"name\":\"$2\",\"type\":1,\"options\":[{\"name\":\"$3\",\"type\":3,\"value\":\"$4\",\"focused\":true}]}]}}" | field id)
	until_ok 5 suggested "$id"
	answer=$(shown "$id" | grep -oE '"choices": ?\[.*' | sed 's/\]}}.*/]/')
}
suggested() { shown "$1" | grep -q '"choices"'; }
messages() { api GET "/channels/$VOICE/messages"; }
resumes() { [ "$(messages | grep -oE 'parley:music_resume' | wc -l)" = 1 ]; }
playing() { messages | grep -q "Now playing.*$1"; }
says_now() { messages | grep -q "$1"; }
# The newest one in the chat.
message_id() { messages | grep -oE '"id": ?"[0-9]+", ?"channel_id"' | tail -1 | grep -oE '[0-9]+' | head -1; }
# press USER ACTION ENTRY [MORE]: a button of the message; the answer goes to $answer, "" when it shows nothing new.
press() {
	pressed=$(api POST /interactions "{\"user_id\":\"$1\",\"channel_id\":\"$VOICE\",\"type\":3,\"message_id\":\"$message\",\"data\":{\"custom_id\":\"parley:music_$2:*:$VOICE.$3\",\"component_type\":2}${4:-}}" | field id)
	[ -n "$pressed" ] || bad "press $2" "no such button: $(messages)"
	until_ok 5 pressed_answered || bad "press $2" "not answered"
	answer=$(shown "$pressed" | grep -o '"callback".*' | sed -nE 's/^"callback": ?\{[^}]*"content": ?"((\\.|[^"\\])*)".*/\1/p')
}
pressed_answered() { ! shown "$pressed" | grep -qE '"answer": ?0'; }
says() { # WHAT PATTERN
	case $answer in $2) ok "$1" ;; *) bad "$1" "$answer" ;; esac
}
enter() { # USER NAME
	api POST /users "{\"id\":\"$1\",\"name\":\"$2\"}" >/dev/null
	api POST "/guilds/$GUILD/members" "{\"user_id\":\"$1\"}" >/dev/null
	[ "${3:-}" ] || api POST /users/$1/join "{\"guild_id\":\"$GUILD\",\"channel_id\":\"$VOICE\"}" >/dev/null
}

# tone FILE HERTZ SECONDS: a WAV file.
tone() {
	perl -e '($hz, $s) = @ARGV; $n = $s * 16000; binmode STDOUT;
		print pack("a4Va4a4VvvVVvva4V", "RIFF", 36 + 2 * $n, "WAVE", "fmt ", 16, 1, 1, 16000, 32000, 2, 16, "data", 2 * $n);
		print pack("s<", 8000 * sin($_ * $hz * 6.2831853 / 16000)) for 0 .. $n - 1' "$2" "$3" >"$1"
}
# name FILE TITLE ARTIST: gives a WAV file tags.
name() {
	perl -e '($file, %tag) = @ARGV; open my $f, "+<", $file or die; binmode $f; local $/; my $sound = <$f>;
		my $tags = join "", map { my $t = "$tag{$_}\0"; $t .= "\0" if length($t) % 2; pack("a4Va*", $_, length $t, $t) } sort keys %tag;
		my $list = pack("a4Va4a*", "LIST", 4 + length $tags, "INFO", $tags);
		substr($sound, 4, 4) = pack("V", length($sound) + length($list) - 8);
		substr($sound, 36, 0) = $list;
		seek $f, 0, 0; print $f $sound' "$1" INAM "$2" IART "$3"
}
mkdir -p "$D/music/The Waves" "$D/music/rips" "$D/state"
tone "$D/music/The Waves/Sea Song.wav" 330 60
tone "$D/music/The Waves/Night Train.wav" 440 60
tone "$D/music/The Waves/Old *Bell* [x](y).wav" 550 60

tone "$D/music/rips/track 07.wav" 660 20
name "$D/music/rips/track 07.wav" "Harbour Lights" "The Tides"

start_guildd
start_brain
export PARLEY_MUSIC_FOLDERS=$D/music
start one "$B/mediad" --listen "$D/one.sock" --ca "$CA" --threads 1 --music-root "$D/music"
until_ok 5 test -S "$D/one.sock" || bad start "no mediad"
control 1
until_ok 10 registered || bad commands "not registered"
enter $BOB bob
enter $CAROL carol
enter $DAVE dave
enter 505 erin outside
music $BOB now
says "without a call there is no music" "*I am in no channel*"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
music $BOB now
says "nothing plays" "Nothing plays at the moment."

found() { typing $BOB add query "nigth tra"; case $answer in *'Night Train'*) ;; *) false ;; esac; }
until_ok 10 found && ok "a title is suggested, although it is misspelt" || bad "suggestions" "$answer"
suggestion=$(echo "$answer" | sed -nE 's/.*"value": ?"([^"]*)".*/\1/p')
tagged() { typing $BOB add query "harbor lihgts"; case $answer in *'The Tides - Harbour Lights'*) ;; *) false ;; esac; }
until_ok 20 tagged && ok "so is one that stands in the tags of its file alone" || bad "tags" "$answer"
typing $BOB add query ""
is "nothing typed, nothing suggested" "$(echo "$answer" | tr -d ' ')" '"choices":[]'
music $BOB add "$(query "$suggestion")"
says "the suggestion is added and plays" "Playing The Waves*Night Train."
until_ok 10 playing 'Night Train' && ok "the message tells what plays" || bad "the message" "$(messages)"
message=$(message_id)
says_now "Requested by <@$BOB>" && ok "and who asked for it" || bad "the requester" "$(messages)"
music $CAROL add "$(query "the waves sea song")"
says "another one waits" "Added The Waves*Sea Song as number 2 of the queue.*"
music 505 skip
says "a member outside of the channel decides nothing" "Please come into my voice channel first*"
music $CAROL pause
says "another member's track needs a DJ to pause" "Only a DJ may do that*"
music $BOB pause
says "its requester pauses it" "Paused."
until_ok 10 says_now '\*\*Paused:\*\*' && ok "the message shows the pause" || bad "the pause" "$(messages)"
press $BOB resume 1
is "a button goes on" "$answer" ""
until_ok 10 playing 'Night Train' && ok "and the message shows it" || bad "resume" "$(messages)"
press $CAROL stop 1
says "the stop button needs a DJ" "Only a DJ may do that*"
press $CAROL skip 1
says "the skip button votes" "Your vote counts: 1 of 2 votes*"
until_ok 10 says_now 'Votes to skip: 1 of 2' && ok "the message shows the votes" || bad "the votes" "$(messages)"
music $DAVE skip
says "the second vote skips" "Skipped The Waves*Night Train."
until_ok 10 playing 'Sea Song' && ok "the next track plays" || bad "the next track" "$(messages)"
press $CAROL skip 1 ',"stale":true'
says "a late press reaches no other track" "That track is not in the queue any more."
music $BOB add "$(query "old bell")"
music $CAROL skip
says "its requester skips it alone" "Skipped The Waves*Sea Song."
until_ok 10 playing 'Old' || bad "the third track" "$(messages)"
messages | grep -q '\[x\](y)' && bad "a title" "is markup: $(messages)" || ok "a title becomes no markup"
typing $BOB remove track ""
says "entries are suggested by id" '*"#3"*'
music $BOB history
says "what was played is told" "*Played before*Sea Song*Night Train*"

kill9 "$control"
control 2
until_ok 20 up $GUILD || bad "the call" "not up after a restart"
music $BOB now
says "after a restart the same track plays" "*Now playing:*Old*"
sleep 6
is "and there is one message" "$(messages | grep -oE '"(custom_id)": ?"parley:music_skip' | wc -l)" 1
music $BOB volume '{"name":"percent","type":4,"value":40}'
says "the volume needs a DJ" "Only a DJ may do that*"
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"leave\"}" >/dev/null
until_ok 10 says_now 'after /join, /music resume plays on' && ok "the bot leaves, and the message says that the music waits" ||
	bad "the message of a bot that has left" "$(messages)"
is "and has no buttons" "$(messages | grep -c 'parley:music')" 0
api POST /interactions "{\"user_id\":\"$BOB\",\"channel_id\":\"$TEXT\",\"name\":\"join\"}" >/dev/null
until_ok 20 says_now '\*\*Paused:\*\*.*Old.*/music resume plays on' && ok "back again, it says how to go on" || bad "the way on" "$(messages)"
music $BOB resume
says "which is done" "The music goes on."
until_ok 10 playing 'Old' && ok "and the track plays on" || bad "the track" "$(messages)"
music $BOB skip
until_ok 10 says_now 'The music is over' && ok "the message says that the music is over" || bad "the end" "$(messages)"

# Discord would give back the message of a nonce that it knows: the one that told that the bot had left.
music $BOB add "$(query "night train")"
until_ok 10 playing 'Night Train' || bad "a new message" "$(messages)"
api POST /interactions "{\"user_id\":\"$ALICE\",\"channel_id\":\"$TEXT\",\"name\":\"leave\"}" >/dev/null
until_ok 10 says_now 'after /join, /music resume plays on' || bad "it leaves again" "$(messages)"
api POST /interactions "{\"user_id\":\"$BOB\",\"channel_id\":\"$TEXT\",\"name\":\"join\"}" >/dev/null
until_ok 20 says_now '\*\*Paused:\*\*.*Night Train' && ok "back again, the message of the same track says so, too" || bad "the same track" "$(messages)"
until_ok 5 resumes && ok "and has its buttons" || bad "its buttons" "$(messages)"
says_now 'after /join' && bad "the message" "still says that the bot has left: $(messages)" || ok "and no longer says that the bot has left"
report
