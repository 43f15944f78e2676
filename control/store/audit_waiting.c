#include "control/store/audit_waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_SIZE = 640 };

struct audit_waiting {
	pthread_mutex_t lock;
	int fd;
	int64_t n;
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
	/* Its zeros are none that wait. */
	err = posix_fallocate(*fd, 0, sizeof(int64_t));
	if (err)
		close(*fd);
	return err;
}

int audit_waiting_open(struct audit_waiting **out, const char *dir, unsigned long *before)
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
	pthread_mutex_init(&w->lock, NULL);
	*before = (unsigned long)w->n;
	*out = w;
	return 0;
}

struct audit_waiting *audit_waiting_close(struct audit_waiting *w)
{
	if (!w)
		return NULL;
	close(w->fd);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return NULL;
}

void audit_waiting_add(struct audit_waiting *w, long n)
{
	if (!w || !n)
		return;
	pthread_mutex_lock(&w->lock);
	w->n += n;
	/* Without it the count of before stays: the next control tells too much or too little. */
	(void)!pwrite(w->fd, &w->n, sizeof w->n, 0);
	pthread_mutex_unlock(&w->lock);
}
