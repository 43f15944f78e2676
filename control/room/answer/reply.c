#include "control/room/answer/reply.h"

#include <string.h>

#include "control/room/answer/addressee.h"
#include "control/room/answer/output.h"
#include "control/room/answer/speculative.h"
#include "control/room/answer/prompt.h"
#include "control/room/base/text.h"
#include "control/room/turn/history.h"
#include "control/room/base/turns.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { DRAIN_SLACK_S = 5 };

static const char decline[] = "skip";

void room_reply_begin(struct room_reply *r, const struct room_context *context,
		      struct room_turn *turn)
{
	const struct settings *s = context->settings;

	memset(r, 0, sizeof *r);
	r->turn = turn->id;
	r->planned = settings_reads_out(s);
	r->thought = !turn->user;
	room_chunker_init(&r->chunker, s->chunk_sentences, s->chunk_eager, s->chunk_max);
}

void room_reply_taint(struct room_reply *r)
{
	r->tainted = true;
}

/* ---- whom it speaks to ---- */

static void apply_lead_directives(struct room_reply *r, struct room_context *context,
				  struct room_turn *turn)
{
	const struct room_directive *d = &r->directive;
	enum room_target target = r->planned ? ROOM_TARGET_MISSING : ROOM_TARGET_UNTOLD;
	uint64_t user = 0;

	if (r->led || !d->led)
		return;
	r->led = true;
	if (d->to == ROOM_TO_ALL)
		target = ROOM_TARGET_ALL;
	else if (d->to == ROOM_TO_SPEAKER)
		target = ROOM_TARGET_SPEAKER;
	else if (d->to == ROOM_TO_NAME)
		target = (user = room_addressee_by_name(context, d->name)) ? ROOM_TARGET_USER
									   : ROOM_TARGET_UNRESOLVED;
	if (r->planned || d->to != ROOM_TO_NOBODY) {
		turn->policy = room_interruption_policy(context->settings->interruptions, target,
							user, turn->user);
		/* The answer stays untargeted; who asked may stop it all the same. */
		if (target == ROOM_TARGET_MISSING &&
		    context->settings->untargeted_interrupt == SETTINGS_UNTARGETED_ASKER)
			turn->policy.user = turn->user;
		room_turn_decide(turn, ROOM_RULE_ADDRESSEE, d->to != ROOM_TO_NOBODY, d->to, 0);
	}
	/* A page must not keep people from interrupting. */
	if (d->lease != ROOM_OUTPUT_LEASE_NONE && !r->tainted)
		room_turn_decide(turn, ROOM_RULE_LEASE,
				 room_output_lease_grant(&turn->lease, d->lease,
							 turn->first_audio_at, context->now),
				 d->lease, 0);
}

/* ---- words ---- */

/* Appends as much as fits, in whole characters. */
static void append_answer(struct room_turn *t, const char *text, size_t n)
{
	size_t at = strlen(t->answer), most = sizeof t->answer - 1 - at;

	if (n > most)
		n = utf8_whole(text, most);
	memcpy(t->answer + at, text, n);
	t->answer[at + n] = '\0';
}

static void chunk_out(const char *text, size_t n, void *arg)
{
	struct room_reply *r = arg;

	room_plan_speech(&r->plan, text, n);
}

static void emit_sound(struct room_reply *r, struct room_context *context, const char *ref)
{
	const char *text = room_text_of(context, ref, strlen(ref));
	struct room_effect *e;

	if (!text)
		return;
	e = room_emit(context, ROOM_DO_SOUNDBOARD);
	e->turn = r->turn;
	e->chunk = ++r->sounded;
	e->text = text;
}

/* Requests the sounds that a voice model's own speech has reached. */
static void play_marks(struct room_reply *r, struct room_context *context, size_t played)
{
	const char *ref;

	if (room_speculative_holds(context, r->turn))
		return;
	while ((ref = room_sound_marks_take(&r->marks, played)))
		emit_sound(r, context, ref);
}

static void handle_sound(struct room_reply *r, struct room_context *context, const char *ref,
			 size_t n)
{
	const struct settings *s = context->settings;
	const struct room_turn *t = room_turn_by_id(context, r->turn);

	if (s->soundboard == SETTINGS_SOUNDBOARD_OFF || r->sounds >= s->sounds_an_answer)
		return;
	r->sounds++;
	if (r->planned) {
		room_chunker_flush(&r->chunker, chunk_out, r);
		room_plan_sound(&r->plan, ref, n);
	} else {
		room_sound_marks_add(&r->marks, t->answer, ref, n);
	}
}

static void emit_note(struct room_reply *r, struct room_context *context, const char *words,
		      size_t n)
{
	const char *text = r->notes < ROOM_NOTES_MAX ? room_text_of(context, words, n) : NULL;
	struct room_effect *e;

	if (!text)
		return;
	r->notes++;
	e = room_emit(context, ROOM_DO_NOTE);
	e->turn = r->turn;
	e->text = text;
}

/* Collects the first letters of an unprompted answer: a voice model that was told to answer [SKIP]
 * may say the word instead. */
static void collect_lead(struct room_reply *r, const char *text, size_t n)
{
	for (size_t i = 0; i < n && r->thought && r->n_lead < sizeof r->lead; i++) {
		char ch = (char)(text[i] | 0x20);

		if (ch >= 'a' && ch <= 'z')
			r->lead[r->n_lead++] = ch;
	}
}

/* As far as it goes, the unasked answer is that word. */
static bool may_decline(const struct room_reply *r)
{
	return r->thought && r->n_lead <= strlen(decline) &&
	       memcmp(r->lead, decline, r->n_lead) == 0;
}

/* Where the words of an answer go. */
struct output {
	struct room_reply *reply;
	struct room_context *context;
};

static void directive_out(enum room_directive_out what, const char *text, size_t n, void *arg)
{
	const struct output *out = arg;
	struct room_reply *r = out->reply;
	struct room_context *context = out->context;

	if (what == ROOM_OUT_SOUND) {
		handle_sound(r, context, text, n);
	} else if (what == ROOM_OUT_NOTE) {
		emit_note(r, context, text, n);
	} else if (r->planned) {
		room_chunker_add(&r->chunker, text, n, chunk_out, r);
	} else {
		struct room_turn *t = room_turn_by_id(context, r->turn);

		collect_lead(r, text, n);
		append_answer(t, text, n);
		room_playout_add_text(&r->playout, 0, strlen(t->answer));
	}
}

bool room_reply_undecided(const struct room_reply *r)
{
	bool lead =
		!r->directive.led && (r->directive.in_body || r->directive.n || r->directive.skip);

	return lead || (!r->planned && !r->complete && may_decline(r));
}

/* Performs the next actions of the plan. The turn may have ended afterwards. */
static void advance_plan(struct room_reply *r, struct room_context *context, struct room_turn *t);

static void process_text(struct room_reply *r, struct room_context *context, struct room_turn *turn)
{
	apply_lead_directives(r, context, turn);
	if (r->planned)
		advance_plan(r, context, turn);
	else
		play_marks(r, context, room_reply_byte_at(r, turn, context->now));
}

/* The latency budget is spent before anything was heard. */
static bool is_late(const struct room_context *context, const struct room_turn *turn)
{
	uint32_t budget = context->settings->latency_budget_ms;
	uint64_t from = turn->end_of_speech_at ? turn->end_of_speech_at : turn->asked_at;

	return budget && !turn->released && context->now >= from + budget * NS_PER_MS;
}

void room_reply_add_text(struct room_reply *r, struct room_context *context, struct room_turn *turn,
			 struct slice text)
{
	if (r->planned && is_late(context, turn))
		room_chunker_relax(&r->chunker);
	room_directive_add(&r->directive, (const char *)text.p, text.n, directive_out,
			   &(struct output){r, context});
	process_text(r, context, turn);
}

void room_reply_complete(struct room_reply *r, struct room_context *context, struct room_turn *turn)
{
	room_directive_end(&r->directive, directive_out, &(struct output){r, context});
	if (r->planned) {
		room_chunker_flush(&r->chunker, chunk_out, r);
		room_plan_complete(&r->plan);
	} else {
		room_playout_complete(&r->playout);
	}
	r->complete = true;
	if (room_reply_skips(r))
		room_turn_decide(turn, ROOM_RULE_SKIP, true, 0, 0);
	process_text(r, context, turn);
}

void room_reply_released(struct room_reply *r, struct room_context *context, struct room_turn *turn)
{
	if (r->planned)
		advance_plan(r, context, turn);
	else
		play_marks(r, context, room_reply_byte_at(r, turn, context->now));
}

/* ---- sound ---- */

void room_reply_add_audio(struct room_reply *r, struct room_turn *turn, uint32_t chunk,
			  uint64_t samples)
{
	turn->samples += samples;
	r->written += samples;
	room_playout_add_audio(&r->playout, chunk, samples);
}

/* An upper bound of the audio that waits to be played: written, and it cannot have been played
 * yet. */
static uint64_t estimate_backlog(const struct room_reply *r, const struct room_context *context)
{
	uint64_t left = 0;

	if (r->started_at && context->now > r->started_at)
		left = (context->now - r->started_at) / NS_PER_MS * (ROOM_RATE / 1000);
	return r->written > left ? r->written - left : 0;
}

static uint64_t samples_from_ms(uint32_t ms)
{
	return (uint64_t)ms * ROOM_RATE / 1000;
}

static void emit_speak(struct room_reply *r, struct room_context *context, struct room_turn *t,
		       const struct room_plan_do *d)
{
	const struct settings *s = context->settings;
	struct room_effect *e = room_emit(context, ROOM_DO_SPEAK);
	const char *line = room_text_of(context, d->text, strlen(d->text));

	e->text = line ? line : "";
	if (*t->answer)
		append_answer(t, " ", 1);
	append_answer(t, e->text, strlen(e->text));
	room_playout_add_text(&r->playout, d->chunk, strlen(t->answer));
	t->sinks |= ROOM_SINK_TTS;
	t->deadline = context->now + (t->released ? s->stall_ms : s->first_audio_ms) * NS_PER_MS;
	e->turn = t->id;
	e->chunk = d->chunk;
}

static void play_sound(struct room_reply *r, struct room_context *context, struct room_turn *t,
		       const struct room_plan_do *d)
{
	struct room_effect *e = room_emit(context, ROOM_DO_SOUNDBOARD);
	const char *ref = room_text_of(context, d->text, strlen(d->text));

	r->sound_until = context->now + context->settings->sound_wait_ms * NS_PER_MS;
	t->deadline = r->sound_until + context->settings->stall_ms * NS_PER_MS;
	e->turn = t->id;
	e->chunk = d->chunk;
	e->text = ref ? ref : "";
}

static void end_reply(struct room_reply *r, struct room_context *context, struct room_turn *t)
{
	enum room_reason why = ROOM_REASON_ANSWERED;

	if (t->brain_broke)
		why = ROOM_REASON_BRAIN_FAILED;
	else if (r->broke)
		why = ROOM_REASON_SPEECH_FAILED;
	else if (!t->released && !r->sounds)
		why = ROOM_REASON_NO_ANSWER;
	else if (t->not_understood)
		why = ROOM_REASON_NOT_UNDERSTOOD;
	room_turn_end(context, t, why);
}

static void advance_plan(struct room_reply *r, struct room_context *context, struct room_turn *t)
{
	const struct settings *s = context->settings;

	r->plan.held = room_speculative_holds(context, r->turn);
	while (r->turn == t->id && t->phase != ROOM_PHASE_ENDED && t->phase != ROOM_PHASE_CLOSING) {
		struct room_plan_do d = room_plan_next(&r->plan, estimate_backlog(r, context),
						       samples_from_ms(s->speech_pause_ms),
						       samples_from_ms(s->speech_resume_ms));

		switch (d.what) {
		case ROOM_PLAN_SPEAK:
			emit_speak(r, context, t, &d);
			break;
		case ROOM_PLAN_SOUND:
			play_sound(r, context, t, &d);
			break;
		case ROOM_PLAN_END:
			if (!t->released)
				room_answer_open_playback(context, t);
			room_emit(context, ROOM_DO_SAY_END)->turn = t->id;
			t->deadline = context->now +
				      estimate_backlog(r, context) * NS_PER_S / ROOM_RATE +
				      DRAIN_SLACK_S * NS_PER_S;
			break;
		case ROOM_PLAN_DONE:
			end_reply(r, context, t);
			return;
		case ROOM_PLAN_WAIT:
			if (r->plan.paused && r->plan.phase == ROOM_PLAN_READY)
				t->deadline = context->now +
					      estimate_backlog(r, context) * NS_PER_S / ROOM_RATE +
					      s->stall_ms * NS_PER_MS;
			return;
		}
	}
}

static void abandon_plan(struct room_reply *r, struct room_context *context, struct room_turn *t)
{
	r->broke = true;
	room_plan_abandon(&r->plan);
	t->sinks &= ~(unsigned)ROOM_SINK_TTS;
	if (!t->brain_done) {
		t->brain_done = true;
		t->sinks &= ~(unsigned)ROOM_SINK_BRAIN;
		room_emit(context, ROOM_DO_BRAIN_CANCEL)->turn = t->id;
	}
}

bool room_reply_on_event(struct room_reply *r, struct room_context *context, struct room_turn *t,
			 const struct room_event *ev)
{
	/* A voice model's words may have times, too: its answer is chunk 0. */
	if (ev->type == ROOM_SPEECH_WORD && ev->chunk == r->plan.running)
		room_playout_add_word(&r->playout, ev->chunk, t->answer, (const char *)ev->text.p,
				      ev->text.n, ev->samples);
	if (!r->planned)
		return false;
	switch (ev->type) {
	case ROOM_SPEECH_AUDIO:
		return ev->pcm.n >= 2 && room_plan_sounds(&r->plan, ev->chunk);
	case ROOM_SPEECH_DONE:
		if (!room_plan_spoken(&r->plan, ev->chunk))
			return false;
		room_playout_chunk_complete(&r->playout, ev->chunk);
		t->sinks &= ~(unsigned)ROOM_SINK_TTS;
		break;
	case ROOM_SPEECH_FAILED:
		if (!room_plan_spoken(&r->plan, ev->chunk))
			return false;
		abandon_plan(r, context, t);
		break;
	case ROOM_SOUND_DONE:
		if (!room_plan_sounded(&r->plan, ev->chunk))
			return false;
		r->sound_until = 0;
		break;
	default:
		return false;
	}
	advance_plan(r, context, t);
	return false;
}

void room_reply_drained(struct room_reply *r, struct room_context *context, struct room_turn *t,
			uint64_t samples)
{
	r->drained += samples < r->written ? samples : r->written;
	r->written = r->started_at = 0;
	r->open = false;
	t->samples_played = r->drained;
	room_plan_drained(&r->plan);
	advance_plan(r, context, t);
}

/* ---- the end ---- */

void room_reply_close(struct room_reply *r, const struct room_context *context,
		      struct room_history *history, struct room_turn *t)
{
	size_t n = strlen(t->answer), heard;

	if (!n || r->turn != t->id)
		return;
	if (!t->released || !t->samples)
		heard = 0;
	else if (t->samples_played >= t->samples && t->brain_done && !r->broke && !t->brain_broke)
		heard = n;
	else
		heard = room_playout_text_played(&r->playout, t->answer, t->samples_played,
						 ROOM_RATE);
	if (t->released && t->samples)
		room_turn_decide(t, ROOM_RULE_PLAYED, heard == n, (int64_t)heard, (int64_t)n);
	t->answer_cut = heard < n;
	t->answer[heard] = '\0';
	utf8_mend(t->answer);
	if (t->first_audio_at)
		room_history_add(history, &(struct room_history_words){.at = t->first_audio_at,
								       .turn = t->id,
								       .bot = true,
								       .cut = t->answer_cut,
								       .name = context->name,
								       .text = t->answer});
	if (history->withdrawn_at && t->asked_at <= history->withdrawn_at)
		room_history_keep_private(history, context, t->id, 0);
	else if (t->told_private)
		room_history_keep_private(history, context, t->id, t->user);
}

void room_reply_played(struct room_reply *r, struct room_context *context)
{
	play_marks(r, context, SIZE_MAX);
}

static bool is_active(const struct room_reply *r, const struct room_context *context)
{
	const struct room_turn *t = room_turn_active(context);

	return t && t->id == r->turn &&
	       (t->phase == ROOM_PHASE_ASKED || t->phase == ROOM_PHASE_SPEAKING);
}

void room_reply_tick(struct room_reply *r, struct room_context *context)
{
	struct room_turn *t = room_turn_active(context);

	if (!is_active(r, context))
		return;
	if (!r->planned) {
		play_marks(r, context, room_reply_byte_at(r, t, context->now));
		return;
	}
	if (r->sound_until && context->now >= r->sound_until) {
		r->sound_until = 0;
		room_plan_sounded(&r->plan, r->plan.running);
	}
	advance_plan(r, context, t);
}

/* When the audio that was sent so far will have been played up to the next sound. UINT64_MAX: that
 * is not known yet. */
static uint64_t mark_at(const struct room_reply *r, const struct room_context *context)
{
	const char *text = room_turn_active(context)->answer;
	uint64_t low = r->drained, high = r->playout.samples;
	size_t place;

	if (!room_sound_marks_next(&r->marks, &place) || !r->started_at || r->paused_at ||
	    room_playout_text_played(&r->playout, text, high, ROOM_RATE) < place)
		return UINT64_MAX;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (room_playout_text_played(&r->playout, text, middle, ROOM_RATE) < place)
			low = middle + 1;
		else
			high = middle;
	}
	low -= r->drained;
	return r->started_at + r->paused_ns + (low * 1000 + ROOM_RATE - 1) / ROOM_RATE * NS_PER_MS;
}

/* When speech_resume_ms of audio are left. UINT64_MAX: none of it is played yet. */
static uint64_t resumes_at(const struct room_reply *r, const struct room_context *context)
{
	uint64_t resume = samples_from_ms(context->settings->speech_resume_ms);
	uint64_t over_by = r->written > resume ? r->written - resume : 0;

	if (!r->started_at)
		return UINT64_MAX;
	return r->started_at + (over_by * 1000 / ROOM_RATE + 1) * NS_PER_MS;
}

uint64_t room_reply_wait(const struct room_reply *r, const struct room_context *context)
{
	bool ahead =
		estimate_backlog(r, context) >= samples_from_ms(context->settings->speech_pause_ms);

	return ahead ? resumes_at(r, context) : 0;
}

uint64_t room_reply_deadline(const struct room_reply *r, const struct room_context *context)
{
	uint64_t at = UINT64_MAX, resume;

	if (!is_active(r, context))
		return at;
	if (!r->planned)
		return mark_at(r, context);
	if (r->sound_until)
		at = r->sound_until;
	if (!r->plan.paused || !r->started_at || r->plan.phase != ROOM_PLAN_READY)
		return at;
	resume = resumes_at(r, context);
	return resume < at ? resume : at;
}

/* ---- for other machines ---- */

bool room_reply_planned(const struct room_reply *r)
{
	return r->planned;
}

bool room_reply_skips(const struct room_reply *r)
{
	return room_directive_skips(&r->directive) ||
	       (!r->planned && r->n_lead == strlen(decline) && may_decline(r));
}

void room_reply_open(struct room_reply *r)
{
	r->open = true;
}

void room_reply_started(struct room_reply *r, uint64_t at)
{
	r->started_at = at;
	r->paused_at = r->paused_ns = 0;
}

void room_reply_pause(struct room_reply *r, bool paused, uint64_t now)
{
	if (!paused && r->paused_at)
		r->paused_ns += now - r->paused_at;
	r->paused_at = paused ? now : 0;
}

size_t room_reply_byte_at(const struct room_reply *r, const struct room_turn *turn, uint64_t at)
{
	uint64_t samples = r->drained, since = r->started_at + r->paused_ns;

	if (r->turn != turn->id)
		return 0;
	if (r->paused_at && at > r->paused_at)
		at = r->paused_at;
	if (r->started_at && at > since)
		samples += (at - since) / NS_PER_MS * (ROOM_RATE / 1000);
	return room_playout_text_played(&r->playout, turn->answer, samples, ROOM_RATE);
}

bool room_reply_is_open(const struct room_reply *r)
{
	return r->open;
}

uint64_t room_reply_drained_samples(const struct room_reply *r)
{
	return r->drained;
}
