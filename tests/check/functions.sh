#!/bin/sh
# Fails for every function of more than 60 lines or more than seven parameters. Reads formatted code (.clang-format): a
# definition begins in the first column and its body stands between `{` and `}` in the first column.
#
#   functions.sh [FILE…]      default: the C files of the folders below
set -eu
cd "$(dirname "$0")/../.."
folders='proto ipc mediad control'
# shellcheck disable=SC2086
files=${*:-$(git ls-files $folders | grep '\.[ch]$')}
# shellcheck disable=SC2086
awk '
	function name(s) {
		sub(/\(.*/, "", s)
		sub(/.*[ *]/, "", s)
		return s
	}
	# The parameters of a head: commas outside of inner parentheses.
	function parameters(s, i, c, depth, n) {
		sub(/^[^(]*\(/, "", s)
		for (i = 1; i <= length(s); i++) {
			c = substr(s, i, 1)
			if (c == "(")
				depth++
			else if (c == ")" && depth-- == 0)
				break
			else if (c == "," && depth == 0)
				n++
		}
		return n + 1
	}
	function fault(what) {
		print FILENAME ":" start ": " name(head) ": " what
		faults++
	}
	FNR == 1 { head = ""; inside = 0 }
	inside && /^}/ {
		functions++
		if (FNR - start + 1 > 60)
			fault(FNR - start + 1 " lines")
		inside = 0
		head = ""
		next
	}
	inside { next }
	/^{/ && head ~ /\(/ {
		inside = 1
		if (parameters(head) > 7)
			fault(parameters(head) " parameters")
		next
	}
	/^[A-Za-z_]/ { head = $0; start = FNR; next }
	/^[ \t]/ && head != "" { head = head $0; next }
	{ head = "" }
	END {
		if (!functions) {
			print "functions: none found"
			exit 1
		}
		if (!faults)
			print "functions: " functions " of at most 60 lines and seven parameters"
		exit faults > 0
	}
' $files
