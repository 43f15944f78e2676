#include "control/room/answer/speculative.h"

#include <math.h>

#include "control/room/turn/deferred.h"
#include "control/room/inside.h"
#include "control/room/turn/segment.h"
#include "proto/base/utf8.h"

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

static struct room_turn *find_speculative_turn(struct room *room)
{
	const struct room_speculative *o = &room->speculative;

	return o->turn && room->active && room->active->id == o->turn ? room->active : NULL;
}

static void roll_back(struct room *room)
{
	struct room_turn *t = find_speculative_turn(room);

	room->speculative.turn = 0;
	if (t)
		room_turn_cancel(&room->context, t, ROOM_REASON_EOT_REVOKED);
}

static void update_power(struct room *room, const struct room_event *ev)
{
	static const char battery[] = "battery", mains[] = "mains";
	struct room_speculative *o = &room->speculative;

	if (ev->text.n == sizeof battery - 1 && memcmp(ev->text.p, battery, ev->text.n) == 0)
		o->power = ROOM_POWER_BATTERY;
	else if (ev->text.n == sizeof mains - 1 && memcmp(ev->text.p, mains, ev->text.n) == 0)
		o->power = ROOM_POWER_MAINS;
	else
		o->power = ROOM_POWER_UNKNOWN;
}

/* Whether admission would certainly admit these words; anything less certain waits for the
 * transcript. */
static bool is_for_bot(const struct room *room, const char *text)
{
	return room_address(&room->names, text) == ROOM_ADDRESS_ADDRESSED ||
	       (room_people(room) == 1 && !room->context.guest);
}

static bool is_floor_free(const struct room *room)
{
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS; i = room_turn_next(room, i + 1))
		if (room->turn[i].phase == ROOM_PHASE_QUEUED)
			return false;
	return !room->active && room->context.up && !room->context.muted &&
	       room_deferred_blocker(room) <= ROOM_BLOCKER_ACTIVE_CAPTURES;
}

bool room_speculative_possible(const struct room *room)
{
	return room_speculative_allowed(room->context.settings->speculative,
					room->speculative.power) &&
	       is_floor_free(room);
}

void room_speculative_begin(struct room *room, struct room_speaker *sp, uint32_t probability)
{
	struct room_turn *of = sp->turn, *t;
	char text[ROOM_TEXT_MAX];
	enum room_phrase phrase;

	room_endpointing_text(sp, text, sizeof text);
	phrase = room_phrase_of(text);
	if (phrase <= ROOM_PHRASE_BACKCHANNEL || phrase > ROOM_PHRASE_WORDS ||
	    !is_for_bot(room, text))
		return;
	t = room_turn_copy(room, of);
	if (!t)
		return;
	room_endpointing_copy(sp, t);
	t->end_of_speech_at = sp->capture.voice_at;
	t->named = room_address(&room->names, text) == ROOM_ADDRESS_ADDRESSED;
	room->speculative.turn = t->id;
	room->speculative.of = of->id;
	room->speculative.voice_ms = 0;
	room_turn_decide(t, ROOM_RULE_EOT_PROBABILITY, true, probability,
			 room->context.settings->eot_share);
	room_turn_decide(t, ROOM_RULE_SPECULATIVE, true, of->id, 0);
	room_answer_ask(&room->context, t);
}

static void apply_eot(struct room *room, const struct room_event *ev)
{
	const struct settings *s = room->context.settings;
	struct room_speaker *sp = room_speaker(room, ev->user);
	struct room_turn *t = find_speculative_turn(room);
	char text[ROOM_CAPTURE_CHUNK_TEXT] = "";
	double probability = ev->probability <= 1000 ? ev->probability / 1000.0 : NAN;
	bool likely = room_speculative_starts(s->speculative, room->speculative.power, s->eot_share,
					      probability);

	if (t) {
		if (t->user == ev->user && !likely)
			roll_back(room);
		return;
	}
	if (!likely || !sp || !sp->turn || sp->capture.utterance != ev->utterance ||
	    !room_speculative_possible(room))
		return;
	room_append(text, sizeof text, (const char *)ev->text.p, ev->text.n);
	utf8_plain(text);
	if (*text)
		room_endpointing_set_interim(sp, ev->utterance, text);
	room_speculative_begin(room, sp, ev->probability);
}

void room_speculative_on_voice(struct room *room, uint64_t user, uint64_t ms)
{
	struct room_turn *t = find_speculative_turn(room);

	if (!t || t->user != user)
		return;
	room->speculative.voice_ms += ms;
	if (room->speculative.voice_ms > MORE_VOICE_MS)
		roll_back(room);
}

/* Whether both texts have the same letters and digits, whatever stands between them. */
static bool same_words(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a && !((*a | 0x20) >= 'a' && (*a | 0x20) <= 'z') &&
		       !(*a >= '0' && *a <= '9') && !(*a & 0x80))
			a++;
		while (*b && !((*b | 0x20) >= 'a' && (*b | 0x20) <= 'z') &&
		       !(*b >= '0' && *b <= '9') && !(*b & 0x80))
			b++;
		if (!*a || !*b)
			return *a == *b;
		if ((*a | 0x20) != (*b | 0x20))
			return false;
	}
}

void room_speculative_on_words(struct room *room, uint64_t user, const char *text)
{
	struct room_turn *t = find_speculative_turn(room);

	if (t && t->user == user && !same_words(t->transcript, text))
		roll_back(room);
}

struct room_turn *room_speculative_match(struct room *room, struct room_turn *turn)
{
	struct room_turn *t = find_speculative_turn(room);

	if (!t || room->speculative.of != turn->id)
		return NULL;
	if (!same_words(t->transcript, turn->transcript)) {
		roll_back(room);
		return NULL;
	}
	room->speculative.turn = 0;
	room->active = NULL;
	return t;
}

void room_speculative_commit(struct room *room, struct room_turn *turn, struct room_turn *early)
{
	if (!early)
		return;
	room->active = early;
	if (turn->phase != ROOM_PHASE_QUEUED) {
		room_turn_cancel(&room->context, early, ROOM_REASON_EOT_REVOKED);
		return;
	}
	early->end_of_speech_at = turn->end_of_speech_at;
	early->named = turn->named;
	/* The rules that admitted the words explain the answer, too. */
	for (unsigned i = 0; i < turn->decisions && i < ROOM_CHAIN; i++)
		room_turn_decide(early, turn->decision[i].rule, turn->decision[i].yes,
				 turn->decision[i].value, turn->decision[i].limit);
	room_turn_decide(turn, ROOM_RULE_SPECULATIVE, true, early->id, 0);
	room_turn_end(&room->context, turn, ROOM_REASON_MERGED);
	room_answer_release(room, early);
}

bool room_speculative_holds(const struct room_context *context, uint32_t turn)
{
	const struct room *room = room_of(context);

	return turn && room->speculative.turn == turn;
}

bool room_speculative_failed(struct room *room, const struct room_turn *turn)
{
	if (!room_speculative_holds(&room->context, turn->id))
		return false;
	roll_back(room);
	return true;
}

void room_speculative_tick(struct room *room)
{
	const struct room_turn *of;

	if (!room->speculative.turn)
		return;
	of = find_speculative_turn(room) ? room_turn_by_id(&room->context, room->speculative.of)
					 : NULL;
	if (!of || (of->phase != ROOM_PHASE_HEARING && of->phase != ROOM_PHASE_TRANSCRIBING))
		roll_back(room);
}

void room_speculative_on_event(struct room *room, const struct room_event *ev)
{
	if (ev->type == ROOM_POWER)
		update_power(room, ev);
	else if (ev->type == ROOM_EOT)
		apply_eot(room, ev);
}
