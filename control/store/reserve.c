#include "control/store/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PATH_SIZE = 640, ROOM_TIMES = 4, TRIED_BYTES = 256 << 10 };

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

int reserve_try_write(const char *dir)
{
	static const char zeros[TRIED_BYTES];
	char path[PATH_SIZE];
	int fd, err = 0;

	snprintf(path, sizeof path, "%s/room", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	errno = 0;
	if (write(fd, zeros, sizeof zeros) != (ssize_t)sizeof zeros)
		err = errno ? errno : ENOSPC;
	else if (fsync(fd))
		err = errno;
	close(fd);
	unlink(path);
	return err;
}
