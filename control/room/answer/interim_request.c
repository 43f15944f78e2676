#include "control/room/answer/interim_request.h"

#include "control/room/inside.h"
#include "proto/base/time.h"

/* A provider that takes this long is overloaded, and its interim transcripts come too late to
 * be useful. */
enum { SLOW_MS = 2000, REST_S = 60 };

static void suspend_if_slow(struct room *room, const struct room_interim *p)
{
	if (p->at && room->context.now >= p->at + SLOW_MS * NS_PER_MS)
		room->interim_not_before = room->context.now + REST_S * NS_PER_S;
}

static bool is_request_due(const struct room *room, const struct room_speaker *sp)
{
	const struct settings *s = room->context.settings;
	const struct room_overlap *o = &sp->overlap;
	const struct room_interim *p = &o->interim;

	if (!s->interim_ms || room->files || room->interim_unrequested ||
	    room->context.now < room->interim_not_before)
		return false;
	if (sp->capture.phase != ROOM_CAPTURE_PROMOTED || p->n >= s->interim_max || p->at)
		return false;
	return o->voice_ms >= (p->n ? p->voice_ms + s->interim_again_ms : s->interim_ms);
}

void room_interim_on_audio(struct room *room, struct room_speaker *sp)
{
	struct room_interim *p = &sp->overlap.interim;
	struct room_effect *e;

	suspend_if_slow(room, p);
	if (!is_request_due(room, sp))
		return;
	if (!p->n++)
		room_turn_decide(room->active, ROOM_RULE_OVERLAP_INTERIM, true,
				 (int64_t)sp->overlap.voice_ms, room->context.settings->interim_ms);
	p->at = room->context.now;
	p->voice_ms = sp->overlap.voice_ms;
	e = room_emit(&room->context, ROOM_DO_ASR_INTERIM);
	sp->interim_utterance = sp->capture.utterance;
	e->user = sp->user;
	e->utterance = sp->capture.utterance;
}

void room_interim_on_words(struct room *room, const struct room_speaker *sp, uint32_t utterance)
{
	suspend_if_slow(room, &sp->overlap.interim);
	/* An interim transcript of live speech without a request. */
	if (sp->capture.phase != ROOM_CAPTURE_NONE && sp->capture.utterance == utterance &&
	    !sp->capture.restart && sp->interim_utterance != utterance)
		room->interim_unrequested = true;
}

bool room_interim_awaited(const struct room_interim *p, const struct settings *s, uint64_t now)
{
	return p->at && now < p->at + s->overlap_words_ms * NS_PER_MS;
}
