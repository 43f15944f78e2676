#!/bin/sh
# Prints the Debian packages that Parley needs and that are missing, and installs them.
#
#   deploy/deps.sh [build] [test] [interop] [talk] [voices] [embedder] [monitoring] [containers]     default: build
#
# Asks first when run at a terminal, unless YES=1. Without root it prints the command for root and exits with 1.
set -eu

build='gcc make pkg-config libc6-dev libwebsockets-dev libwebsockets-evlib-uv libuv1-dev libevent-dev libopus-dev
 libsodium-dev libmbedtls-dev libjansson-dev libcurl4-openssl-dev libsqlite3-dev libsamplerate0-dev libmsgpack-dev
 libssl-dev libseccomp-dev libavformat-dev libavcodec-dev libswresample-dev libavutil-dev libjpeg62-turbo-dev libpng-dev libwebp-dev zlib1g-dev libpocketsphinx-dev libsphinxbase-dev pocketsphinx-en-us flite1-dev ca-certificates tzdata'
test='clang-14 libclang-rt-14-dev llvm-14 clang-tidy-14 clang-format-14 cppcheck openssl git systemd man-db procps bubblewrap prometheus'
# prometheus is for promtool alone, which checks deploy/monitoring.
# zlib-sync, which makes discord.js ask for a compressed gateway, is compiled when it is installed.
# ip makes the network namespace of the ssrf bench; ffmpeg decodes for @discordjs/voice in another.
interop='ffmpeg g++ python3 python3-discord bubblewrap iproute2'
# A browser for the test of make talk.
talk='chromium'
node='nodejs npm'
# Synthesizers for the sound instrument. pico2wave (libttspico-utils, non-free) is used where it is installed.
voices='flite espeak-ng'
# promtool, which checks deploy/monitoring. The service that comes with it is not needed.
monitoring='prometheus'
# Containers without Docker, and the tool that builds a Debian base image if none can be pulled.
containers='podman podman-compose runc netavark aardvark-dns iptables debootstrap'

want=
for group in "${@:-build}"; do
	case $group in
	build) want="$want $build" ;;
	test) want="$want $test" ;;
	interop)
		want="$want $interop"
		# A Node that is not Debian's works, too.
		command -v npm >/dev/null 2>&1 || want="$want $node"
		;;
	talk) want="$want $talk" ;;
	voices) want="$want $voices" ;;
	embedder) command -v npm >/dev/null 2>&1 || want="$want $node" ;;
	monitoring) want="$want $monitoring" ;;
	containers) want="$want $containers" ;;
	*)
		echo "deps.sh: unknown group '$group' (build, test, interop, talk, voices, embedder, monitoring, containers)" >&2
		exit 2
		;;
	esac
done

missing=
for p in $want; do
	dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0

echo "Parley needs these Debian packages that are not installed:"
echo "$missing" | tr ' ' '\n' | sed '/^$/d' | pr -t -3 -w 100 2>/dev/null || echo "$missing"
if [ "$(id -u)" -ne 0 ]; then
	echo "Run this as root, then try again:"
	echo "  apt-get update && apt-get install -y --no-install-recommends$missing"
	exit 1
fi
if [ -t 0 ] && [ "${YES:-0}" != 1 ]; then
	printf 'Install them now? [Y/n] '
	read -r answer
	case $answer in
	'' | y | Y | yes) ;;
	*) exit 1 ;;
	esac
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
echo "installing (a few minutes)"
# Shows the output of apt only if it fails.
# shellcheck disable=SC2086
said=$(apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 $missing 2>&1) || {
	echo "$said"
	exit 1
}
echo "installed."
