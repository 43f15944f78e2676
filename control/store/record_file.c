#include "control/store/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 640, LINE_SIZE = 160 };

/* "\n" if the last line was cut short. */
static const char *end_of_last(int fd)
{
	struct stat st;
	char last;

	if (fstat(fd, &st) || st.st_size == 0 || pread(fd, &last, 1, st.st_size - 1) != 1)
		return "";
	return last == '\n' ? "" : "\n";
}

int record_file_add(const char *dir, const char *name, const char *line)
{
	char path[PATH_SIZE], text[LINE_SIZE + 2];
	int fd, err = 0, n;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path ||
	    strlen(line) >= LINE_SIZE)
		return ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	n = snprintf(text, sizeof text, "%s%s\n", end_of_last(fd), line);
	errno = 0;
	if (write(fd, text, (size_t)n) != n)
		err = errno ? errno : ENOSPC;
	else if (fsync(fd))
		err = errno;
	close(fd);
	return err;
}

static int read_lines(FILE *f, long end, record_file_h *h, void *arg)
{
	char line[LINE_SIZE + 2];
	int err = 0;

	while (!err && ftell(f) < end && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		err = h(line, arg);
	}
	return err ? err : ferror(f) ? EIO : 0;
}

int record_file_each(const char *dir, const char *name, record_file_h *h, void *arg)
{
	char path[PATH_SIZE];
	int fd, err = 0;
	FILE *f;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path)
		return ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : errno;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return ENOMEM;
	}
	/* h may append. */
	if (fseek(f, 0, SEEK_END))
		err = errno;
	if (!err) {
		long end = ftell(f);

		rewind(f);
		err = read_lines(f, end, h, arg);
	}
	fclose(f);
	return err;
}
