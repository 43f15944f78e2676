# A text model for scenarios: a server of Chat Completions that streams, one process a request. Its port is its first line of output.
#
#   perl -Itests/standins -MTextModel -e 'serve { my ($text, $ask) = @_; note($text); "Hello." }' LOG
#
# The block gets the text of the last message and the whole request. It returns what the model says, in pieces: texts, and calls of tools
# as {name => NAME, arguments => {…}}; nothing at all is a refusal (400).
package TextModel;
use strict;
use warnings;
use Exporter "import";
use IO::Socket::INET;
use JSON::PP;
our @EXPORT = qw(serve note text_of asked_of);

sub text_of { my ($m) = @_; ref $m->{content} ? join " ", map { $_->{text} // "" } @{$m->{content}} : $m->{content} // "" }

# The lines that are to be answered: not those that are marked as written meanwhile, and not the note behind them.
sub asked_of {
	my ($text) = @_;
	my $on = 1;
	return join "\n", grep { $on = 0 if /^\(/; $on = 1 if /^\[/; $on } split /\n/, $text;
}

# A line of LOG.
sub note {
	my ($line) = @_;
	open my $log, ">>", $ARGV[0] or die;
	$line =~ s/\n/\\n/g;
	utf8::encode($line);
	syswrite $log, "$line\n";
}

sub read_request {
	my ($c) = @_;
	my ($n, $body) = 0;
	while (my $line = <$c>) { $n = $1 if $line =~ /^content-length: *(\d+)/i; last if $line =~ /^\r?\n/ }
	read $c, $body, $n;
	return length $body ? decode_json($body) : undef;
}

sub chunk { "data: " . encode_json({choices => [{delta => $_[0], finish_reason => $_[1]}]}) . "\n\n" }

sub call_of {
	my ($call, $number, $index) = @_;
	return {index => $index, id => "call_$number.$index", function => {name => $call->{name}, arguments => encode_json($call->{arguments})}};
}

sub answer {
	my ($c, $number, $streams, @pieces) = @_;
	if (!@pieces) { print $c "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"; return }
	my $calls = 0;
	if (!$streams) {
		my $whole = encode_json({choices => [{message => {role => "assistant", content => join "", @pieces}, finish_reason => "stop"}]});
		print $c "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ", length $whole, "\r\n\r\n$whole";
		return;
	}
	print $c "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
	for (@pieces) {
		print $c chunk(ref $_ ? {tool_calls => [call_of($_, $number, $calls++)]} : {content => $_}, undef);
	}
	print $c chunk({}, $calls ? "tool_calls" : "stop"), "data: [DONE]\n\n";
}

sub serve(&) {
	my ($block) = @_;
	local $SIG{CHLD} = "IGNORE";
	local $SIG{PIPE} = "IGNORE";
	my $s = IO::Socket::INET->new(Listen => 16, LocalAddr => "127.0.0.1", ReuseAddr => 1) or die;
	$| = 1;
	print $s->sockport, "\n";
	my $number = 0;
	while (my $c = $s->accept) {
		$number++;
		if (fork) { close $c; next }
		my $ask = read_request($c);
		answer($c, $number, $ask->{stream}, $block->(text_of($ask->{messages}[-1]), $ask)) if $ask;
		exit;
	}
}

1;
