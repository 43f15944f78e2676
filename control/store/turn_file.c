#include "control/store/turn_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/events/events.h"
#include "ipc/log.h"

enum { ROTATED_BYTES = 4 << 20 };

bool turn_file_old(const char *file, char out[TURN_FILE_PATH])
{
	return (size_t)snprintf(out, TURN_FILE_PATH, "%s.old", file) < TURN_FILE_PATH;
}

/* ---- the lock ---- */

static bool is_still(const char *file, const struct stat *st)
{
	struct stat now;

	return lstat(file, &now) == 0 && now.st_ino == st->st_ino && now.st_dev == st->st_dev;
}

/* Opens and locks the file that has the name once it is locked: somebody else may have rotated or
 * rewritten it meanwhile. */
static int open_locked(const char *file, int flags, int *out, struct stat *st)
{
	for (;;) {
		int fd = open(file, flags | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0600), err;

		if (fd < 0)
			return errno;
		/* A file system without locks has no second writer either. */
		while (flock(fd, LOCK_EX) && errno == EINTR)
			;
		err = fstat(fd, st) ? errno : 0;
		if (!err && (!S_ISREG(st->st_mode) || is_still(file, st))) {
			*out = fd;
			return 0;
		}
		close(fd);
		if (err)
			return err;
	}
}

/* ---- appending ---- */

static int open_to_append(const char *file, int *out)
{
	static const int flags = O_WRONLY | O_APPEND | O_CREAT;
	char old[TURN_FILE_PATH];
	struct stat st;
	int err = open_locked(file, flags, out, &st);

	if (err || !S_ISREG(st.st_mode) || st.st_size < ROTATED_BYTES ||
	    !turn_file_old(file, old) || rename(file, old))
		return err;
	close(*out);
	return open_locked(file, flags, out, &st);
}

int turn_file_append(const char *file, const char *line, size_t n)
{
	int fd, err = open_to_append(file, &fd);
	ssize_t w;

	if (err)
		return err;
	/* One write a line, so that several rooms share a file. */
	w = write(fd, line, n);
	if (w < 0)
		err = errno;
	else if ((size_t)w < n)
		err = EIO;
	close(fd);
	return err;
}

void turn_file_append_event(const char *file, const struct bus_event *ev, bool words)
{
	json_t *j = bus_event_json(ev, words);
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL, *line = NULL;
	int n = -1, err = ENOMEM;

	if (text)
		n = asprintf(&line, "%s\n", text);
	if (n > 0) {
		err = turn_file_append(file, line, (size_t)n);
		free(line);
	}
	if (err)
		log_warn("turn_not_written", "file=\"%s\" error=\"%s\"", file, strerror(err));
	free(text);
	json_decref(j);
}

/* ---- erasing ---- */

/* What stays goes to out. */
static int copy_lines(FILE *in, FILE *out, turn_file_line_h *h, void *arg, unsigned *dropped)
{
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	while (!err && getline(&line, &size, in) > 0) {
		if (h(line, arg))
			++*dropped;
		else if (fputs(line, out) == EOF)
			err = errno ? errno : EIO;
	}
	if (!err && ferror(in))
		err = EIO;
	free(line);
	return err;
}

/* The copy belongs to the owner of the file, who may be another user than an operator. */
static int open_copy(const char *path, const struct stat *st, FILE **out)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	if (st->st_uid != geteuid() && fchown(fd, st->st_uid, st->st_gid)) {
		close(fd);
		return EPERM;
	}
	*out = fdopen(fd, "w");
	if (!*out)
		close(fd);
	return *out ? 0 : ENOMEM;
}

static int open_lines(const char *file, FILE **out, struct stat *st)
{
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW), err = 0;

	if (fd < 0)
		return errno;
	if (fstat(fd, st))
		err = errno;
	else if (!S_ISREG(st->st_mode))
		err = ENOENT;
	if (!err)
		*out = fdopen(fd, "r");
	if (err || !*out)
		close(fd);
	return err ? err : *out ? 0 : ENOMEM;
}

static int rewrite(const char *file, turn_file_line_h *h, void *arg, unsigned *dropped)
{
	char copy[TURN_FILE_PATH + 16];
	FILE *in = NULL, *out = NULL;
	struct stat st = {0};
	unsigned n = 0;
	int err = open_lines(file, &in, &st);

	snprintf(copy, sizeof copy, "%s.erasing", file);
	if (!err)
		err = open_copy(copy, &st, &out);
	if (!err)
		err = copy_lines(in, out, h, arg, &n);
	if (out && (fflush(out) || fsync(fileno(out))) && !err)
		err = errno;
	if (out && fclose(out) && !err)
		err = errno;
	if (in)
		fclose(in);
	if (!err && n && rename(copy, file))
		err = errno;
	/* Also one that an interrupted erasure left. */
	unlink(copy);
	if (!err)
		*dropped += n;
	return err == ENOENT ? 0 : err;
}

int turn_file_erase(const char *file, turn_file_line_h *h, void *arg, unsigned *dropped)
{
	char old[TURN_FILE_PATH];
	struct stat st;
	int lock = -1, err = open_locked(file, O_RDONLY, &lock, &st);

	/* A file that a writer makes from now on has no older lines. */
	bool missing = err == ENOENT;

	if (missing)
		err = 0;
	/* Nothing is rotated while the present file is locked. */
	if (!err && turn_file_old(file, old))
		err = rewrite(old, h, arg, dropped);
	if (!err && !missing)
		err = rewrite(file, h, arg, dropped);
	if (lock >= 0)
		close(lock);
	return err;
}
