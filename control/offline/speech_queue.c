#include "control/offline/speech_queue.h"

#include "control/offline/mailbox.h"
#include "control/offline/speech.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
	struct line *next;
	uint64_t id;
	char *text;
	char voice[8];
	double speed;
	bool stopped;
};

struct speech_queue {
	struct mailbox *mailbox;
	speech_queue_h *h;
	void *arg;
	struct speech *speech;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* guards the list and what is in it */
	pthread_cond_t wake;
	struct line *list; /* the first one is being said */
	bool quit;
};

/* A message: this head, then the piece's bytes with NUL, then samples. */
struct head {
	uint64_t id;
	uint32_t piece; /* bytes, with NUL */
	uint32_t samples;
	bool last;
};

struct saying {
	struct speech_queue *t;
	struct line *line;
};

static void post(struct speech_queue *t, uint64_t id, const int16_t *pcm, size_t n,
		 const char *piece, bool last)
{
	struct head head = {.id = id,
			    .piece = (uint32_t)strlen(piece) + 1,
			    .samples = (uint32_t)n,
			    .last = last};
	size_t len = sizeof head + head.piece + n * sizeof *pcm;
	uint8_t *p = malloc(len);

	/* Without memory the sound has a gap, but the end of the line must not be lost. */
	if (!p)
		return;
	memcpy(p, &head, sizeof head);
	memcpy(p + sizeof head, piece, head.piece);
	if (n)
		memcpy(p + sizeof head + head.piece, pcm, n * sizeof *pcm);
	mailbox_post(t->mailbox, 0, p, len);
	free(p);
}

static bool on_sound(const int16_t *pcm, size_t n, const char *piece, void *arg)
{
	struct saying *s = arg;
	bool go;

	pthread_mutex_lock(&s->t->lock);
	go = !s->line->stopped && !s->t->quit;
	pthread_mutex_unlock(&s->t->lock);
	if (go)
		post(s->t, s->line->id, pcm, n, piece, false);
	return go;
}

static void line_free(struct line *l)
{
	free(l->text);
	free(l);
}

static void *talk(void *arg)
{
	struct speech_queue *t = arg;

	pthread_mutex_lock(&t->lock);
	while (!t->quit) {
		struct line *l = t->list;

		if (!l) {
			pthread_cond_wait(&t->wake, &t->lock);
			continue;
		}
		pthread_mutex_unlock(&t->lock);
		/* A line that cannot be said ends at once. */
		speech_say(t->speech, l->text, l->voice, l->speed, on_sound,
			   &(struct saying){t, l});
		post(t, l->id, NULL, 0, "", true);
		pthread_mutex_lock(&t->lock);
		t->list = l->next;
		line_free(l);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static void on_letter(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct speech_queue *t = arg;
	struct head head;
	int16_t *pcm;

	(void)kind;
	if (len < sizeof head)
		return;
	memcpy(&head, data, sizeof head);
	if (len != sizeof head + head.piece + head.samples * sizeof *pcm)
		return;
	pcm = malloc(head.samples * sizeof *pcm + 1);
	if (!pcm)
		return;
	memcpy(pcm, data + sizeof head + head.piece, head.samples * sizeof *pcm);
	t->h(head.id, pcm, head.samples, (const char *)data + sizeof head, head.last, t->arg);
	free(pcm);
}

int speech_queue_alloc(struct speech_queue **out, struct env *env, speech_queue_h *h, void *arg)
{
	struct speech_queue *t = calloc(1, sizeof *t);
	int err;

	if (!t)
		return ENOMEM;
	t->h = h;
	t->arg = arg;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->wake, NULL);
	err = speech_alloc(&t->speech);
	if (!err)
		err = mailbox_alloc(&t->mailbox, env, on_letter, t);
	if (!err) {
		err = pthread_create(&t->thread, NULL, talk, t);
		t->started = !err;
	}
	if (err) {
		speech_queue_free(t);
		return err;
	}
	*out = t;
	return 0;
}

struct speech_queue *speech_queue_free(struct speech_queue *t)
{
	if (!t)
		return NULL;
	pthread_mutex_lock(&t->lock);
	t->quit = true;
	pthread_cond_broadcast(&t->wake);
	pthread_mutex_unlock(&t->lock);
	if (t->started)
		pthread_join(t->thread, NULL);
	while (t->list) {
		struct line *l = t->list;

		t->list = l->next;
		line_free(l);
	}
	mailbox_free(t->mailbox);
	speech_free(t->speech);
	pthread_cond_destroy(&t->wake);
	pthread_mutex_destroy(&t->lock);
	free(t);
	return NULL;
}

int speech_queue_say(struct speech_queue *t, uint64_t id, const char *text, const char *voice,
		     double speed)
{
	struct line *l = calloc(1, sizeof *l), **p = &t->list;

	if (!l)
		return ENOMEM;
	l->id = id;
	l->speed = speed;
	snprintf(l->voice, sizeof l->voice, "%s", voice);
	l->text = strdup(text);
	if (!l->text) {
		line_free(l);
		return ENOMEM;
	}
	pthread_mutex_lock(&t->lock);
	while (*p)
		p = &(*p)->next;
	*p = l;
	pthread_cond_broadcast(&t->wake);
	pthread_mutex_unlock(&t->lock);
	return 0;
}

void speech_queue_stop(struct speech_queue *t, uint64_t id)
{
	pthread_mutex_lock(&t->lock);
	for (struct line *l = t->list; l; l = l->next)
		if (l->id == id)
			l->stopped = true;
	pthread_mutex_unlock(&t->lock);
}

void speech_queue_stop_owner(struct speech_queue *t, uint32_t owner)
{
	pthread_mutex_lock(&t->lock);
	for (struct line *l = t->list; l; l = l->next)
		if (l->id >> 32 == owner)
			l->stopped = true;
	pthread_mutex_unlock(&t->lock);
}
