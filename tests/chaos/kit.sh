#!/bin/sh
# A folder from which chaos runs on another x86-64 machine with Linux, without sources and without our libraries.
#
#   tests/chaos/kit.sh BUILD OUT
set -eu
B=$1 OUT=$2
rm -rf "$OUT"
mkdir -p "$OUT/lib"
for p in mediad decoderd control guildd chaos chaos_clock.so; do
	cp "$B/$p" "$OUT/$p"
	strip --strip-debug "$OUT/$p"
	ldd "$B/$p"
done | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /ld-linux/ { print $1 }' | sort -u | while read -r lib; do
	case $lib in
	*/ld-linux*) cp -L "$lib" "$OUT/lib/loader" ;;
	*) cp -L "$lib" "$OUT/lib/" ;;
	esac
done
# libwebsockets opens its event loop from the folder that its build fixed; here a relative one of the same length.
fixed=$(dirname "$(find /usr/lib -name libwebsockets-evlib_uv.so)")
cp -L "$fixed/libwebsockets-evlib_uv.so" "$OUT/lib/"
slashes=$(printf '%s' "$fixed" | cut -c5- | tr -c '\n' /)
LC_ALL=C sed -i "s,$fixed,.${slashes}lib," "$OUT"/lib/libwebsockets.so.*
cat >"$OUT/run" <<'END'
#!/bin/sh
# Options of chaos: --help. Paths are relative to this folder.
cd "$(dirname "$0")" || exit 1
exec lib/loader --library-path "$PWD/lib" ./chaos --bin "$PWD" "$@"
END
chmod +x "$OUT/run"
du -sh "$OUT"
