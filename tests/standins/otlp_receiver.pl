#!/usr/bin/perl
# A collector of OTLP over HTTP in its JSON encoding, strictly: unknown members, ids that are not hex of the right length, 64-bit numbers
# that are no texts, enumerations that are texts, histograms that do not add up and spans that end before they begin are faults.
#
#   otlp_receiver.pl FOLDER [TOKEN]
#
# Prints its port. Writes a line to FOLDER/log for each request: "ok PATH NAMES" or "bad PATH FAULT"; each valid body to FOLDER/bodies.
# FOLDER/mode: "503" answers the next request with 503 and Retry-After: 1; "hang" answers none while the file is there.
use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP;

my ($dir, $token) = @ARGV;
my $server = IO::Socket::INET->new(Listen => 16, LocalAddr => '127.0.0.1', ReuseAddr => 1) or die;
$| = 1;
print $server->sockport, "\n";

sub fault { die "$_[0]\n" }
# members OBJECT NAMES: no others, and those without ? are there.
sub members {
	my ($o, $what, @names) = @_;
	fault("$what is no object") unless ref $o eq 'HASH';
	my %known = map { (s/\?$//r => 1) } @names;
	for (keys %$o) { fault("$what has $_") unless $known{$_} }
	for (@names) { fault("$what lacks $_") unless /\?$/ || exists $o->{$_} }
}
sub list { fault("$_[1] is no list") unless ref $_[0] eq 'ARRAY'; @{$_[0]} }
my $json = JSON::PP->new->utf8->allow_bignum(0);
sub is_text { my $e = JSON::PP->new->allow_nonref->encode($_[0]); $e =~ /^"/ }
sub u64 { fault("$_[1] is no text of digits") unless defined $_[0] && !ref $_[0] && is_text($_[0]) && $_[0] =~ /^\d{1,20}$/ }
sub enum { fault("$_[1] is no number") if !defined $_[0] || ref $_[0] || is_text($_[0]) || $_[0] !~ /^\d+$/ }
sub text { fault("$_[1] is no text") unless defined $_[0] && !ref $_[0] && is_text($_[0]) }
sub real { fault("$_[1] is no number") if !defined $_[0] || ref $_[0] || is_text($_[0]) }
sub attributes {
	my %seen;
	for (list($_[0], 'attributes')) {
		members($_, 'attribute', qw(key value));
		text($_->{key}, 'key');
		fault("two attributes $_->{key}") if $seen{$_->{key}}++;
		my ($kind, @more) = keys %{$_->{value}};
		fault("attribute $_->{key} of $kind") if @more || $kind !~ /^(stringValue|intValue|doubleValue|boolValue)$/;
		text($_->{value}{$kind}, $kind) if $kind eq 'stringValue';
		u64($_->{value}{$kind}, $kind) if $kind eq 'intValue';
	}
}
sub resource {
	members($_[0], 'resource', 'attributes');
	attributes($_[0]{attributes});
	fault('no service.name') unless grep { $_->{key} eq 'service.name' } @{$_[0]{attributes}};
}
sub scope { members($_[0], 'scope', qw(name version?)) }
sub point {
	my ($p, $what, @more) = @_;
	members($p, $what, 'timeUnixNano', 'attributes?', @more);
	u64($p->{timeUnixNano}, 'timeUnixNano');
	if (exists $p->{startTimeUnixNano}) {
		u64($p->{startTimeUnixNano}, 'startTimeUnixNano');
		fault("$what ends before it begins") if $p->{startTimeUnixNano} > $p->{timeUnixNano};
	}
	attributes($p->{attributes}) if $p->{attributes};
}
sub number {
	my ($p) = @_;
	fault('asInt or asDouble') unless exists $p->{asInt} xor exists $p->{asDouble};
	u64($p->{asInt}, 'asInt') if exists $p->{asInt};
	real($p->{asDouble}, 'asDouble') if exists $p->{asDouble};
}
sub histogram {
	my ($p, $what) = @_;
	point($p, $what, qw(startTimeUnixNano count sum bucketCounts explicitBounds));
	my ($all, $last) = (0);
	u64($p->{count}, 'count');
	real($p->{sum}, 'sum');
	for (list($p->{bucketCounts}, 'bucketCounts')) { u64($_, 'bucket'); $all += $_ }
	fault("$what does not add up") unless $all == $p->{count};
	fault("$what has other bounds than buckets") unless @{$p->{bucketCounts}} == list($p->{explicitBounds}, 'explicitBounds') + 1;
	for (@{$p->{explicitBounds}}) { fault("$what: bounds") if defined $last && $_ <= $last; $last = $_ }
}
sub metric {
	my ($m) = @_;
	members($m, 'metric', qw(name description unit gauge? sum? histogram?));
	text($m->{name}, 'name');
	fault("name $m->{name}") unless $m->{name} =~ /^[A-Za-z][A-Za-z0-9_.\/-]{0,254}$/;
	my @kinds = grep { $m->{$_} } qw(gauge sum histogram);
	fault("$m->{name} is of @kinds") unless @kinds == 1;
	my $d = $m->{$kinds[0]};
	members($d, $m->{name}, 'dataPoints', $kinds[0] eq 'gauge' ? () : 'aggregationTemporality', $kinds[0] eq 'sum' ? 'isMonotonic' : ());
	enum($d->{aggregationTemporality}, 'aggregationTemporality') if $kinds[0] ne 'gauge';
	my %seen;
	for (list($d->{dataPoints}, 'dataPoints')) {
		fault("$m->{name}: two points of one series") if $seen{JSON::PP->new->canonical->encode($_->{attributes} // [])}++;
		if ($kinds[0] eq 'histogram') { histogram($_, $m->{name}) }
		else { point($_, $m->{name}, qw(startTimeUnixNano? asInt? asDouble?)); number($_) }
	}
	return $m->{name};
}
sub span {
	my ($s) = @_;
	members($s, 'span', qw(traceId spanId parentSpanId? name kind startTimeUnixNano endTimeUnixNano attributes status));
	fault('traceId') unless $s->{traceId} =~ /^[0-9a-f]{32}$/ && $s->{traceId} =~ /[1-9a-f]/;
	for (qw(spanId parentSpanId)) { fault($_) if exists $s->{$_} && $s->{$_} !~ /^[0-9a-f]{16}$/ }
	enum($s->{kind}, 'kind');
	u64($s->{$_}, $_) for qw(startTimeUnixNano endTimeUnixNano);
	fault("$s->{name} ends before it begins") if $s->{endTimeUnixNano} < $s->{startTimeUnixNano};
	attributes($s->{attributes});
	members($s->{status}, 'status', qw(code? message?));
	return $s->{name} =~ s/ /_/gr;
}
sub examine {
	my ($path, $o) = @_;
	my @names;
	if ($path eq '/v1/metrics') {
		members($o, 'request', 'resourceMetrics');
		for my $r (list($o->{resourceMetrics}, 'resourceMetrics')) {
			members($r, 'resourceMetrics', qw(resource scopeMetrics));
			resource($r->{resource});
			for (list($r->{scopeMetrics}, 'scopeMetrics')) {
				members($_, 'scopeMetrics', qw(scope metrics));
				scope($_->{scope});
				push @names, map { metric($_) } list($_->{metrics}, 'metrics');
			}
		}
		my %seen;
		for (@names) { fault("two metrics $_") if $seen{$_}++ }
	} elsif ($path eq '/v1/traces') {
		members($o, 'request', 'resourceSpans');
		for my $r (list($o->{resourceSpans}, 'resourceSpans')) {
			members($r, 'resourceSpans', qw(resource scopeSpans));
			resource($r->{resource});
			for (list($r->{scopeSpans}, 'scopeSpans')) {
				members($_, 'scopeSpans', qw(scope spans));
				scope($_->{scope});
				push @names, map { span($_) } list($_->{spans}, 'spans');
			}
		}
	} else {
		fault('unknown path');
	}
	return @names;
}
sub write_line { open my $f, '>>', "$dir/$_[0]" or die; print $f "$_[1]\n"; close $f }

while (my $c = $server->accept) {
	my ($n, $type, $who, $first) = (0, '', '', scalar <$c> // '');
	while (my $line = <$c>) {
		last if $line =~ /^\r?\n/;
		$n = $1 if $line =~ /^content-length: *(\d+)/i;
		$type = $1 if $line =~ /^content-type: *(\S+)/i;
		$who = $1 if $line =~ /^authorization: *(.*?)\r?\n/i;
		print $c "HTTP/1.1 100 Continue\r\n\r\n" if $line =~ /^expect: *100/i;
	}
	my ($path) = $first =~ m{^POST (\S+) HTTP/1\.1};
	read $c, my $body, $n;
	my $mode = -e "$dir/mode" ? do { open my $f, '<', "$dir/mode"; <$f> // '' } : '';
	if ($mode =~ /^hang/) {
		write_line('log', 'hung ' . ($path // ''));
		push our @hung, $c;
		next;
	}
	if ($mode =~ /^503/) {
		unlink "$dir/mode";
		write_line('log', 'later ' . ($path // ''));
		print $c "HTTP/1.1 503 Later\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
		close $c;
		next;
	}
	my @names = eval {
		fault("no POST: $first") unless $path;
		fault("Content-Type $type") unless $type eq 'application/json';
		fault('another token') unless $who eq ($token ? "Bearer $token" : '');
		examine($path, $json->decode($body));
	};
	my $fault = $@;
	chomp $fault;
	write_line('log', $fault ? "bad " . ($path // '') . " $fault" : "ok $path @names");
	write_line('bodies', $body) unless $fault;
	my $status = $fault ? '400 Bad' : '200 OK';
	print $c "HTTP/1.1 $status\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
	close $c;
}
