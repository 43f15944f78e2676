#include "mediad/decoder/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name within a folder: neither the folder itself nor the one above it. */
static bool is_name(const char *name)
{
	return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Opens a name in a folder, or the folder of that name, and closes what is no root. -1: errno. */
static int open_name(int folder, int root, const char *name, bool last)
{
	const int flags = O_CLOEXEC | O_NOFOLLOW |
			  (last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY);
	int fd = -1;

	if (is_name(name))
		fd = openat(folder, name, flags);
	else
		errno = EXDEV;
	if (folder != root) {
		int err = errno;

		close(folder);
		errno = err;
	}
	return fd;
}

/* A name at a time: openat2 would do it at once, but services forbid that call whose flags their
 * filters cannot see (RestrictSUIDSGID of systemd). */
static int open_beneath(int root, const char *path)
{
	char names[DECODER_PATH_MAX + 1], *rest = names, *name = names;
	int fd = root;

	if (strlen(path) > DECODER_PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(names, path);
	while (name && fd >= 0) {
		name = strsep(&rest, "/");
		if (name)
			fd = open_name(fd, root, name, !rest);
	}
	return fd;
}

enum decoder_reason root_file_open(int root, const char *path, int *out)
{
	struct stat st;
	int fd = root < 0 ? -1 : open_beneath(root, path);

	if (fd < 0)
		return root >= 0 && (errno == ENOENT || errno == ENOTDIR)
			       ? DECODER_REASON_NOT_FOUND
			       : DECODER_REASON_NOT_READABLE;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return DECODER_REASON_NOT_READABLE;
	}
	*out = fd;
	return DECODER_REASON_UNKNOWN;
}
