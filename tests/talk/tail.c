#include "tests/talk/tail.h"

#include "ipc/env.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_SIZE = 65536, PATH_SIZE = 1024 };

struct tail {
	struct env *env;
	char path[PATH_SIZE];
	tail_h *h;
	void *arg;
	uint32_t source;
	int notify, fd;
	ino_t inode;
	struct event *readable;
	size_t n;
	bool skip; /* until the end of a line that is too long */
	char line[LINE_SIZE];
};

static void take(struct tail *t, char c)
{
	if (c != '\n' && t->n < sizeof t->line) {
		t->line[t->n++] = c;
	} else if (c != '\n') {
		t->skip = true;
	} else {
		if (!t->skip)
			t->h(t->line, t->n, t->arg);
		t->n = 0;
		t->skip = false;
	}
}

static void read_on(struct tail *t)
{
	char buf[4096];
	ssize_t k;

	while (t->fd >= 0 && (k = read(t->fd, buf, sizeof buf)) > 0)
		for (ssize_t i = 0; i < k; i++)
			take(t, buf[i]);
}

/* Opens the file of this name if it is another one than before. */
static void look(struct tail *t)
{
	struct stat st;
	int fd;

	read_on(t);
	if (stat(t->path, &st) || (t->fd >= 0 && st.st_ino == t->inode))
		return;
	fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return;
	if (t->fd >= 0)
		close(t->fd);
	t->fd = fd;
	t->inode = st.st_ino;
	t->n = 0;
	t->skip = false;
	read_on(t);
}

static void input(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	(void)kind;
	(void)data;
	(void)len;
	look(arg);
}

static void on_notify(evutil_socket_t fd, short what, void *arg)
{
	struct tail *t = arg;
	char buf[4096] __attribute__((aligned(8)));

	(void)what;
	while (read(fd, buf, sizeof buf) > 0)
		;
	env_deliver(t->env, t->source, 0, NULL, 0);
}

static int watch(struct tail *t)
{
	char folder[PATH_SIZE];
	char *slash;

	snprintf(folder, sizeof folder, "%s", t->path);
	slash = strrchr(folder, '/');
	if (!slash)
		snprintf(folder, sizeof folder, ".");
	else
		slash[slash == folder ? 1 : 0] = '\0';
	t->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (t->notify < 0 ||
	    inotify_add_watch(t->notify, folder, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
		return errno;
	t->readable = event_new(env_base(t->env), t->notify, EV_READ | EV_PERSIST, on_notify, t);
	return t->readable && event_add(t->readable, NULL) == 0 ? 0 : ENOMEM;
}

/* Skips the lines that exist already. */
static void skip_old(struct tail *t)
{
	struct stat st;

	t->fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (t->fd >= 0 && fstat(t->fd, &st) == 0) {
		t->inode = st.st_ino;
		lseek(t->fd, 0, SEEK_END);
	}
}

int tail_alloc(struct tail **out, struct env *env, const char *file, tail_h *h, void *arg)
{
	struct tail *t;
	int err;

	if (!out || !env || !h || strlen(file) >= PATH_SIZE)
		return EINVAL;
	t = calloc(1, sizeof *t);
	if (!t)
		return ENOMEM;
	t->env = env;
	t->h = h;
	t->arg = arg;
	t->notify = t->fd = -1;
	snprintf(t->path, sizeof t->path, "%s", file);
	err = env_source_add(env, &t->source, input, t);
	if (!err)
		err = watch(t);
	if (err) {
		tail_free(t);
		return err;
	}
	skip_old(t);
	*out = t;
	return 0;
}

struct tail *tail_free(struct tail *t)
{
	if (!t)
		return NULL;
	env_source_del(t->env, t->source);
	if (t->readable)
		event_free(t->readable);
	if (t->notify >= 0)
		close(t->notify);
	if (t->fd >= 0)
		close(t->fd);
	free(t);
	return NULL;
}
