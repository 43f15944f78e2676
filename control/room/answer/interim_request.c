#include "control/room/answer/interim_request.h"

#include "control/room/base/context.h"
#include "control/room/base/turns.h"
#include "control/room/hearing/captures.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

/* A provider that takes this long is overloaded, and its interim transcripts come too late to
 * be useful. */
enum { SLOW_MS = 2000, REST_S = 60 };

static bool is_slow(const struct room_context *context, const struct room_interim *p)
{
	return p->at && context->now >= p->at + SLOW_MS * NS_PER_MS;
}

static bool is_request_due(const struct room_interim_requests *r,
			   const struct room_context *context, unsigned place,
			   const struct room_interim *p, uint64_t voice_ms)
{
	const struct settings *s = context->settings;

	if (!s->interim_ms || context->asr_files || r->unrequested || context->now < r->not_before)
		return false;
	if (room_capture_of(context, place)->phase != ROOM_CAPTURE_PROMOTED ||
	    p->n >= s->interim_max || p->at || context->now < r->silent_until[place])
		return false;
	return voice_ms >= (p->n ? p->voice_ms + s->interim_again_ms : s->interim_ms);
}

void room_interim_on_audio(struct room_interim_requests *r, struct room_context *context,
			   unsigned place, struct room_interim *p, uint64_t voice_ms)
{
	struct room_effect *e;

	/* A request that is lost (while its session connects, or a session hangs) tells nothing of
	 * other sessions. */
	if (is_slow(context, p))
		r->silent_until[place] = context->now + REST_S * NS_PER_S;
	if (!is_request_due(r, context, place, p, voice_ms))
		return;
	if (!p->n++)
		room_turn_decide(room_turn_active(context), ROOM_RULE_OVERLAP_INTERIM, true,
				 (int64_t)voice_ms, context->settings->interim_ms);
	p->at = context->now;
	p->voice_ms = voice_ms;
	e = room_emit(context, ROOM_DO_ASR_INTERIM);
	r->utterance[place] = room_capture_of(context, place)->utterance;
	e->user = context->people->person[place].user;
	e->utterance = r->utterance[place];
}

void room_interim_on_words(struct room_interim_requests *r, const struct room_context *context,
			   unsigned place, const struct room_interim *p, uint32_t utterance)
{
	const struct room_capture *c = room_capture_of(context, place);

	if (is_slow(context, p))
		r->not_before = context->now + REST_S * NS_PER_S;
	/* An interim transcript of live speech without a request. */
	if (c->phase != ROOM_CAPTURE_NONE && c->utterance == utterance && !c->restart &&
	    r->utterance[place] != utterance)
		r->unrequested = true;
}

void room_interim_on_transcript(struct room_interim_requests *r, unsigned place)
{
	r->silent_until[place] = 0;
}

void room_interim_on_close(struct room_interim_requests *r)
{
	r->unrequested = false;
}

bool room_interim_awaited(const struct room_interim *p, const struct settings *s, uint64_t now)
{
	return p->at && now < p->at + s->overlap_words_ms * NS_PER_MS;
}
