#!/bin/sh
# A program that a worker of kind command runs, for tests.
#
#   command.sh read         it tells what stands on its stdin
#   command.sh told TEXT    it tells the text, and what it is doing on stderr
#   command.sh fail         it says why on stderr and ends with status 3
#   command.sh slow         it works until it is ended
#   command.sh fill         it keeps 300 MB in memory
case ${1:-} in
read) echo "Read: $(head -n 1)" ;;
told)
	echo "Looking around" >&2
	echo "Told: $2" ;;
fail)
	echo "There is no such thing" >&2
	exit 3 ;;
slow)
	echo "Working" >&2
	exec sleep 600 ;;
fill) dd if=/dev/zero of=/dev/null bs=300M count=1 && echo Filled ;;
esac
