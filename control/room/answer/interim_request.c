#include "control/room/answer/interim_request.h"

#include "control/room/inside.h"

/* Words that take so long are of no use, and whoever makes them has enough to do. */
enum { SLOW_MS = 2000, REST_S = 60 };

static void rest_if_slow(struct room *room, const struct room_interim *p)
{
	if (p->at && room->now >= p->at + SLOW_MS * ROOM_MS)
		room->looks_from = room->now + REST_S * ROOM_S;
}

static bool due(const struct room *room, const struct room_speaker *sp)
{
	const struct settings *s = room->settings;
	const struct room_over *o = &sp->over;
	const struct room_interim *p = &o->peek;

	if (!s->interim_ms || room->files || room->words_unasked || room->now < room->looks_from)
		return false;
	if (sp->capture.phase != ROOM_CAPTURE_PROMOTED || p->n >= s->interim_max || p->at)
		return false;
	return o->voice_ms >= (p->n ? p->voice_ms + s->interim_again_ms : s->interim_ms);
}

void room_interim_sound(struct room *room, struct room_speaker *sp)
{
	struct room_interim *p = &sp->over.peek;
	struct room_effect *e;

	rest_if_slow(room, p);
	if (!due(room, sp))
		return;
	if (!p->n++)
		room_decide(room->active, ROOM_RULE_OVER_INTERIM, true, (int64_t)sp->over.voice_ms,
			    room->settings->interim_ms);
	p->at = room->now;
	p->voice_ms = sp->over.voice_ms;
	e = room_do(room, ROOM_DO_ASR_INTERIM);
	sp->peeked = sp->capture.utterance;
	e->user = sp->user;
	e->utterance = sp->capture.utterance;
}

void room_interim_words(struct room *room, const struct room_speaker *sp, uint32_t utterance)
{
	rest_if_slow(room, &sp->over.peek);
	/* Of speech that goes on, and nobody asked. */
	if (sp->capture.phase != ROOM_CAPTURE_NONE && sp->capture.utterance == utterance &&
	    !sp->capture.restart && sp->peeked != utterance)
		room->words_unasked = true;
}

bool room_interim_awaits(const struct room_interim *p, const struct settings *s, uint64_t now)
{
	return p->at && now < p->at + s->words_ms * ROOM_MS;
}
