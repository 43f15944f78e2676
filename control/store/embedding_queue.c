#include "control/store/embedding_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "control/memory/embed/embedder.h"
#include "control/memory/english.h"

enum { NICE = 10 };

struct list {
	struct embedding_item *head, **tail;
};

struct embedding_queue {
	struct embedder *embedder; /* the thread's */
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct list todo, ready;
	size_t waiting, n; /* not ready yet; not taken yet */
	bool stop;
};

void embedding_item_free(struct embedding_item *item)
{
	explicit_bzero(item->text, strlen(item->text));
	free(item);
}

static void append(struct list *l, struct embedding_item *item)
{
	item->next = NULL;
	*l->tail = item;
	l->tail = &item->next;
}

static struct embedding_item *take_all(struct list *l)
{
	struct embedding_item *head = l->head;

	*l = (struct list){.tail = &l->head};
	return head;
}

static struct embedding_item *take_first(struct list *l)
{
	struct embedding_item *first = l->head;

	l->head = first->next;
	if (!l->head)
		l->tail = &l->head;
	return first;
}

static void embed(struct embedder *e, struct embedding_item *item)
{
	size_t n = strlen(item->text);
	float v[EMBEDDER_DIM];

	item->found = n && english_is(item->text, n) && embedder_run(e, item->text, n, v) == 0;
	if (item->found)
		vector_pack(&item->vector, v, EMBEDDER_DIM);
}

static void *run_thread(void *arg)
{
	struct embedding_queue *q = arg;

	/* Questions go before a backlog of texts; on Linux niceness is per thread. */
	setpriority(PRIO_PROCESS, 0, NICE);
	pthread_mutex_lock(&q->lock);
	while (!q->stop) {
		struct embedding_item *item;

		if (!q->todo.head) {
			pthread_cond_wait(&q->changed, &q->lock);
			continue;
		}
		item = take_first(&q->todo);
		pthread_mutex_unlock(&q->lock);
		embed(q->embedder, item);
		pthread_mutex_lock(&q->lock);
		append(&q->ready, item);
		q->waiting--;
		pthread_cond_broadcast(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

int embedding_queue_alloc(struct embedding_queue **out, const uint8_t *bytes, size_t n)
{
	struct embedding_queue *q = calloc(1, sizeof *q);
	int err;

	if (!q)
		return ENOMEM;
	q->todo.tail = &q->todo.head;
	q->ready.tail = &q->ready.head;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
	err = embedder_alloc(&q->embedder, bytes, n);
	if (!err)
		err = pthread_create(&q->thread, NULL, run_thread, q);
	q->started = !err;
	if (err)
		embedding_queue_free(q);
	else
		*out = q;
	return err;
}

static void free_list(struct list *l)
{
	struct embedding_item *next;

	for (struct embedding_item *i = l->head; i; i = next) {
		next = i->next;
		embedding_item_free(i);
	}
}

struct embedding_queue *embedding_queue_free(struct embedding_queue *q)
{
	if (!q)
		return NULL;
	if (q->started) {
		pthread_mutex_lock(&q->lock);
		q->stop = true;
		pthread_cond_broadcast(&q->changed);
		pthread_mutex_unlock(&q->lock);
		pthread_join(q->thread, NULL);
	}
	free_list(&q->todo);
	free_list(&q->ready);
	embedder_free(q->embedder);
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	free(q);
	return NULL;
}

int embedding_queue_put(struct embedding_queue *q, int kind, uint64_t id, const char *text)
{
	size_t n = strlen(text) + 1;
	struct embedding_item *item = calloc(1, sizeof *item + n);

	if (!item)
		return ENOMEM;
	item->kind = kind;
	item->id = id;
	memcpy(item->text, text, n);
	pthread_mutex_lock(&q->lock);
	append(&q->todo, item);
	q->waiting++;
	q->n++;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	return 0;
}

struct embedding_item *embedding_queue_take(struct embedding_queue *q)
{
	struct embedding_item *list;

	pthread_mutex_lock(&q->lock);
	list = take_all(&q->ready);
	q->n = q->waiting;
	pthread_mutex_unlock(&q->lock);
	return list;
}

size_t embedding_queue_count(struct embedding_queue *q)
{
	size_t n;

	pthread_mutex_lock(&q->lock);
	n = q->n;
	pthread_mutex_unlock(&q->lock);
	return n;
}

void embedding_queue_wait(struct embedding_queue *q)
{
	pthread_mutex_lock(&q->lock);
	while (q->waiting)
		pthread_cond_wait(&q->changed, &q->lock);
	pthread_mutex_unlock(&q->lock);
}
