#include "tests/chaos/children.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/time.h"

/* The start is in clock ticks since the machine started; after the name, which may hold anything,
 * come the state and the parent (man 5 proc). */
static bool read_stat(const char *entry, pid_t *pid, pid_t *parent, uint64_t *start_ms)
{
	char path[300], line[1024];
	const char *rest;
	unsigned long long ticks;
	bool ok = false;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%s/stat", entry);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof line, f) && (rest = strrchr(line, ')')))
		ok = sscanf(line, "%d", pid) == 1 &&
		     sscanf(rest + 1,
			    " %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			    "%*s %*s %llu",
			    parent, &ticks) == 2;
	if (f)
		fclose(f);
	if (ok)
		*start_ms = ticks * MS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	return ok;
}

pid_t children_oldest(pid_t parent, unsigned min_ms)
{
	uint64_t now_ms, start_ms, first_ms = UINT64_MAX;
	pid_t found = 0, pid, of;
	DIR *d = opendir("/proc");
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	now_ms = ns_of_timespec(&ts) / NS_PER_MS;
	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9' ||
		    !read_stat(e->d_name, &pid, &of, &start_ms) || of != parent ||
		    start_ms + min_ms > now_ms || start_ms >= first_ms)
			continue;
		found = pid;
		first_ms = start_ms;
	}
	if (d)
		closedir(d);
	return found;
}
