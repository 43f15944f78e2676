#include "control/show.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/settings/listen.h"
#include "control/settings/settings.h"
#include "control/store/db.h"

/* Of a file, four times what store_max_mb is by default. */
#define COPY_MAX (INT64_C(16) << 30)
enum { PATH_SIZE = 640, COPY_BYTES = 64 << 10 };

static int make_settings(struct settings **out)
{
	const char *listen = getenv("PARLEY_WEB_LISTEN");
	struct listen_address at;
	struct settings *s = NULL;
	int err;

	if (!listen || !*listen)
		listen = "127.0.0.1:8787";
	if (listen_parse(&at, listen))
		return EINVAL;
	err = settings_alloc(&s);
	if (!err)
		err = settings_set(s, "gateway", "none");
	if (!err)
		err = settings_set(s, "web_listen", listen);
	if (err)
		settings_free(s);
	else
		*out = s;
	return err;
}

static int write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t w = write(fd, bytes, n);

		if (w < 0)
			return errno;
		bytes += w;
		n -= (size_t)w;
	}
	return 0;
}

/* Ends at COPY_MAX, also if the file grows meanwhile. */
static int copy_bytes(int from, int to)
{
	char bytes[COPY_BYTES];
	int64_t copied = 0;
	ssize_t n;
	int err = 0;

	while (!err && (n = read(from, bytes, sizeof bytes)) != 0) {
		if (n < 0)
			return errno;
		copied += n;
		err = copied > COPY_MAX ? EFBIG : write_all(to, bytes, (size_t)n);
	}
	return err;
}

/* A link could lead to a file of this machine, and reading a pipe could wait for ever. */
static int open_sent(const char *incident, const char *name, int *out)
{
	char path[PATH_SIZE];
	struct stat st;
	int fd;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", incident, name) >= sizeof path)
		return ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ELOOP ? EBADMSG : errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return EBADMSG;
	}
	*out = fd;
	return 0;
}

static int copy_file(const struct show *s, const char *incident, const char *name)
{
	char path[PATH_SIZE];
	int from = -1, to = -1, err = open_sent(incident, name, &from);

	if (err)
		return err;
	snprintf(path, sizeof path, "%s/%s", s->dir, name);
	to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	err = to < 0 ? errno : copy_bytes(from, to);
	close(from);
	if (to >= 0 && close(to) && !err)
		err = errno;
	return err;
}

/* SQLite would write beside a database in WAL mode even to read it, so it opens copies alone. */
static int copy_database(const struct show *s, const char *incident)
{
	struct db *db = NULL;
	int fd = -1, err = open_sent(incident, "parley.db-journal", &fd);

	/* Rolling it back may delete a file that it names. */
	if (!err) {
		close(fd);
		return EBUSY;
	}
	if (err == ENOENT)
		err = copy_file(s, incident, "parley.db");
	if (err)
		return err;
	err = copy_file(s, incident, "parley.db-wal");
	if (!err || err == ENOENT)
		err = db_open(&db, s->dir, DB_CHECK);
	db_close(db);
	return err;
}

int show_open(struct show *out, const char *incident, struct settings **settings)
{
	const char *tmp = getenv("TMPDIR");
	struct settings *made = NULL;
	int err = make_settings(&made);

	if (err)
		return err;
	*out = (struct show){0};
	if ((size_t)snprintf(out->dir, sizeof out->dir, "%s/parley-shown-XXXXXX",
			     tmp && *tmp ? tmp : "/tmp") >= sizeof out->dir)
		err = ENAMETOOLONG;
	else if (!mkdtemp(out->dir))
		err = errno;
	if (err) {
		settings_free(made);
		return err;
	}
	err = copy_database(out, incident);
	if (err) {
		show_close(out);
		settings_free(made);
		return err;
	}
	*settings = made;
	return 0;
}

/* The folder is ours, and control makes no folders in it. */
void show_close(struct show *s)
{
	DIR *dir = opendir(s->dir);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(s->dir);
}

void show_hold_signals(bool hold)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		sigaddset(&set, signals[i]);
	pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}
