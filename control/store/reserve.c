#include "control/store/reserve.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PATH_SIZE = 640, ROOM_TIMES = 4 };

static bool name_file(char path[PATH_SIZE], const char *dir)
{
	return (size_t)snprintf(path, PATH_SIZE, "%s/reserve", dir) < PATH_SIZE;
}

void reserve_make(const char *dir, uint64_t bytes)
{
	char path[PATH_SIZE];
	struct statvfs fs;
	struct stat st;
	int fd;

	if (!name_file(path, dir) || lstat(path, &st) == 0 || statvfs(dir, &fs) ||
	    (uint64_t)fs.f_bavail * fs.f_frsize < ROOM_TIMES * bytes)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	if (posix_fallocate(fd, 0, (off_t)bytes))
		unlink(path);
	close(fd);
}

bool reserve_drop(const char *dir)
{
	char path[PATH_SIZE];

	return name_file(path, dir) && unlink(path) == 0;
}
