#include "control/store/erase_fault.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/time.h"

enum { PATH_SIZE = 640 };

static bool name_file(char path[PATH_SIZE], const char *dir)
{
	return (size_t)snprintf(path, PATH_SIZE, "%s/erase.fault", dir) < PATH_SIZE;
}

/* Of the worker's thread, which is never replayed. */
static unsigned long long wall_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ms_of_timespec(&ts);
}

void erase_fault_tell(const char *dir, int err)
{
	char path[PATH_SIZE], tmp[PATH_SIZE + 8];
	bool written;
	int fd;

	if (!name_file(path, dir))
		return;
	snprintf(tmp, sizeof tmp, "%s.new", path);
	unlink(tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	written = dprintf(fd, "%d %llu\n", err, wall_ms()) > 0;
	close(fd);
	if (!written || rename(tmp, path))
		unlink(tmp);
}

void erase_fault_end(const char *dir)
{
	char path[PATH_SIZE];

	if (name_file(path, dir))
		unlink(path);
}

int erase_fault_read(const char *dir, uint64_t from_ms)
{
	char path[PATH_SIZE];
	unsigned long long at_ms = 0;
	int err = 0;
	FILE *f = name_file(path, dir) ? fopen(path, "re") : NULL;

	if (f && fscanf(f, "%9d %20llu", &err, &at_ms) != 2)
		err = 0;
	if (f)
		fclose(f);
	return at_ms >= from_ms ? err : 0;
}
