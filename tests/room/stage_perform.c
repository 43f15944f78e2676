/* Performs the room's effects as playback, speech-to-text and brains do. */
#include "tests/room/stage_inside.h"

#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

/* ---- what is to come ---- */

struct pending *stage_later(struct stage *s, uint64_t ms, enum what what, unsigned who)
{
	struct pending *e;

	if (s->n_pending == STAGE_PENDING)
		abort();
	e = &s->pending[s->n_pending++];
	*e = (struct pending){.at = s->now + ms * NS_PER_MS, .what = what, .who = who};
	return e;
}

void stage_forget(struct stage *s, enum what what, unsigned who)
{
	unsigned k = 0;

	for (unsigned i = 0; i < s->n_pending; i++)
		if (s->pending[i].what != what || s->pending[i].who != who)
			s->pending[k++] = s->pending[i];
		else
			free(s->pending[i].text);
	s->n_pending = k;
}

/* The next part of what was said, up to a `/`. */
static char *stage_take_words(struct person *x)
{
	char *cut = strchr(x->words, '/'), *out;
	size_t n = cut ? (size_t)(cut - x->words) : strlen(x->words);

	out = stage_must(strndup(x->words, n));
	memmove(x->words, x->words + n + (cut != NULL), strlen(x->words + n + (cut != NULL)) + 1);
	return out;
}

/* ---- playback ---- */

/* How long sound has left for, without its pauses. */
static uint64_t playing_ns(const struct stage *s)
{
	uint64_t until = s->say.paused_at ? s->say.paused_at : s->now;

	return until - s->say.started_at - s->say.silent;
}

uint64_t stage_played_samples(const struct stage *s)
{
	uint64_t n;

	if (!s->say.started_at)
		return 0;
	n = playing_ns(s) * ROOM_RATE / NS_PER_S;
	return n < s->say.written ? n : s->say.written;
}

void stage_plan_playback(struct stage *s)
{
	uint64_t ms, gone;

	stage_forget(s, W_DRAINED, 0);
	if (!s->say.ended || !s->say.started_at || s->say.over || s->say.paused_at ||
	    s->playback_manual)
		return;
	ms = s->say.written * 1000 / ROOM_RATE;
	gone = playing_ns(s) / NS_PER_MS;
	stage_later(s, ms > gone ? ms - gone : 0, W_DRAINED, 0)->id = s->say.turn;
}

static void perform_pause(struct stage *s, bool pause)
{
	struct playback *p = &s->say;

	if (!p->started_at || p->over || !p->paused_at != pause)
		return;
	if (!pause)
		p->silent += s->now - p->paused_at;
	p->paused_at = pause ? s->now : 0;
}

static void perform_say(struct stage *s, const struct room_effect *e)
{
	struct playback *p = &s->say;

	/* An answer with a sound in it has more than one playback. */
	if (e->type == ROOM_DO_SAY_PCM && (p->turn != e->turn || (p->over && p->ended)))
		*p = (struct playback){.turn = e->turn};
	if (p->turn != e->turn || p->over)
		return;
	switch ((int)e->type) {
	case ROOM_DO_SAY_PCM:
		p->written += e->pcm.n / 2;
		break;
	case ROOM_DO_SAY_OPEN:
		p->open = true;
		if (!s->playback_manual)
			stage_later(s, PLAYBACK_MS, W_STARTED, 0)->id = e->turn;
		break;
	case ROOM_DO_SAY_END:
		p->ended = true;
		break;
	case ROOM_DO_SAY_PAUSE:
	case ROOM_DO_SAY_RESUME:
		perform_pause(s, e->type == ROOM_DO_SAY_PAUSE);
		break;
	default:
		if (!p->open || s->playback_manual)
			return;
		p->ended = false;
		stage_forget(s, W_DRAINED, 0);
		stage_forget(s, W_STARTED, 0);
		stage_later(s, e->ms, W_STOPPED, 0)->id = e->turn;
		return;
	}
	stage_plan_playback(s);
}

/* ---- speech-to-text ---- */

/* As much as was said by now. */
size_t stage_said_so_far(const struct stage *s, const struct person *x)
{
	uint64_t gone = (s->now - x->began_at) / NS_PER_MS;
	size_t len = strcspn(x->words, "/"), n = 0;

	if (x->lasts)
		return gone >= x->lasts ? len : len * gone / x->lasts;
	for (uint64_t words = gone / WORD_MS; n < len && words; words--) {
		n += x->words[n] == ' ';
		n += strcspn(x->words + n, " /");
	}
	return n;
}

static void perform_asr(struct stage *s, const struct room_effect *e)
{
	unsigned who = (unsigned)e->user - 1;
	struct person *x = &s->person[who];
	struct pending *words;

	switch ((int)e->type) {
	case ROOM_DO_ASR_START:
		x->utterance = e->utterance;
		break;
	case ROOM_DO_ASR_COMMIT:
		x->committed = e->utterance;
		stage_forget(s, W_PARTIAL, who);
		if (s->asr_manual)
			break;
		words = stage_later(s, s->asr_ms, s->asr_fails ? W_NO_WORDS : W_WORDS, who);
		words->id = e->utterance;
		words->text = stage_take_words(x);
		break;
	case ROOM_DO_ASR_INTERIM:
		if (s->asr_manual || s->asr_fails)
			break;
		/* The last word may be half of one. */
		words = stage_later(s, s->asr_ms, W_INTERIM, who);
		words->id = e->utterance;
		words->text = stage_must(
			strndup(x->words, utf8_whole(x->words, stage_said_so_far(s, x))));
		break;
	case ROOM_DO_ASR_CANCEL:
		if (e->utterance == x->utterance)
			x->words[0] = '\0';
		break;
	default:
		break;
	}
}

static void judge(struct stage *s, const struct room_effect *e)
{
	struct pending *p;

	if (!s->classifier.h)
		return;
	p = stage_later(s, s->classifier.after, W_JUDGED, 0);
	p->id = e->chunk;
	p->text = stage_must(
		strdup(s->classifier.h(e->text, s->classifier.arg) ? "INTERRUPT" : "IGNORE"));
}

void stage_perform(struct stage *s, const struct room_effect *e)
{
	struct pending *p;

	if (s->conf.notes)
		stage_note_effect(s, e);
	switch ((int)e->type) {
	case ROOM_DO_ASR_START:
	case ROOM_DO_ASR_COMMIT:
	case ROOM_DO_ASR_CANCEL:
	case ROOM_DO_ASR_INTERIM:
		perform_asr(s, e);
		break;
	case ROOM_DO_ASK:
		s->asked = e->turn;
		if (s->answer.text) {
			p = stage_later(s, s->answer.after, W_ANSWER, 0);
			p->id = e->turn;
		}
		break;
	case ROOM_DO_CLASSIFY_OVERLAP:
		judge(s, e);
		break;
	case ROOM_DO_INSTRUCT:
		stage_later(s, 0, W_INSTRUCTED, e->chunk);
		break;
	case ROOM_DO_SPEAK:
		p = stage_later(s, VOICE_MS, W_SPOKEN, e->chunk);
		p->id = e->turn;
		p->text = stage_must(strdup(e->text));
		break;
	case ROOM_DO_SOUNDBOARD:
		stage_later(s, SOUND_MS, W_SOUNDED, e->chunk)->id = e->turn;
		break;
	case ROOM_DO_BRAIN_CANCEL:
		if (s->asked == e->turn)
			s->asked = 0;
		break;
	case ROOM_DO_RECORD:
		if (s->asked == e->record->id)
			s->asked = 0;
		break;
	case ROOM_DO_SAY_PCM:
	case ROOM_DO_SAY_OPEN:
	case ROOM_DO_SAY_END:
	case ROOM_DO_SAY_STOP:
	case ROOM_DO_SAY_PAUSE:
	case ROOM_DO_SAY_RESUME:
		perform_say(s, e);
		break;
	default:
		break;
	}
	if (e->record && e->record->id > s->newest_turn)
		s->newest_turn = e->record->id;
}
