#!/bin/sh
# A man page on stdout: the template, with synopsis, options and version asked of the program itself.
#
#   page.sh PROGRAM TEMPLATE
set -eu
program=${1:?usage: page.sh PROGRAM TEMPLATE}
template=${2:?usage: page.sh PROGRAM TEMPLATE}
help=$("$program" --help)
version=$("$program" --version)

# "  --option VALUE   text", continued by lines indented further, becomes a tagged paragraph.
options() {
	printf '%s\n' "$help" | awk '
	function say(text) {
		gsub(/\\/, "\\e", text)
		if (text ~ /^[.\047]/) text = "\\&" text
		print text
	}
	/^  --/ {
		line = substr($0, 3)
		at = match(line, /   */)
		name = at ? substr(line, 1, at - 1) : line
		gsub(/-/, "\\-", name)
		gsub(/[A-Z][A-Z:]*/, "\\fR\\fI&\\fR\\fB", name)
		print ".TP"
		print "\\fB" name "\\fR"
		if (at) say(substr(line, at + RLENGTH))
		else if (name ~ /help/) say("Print a summary of the options, or the version, and end.")
		inside = 1
		next
	}
	/^          +[^ ]/ && inside { sub(/^ +/, ""); say($0); next }
	{ inside = 0 }'
}

# The lines of "Usage:", each as a line of its own.
synopsis() {
	printf '%s\n' "$help" | awk '
	sub(/^Usage: /, "") { inside = 1 }
	inside && !NF { exit }
	inside {
		sub(/^ +/, "")
		if (n++) print ".br"
		gsub(/--?[a-z][a-z-]*/, "\\fB&\\fR")
		gsub(/-/, "\\-")
		gsub(/[A-Z][A-Z]+/, "\\fI&\\fR")
		sub(/^[a-z]+/, "\\fB&\\fR")
		print
	}'
}

while IFS= read -r line; do
	case $line in
	@OPTIONS@) options ;;
	@SYNOPSIS@) synopsis ;;
	*@VERSION@*) printf '%s%s%s\n' "${line%%@VERSION@*}" "${version##* }" "${line#*@VERSION@}" ;;
	*) printf '%s\n' "$line" ;;
	esac
done <"$template"
