#!/bin/sh
# Runs `make install` and `make uninstall` into a folder, and verifies the installed files: the programs run from there, the man
# pages render and list every option, systemd accepts the units.
#
#   tests/check/install.sh [build folder]      default: build
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${1:-build}
D=$(mktemp -d /tmp/parley-install-XXXXXX)
trap 'rm -rf "$D"' EXIT
trap 'exit 1' INT TERM
passed=0 failed=0
# check WHAT COMMAND…: the command must succeed; its output is shown if it does not.
check() {
	what=$1
	shift
	if out=$("$@" 2>&1); then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED  %s\n%s\n' "$what" "$out" | cut -c1-400
	fi
}
same() { # EXPECTED GOT
	[ "$1" = "$2" ] || { printf '%s\n' "$1" >"$D/want"; printf '%s\n' "$2" | diff "$D/want" -; return 1; }
}
silent() {
	noise=$("$@" 2>&1 >/dev/null) && [ -z "$noise" ] || { echo "$noise"; return 1; }
}
exposes() { # UNIT: at most 2.0
	table=$(systemd-analyze security --offline=true --threshold=20 --no-pager "$1" 2>&1) || { echo "$table" | grep -v '✓'; return 1; }
}
files() { (cd "$1" && find . ! -type d | sort | sed 's/^\.//'); }
put() { make -s B="$B" DESTDIR="$D/$1" PREFIX="$2" "$3"; }

want='/usr/bin/control
/usr/bin/decoderd
/usr/bin/framed
/usr/bin/imaged
/usr/bin/mediad
/usr/bin/offlined
/usr/lib/systemd/system/parley-control.service
/usr/lib/systemd/system/parley-mediad.service
/usr/lib/sysusers.d/parley.conf
/usr/share/doc/parley/LICENSE
/usr/share/doc/parley/memory.md
/usr/share/doc/parley/operations.md
/usr/share/doc/parley/privacy.md
/usr/share/doc/parley/settings.md
/usr/share/man/man5/parley.json.5
/usr/share/man/man8/control.8
/usr/share/man/man8/decoderd.8
/usr/share/man/man8/framed.8
/usr/share/man/man8/imaged.8
/usr/share/man/man8/mediad.8
/usr/share/man/man8/offlined.8'
if [ -f build/embedder/use-lite.int8 ]; then
	want="$want
/usr/share/parley/LICENSE
/usr/share/parley/NOTICE
/usr/share/parley/programs.conf
/usr/share/parley/use-lite.int8"
else
	want="$want
/usr/share/parley/programs.conf"
fi
check "make install" put usr /usr install
check "the installed files" same "$want" "$(files "$D/usr")"
check "make install elsewhere" put opt /opt/parley install
check "the files elsewhere" same "$(echo "$want" | sed 's|^/usr|/opt/parley|')" "$(files "$D/opt")"
check "units elsewhere run what is there" grep -qx "ExecStart=/opt/parley/bin/mediad .*" \
	"$D/opt/opt/parley/lib/systemd/system/parley-mediad.service"
check "modes" same "$(printf '755 %s\n' control decoderd framed imaged mediad offlined)" "$(cd "$D/usr/usr/bin" && stat -c '%a %n' ./* | sed 's|\./||')"

for p in control decoderd framed imaged mediad offlined; do
	check "$p runs" silent "$D/usr/usr/bin/$p" --version
	page=$D/usr/usr/share/man/man8/$p.8
	check "$p.8 renders without a warning" silent man --warnings=w -l "$page"
	# Every option of --help is in the page, and vice versa.
	in_help=$("$B/$p" --help | grep -oE -- '--[a-z][a-z-]*' | sort -u)
	in_page=$(MANWIDTH=500 man -l "$page" 2>/dev/null | col -b | grep -oE -- '--[a-z][a-z-]*' | sort -u)
	check "$p.8 knows the options" same "$in_help" "$in_page"
done
page=$D/usr/usr/share/man/man5/parley.json.5
check "parley.json.5 renders without a warning" silent man --warnings=w -l "$page"
check "parley.json.5 knows the settings" same "$("$B/control" --settings | sed -n 's/^### `\(.*\)`$/\1/p')" \
	"$(sed -n '/^\.TP$/{n;s/^\\fB\(.*\)\\fR$/\1/p}' "$page")"
check "control checks from there" sh -c '"$1" --check --state-dir "$2/state" --config /dev/null 2>&1 | grep -q "embedded engine"' x \
	"$D/usr/usr/bin/control" "$D"

for u in parley-mediad parley-control; do
	unit=$D/usr/usr/lib/systemd/system/$u.service
	check "$u.service is the one in deploy" cmp "$unit" "deploy/systemd/$u.service"
	check "$u.service exposes at most 2.0" exposes "$unit"
done
# Verifies the units where the programs exist, so that only faults of the units are reported.
mkdir "$D/units"
for u in parley-mediad parley-control; do
	sed "s|/usr/bin/|$D/usr/usr/bin/|; /^Documentation=/d" "deploy/systemd/$u.service" >"$D/units/$u.service"
done
check "systemd takes the units" silent systemd-analyze verify "$D/units/parley-mediad.service" "$D/units/parley-control.service"
mkdir -p "$D/root/etc" "$D/root/usr/lib/sysusers.d"
cp "$D/usr/usr/lib/sysusers.d/parley.conf" "$D/root/usr/lib/sysusers.d/"
check "the users are made" systemd-sysusers --root="$D/root" parley.conf
check "two users of one group" same "2" "$(grep -cE "^parley-(mediad|control):x:[0-9]+:$(sed -n 's/^parley:x:\([0-9]*\):.*/\1/p' "$D/root/etc/group"):" "$D/root/etc/passwd")"

# mediad's own filters are narrower than the container engine's, or one of its calls fails in a container alone.
refused() { sed -nE 's/^\tS\((\w+),.*/\1/p' mediad/sandbox/sandbox.c | while read -r c; do grep -q "\"$c\"" deploy/seccomp-mediad.json || echo "$c"; done; }
check "the filter for containers allows what mediad's own allow" same "" "$(refused)"

check "make uninstall" put usr /usr uninstall
check "nothing is left" same "" "$(files "$D/usr")"
check "nor a folder of its own" test ! -e "$D/usr/usr/share/doc/parley"

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
