#include "ipc/zone_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/zone.h"

#define FOLDER "/usr/share/zoneinfo/"

/* The caller frees it. NULL: it cannot be read, or is too long. */
static uint8_t *read_all(int fd, size_t *n)
{
	struct stat st;
	uint8_t *p;
	ssize_t got;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < 1 || st.st_size > ZONE_FILE_MAX)
		return NULL;
	p = malloc((size_t)st.st_size);
	got = p ? read(fd, p, (size_t)st.st_size) : -1;
	if (got != st.st_size) {
		free(p);
		return NULL;
	}
	*n = (size_t)got;
	return p;
}

bool zone_file_offset(const char *name, int64_t at_s, int32_t *offset)
{
	char path[sizeof FOLDER + ZONE_NAME_MAX];
	uint8_t *file;
	size_t n = 0;
	bool ok;
	int fd;

	if (!zone_is_name(name))
		return false;
	snprintf(path, sizeof path, FOLDER "%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	file = read_all(fd, &n);
	close(fd);
	ok = file && zone_offset(file, n, at_s, offset);
	free(file);
	return ok;
}
