#!/bin/sh
# Pure folders do no I/O: no socket, file, clock, thread or random symbol may be undefined in their objects.
#
#   pure.sh OBJDIR      OBJDIR holds the objects of a plain (unsanitized) build
set -eu
obj=${1:?usage: pure.sh OBJDIR}
banned='socket|connect|bind|listen|accept|accept4|send|sendto|sendmsg|sendmmsg|recv|recvfrom|recvmsg|recvmmsg|poll|ppoll|select|epoll_.*'
banned="$banned|open|open64|openat|fopen|fopen64|fread|fwrite|read|write|pread|pwrite|unlink|rename|printf|puts|putchar|fprintf|vfprintf|perror|syslog"
banned="$banned|time|gettimeofday|clock|clock_gettime|nanosleep|clock_nanosleep|usleep|sleep|localtime|localtime_r|gmtime|timerfd_.*|eventfd"
banned="$banned|pthread_.*|fork|execve|system|popen|getenv|secure_getenv"
banned="$banned|rand|srand|random|getrandom|getentropy|arc4random.*|randombytes_.*|mbedtls_ctr_drbg_.*|log_write|env_.*|event_.*"
fail=0
checked=0
for folder in proto mediad/mls mediad/dave mediad/transport mediad/audio mediad/video mediad/music control/room control/dialect control/engine/core control/settings control/words control/events control/ledger control/metrics control/tools control/memory control/consent control/music control/text control/vision/core; do
	for o in $(find "$obj/$folder" -name '*.o' ! -path '*/tools/builtin/*' ! -path '*/mediad/music/decoders.o' 2>/dev/null); do
		checked=$((checked + 1))
		bad=$(nm -u "$o" | awk '{print $NF}' | sed 's/@.*//; s/^__isoc99_//' | grep -Ex "$banned" || true)
		# The caller passes the environment to the settings.
		[ -z "$bad" ] || { echo "${o#"$obj"/}: not pure:" $bad; fail=1; }
	done
done
[ $checked -gt 0 ] || { echo "no objects under $obj: build first"; exit 1; }
[ $fail = 0 ] && echo "pure: $checked objects touch no system"
exit $fail
