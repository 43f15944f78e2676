/* Is this turn for the bot? The first row that fits decides, and each row that was looked at is in
 * the record.
 *
 *   1  only a sound of listening                        ends: backchannel
 *   2  the same speaker's turn waits in the queue       merged into it
 *   3  the same speaker's turn is asked and not heard   supersedes it, with the words of both
 *   4  addressed by name                                admitted: direct_address
 *   5  a guest, not named                               ends: not_addressed
 *   6  nobody else is there                             admitted: alone_with_speaker
 *   7  anything else                                    ends: not_addressed
 *
 * Rows 2 and 3 come before the name: who goes on with a sentence does not say the name again. */
#include "control/room/inside.h"

static bool backchannel_p(const char *text)
{
	static const char *const sounds[] = {"mm",  "mmm", "mhm", "mmhm", "hm",
					     "hmm", "uh",  "um",  "ah",	  "oh",
					     "er",  "huh", "aha", "uhuh", "uhhuh"};
	const char *p = text;
	bool any = false;

	while (*p) {
		size_t n = strcspn(p, " -,.!?");
		bool known = n == 0;

		for (size_t i = 0; !known && i < sizeof sounds / sizeof sounds[0]; i++)
			known = strlen(sounds[i]) == n && strncasecmp(sounds[i], p, n) == 0;
		if (!known || (n && strchr("?", p[n]) && p[n]))
			return false;
		any = any || n;
		p += n;
		p += strspn(p, " -,.!?");
	}
	return any;
}

static struct room_turn *queued_of(struct room *room, uint64_t user)
{
	for (unsigned i = 0; i < ROOM_TURNS; i++)
		if (room->turn[i].phase == ROOM_PHASE_QUEUED && room->turn[i].user == user)
			return &room->turn[i];
	return NULL;
}

static void merge(struct room *room, struct room_turn *into, struct room_turn *turn)
{
	room_decide(turn, ROOM_RULE_SAME_SPEAKER_QUEUED, true, into->id, 0);
	room_append(into->heard, sizeof into->heard, turn->heard, strlen(turn->heard));
	into->end_of_speech_at = turn->end_of_speech_at;
	into->named =
		into->named || room_address(&room->names, turn->heard) == ROOM_ADDRESS_ADDRESSED;
	room_turn_end(room, turn, ROOM_REASON_MERGED);
}

static void supersede(struct room *room, struct room_turn *older, struct room_turn *turn)
{
	char both[ROOM_TEXT_MAX] = "";

	room_append(both, sizeof both, older->heard, strlen(older->heard));
	room_append(both, sizeof both, turn->heard, strlen(turn->heard));
	memcpy(turn->heard, both, sizeof both);
	turn->named = older->named;
	room_decide(turn, ROOM_RULE_SAME_SPEAKER_GOES_ON, true, older->id, 0);
	room_decide(older, ROOM_RULE_SAME_SPEAKER_GOES_ON, true, turn->id, 0);
	room_turn_cancel(room, older, ROOM_REASON_SUPERSEDED);
}

static void admitted(struct room *room, struct room_turn *turn, enum room_rule rule)
{
	struct room_effect *e = room_do(room, ROOM_DO_ADMIT);

	e->record = turn;
	e->text = room_rule_name(rule);
	room_enqueue(room, turn);
}

/* The answer to an earlier turn of the same speaker is on its way and nobody heard any of it. */
static bool goes_on_p(const struct room *room, const struct room_turn *turn)
{
	const struct room_turn *a = room->active;

	return a && a->user == turn->user && !a->first_audio_at &&
	       (a->phase == ROOM_PHASE_ASKED || a->phase == ROOM_PHASE_SPEAKING);
}

void room_admit(struct room *room, struct room_turn *turn)
{
	bool addressed = room_address(&room->names, turn->heard) == ROOM_ADDRESS_ADDRESSED;
	bool backchannel = backchannel_p(turn->heard);
	struct room_turn *waiting = queued_of(room, turn->user);
	unsigned people = room_people(room);

	room_decide(turn, ROOM_RULE_NOT_BACKCHANNEL, !backchannel, 0, 0);
	if (backchannel) {
		room_turn_end(room, turn, ROOM_REASON_BACKCHANNEL);
		return;
	}
	if (waiting) {
		merge(room, waiting, turn);
		return;
	}
	if (goes_on_p(room, turn)) {
		supersede(room, room->active, turn);
		turn->named = turn->named || addressed;
		admitted(room, turn, ROOM_RULE_SAME_SPEAKER_GOES_ON);
		return;
	}
	room_decide(turn, ROOM_RULE_DIRECT_ADDRESS, addressed, addressed, 1);
	turn->named = addressed;
	if (addressed) {
		admitted(room, turn, ROOM_RULE_DIRECT_ADDRESS);
		return;
	}
	room_decide(turn, ROOM_RULE_GUEST_NAMED_ONLY, room->guest, room->guest, 1);
	if (!room->guest) {
		room_decide(turn, ROOM_RULE_ALONE_WITH_SPEAKER, people == 1, people, 1);
		if (people == 1) {
			admitted(room, turn, ROOM_RULE_ALONE_WITH_SPEAKER);
			return;
		}
	}
	room_turn_end(room, turn, ROOM_REASON_NOT_ADDRESSED);
}
