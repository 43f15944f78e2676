/* Who may do what with the music of a voice channel, and votes to skip.
 *
 *   act                                    music_control everyone   requester          dj
 *   listen: see the queue, search          all                      all                all
 *   add tracks, choose among hits          all                      all                DJ
 *   skip, remove, move one's own tracks    all                      all                DJ
 *   skip a track of another person         all                      vote, DJ           DJ
 *   remove, move tracks of others;
 *   pause, resume, seek, stop, shuffle,
 *   loop, volume, clear, jump, previous    all                      DJ                 DJ
 *
 * A DJ has the DJ role, may manage channels, or is alone with the bot. The requester of the present
 * track controls it (pause, resume, seek) as a DJ does; a track that the bot chose belongs to
 * everyone. To play at once takes the right to skip what plays; else the new track comes next. One
 * track of a member without a DJ's rights may stand before those of others that wait; the rest goes
 * to the end, and is moved past tracks of others by a DJ alone. Who plays a second one of their own
 * while others wait has had that turn. A vote to skip passes with 55 % of
 * the people who can hear the music. Voice requests have the rights of their speaker. Pure. */
#ifndef CONTROL_MUSIC_POLICY_H
#define CONTROL_MUSIC_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum music_control { MUSIC_CONTROL_EVERYONE, MUSIC_CONTROL_REQUESTER, MUSIC_CONTROL_DJ };

/* A(ACT, RULE): LISTEN, ADD, OWN (of one track), SKIP, PRESENT (the present track), ALL (the whole
 * queue) */
#define MUSIC_ACTS(A)                                                                              \
	A(SEARCH, LISTEN)                                                                          \
	A(NOW_PLAYING, LISTEN)                                                                     \
	A(PLAY, ADD)                                                                               \
	A(QUEUE_ADD, ADD)                                                                          \
	A(REMOVE, OWN)                                                                             \
	A(MOVE, OWN)                                                                               \
	A(SKIP, SKIP)                                                                              \
	A(PAUSE, PRESENT)                                                                          \
	A(RESUME, PRESENT)                                                                         \
	A(SEEK, PRESENT)                                                                           \
	A(PREVIOUS, ALL)                                                                           \
	A(JUMP, ALL)                                                                               \
	A(STOP, ALL)                                                                               \
	A(CLEAR, ALL)                                                                              \
	A(SHUFFLE, ALL)                                                                            \
	A(LOOP, ALL)                                                                               \
	A(VOLUME, ALL)

enum music_act {
#define A(ACT, RULE) MUSIC_ACT_##ACT,
	MUSIC_ACTS(A)
#undef A
		MUSIC_ACT_COUNT
};

enum music_verdict { MUSIC_ALLOWED, MUSIC_NEEDS_VOTE, MUSIC_NEEDS_DJ };

/* Why a member's tracks may not pass those of others. */
enum music_turn {
	MUSIC_TURN_FREE,
	MUSIC_TURN_TAKEN, /* by one of theirs that waits, or by the first one of a list */
	MUSIC_TURN_HAD,	  /* two of theirs play in a row */
};

struct music_person {
	uint64_t user;
	bool dj_role, manages_channels, alone; /* alone: the only human in the channel */
};

/* True if this person may do everything: a DJ, or the only human in the channel. */
bool music_policy_is_dj(const struct music_person *person);
/* requester: of the track that the act concerns; 0: the bot, or no track. */
enum music_verdict music_policy_judge(enum music_control control, enum music_act act,
				      const struct music_person *person, uint64_t requester);

/* ---- votes to skip ---- */

enum { MUSIC_VOTES = 128, MUSIC_VOTE_PERCENT = 55 };

struct music_votes {
	uint64_t start; /* the playing that they are about, by music_queue_starts */
	unsigned n;
	uint64_t user[MUSIC_VOTES];
};

struct music_tally {
	unsigned votes, needed;
	bool passed;
};

/* Counts a vote to skip this playing of a track; votes about another one end. listeners: the people
 * in the channel who are not deafened; only their votes count. */
struct music_tally music_vote_skip(struct music_votes *v, uint64_t start, uint64_t user,
				   const uint64_t *listeners, size_t n);
/* The same count without a new vote, after somebody left. */
struct music_tally music_votes_count(const struct music_votes *v, uint64_t start,
				     const uint64_t *listeners, size_t n);

#endif
