#include "control/offline/mailbox.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct message {
	struct message *next;
	size_t len;
	uint8_t kind;
	uint8_t data[];
};

struct mailbox {
	struct env *env;
	uint32_t source;
	int fd;
	struct event *ev;
	pthread_mutex_t lock; /* guards the list */
	struct message *first, **last;
};

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct mailbox *m = arg;
	struct message *l;
	uint64_t n;

	(void)what;
	if (read(fd, &n, sizeof n) < 0)
		return;
	pthread_mutex_lock(&m->lock);
	l = m->first;
	m->first = NULL;
	m->last = &m->first;
	pthread_mutex_unlock(&m->lock);
	while (l) {
		struct message *next = l->next;

		env_deliver(m->env, m->source, l->kind, l->data, l->len);
		free(l);
		l = next;
	}
}

int mailbox_alloc(struct mailbox **out, struct env *env, env_input_h *h, void *arg)
{
	struct mailbox *m = calloc(1, sizeof *m);
	int err = ENOMEM;

	if (!m)
		return err;
	m->env = env;
	m->last = &m->first;
	pthread_mutex_init(&m->lock, NULL);
	m->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (m->fd < 0) {
		err = errno;
		goto out;
	}
	err = env_source_add(env, &m->source, h, arg);
	if (err)
		goto out;
	m->ev = event_new(env_base(env), m->fd, EV_READ | EV_PERSIST, on_readable, m);
	if (!m->ev || event_add(m->ev, NULL))
		err = ENOMEM;
out:
	if (err) {
		mailbox_free(m);
		return err;
	}
	*out = m;
	return 0;
}

struct mailbox *mailbox_free(struct mailbox *m)
{
	if (!m)
		return NULL;
	if (m->ev)
		event_free(m->ev);
	env_source_del(m->env, m->source);
	if (m->fd >= 0)
		close(m->fd);
	while (m->first) {
		struct message *l = m->first;

		m->first = l->next;
		free(l);
	}
	pthread_mutex_destroy(&m->lock);
	free(m);
	return NULL;
}

int mailbox_post(struct mailbox *m, uint8_t kind, const void *data, size_t len)
{
	struct message *l = malloc(sizeof *l + len);
	uint64_t one = 1;

	if (!l)
		return ENOMEM;
	l->next = NULL;
	l->kind = kind;
	l->len = len;
	if (len)
		memcpy(l->data, data, len);
	pthread_mutex_lock(&m->lock);
	*m->last = l;
	m->last = &l->next;
	pthread_mutex_unlock(&m->lock);
	/* A full counter is a wake-up already. */
	return write(m->fd, &one, sizeof one) < 0 && errno != EAGAIN ? errno : 0;
}
