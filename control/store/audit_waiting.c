#include "control/store/audit_waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_SIZE = 640 };

struct audit_waiting {
	pthread_t thread;
	bool started;
	int fd;
	int64_t written;      /* the thread's */
	pthread_mutex_t lock; /* for what follows; nobody who holds it waits for the disk */
	pthread_cond_t changed;
	int64_t n;
	bool over;
};

static int open_file(const char *dir, int *fd)
{
	char path[PATH_SIZE];
	int err;

	if ((size_t)snprintf(path, sizeof path, "%s/audit-waiting", dir) >= sizeof path)
		return ENAMETOOLONG;
	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*fd < 0)
		return errno;
	/* Its zeros are none that were handed over. */
	err = posix_fallocate(*fd, 0, sizeof(int64_t));
	if (err)
		close(*fd);
	return err;
}

/* What is handed over meanwhile is written at once with the next number. A number that could not be
 * written is tried again with the next one, and at the end. */
static void *write_numbers(void *arg)
{
	struct audit_waiting *w = arg;
	int64_t tried = w->written;
	bool over = false;

	pthread_mutex_lock(&w->lock);
	while (!over) {
		int64_t n = w->n;

		over = w->over;
		if (n == (over ? w->written : tried)) {
			if (!over)
				pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		pthread_mutex_unlock(&w->lock);
		tried = n;
		if (pwrite(w->fd, &n, sizeof n, 0) == sizeof n)
			w->written = n;
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static int start_thread(struct audit_waiting *w)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&w->thread, NULL, write_numbers, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	w->started = !err;
	return err;
}

int audit_waiting_open(struct audit_waiting **out, const char *dir, uint64_t *before)
{
	struct audit_waiting *w = calloc(1, sizeof *w);
	int err = w ? open_file(dir, &w->fd) : ENOMEM;

	*before = 0;
	if (err) {
		free(w);
		return err;
	}
	if (pread(w->fd, &w->n, sizeof w->n, 0) != sizeof w->n || w->n < 0)
		w->n = 0;
	w->written = w->n;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	err = start_thread(w);
	if (err) {
		audit_waiting_close(w);
		return err;
	}
	*before = (uint64_t)w->n;
	*out = w;
	return 0;
}

struct audit_waiting *audit_waiting_close(struct audit_waiting *w)
{
	if (!w)
		return NULL;
	pthread_mutex_lock(&w->lock);
	w->over = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (w->started)
		pthread_join(w->thread, NULL);
	close(w->fd);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return NULL;
}

void audit_waiting_add(struct audit_waiting *w, uint64_t n)
{
	if (!w || !n)
		return;
	pthread_mutex_lock(&w->lock);
	w->n += (int64_t)n;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
}
