#!/bin/sh
# Soundboard sounds in the middle of a spoken answer: one of Discord and a file of this machine, each where the answer names it, and
# none after the place where somebody cuts the answer. The model's marks are never words.
#
#   tests/scenarios/soundboard.sh [build folder]      default: build
# slow: in make scenarios, not in make check
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-soundboard-XXXXXX)
. tests/scenarios/common

# A text model that answers with both sounds, and one that none can find.
perl -MIO::Socket::INET -e '
	my $s = IO::Socket::INET->new(Listen => 4, LocalAddr => "127.0.0.1", ReuseAddr => 1) or die;
	$| = 1; print $s->sockport, "\n";
	while (my $c = $s->accept) {
		my $n = 0;
		while (my $line = <$c>) { $n = $1 if $line =~ /^content-length: *(\d+)/i; last if $line =~ /^\r?\n/; }
		read $c, my $body, $n;
		open my $f, ">", "$ARGV[0]"; print $f $body; close $f;
		print $c "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
		for ("[[TO: ALL]] Here is the duck. [[SOUND", "BOARD: quack]] And after a long sentence about a duck and a bell, which nobody wants to hear, the bell comes here. ", "[[SOUNDBOARD: nothing]] ",
		     "[[SOUNDBOARD: Ding]] Now I am done with all of it.") {
			print $c "data: {\"choices\":[{\"delta\":{\"content\":\"$_\"},\"finish_reason\":null}]}\n\n";
		}
		print $c "data: [DONE]\n\n";
		close $c;
	}' "$D/question" >"$D/port" &
started="$started $!"
until_ok 5 test -s "$D/port" || bad "the text server" "did not start"

# The bell: 800 ms of 3 kHz. Another file is no sound.
mkdir "$D/folder"
perl -e '
	my @s = map { int(9000 * sin(6.283185307 * 3000 * $_ / 48000)) } 0 .. 38399;
	print "RIFF", pack("V", 36 + 2 * @s), "WAVEfmt ", pack("VvvVVvv", 16, 1, 1, 48000, 96000, 2, 16), "data", pack("V", 2 * @s), pack("s<*", @s);
' >"$D/folder/ding.wav"
echo "no sound" >"$D/folder/broken.mp3"

start_guildd
start_brain
start_mediad one
start_mediad caller
start control env PARLEY_REPLY_PATH=brain PARLEY_LOG_WORDS=1 PARLEY_SOUND_MS=300 PARLEY_ASR_WAIT_MS=20000 PARLEY_SOUND_FOLDER="$D/folder" \
	PARLEY_TEXT_URL="http://127.0.0.1:$(cat "$D/port")/v1" \
	"$B/control" --media-sock "$D/one.sock" --state-dir "$D/state" --ca "$CA"
until_ok 10 registered || bad commands "not registered"
join $TEXT $VOICE
until_ok 10 up $GUILD || bad "the call" "not up"
seen() { grep -aqs "$1" "$D/control.log"; }
until_ok 10 seen 'local_sounds count=1' && ok "a folder has one sound, and a broken file is left out" || bad "a folder has one sound" "no"

asks() { # OPTION…: alice asks, in the background; the answer is recorded in $D/out
	"$B/caller" --api "http://127.0.0.1:$API" --media-sock "$D/caller.sock" --offlined "$B/offlined" --record "$D/brain" --out "$D/out" \
		--guild $GUILD --channel $VOICE --user $ALICE --bot $BOT --say "parley what can you do" --wait 25 --quiet 5000 "$@" >"$D/asked.out" 2>&1 &
	caller=$!
	started="$started $caller"
}
asks
until_ok 40 seen ' turn .*stage=ended' || bad "the answer" "none"
wait "$caller"
is "the turn was answered, without the marks in its words" \
	"$(grep -ac ' turn .*reason=answered said="Here is the duck. And after a long sentence about a duck and a bell, which nobody wants to hear, the bell comes here. Now I am done with all of it."' "$D/control.log")" 1
is "the model is told the local sound, then those of Discord" "$(grep -oE 'no others: ding, [a-z ]+' "$D/question" | head -1)" "no others: ding, quack"
is "both sounds were played, in their order" "$(grep -aoE 'sound_played .*local=[01]' "$D/control.log" | grep -oE 'why=.*local=[01]' | tr '\n' ' ')" \
	"why=played local=0 why=played local=1 "
is "an unknown one was left out" "$(grep -acE 'sound_dropped .*why=unknown' "$D/control.log")" 1
# In milliseconds since the bot began to speak: its sounds from beginning to end (what=sound), and Discord's sounds.
history() {
	api GET /history | tr '{' '\n' | grep "\"user_id\":\"$BOT\"" | grep -E '"what":"sound(board)?"' |
		sed -nE 's/.*"what":"([a-z]+)".*"from_ms":([0-9]+),"to_ms":([0-9]+).*/\1 \2 \3/p'
}
history >"$D/history"
is "Discord's sound began between two segments of speech, none of which was playing" \
	"$(awk '$1 == "soundboard" { at = $2; if (last && last <= at) before = 1 } $1 == "sound" && at && $2 >= at { after = 1 }
		$1 == "sound" { last = $3 } END { print before + 0, after + 0 }' "$D/history")" "1 1"
# The bell is louder at 3 kHz than all speech: it comes after the second segment, and before the third.
perl -e '
	local $/; open my $f, "<:raw", $ARGV[0] or die; my @s = unpack "s<*", substr(<$f>, 44);
	my ($size, $word, @found) = (480, "");
	for (my $i = 0; $i + $size <= @s; $i += $size) {
		my ($re, $im, $all) = (0, 0, 0);
		for my $k (0 .. $size - 1) {
			my ($v, $p) = ($s[$i + $k], 6.283185307 * 3000 * $k / 24000);
			$re += $v * cos $p; $im += $v * sin $p; $all += $v * $v;
		}
		my $now = $all < $size * 100 * 100 ? "" : 2 * ($re * $re + $im * $im) / $size > 0.8 * $all ? "bell" : "speech";
		push @found, $word = $now if $now && $now ne $word;
	}
	print "@found";
' "$D/out/arrived.wav" >"$D/order"
is "the local sound was heard between speech and speech" "$(cat "$D/order")" "speech bell speech"

# Alice cuts the answer before the bell.
before=$(grep -ac 'sound_played' "$D/control.log")
asks --line "2500 parley stop"
twice() { [ "$(grep -ac ' turn .*stage=ended.*said="Here' "$D/control.log")" -ge 2 ]; }
until_ok 40 twice || bad "the second answer" "did not end"
wait "$caller"
is "the answer was interrupted" "$(grep -a ' turn .*stage=ended.*said="Here' "$D/control.log" | tail -1 | grep -oE 'reason=[a-z_]+')" "reason=interrupted"
is "and played Discord's sound alone, which came before the cut" "$(($(grep -ac 'sound_played' "$D/control.log") - before))" 1

# Changes of the soundboard reach control without a question to Discord, and a sound that members play has its new name.
id=$(api POST "/guilds/$GUILD/sounds" '{"name":"tada"}' | field id)
api PATCH "/guilds/$GUILD/sounds/$id" '{"name":"fanfare"}' >/dev/null
rm "$D/question"
asks
until_ok 40 grep -qs 'no others: ding, .*fanfare' "$D/question" && ok "the model is told a new sound by its last name" ||
	bad "the model is told a new sound by its last name" "$(grep -oE 'no others: [a-z, ]+' "$D/question" | head -1)"
api GET /requests >"$D/requests"
is "the soundboard was listed once" "$(grep -o '/soundboard-default-sounds' "$D/requests" | wc -l)" 1
report
