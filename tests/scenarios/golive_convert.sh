#!/bin/sh
# A video with B-frames, which no stream can send as it is stored, shown by the real programs with the account of a person: a process of the
# decoders' jail decodes it and encodes it again as VP8, and somebody with a mediad of their own watches it under DAVE. Each frame that the
# viewer gets is decoded and shows its number: they come in the order in which they are shown, a tone is heard when its frame is seen, and
# hardly any is left out.
#
#   tests/scenarios/golive_convert.sh [build folder]      default: build
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-convert-XXXXXX)
. tests/scenarios/common
BOB=602 ACCOUNT=700 FRAMES=240 TONE=60
. tests/scenarios/shown
needs golive film_file
export PARLEY_GO_LIVE=true

mkdir "$D/films"
"$B/film_file" make "$D/films/b.mov" 1200 $TONE || bad b.mov "it was not made"

start_guildd
GATEWAY=$(field gateway <"$D/ready")
start_brain
unset PARLEY_BRAIN_URL
answers=$(cat <<-END
	answer show the film => call play_video_url {"url":"file:b.mov"}
	answer stop the video => call stop_video_share {}
	END
)
brain "show the film"
cat >"$D/config.json" <<-END
	{"music_folders": "$D/films",
	 "providers": [{"name": "eyes", "dialect": "openai", "url": "http://127.0.0.1:$port/v1"}],
	 "roles": {"voice": ["eyes"], "transcribe": ["eyes"]}, "answer_audio": "own"}
END
add_people
start mediad "$B/mediad" --listen "$D/mediad.sock" --ca "$CA" --threads 1 --music-root "$D/films"
until_ok 5 test -S "$D/mediad.sock" || bad start "no mediad"
start_mediad bob
start_mediad caller
start control "$B/control" --media-sock "$D/mediad.sock" --guild "$GUILD" --channel "$VOICE" --state-dir "$D/state" --ca "$CA" \
	--config "$D/config.json" --log debug
control=$last
until_ok 20 logged ' golive_ready account=700' || bad "the account" "$(grep -a golive "$D/control.log")"
until_ok 20 up "$GUILD" || bad "the call" "it is not up"
api POST "/users/$ALICE/join" "{\"channel_id\":\"$VOICE\"}" >/dev/null

asks "show the film"
answered 'playing\":true' && ok "a tool shows a film with B-frames" || bad "the tool" "$(turns | tail -1) $(grep -a golive "$D/control.log" | tail -3)"
"$B/golive" "$GATEWAY" "$CA" $GUILD $VOICE vp8 - user:$ACCOUNT bob.token - "$D/bob.sock" every $FRAMES sound into "$D/seen.ivf" >"$D/golive.out" 2>&1 &&
	ok "bob gets $FRAMES frames of VP8" || bad "what bob gets" "$(tail -3 "$D/golive.out")"
wait "$caller"
"$B/film_file" look "$D/seen.ivf" >"$D/seen"
# Frames before the first key frame that bob got say nothing.
perl -e '
	my ($frames, $tone, $seen, $out) = @ARGV; my (@at, @n, $bad); my $last = -1;
	open my $f, "<", $seen or die; my $began;
	while (<$f>) { my ($n, $ms) = /^(-?\d+) (\d+) 640x360/ or do { $bad .= " size: $_" if $began; next }; $began ||= $n >= 0; next unless $began;
		$bad .= " $n behind $last" if $n <= $last; $last = $n; push @n, $n; push @at, $ms; }
	my $missing = $n[-1] - $n[0] + 1 - @n;
	# Each frame with a tone has one. A busy machine delays some of them: the nearest of all tells how far they are apart, and that of
	# the second half whether they drift.
	my (@heard, @apart); my $alone = 0;
	open $f, "<", $out or die;
	while (<$f>) { push @heard, $1 if /^tone (\d+)/ }
	for (0 .. $#n) { next if $n[$_] % $tone; my $least = 1e9;
		for my $ms (@heard) { my $d = abs($at[$_] - $ms); $least = $d if $d < $least }
		if ($least > 900) { $alone++ } else { push @apart, $least } }
	my ($far) = sort { $a <=> $b } @apart;
	my ($drift) = sort { $a <=> $b } @apart[int(@apart / 2) .. $#apart];
	printf "frames=%d first=%d last=%d missing=%d tones=%d alone=%d apart_ms=%d (%s)%s\n", scalar @n, $n[0], $n[-1], $missing, scalar @heard, $alone, $far // -1,
		join(" ", @apart), substr($bad // "", 0, 80);
	exit(@n < $frames * 0.8 || $bad || $missing > $frames / 3 || @apart < 3 || $alone > 1 || $far > 150 || $drift > 400);
' $FRAMES $TONE "$D/seen" "$D/golive.out" >"$D/judged" && ok "decoded, they are in order and with their sound: $(cat "$D/judged")" || bad "what bob sees" "$(cat "$D/judged")"

asks "stop the video"
answered 'stopped\":true' && ok "a tool ends it" || bad "the stop" "$(turns | tail -1)"
until_ok 10 streaming 0 && ok "and the stream is over" || bad "the stream" "it goes on"
wait "$caller"
is "video in the clear" "$(count $ACCOUNT video_plaintext)" 0
is "control is still there" "$(kill -0 "$control" && echo yes)" yes
report
