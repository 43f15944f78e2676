#include "control/room/answer/speculative.h"

#include <math.h>

#include "control/room/answer/output.h"
#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/text.h"
#include "control/room/base/turns.h"
#include "control/room/floor/address.h"
#include "control/room/floor/phrase.h"
#include "control/room/hearing/captures.h"
#include "control/room/hearing/eot_prediction.h"
#include "control/room/turn/deferred.h"
#include "control/room/turn/turn_queue.h"
#include "control/room/turn/saying.h"
#include "control/settings/settings.h"

/* A breath or background noise does not roll the answer back; more voice than this does. */
enum { MORE_VOICE_MS = 200 };

bool room_speculative_allowed(uint32_t mode, enum room_power power)
{
	if (mode != SETTINGS_SPECULATIVE_AUTO)
		return mode == SETTINGS_SPECULATIVE_ON;
	return power != ROOM_POWER_BATTERY;
}

bool room_speculative_starts(uint32_t mode, enum room_power power, uint32_t eot_share,
			     double probability)
{
	/* A comparison with NaN is false. */
	return room_speculative_allowed(mode, power) && probability * 1000 >= eot_share;
}

static struct room_turn *find_speculative_turn(struct room_context *context)
{
	const struct room_speculative *o = context->speculative;
	struct room_turn *active = room_turn_active(context);

	return o->turn && active && active->id == o->turn ? active : NULL;
}

static void roll_back(struct room_context *context, enum room_reason reason)
{
	struct room_turn *t = find_speculative_turn(context);

	context->speculative->turn = 0;
	if (t)
		room_turn_cancel(context, t, reason);
}

static void update_power(struct room_context *context, const struct room_event *ev)
{
	static const char battery[] = "battery", mains[] = "mains";
	struct room_speculative *o = context->speculative;

	if (ev->text.n == sizeof battery - 1 && memcmp(ev->text.p, battery, ev->text.n) == 0)
		o->power = ROOM_POWER_BATTERY;
	else if (ev->text.n == sizeof mains - 1 && memcmp(ev->text.p, mains, ev->text.n) == 0)
		o->power = ROOM_POWER_MAINS;
	else
		o->power = ROOM_POWER_UNKNOWN;
}

/* True if admission would certainly admit these words; anything less certain waits for the
 * transcript. */
static bool is_for_bot(const struct room_context *context, const char *text)
{
	return room_address(context->names, text) == ROOM_ADDRESS_ADDRESSED ||
	       (room_people_present(context) == 1 && !context->guest);
}

static bool is_floor_free(const struct room_context *context)
{
	return !room_turn_queued(context) && !room_turn_active(context) && context->up &&
	       !context->muted && room_deferred_blocker(context) <= ROOM_BLOCKER_ACTIVE_CAPTURES;
}

/* On the bridge path a question waits for the newest instructions (statement 37). */
static bool awaits_instructions(const struct room_context *context)
{
	return context->settings->reply_path == SETTINGS_REPLY_BRIDGE &&
	       room_answer_uninstructed(context);
}

/* True if an earlier utterance of the speaker is undecided: one question is made of both. */
static bool awaits_earlier_words(const struct room_context *context, const struct room_turn *of)
{
	for (const struct room_turn *t = room_turn_next(context, NULL); t;
	     t = room_turn_next(context, t))
		if (t->user == of->user &&
		    (t->phase == ROOM_PHASE_TRANSCRIBING || t->phase == ROOM_PHASE_CLASSIFYING))
			return true;
	return false;
}

bool room_speculative_possible(const struct room_context *context)
{
	return room_speculative_allowed(context->settings->speculative,
					context->speculative->power) &&
	       is_floor_free(context) && !awaits_instructions(context);
}

void room_speculative_begin(struct room_context *context, unsigned place, uint32_t probability)
{
	struct room_turn *of = room_turn_hearing(context, place), *t;
	char text[ROOM_TEXT_MAX];
	struct room_saying saying;
	enum room_phrase phrase;

	room_eot_prediction_text(context, place, text, sizeof text);
	saying = room_saying_of(context, text, 0);
	phrase = room_phrase_of(&saying);
	if (phrase <= ROOM_PHRASE_BACKCHANNEL || phrase > ROOM_PHRASE_WORDS ||
	    !is_for_bot(context, text) || awaits_earlier_words(context, of))
		return;
	t = room_turn_copy(context, of);
	if (!t)
		return;
	room_eot_prediction_copy(context, place, t);
	t->end_of_speech_at = room_capture_of(context, place)->voice_at;
	t->named = room_address(context->names, text) == ROOM_ADDRESS_ADDRESSED;
	context->speculative->turn = t->id;
	context->speculative->of = of->id;
	context->speculative->voice_ms = 0;
	room_turn_decide(t, ROOM_RULE_EOT_PROBABILITY, true, probability,
			 context->settings->eot_share);
	room_turn_decide(t, ROOM_RULE_SPECULATIVE, true, of->id, 0);
	room_answer_ask(context, t);
}

static void apply_eot(struct room_context *context, const struct room_event *ev)
{
	const struct settings *s = context->settings;
	unsigned place = room_place(context, ev->user);
	struct room_turn *t = find_speculative_turn(context);
	char text[ROOM_CAPTURE_CHUNK_TEXT] = "";
	double probability = ev->probability <= 1000 ? ev->probability / 1000.0 : NAN;
	bool likely = room_speculative_starts(s->speculative, context->speculative->power,
					      s->eot_share, probability);

	if (t) {
		if (t->user == ev->user && !likely)
			roll_back(context, ROOM_REASON_EOT_REVOKED);
		return;
	}
	if (!likely || place == ROOM_SPEAKERS || !room_turn_hearing(context, place) ||
	    room_capture_of(context, place)->utterance != ev->utterance ||
	    !room_speculative_possible(context))
		return;
	room_append(text, sizeof text, (const char *)ev->text.p, ev->text.n);
	room_clean_words(text);
	if (*text)
		room_eot_prediction_set_interim(context, place, ev->utterance, text);
	room_speculative_begin(context, place, ev->probability);
}

void room_speculative_on_voice(struct room_context *context, uint64_t user, uint64_t ms)
{
	struct room_turn *t = find_speculative_turn(context);

	if (!t || t->user != user)
		return;
	context->speculative->voice_ms += ms;
	if (context->speculative->voice_ms > MORE_VOICE_MS)
		roll_back(context, ROOM_REASON_EOT_REVOKED);
}

void room_speculative_on_words(struct room_context *context, uint64_t user, const char *text)
{
	struct room_turn *t = find_speculative_turn(context);

	if (t && t->user == user && !room_same_words(t->transcript, text))
		roll_back(context, ROOM_REASON_EOT_REVOKED);
}

struct room_turn *room_speculative_match(struct room_context *context, struct room_turn *turn)
{
	struct room_turn *t = find_speculative_turn(context);

	if (!t || context->speculative->of != turn->id)
		return NULL;
	if (!room_same_words(t->transcript, turn->transcript)) {
		roll_back(context, ROOM_REASON_EOT_REVOKED);
		return NULL;
	}
	return t;
}

/* Under its number the question goes on, so it is admitted like the turn that it takes over. */
static void emit_admission(struct room_context *context, const struct room_turn *early)
{
	struct room_effect *e = room_emit(context, ROOM_DO_ADMIT);

	e->record = early;
	e->text = room_rule_name(ROOM_RULE_SPECULATIVE);
}

void room_speculative_commit(struct room_context *context, struct room_turn *turn,
			     struct room_turn *early)
{
	if (!early)
		return;
	context->speculative->turn = 0;
	/* A call that was lost meanwhile may come back while the turn waits in the queue. */
	if (turn->phase != ROOM_PHASE_QUEUED || !context->up || context->muted) {
		room_turn_cancel(context, early, ROOM_REASON_SPECULATION_UNUSED);
		return;
	}
	early->end_of_speech_at = turn->end_of_speech_at;
	early->named = turn->named;
	/* The rules that admitted the words explain the answer, too. */
	for (unsigned i = 0; i < turn->decisions && i < ROOM_CHAIN; i++)
		room_turn_decide(early, turn->decision[i].rule, turn->decision[i].yes,
				 turn->decision[i].value, turn->decision[i].limit);
	room_turn_decide(turn, ROOM_RULE_SPECULATIVE, true, early->id, 0);
	room_turn_end(context, turn, ROOM_REASON_MERGED);
	emit_admission(context, early);
	room_answer_release(context, early);
}

bool room_speculative_holds(const struct room_context *context, uint32_t turn)
{
	return turn && context->speculative->turn == turn;
}

void room_speculative_yield(struct room_context *context)
{
	roll_back(context, ROOM_REASON_SPECULATION_UNUSED);
}

bool room_speculative_failed(struct room_context *context, const struct room_turn *turn)
{
	if (!room_speculative_holds(context, turn->id))
		return false;
	roll_back(context, ROOM_REASON_SPECULATION_FAILED);
	return true;
}

void room_speculative_tick(struct room_context *context)
{
	const struct room_turn *of;

	if (!context->speculative->turn)
		return;
	of = find_speculative_turn(context) ? room_turn_by_id(context, context->speculative->of)
					    : NULL;
	if (!of || (of->phase != ROOM_PHASE_HEARING && of->phase != ROOM_PHASE_TRANSCRIBING))
		roll_back(context, ROOM_REASON_SPECULATION_UNUSED);
}

void room_speculative_on_event(struct room_context *context, const struct room_event *ev)
{
	if (ev->type == ROOM_POWER)
		update_power(context, ev);
	else if (ev->type == ROOM_EOT)
		apply_eot(context, ev);
}
