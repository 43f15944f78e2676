#include "control/room/peek.h"

#include "control/room/inside.h"

/* Words that take so long are of no use, and whoever makes them has enough to do. */
enum { SLOW_MS = 2000, REST_S = 60 };

static void rest_if_slow(struct room *room, const struct room_peek *p)
{
	if (p->at && room->now >= p->at + SLOW_MS * ROOM_MS)
		room->looks_from = room->now + REST_S * ROOM_S;
}

static bool due(const struct room *room, const struct room_speaker *sp)
{
	const struct settings *s = room->settings;
	const struct room_over *o = &sp->over;
	const struct room_peek *p = &o->peek;

	if (!s->peek_ms || room->files || room->words_unasked || room->now < room->looks_from)
		return false;
	if (sp->capture.phase != ROOM_CAPTURE_PROMOTED || p->n >= s->peek_max || p->at)
		return false;
	return o->voice_ms >= (p->n ? p->voice_ms + s->peek_again_ms : s->peek_ms);
}

void room_peek_sound(struct room *room, struct room_speaker *sp)
{
	struct room_peek *p = &sp->over.peek;
	struct room_effect *e;

	rest_if_slow(room, p);
	if (!due(room, sp))
		return;
	if (!p->n++)
		room_decide(room->active, ROOM_RULE_OVER_PEEKED, true, (int64_t)sp->over.voice_ms,
			    room->settings->peek_ms);
	p->at = room->now;
	p->voice_ms = sp->over.voice_ms;
	e = room_do(room, ROOM_DO_ASR_PEEK);
	sp->peeked = sp->capture.utterance;
	e->user = sp->user;
	e->utterance = sp->capture.utterance;
}

void room_peek_words(struct room *room, const struct room_speaker *sp, uint32_t utterance)
{
	rest_if_slow(room, &sp->over.peek);
	/* Of speech that goes on, and nobody asked. */
	if (sp->capture.phase != ROOM_CAPTURE_NONE && sp->capture.utterance == utterance &&
	    !sp->capture.restart && sp->peeked != utterance)
		room->words_unasked = true;
}

bool room_peek_awaits(const struct room_peek *p, const struct settings *s, uint64_t now)
{
	return p->at && now < p->at + s->words_ms * ROOM_MS;
}
