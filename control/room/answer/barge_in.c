#include "control/room/answer/barge_in.h"

#include <stdio.h>
#include <string.h>

#include "control/room/answer/inherited_voice.h"
#include "control/room/answer/overlap_question.h"
#include "control/room/answer/reply.h"
#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/text.h"
#include "control/room/base/turns.h"
#include "control/room/floor/address.h"
#include "control/room/hearing/captures.h"
#include "control/room/hearing/transcript.h"
#include "control/room/turn/admission.h"
#include "control/room/turn/saying.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

/* Extends the deadline of an answer by this for every pause. */
enum { PAUSE_SLACK_S = 10 };
/* A gap that is no pause yet (Heldner and Edlund 2010), and the time after which talk is no
 * exchange any more. */
enum { WORD_GAP_MS = 180, EXCHANGE_MS = 1000 };

/* Of somebody whom the bot does not answer, stop words count when they are all that was said:
 * "stop it, Gino" is not for the bot. */
static bool takes_floor(const struct room_barge_in_input *in)
{
	return in->named || in->verdict == ROOM_OVERLAP_INTERRUPT ||
	       ((in->words == ROOM_PHRASE_TAKEOVER || in->words == ROOM_PHRASE_STOP) &&
		(in->over || in->gate.allowed));
}

static bool is_ignored(const struct room_barge_in_input *in)
{
	return in->verdict == ROOM_OVERLAP_IGNORE && !in->listed;
}

/* Words override duration, level and the echo guard. */
static bool is_stoppable(enum room_gate gate)
{
	return gate != ROOM_GATE_OUTPUT_LEASE_SPEECH_IMMUNITY;
}

enum room_barge_in_action room_barge_in_decide(const struct settings *s,
					       const struct room_barge_in_input *in)
{
	enum room_gate gate = room_gate(s, &in->gate);

	/* Words by name or takeover override duration and level. */
	if (takes_floor(in) && in->calls && (in->named || !in->to_other) && is_stoppable(gate))
		return ROOM_BARGE_IN_STOP;
	if (in->words == ROOM_PHRASE_BACKCHANNEL || in->to_other || is_ignored(in))
		return ROOM_BARGE_IN_IGNORE;
	if (in->verdict == ROOM_OVERLAP_ASKED && !in->listed)
		return in->gate.allowed && is_stoppable(gate) ? ROOM_BARGE_IN_DUCK
							      : ROOM_BARGE_IN_IGNORE;
	/* The asker's words count even when they are few and over. */
	if (in->over && in->words >= ROOM_PHRASE_FEW && in->gate.allowed && is_stoppable(gate))
		return ROOM_BARGE_IN_STOP;
	if (gate == ROOM_GATE_ALLOWED && !in->awaited)
		return ROOM_BARGE_IN_STOP;
	if (gate != ROOM_GATE_ALLOWED && gate != ROOM_GATE_INSUFFICIENT_CAPTURE_BYTES &&
	    gate != ROOM_GATE_CAPTURE_TOO_YOUNG_FOR_BUFFERED_PLAYBACK &&
	    gate != ROOM_GATE_SPEAKING_END_FINALIZE_PENDING)
		return ROOM_BARGE_IN_IGNORE;
	if (!in->gate.allowed || !in->live)
		return ROOM_BARGE_IN_IGNORE;
	if (in->words == ROOM_PHRASE_WORDS)
		return ROOM_BARGE_IN_STOP;
	if (in->gate.voice_ms >= s->pause_ms && in->gate.promoted && !in->awaited)
		return ROOM_BARGE_IN_PAUSE;
	return in->sound_ms >= s->duck_ms ? ROOM_BARGE_IN_DUCK : ROOM_BARGE_IN_IGNORE;
}

/* ---- overlap segments ---- */

static bool overlap_lasts(const struct room_overlap *o, const struct settings *s, uint64_t now)
{
	return o->voice_at &&
	       (o->judged || now < o->voice_at + s->barge_in_gap_ms * NS_PER_MS ||
		(o->verdict && now < o->lowered_at + s->overlap_words_ms * NS_PER_MS));
}

/* Resets the counters: the next voiced frame begins another overlap segment. */
static void reset_overlap(struct room_overlap *o)
{
	o->again = o->again || o->voice_ms;
	o->exchange = false;
	o->voice_ms = o->early_ms = o->words_voice_ms = o->interim.voice_ms = 0;
}

/* The answer that is audible, or NULL. */
static struct room_turn *find_audible_turn(struct room_context *context)
{
	struct room_turn *t = room_turn_active(context);

	return t && t->phase == ROOM_PHASE_SPEAKING && t->first_audio_at ? t : NULL;
}

static bool somebody_else_spoke(const struct room_context *context, unsigned place)
{
	for (unsigned i = 0; i < context->people->places; i++)
		if (i != place && context->people->person[i].used &&
		    room_capture_of(context, i)->voice_at &&
		    context->now < room_capture_of(context, i)->voice_at + EXCHANGE_MS * NS_PER_MS)
			return true;
	return false;
}

/* The speech over the answer that counts towards barge_in_ms. */
static uint64_t count_speech(const struct room_context *context, unsigned place)
{
	const struct room_overlap *o = &context->barge_in->overlap[place];
	const struct room_capture *c = room_capture_of(context, place);
	struct room_overlap_sound in = {
		.rms = room_signal_rms(&c->voiced),
		.own = c->own_rms,
		.again = o->again,
		.exchange = o->exchange || somebody_else_spoke(context, place),
	};
	int64_t ms = (int64_t)(o->voice_ms - o->early_ms);

	if (ms <= 0)
		return 0;
	ms += room_overlap_credit(context->settings, &in);
	return ms > 0 ? (uint64_t)ms : 0;
}

static struct room_barge_in_input gather_input(const struct room_context *context, unsigned place,
					       const struct room_turn *t)
{
	const struct room_overlap *o = &context->barge_in->overlap[place];
	const struct settings *s = context->settings;
	const struct room_capture *c = room_capture_of(context, place);
	uint64_t user = context->people->person[place].user;
	struct room_barge_in_input in = {
		.words = o->words,
		.verdict = room_overlap_question_verdict(context, place, o->utterance),
		.listed = o->listed,
		.to_other = o->to_other,
		.over = o->over};

	/* Much more was said since these words arrived, and it is still unknown. A speaker who
	 * addresses somebody else gets more time. */
	if (o->voice_ms >= o->words_voice_ms + s->barge_in_ms +
				   (o->to_other || is_ignored(&in) ? s->promote_ms : 0)) {
		in.words = ROOM_PHRASE_NOTHING;
		in.verdict = ROOM_OVERLAP_NONE;
		in.to_other = false;
	}
	in.sound_ms = o->voice_ms;
	in.live = overlap_lasts(o, s, context->now);
	/* A speaker that continues after a few words does not wait for further transcripts. */
	in.awaited = room_interim_awaited(&o->interim, s, context->now) &&
		     (o->to_other || o->voice_ms < s->barge_in_ms + s->overlap_words_ms);
	in.calls = room_interruption_allowed(&t->policy, user, true);
	in.gate = (struct room_gate_input){
		.heard_ms = context->now > t->first_audio_at
				    ? (context->now - t->first_audio_at) / NS_PER_MS
				    : 0,
		.immune_ms =
			room_output_lease_immune_ms(&t->lease, s, t->first_audio_at, context->now),
		.finalizing = c->phase == ROOM_CAPTURE_NONE || c->over_at,
		.allowed = room_interruption_allowed(&t->policy, user, false),
		.echo = o->words < ROOM_PHRASE_FEW && room_asr_returns_bot(context, place),
		.read_out = room_reply_planned(context->reply),
		.age_ms = (context->now - c->started_at) / NS_PER_MS,
		.voice_ms = count_speech(context, place),
		.promoted = c->phase == ROOM_CAPTURE_PROMOTED,
		.active = room_signal_active(&c->signal),
		.peak = c->signal.peak,
	};
	return in;
}

static void interrupt_answer(struct room_context *context, struct room_turn *t,
			     const struct room_barge_in_input *in, unsigned place)
{
	const struct settings *s = context->settings;
	const struct room_overlap *o = &context->barge_in->overlap[place];

	if (in->named)
		room_turn_decide(t, ROOM_RULE_OVERLAP_NAMED, true, o->utterance, 0);
	else if (in->verdict != ROOM_OVERLAP_INTERRUPT && takes_floor(in))
		room_turn_decide(t, ROOM_RULE_OVERLAP_TAKEOVER, true, o->utterance, 0);
	else if (in->words >= ROOM_PHRASE_FEW)
		room_turn_decide(t, ROOM_RULE_OVERLAP_WORDS, true, (int64_t)o->voice_ms,
				 s->overlap_words_ms);
	else
		room_turn_decide(t, ROOM_RULE_BARGE_IN, true, (int64_t)o->voice_ms, s->barge_in_ms);
	t->interrupted_by = context->people->person[place].user;
	t->interrupting_utterance = o->utterance;
	room_turn_cancel(context, t, ROOM_REASON_INTERRUPTED);
}

/* Records once for each gate that it held back a voice which was long enough to stop the answer.
 * Gates without a rule only say that the voice is short or over. */
static void note_gate(const struct room_context *context, struct room_turn *t,
		      const struct room_barge_in_input *in)
{
	static const enum room_rule rules[ROOM_GATE_ALLOWED] = {
		[ROOM_GATE_ECHO_GUARD_ACTIVE] = ROOM_RULE_GATE_ECHO_GUARD,
		[ROOM_GATE_OUTPUT_LEASE_SPEECH_IMMUNITY] = ROOM_RULE_GATE_LEASE,
		[ROOM_GATE_INTERRUPTION_POLICY_DENIED] = ROOM_RULE_GATE_POLICY,
		[ROOM_GATE_ECHO_OF_THE_BOT] = ROOM_RULE_GATE_ECHO,
		[ROOM_GATE_CAPTURE_SIGNAL_NOT_ASSERTIVE] = ROOM_RULE_GATE_NOISE,
	};
	const struct settings *s = context->settings;
	enum room_gate gate = room_gate(s, &in->gate);

	if (in->gate.voice_ms < s->barge_in_ms || gate == ROOM_GATE_ALLOWED || !rules[gate] ||
	    t->gates & 1u << gate)
		return;
	t->gates |= 1u << gate;
	room_turn_decide(t, rules[gate], false, (int64_t)in->gate.voice_ms, s->barge_in_ms);
}

static void decide_overlap(struct room_context *context, unsigned place, struct room_turn *t,
			   bool named)
{
	struct room_overlap *o = &context->barge_in->overlap[place];
	struct room_barge_in_input in = gather_input(context, place, t);
	enum room_barge_in_action v;

	in.named = named;
	if (context->settings->interruptions == SETTINGS_INTERRUPT_NAME)
		in.calls = in.calls && named;
	v = room_barge_in_decide(context->settings, &in);
	if (v == ROOM_BARGE_IN_STOP) {
		interrupt_answer(context, t, &in, place);
		return;
	}
	note_gate(context, t, &in);
	if (v > o->verdict) {
		if (v == ROOM_BARGE_IN_PAUSE && !t->pause_count++)
			room_turn_decide(t, ROOM_RULE_OVERLAP_PAUSED, true, (int64_t)o->voice_ms,
					 context->settings->pause_ms);
		o->lowered_at = context->now;
		o->verdict = v;
	} else if (in.words == ROOM_PHRASE_BACKCHANNEL || in.to_other || is_ignored(&in)) {
		o->verdict = ROOM_BARGE_IN_IGNORE;
	}
}

/* True if neither a list nor the voice decides on the words: those of the person whom the bot
 * answers stop it unless a list has them, those of others do not unless a list lets them. */
static bool is_undecided(const struct room_context *context, unsigned place,
			 const struct room_turn *t, bool final)
{
	const struct room_overlap *o = &context->barge_in->overlap[place];
	struct room_barge_in_input in = gather_input(context, place, t);

	if (in.to_other || !in.calls || !is_stoppable(room_gate(context->settings, &in.gate)) ||
	    context->settings->interruptions == SETTINGS_INTERRUPT_NAME)
		return false;
	if (in.gate.allowed && in.listed)
		return false;
	return o->words == ROOM_PHRASE_WORDS ? final || in.gate.allowed
					     : o->words == ROOM_PHRASE_FEW && final;
}

/* The time between the last voiced frame and this one, which is as long. */
static uint64_t count_gap(const struct room_overlap *o, const struct room_signal *frame,
			  uint64_t at)
{
	uint64_t passed = (at - o->voice_at) / NS_PER_MS, ms = room_signal_ms(frame);

	return passed > ms ? passed - ms : 0;
}

void room_overlap_audio(struct room_context *context, unsigned place,
			const struct room_signal *frame, uint64_t at)
{
	const struct settings *s = context->settings;
	const struct room_capture *c = room_capture_of(context, place);
	struct room_turn *t = find_audible_turn(context);
	struct room_overlap *o = &context->barge_in->overlap[place];

	if (t ? at < t->first_audio_at : !room_inherited_voice_plays(context))
		return;
	if (frame->peak < s->barge_in_peak || room_signal_active(frame) < s->barge_in_active ||
	    !room_captures_is_voice(context, place, frame))
		return;
	if (!t) {
		room_inherited_voice_audio(context, place, at, room_signal_ms(frame));
		return;
	}
	if (o->turn != t->id || o->capture != c->started_at)
		*o = (struct room_overlap){
			.turn = t->id, .capture = c->started_at, .from = c->utterance};
	o->utterance = c->utterance;
	if (at < o->voice_at || at - o->voice_at > s->barge_in_gap_ms * NS_PER_MS)
		reset_overlap(o);
	else if (at - o->voice_at <= WORD_GAP_MS * NS_PER_MS)
		o->voice_ms += count_gap(o, frame, at);
	if (!o->voice_ms)
		o->exchange = somebody_else_spoke(context, place);
	o->voice_at = at;
	o->voice_ms += room_signal_ms(frame);
	if (c->phase != ROOM_CAPTURE_PROMOTED)
		o->early_ms = o->voice_ms;
	room_interim_on_audio(&context->barge_in->requests, context, place, &o->interim,
			      o->voice_ms);
	decide_overlap(context, place, t, false);
}

/* Joins the words of the overlap segment, up to these words of one of its chunks. */
static void join_words(const struct room_turn *of, uint32_t from, uint32_t utterance,
		       const char *words, char *text, size_t size)
{
	text[0] = '\0';
	for (unsigned i = 0; of && i < of->chunks; i++) {
		const struct room_capture_chunk *p = &of->chunk[i];

		if (p->utterance < from || p->utterance >= utterance || !*p->text)
			continue;
		room_append(text, size, p->text, strlen(p->text));
	}
	room_append(text, size, words, strlen(words));
}

bool room_overlap_words(struct room_context *context, unsigned place, const struct room_turn *of,
			uint32_t utterance, const char *words, bool echo)
{
	struct room_overlap *o = &context->barge_in->overlap[place];
	struct room_turn *t = room_turn_by_id(context, o->turn);
	enum room_address address;
	struct room_saying saying;
	unsigned told = of ? of->language : 0;
	char text[ROOM_TEXT_MAX];
	bool named, pending;

	if (of)
		room_interim_on_transcript(&context->barge_in->requests, place);
	if (!t || !o->turn || utterance < o->from || utterance > o->utterance)
		return false;
	join_words(of ? of : room_turn_hearing(context, place), o->from, utterance, words, text,
		   sizeof text);
	address = room_saying_address(context, text, told);
	named = address == ROOM_ADDRESS_ADDRESSED && (of || !room_name_ends(context->names, text));
	saying = room_saying_of(context, text, told);
	saying.interim = !of;
	/* The bot's own voice is no more than a backchannel. */
	o->words = echo && !*text ? ROOM_PHRASE_BACKCHANNEL : room_phrase_of(&saying);
	o->over = of && utterance == o->utterance && room_phrase_language(&saying) &&
		  (o->words != ROOM_PHRASE_FEW || !room_phrase_is_slight(&saying));
	/* An interim transcript covers the audio up to its request, and the same words again
	 * cover no more. */
	if (strlen(text) != o->words_n)
		o->words_voice_ms = !of && o->interim.n ? o->interim.voice_ms : o->voice_ms;
	o->words_n = strlen(text);
	o->interim.at = 0;
	o->listed = room_phrase_is_listed(&saying);
	/* "Typical, Parley": the next words tell whether it is called. */
	pending =
		address == ROOM_ADDRESS_ADDRESSED && !o->listed && o->words < ROOM_PHRASE_TAKEOVER;
	o->to_other = !named && (room_saying_about_bot(context, text, told, address) || pending ||
				 room_saying_to_other(context, context->people->person[place].user,
						      text, told, !of));
	if (t == find_audible_turn(context)) {
		if (!named && utterance == o->utterance && is_undecided(context, place, t, of) &&
		    room_overlap_question_possible(context, place, utterance)) {
			room_overlap_question_ask(context, place, t, utterance, text);
			o->judged = true;
		}
		decide_overlap(context, place, t, named);
	}
	return t->interrupted_by == context->people->person[place].user &&
	       o->words == ROOM_PHRASE_STOP;
}

void room_overlap_interim(struct room_context *context, unsigned place, uint32_t utterance,
			  const char *words, bool echo)
{
	room_interim_on_words(&context->barge_in->requests, context, place,
			      &context->barge_in->overlap[place].interim, utterance);
	room_overlap_words(context, place, NULL, utterance, words, echo);
}

/* ---- the interrupt classifier ---- */

/* The turn whose words were asked about passes admission, with the verdict or without one. */
static void resume_turn(struct room_context *context, uint32_t question)
{
	for (struct room_turn *t = room_turn_next(context, NULL); t;
	     t = room_turn_next(context, t)) {
		if (t->phase != ROOM_PHASE_CLASSIFYING || !t->overlap_judged ||
		    t->question != question)
			continue;
		t->question = 0;
		t->overlap_judged = false;
		room_turn_admit(context, t);
		return;
	}
}

static void close_question(struct room_context *context, unsigned place, int answer)
{
	struct room_overlap_question q = room_overlap_question_close(context, place, answer);
	struct room_turn *t = find_audible_turn(context);

	context->barge_in->overlap[place].judged = false;
	if (t && t->id == q.turn && context->barge_in->overlap[place].turn == q.turn)
		decide_overlap(context, place, t, false);
	resume_turn(context, q.number);
}

void room_overlap_give_up(struct room_context *context, uint32_t question)
{
	unsigned place = room_overlap_question_place(context, question);

	if (place < ROOM_SPEAKERS)
		close_question(context, place, -1);
	else
		resume_turn(context, question);
}

void room_barge_in_on_event(struct room_context *context, const struct room_event *ev)
{
	unsigned place = ev->type == ROOM_CLASSIFIED
				 ? room_overlap_question_place(context, ev->chunk)
				 : ROOM_SPEAKERS;

	if (place < ROOM_SPEAKERS)
		close_question(context, place,
			       ev->yes ? room_classifier_parse((const char *)ev->text.p, ev->text.n)
				       : -1);
}

/* ---- the bot's voice ---- */

static void change_level(struct room_context *context, struct room_turn *t,
			 enum room_barge_in_action to)
{
	const struct settings *s = context->settings;
	struct room_effect *e;

	if (to == ROOM_BARGE_IN_PAUSE) {
		t->deadline += PAUSE_SLACK_S * NS_PER_S;
		room_reply_pause(context->reply, true, context->now);
		e = room_emit(context, ROOM_DO_SAY_PAUSE);
		e->ms = s->stop_fade_ms;
	} else if (context->barge_in->level.lowered == ROOM_BARGE_IN_PAUSE) {
		room_reply_pause(context->reply, false, context->now);
		e = room_emit(context, ROOM_DO_SAY_RESUME);
		e->ms = s->duck_fade_ms;
	} else {
		e = room_emit(context, ROOM_DO_SAY_GAIN);
		e->gain = to == ROOM_BARGE_IN_DUCK ? s->duck_gain : 1000;
		e->ms = s->duck_fade_ms;
	}
	e->turn = t->id;
}

void room_barge_in_tick(struct room_context *context)
{
	struct room_playback_level *level = &context->barge_in->level;
	enum room_barge_in_action to = ROOM_BARGE_IN_IGNORE;
	unsigned late = room_overlap_question_late(context);
	struct room_turn *t;

	for (; late < ROOM_SPEAKERS; late = room_overlap_question_late(context))
		close_question(context, late, -1);
	t = find_audible_turn(context);
	/* Between two playbacks of one answer no level can be changed; the next playback begins
	 * at full level. */
	if (!t || !room_reply_is_open(context->reply)) {
		*level = (struct room_playback_level){0};
		return;
	}
	if (level->turn != t->id)
		*level = (struct room_playback_level){.turn = t->id};
	for (unsigned i = 0; i < context->people->places; i++) {
		struct room_overlap *o = &context->barge_in->overlap[i];

		if (!context->people->person[i].used || !o->verdict)
			continue;
		if (o->turn != t->id || !overlap_lasts(o, context->settings, context->now)) {
			o->verdict = ROOM_BARGE_IN_IGNORE;
			reset_overlap(o);
		}
		if (o->verdict > to)
			to = o->verdict;
	}
	if (to == level->lowered)
		return;
	change_level(context, t, to);
	/* It was ducked before it paused, so the gain is restored as well. */
	if (level->lowered == ROOM_BARGE_IN_PAUSE && level->ducked && to == ROOM_BARGE_IN_IGNORE) {
		level->lowered = ROOM_BARGE_IN_DUCK;
		change_level(context, t, to);
	}
	level->ducked = to == ROOM_BARGE_IN_DUCK ||
			(to == ROOM_BARGE_IN_PAUSE && level->lowered == ROOM_BARGE_IN_DUCK);
	level->lowered = to;
}

uint64_t room_barge_in_deadline(const struct room_context *context)
{
	const struct settings *s = context->settings;
	uint64_t at = room_overlap_question_deadline(context);

	if (!context->barge_in->level.lowered)
		return at;
	for (unsigned i = 0; i < context->people->places; i++) {
		const struct room_overlap *o = &context->barge_in->overlap[i];
		uint64_t gap = o->voice_at + s->barge_in_gap_ms * NS_PER_MS;
		uint64_t words = o->lowered_at + s->overlap_words_ms * NS_PER_MS;

		/* While a question is open, its own deadline ends the overlap segment. */
		if (context->people->person[i].used && o->verdict && !o->judged &&
		    (gap > words ? gap : words) < at)
			at = gap > words ? gap : words;
	}
	return at;
}

void room_barge_in_reset(struct room_context *context)
{
	context->barge_in->level = (struct room_playback_level){0};
}

bool room_barge_in_paused(const struct room_context *context, uint32_t turn)
{
	const struct room_playback_level *level = &context->barge_in->level;

	return level->turn == turn && level->lowered == ROOM_BARGE_IN_PAUSE;
}

void room_overlap_session_closed(struct room_context *context)
{
	room_interim_on_close(&context->barge_in->requests);
}

void room_barge_in_forget(struct room_context *context, unsigned place)
{
	context->barge_in->overlap[place] = (struct room_overlap){0};
	room_overlap_question_forget(context, place);
	context->barge_in->requests.utterance[place] = 0;
	context->barge_in->requests.silent_until[place] = 0;
}
