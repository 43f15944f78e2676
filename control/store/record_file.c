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

static int write_all(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t done = write(fd, text, n);

		if (done <= 0 && errno != EINTR)
			return done < 0 ? errno : ENOSPC;
		if (done > 0) {
			text += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

/* Where the file ends now. */
static int find_end(int fd, uint64_t *out)
{
	struct stat st;

	if (fstat(fd, &st))
		return errno;
	*out = (uint64_t)st.st_size;
	return 0;
}

int record_file_append(const char *dir, const char *name, const char *lines,
		       struct record_span *span)
{
	char path[PATH_SIZE];
	int fd, err;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path)
		return ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	err = find_end(fd, &span->from);
	if (!err)
		err = write_all(fd, end_of_last(fd), strlen(end_of_last(fd)));
	if (!err)
		err = write_all(fd, lines, strlen(lines));
	if (!err && fsync(fd))
		err = errno;
	if (!err)
		err = find_end(fd, &span->to);
	close(fd);
	return err;
}

int record_file_add(const char *dir, const char *name, const char *line)
{
	struct record_span span;
	char text[LINE_SIZE + 2];

	if (strlen(line) >= LINE_SIZE)
		return ENAMETOOLONG;
	snprintf(text, sizeof text, "%s\n", line);
	return record_file_append(dir, name, text, &span);
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

/* At the place if a line begins there, else at the beginning of the file. */
static int begin_at(FILE *f, uint64_t from, long *end)
{
	if (fseek(f, 0, SEEK_END))
		return errno;
	*end = ftell(f); /* h may append */
	if (from && from <= (uint64_t)*end && !fseek(f, (long)from - 1, SEEK_SET) &&
	    getc(f) == '\n')
		return 0;
	rewind(f);
	return 0;
}

int record_file_each_from(const char *dir, const char *name, struct record_span *span,
			  record_file_h *h, void *arg)
{
	char path[PATH_SIZE];
	int fd, err;
	long end = 0;
	FILE *f;

	span->to = 0;
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
	err = begin_at(f, span->from, &end);
	if (!err)
		err = read_lines(f, end, h, arg);
	span->to = (uint64_t)end;
	fclose(f);
	return err;
}

int record_file_each(const char *dir, const char *name, record_file_h *h, void *arg)
{
	struct record_span all = {0};

	return record_file_each_from(dir, name, &all, h, arg);
}
