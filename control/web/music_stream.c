#include "control/web/music_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"
#include "control/web/inside.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

/* bands, wave and scope of MUSIC_ANALYSIS, as bytes and as characters. */
enum { BANDS = 64, WAVE = 128, SCOPE = 256, TEXT_SIZE = 1024, CODE_SIZE = (SCOPE + 2) / 3 * 4 + 1 };

struct music_stream {
	struct env *env;
	bool (*watchh)(uint64_t guild, bool on, void *arg);
	void *arg;
	struct tmr *timer;
	struct looked {
		uint64_t guild;		    /* 0: none */
		struct http_events *events; /* NULL: none */
	} at[MUSIC_STREAM_SERVERS];
};

static struct looked *find_looked(struct music_stream *s, uint64_t guild)
{
	for (unsigned i = 0; i < MUSIC_STREAM_SERVERS; i++)
		if (s->at[i].guild == guild)
			return &s->at[i];
	return NULL;
}

static void forget(struct music_stream *s, struct looked *l)
{
	s->watchh(l->guild, false, s->arg);
	http_events_free(l->events);
	*l = (struct looked){0};
}

/* A call that begins anew does not know who looks. */
static void on_timer(void *arg)
{
	struct music_stream *s = arg;
	bool any = false;

	for (unsigned i = 0; i < MUSIC_STREAM_SERVERS; i++) {
		struct looked *l = &s->at[i];

		if (!l->guild)
			continue;
		if (!http_events_readers(l->events)) {
			forget(s, l);
			continue;
		}
		s->watchh(l->guild, true, s->arg);
		any = true;
	}
	if (any)
		tmr_start(s->timer, MUSIC_STREAM_MS * NS_PER_MS);
}

int music_stream_alloc(struct music_stream **out, struct env *env,
		       bool (*watchh)(uint64_t guild, bool on, void *arg), void *arg)
{
	struct music_stream *s = calloc(1, sizeof *s);
	int err = s ? tmr_alloc(&s->timer, env, on_timer, s) : ENOMEM;

	if (err) {
		free(s);
		return err;
	}
	s->env = env;
	s->watchh = watchh;
	s->arg = arg;
	*out = s;
	return 0;
}

struct music_stream *music_stream_free(struct music_stream *s)
{
	if (!s)
		return NULL;
	for (unsigned i = 0; i < MUSIC_STREAM_SERVERS; i++)
		http_events_free(s->at[i].events);
	tmr_free(s->timer);
	free(s);
	return NULL;
}

void music_stream_end(struct music_stream *s, http_reader_h *h, void *arg)
{
	for (unsigned i = 0; s && i < MUSIC_STREAM_SERVERS; i++)
		if (s->at[i].events)
			http_events_end(s->at[i].events, h, arg);
}

/* A place for this server's readers. */
static int make_looked(struct music_stream *s, uint64_t guild, struct looked **out)
{
	struct looked *l = find_looked(s, 0);
	int err;

	if (!l)
		return ENOSPC;
	if (!s->watchh(guild, true, s->arg))
		return ENOENT;
	err = http_events_alloc(&l->events, s->env, NULL, NULL);
	if (err) {
		s->watchh(guild, false, s->arg);
		return err;
	}
	l->guild = guild;
	tmr_start(s->timer, MUSIC_STREAM_MS * NS_PER_MS);
	*out = l;
	return 0;
}

int music_stream_join(struct music_stream *s, struct http_exchange *x, const struct http_head *head,
		      uint64_t guild)
{
	struct looked *l = find_looked(s, guild);
	int err = l ? 0 : make_looked(s, guild, &l);

	if (!err)
		http_events_join(l->events, x, head, NULL);
	return err;
}

static void encode(struct slice bytes, char text[CODE_SIZE])
{
	base64_encode(bytes.p, bytes.n, text);
	text[base64_encoded(bytes.n)] = '\0';
}

void music_stream_show(struct music_stream *s, uint64_t guild, const struct web_music *m)
{
	struct looked *l = s && guild ? find_looked(s, guild) : NULL;
	char bands[CODE_SIZE], wave[CODE_SIZE], scope[CODE_SIZE], text[TEXT_SIZE];
	int n;

	if (!l || m->bands.n != BANDS || m->wave.n != WAVE || m->scope.n != SCOPE)
		return;
	encode(m->bands, bands);
	encode(m->wave, wave);
	encode(m->scope, scope);
	n = snprintf(text, sizeof text,
		     "{\"music\":%" PRIu32 ",\"position\":%" PRIu64
		     ",\"bands\":\"%s\",\"wave\":\"%s\",\"scope\":\"%s\"}",
		     m->music, m->position, bands, wave, scope);
	http_events_publish_fleeting(l->events, NULL, "analysis", text, (size_t)n);
}

void web_show_music(struct web *w, uint64_t guild, const struct web_music *m)
{
	music_stream_show(web_music(w), guild, m);
}

void web_visualizer_get(struct web *w, const struct web_request *r)
{
	int err;

	if (web_refuse_stream(w, r->x))
		return;
	err = web_music(w) ? music_stream_join(web_music(w), r->x, r->head, r->id) : ENOENT;
	if (err == ENOENT)
		web_refuse(r->x, WEB_NO_SUCH_ROOM);
	else if (err == ENOSPC)
		web_refuse(r->x, WEB_MANY_VISUALIZERS);
	else if (err)
		http_reply(r->x, 503, NULL, NULL, 0);
}
