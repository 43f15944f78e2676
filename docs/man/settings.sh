#!/bin/sh
# parley.json(5) on stdout: what `control --settings` prints, as a man page.
#
#   settings.sh CONTROL
set -eu
control=${1:?usage: settings.sh CONTROL}
version=$("$control" --version)
cat <<END
.TH PARLEY.JSON 5 "" "Parley ${version##* }" "Parley"
.nh
.ad l
.SH NAME
parley.json \\- settings of control, the conversation half of Parley
.SH DESCRIPTION
END
"$control" --settings | awk '
	function say(text,  out) {
		gsub(/\\/, "\\e", text)
		gsub(/\|/, "|\\:", text) # a line may break there
		out = ""
		while (match(text, /`[^`]+`/)) {
			out = out substr(text, 1, RSTART - 1) "\\fB" substr(text, RSTART + 1, RLENGTH - 2) "\\fR"
			text = substr(text, RSTART + RLENGTH)
		}
		text = out text
		if (text ~ /^[.\047]/) text = "\\&" text
		print text
	}
	/^# / { next }
	/^```/ { print inside ? ".fi\n.RE" : ".PP\n.RS\n.nf"; inside = !inside; next }
	inside { say($0); next }
	/^## / { print ".SH " toupper(substr($0, 4)); rows = said = 0; next }
	/^\*\*/ { gsub(/\*/, ""); print ".SS " $0; rows = said = 0; next }
	/^### / {
		rows++
		print ".TP"
		say(substr($0, 5))
		blank = said = 0
		next
	}
	/^$/ { blank = 1; next }
	{
		if (blank && said) print rows ? ".br" : ".PP"
		blank = 0
		said = 1
		say($0)
	}'
cat <<END
.SH SEE ALSO
.BR control (8)
END
