#!/bin/sh
# Reads the binaries of the programs: position-independent, no executable stack, relocations read-only from the start (RELRO and
# BIND_NOW), stack protector, fortified functions of libc, and automatic variables initialized where the compiler can.
#
#   tests/check/hardening.sh PROGRAM…      one line for each program that lacks something
#   tests/check/hardening.sh --self-test   builds programs that lack one thing each, which must be found
set -u
cd "$(dirname "$0")/../.."

# initializes: whether this compiler can initialize automatic variables.
initializes() { ${CC:-gcc} -Werror -ftrivial-auto-var-init=zero -c -x c /dev/null -o /dev/null 2>/dev/null; }

# lacking PROGRAM: prints what it lacks.
lacking() {
	head=$(readelf -Wh "$1" 2>/dev/null) segments=$(readelf -Wl "$1" 2>/dev/null) dynamic=$(readelf -Wd "$1" 2>/dev/null)
	symbols=$(readelf -W --dyn-syms "$1" 2>/dev/null)
	echo "$head" | grep -qE 'Type: +DYN' || echo "PIE"
	echo "$segments" | grep -qE 'GNU_STACK .* RW +0x' || echo "no-executable-stack"
	echo "$segments" | grep -q GNU_RELRO || echo "RELRO"
	echo "$dynamic" | grep -qE '\(FLAGS(_1)?\).*NOW' || echo "BIND_NOW"
	echo "$symbols" | grep -q '__stack_chk_fail' || echo "stack-protector"
	echo "$symbols" | grep -qE '__[a-z]+_chk(@|$)' || echo "FORTIFY"
	# The compiler's flags stand in the debugging information, once per source.
	initializes || return 0
	readelf --debug-dump=info --dwarf-depth=1 "$1" 2>/dev/null | grep -E 'DW_AT_producer.*GNU C' | grep -qv 'ftrivial-auto-var-init=zero' && echo "auto-var-init"
	readelf --debug-dump=info --dwarf-depth=1 "$1" 2>/dev/null | grep -q 'ftrivial-auto-var-init=zero' || echo "auto-var-init"
}

self_test() {
	d=$(mktemp -d /tmp/parley-hardening-XXXXXX)
	trap 'rm -rf "$d"' EXIT
	cat >"$d/x.c" <<-'E'
		#include <stdio.h>
		#include <string.h>
		int main(int argc, char **argv)
		{
			char buf[64];

			memcpy(buf, argv[0], strlen(argv[0]) + 1);
			return printf("%s %d", buf, argc) < 0;
		}
	E
	all="-O2 -g -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fPIE -pie -fstack-protector-strong -Wl,-z,relro,-z,now,-z,noexecstack"
	initializes && all="$all -ftrivial-auto-var-init=zero"
	n=0 failed=0
	# try WANTED FLAG OTHER: the flag replaced by another one.
	try() {
		wanted=$1
		flags=$(echo "$all" | sed "s/$2/$3/")
		# shellcheck disable=SC2086
		gcc -w $flags -o "$d/x" "$d/x.c" || { failed=$((failed + 1)); return; }
		got=$(lacking "$d/x" | sort -u | tr '\n' ' ')
		case $got in "$wanted"*) n=$((n + 1)) ;; *) failed=$((failed + 1)); echo "with $3: \"$got\", not \"$wanted\"" ;; esac
	}
	try '' -O2 -O2
	[ -z "$got" ] || { failed=$((failed + 1)); echo "a hardened program lacks $got"; }
	try PIE '-fPIE -pie' '-fno-pie -no-pie'
	try no-executable-stack ',noexecstack' ',execstack'
	try RELRO ',relro' ',norelro'
	try BIND_NOW ',now' ',lazy'
	try stack-protector -fstack-protector-strong -fno-stack-protector
	try FORTIFY -D_FORTIFY_SOURCE=2 ''
	initializes && try auto-var-init '-ftrivial-auto-var-init=zero' ''
	echo "$n passed, $failed failed, 0 skipped"
	[ $failed = 0 ]
}

[ "${1:-}" != --self-test ] || { self_test; exit; }
[ $# -gt 0 ] || { echo "usage: hardening.sh PROGRAM…" >&2; exit 2; }
passed=0 failed=0
for p in "$@"; do
	what=$(lacking "$p" | sort -u | tr '\n' ' ')
	if [ -z "$what" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$p lacks: $what"
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
