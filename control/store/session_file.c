#include "control/store/session_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 640 };

static int write_whole(int fd, const char *text)
{
	for (size_t at = 0, n = strlen(text); at < n;) {
		ssize_t w = write(fd, text + at, n - at);

		if (w < 0)
			return errno;
		at += (size_t)w;
	}
	return 0;
}

/* Root gives a file to whoever had the one before. */
static int keep_owner(int fd, const char *path)
{
	struct stat st;

	if (geteuid() || lstat(path, &st) || st.st_uid == geteuid())
		return 0;
	return fchown(fd, st.st_uid, st.st_gid) ? errno : 0;
}

static int save(const char *dir, const char *text, bool keeps_owner)
{
	char path[PATH_SIZE], tmp[PATH_SIZE + 8];
	int fd, err;

	if ((size_t)snprintf(path, sizeof path, "%s/session.json", dir) >= sizeof path)
		return ENAMETOOLONG;
	snprintf(tmp, sizeof tmp, "%s.new", path);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	err = fchmod(fd, 0600) ? errno : write_whole(fd, text);
	if (!err && keeps_owner)
		err = keep_owner(fd, path);
	if (close(fd) && !err)
		err = errno;
	if (!err && rename(tmp, path))
		err = errno;
	if (err)
		unlink(tmp);
	return err;
}

int session_file_save(const char *dir, const char *text)
{
	return save(dir, text, false);
}

int session_file_replace(const char *dir, const char *text)
{
	return save(dir, text, true);
}
