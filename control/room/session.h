/* The voice session of a room: the call, its timers, and its one end.
 *
 *   timer             runs from                   expires after    ends as
 *   length            the call came up            session_max_min  max_duration
 *   inactivity        the last speech of anybody  inactivity_s     inactivity_timeout
 *   the call is lost  the report                  call_grace_ms    bot_disconnected
 *   mediad is lost    the report                  media_recover_s  subprocess_crashed
 *
 * A limit of 0 is none. Inactivity does not count while music plays. People are warned 120 s and
 * 45 s before the maximum length, and 45 s before the bot leaves an idle room, unless the limit is
 * hardly longer than the warning. Only confirmed speech counts as activity. An end stops music,
 * cancels every turn, closes speech-to-text and emits LEAVE, in this order, once; its reasons are
 * in reasons.def. For control/room only. */
#ifndef CONTROL_ROOM_SESSION_H
#define CONTROL_ROOM_SESSION_H

#include "control/room/base/context.h"
#include "control/words/words.h"

enum room_end {
	ROOM_END_NONE,
#define X(NAME, name, text) ROOM_END_##NAME,
	ROOM_ENDS(X)
#undef X
		ROOM_END_COUNT
};

struct room_times;

struct room_session {
	uint64_t up_at, active_at; /* 0: the call never was up */
	uint64_t lost_at;	   /* 0: it is up */
	enum room_end lost_as;
	unsigned warned; /* warnings of the maximum length that were given */
	bool idle_warned;
	bool greeted; /* guests were told who is here */
	enum room_end end;
	struct words words; /* of the last TELL */
};

const char *room_end_name(enum room_end end);

void room_session_on_event(struct room_session *s, struct room_context *context,
			   const struct room_event *ev);
void room_session_tick(struct room_session *s, struct room_context *context);
uint64_t room_session_deadline(const struct room_session *s, const struct room_context *context);
void room_session_find_times(const struct room_session *s, const struct room_context *context,
			     struct room_times *out);
/* When the call came up first; 0 = never. */
uint64_t room_session_up_at(const struct room_session *s);

/* Demands of the session on the other machines (session_demands.c). */

/* The call came up for the first time. */
void room_call_began(struct room_context *context);
/* The call is lost: ends every open capture. */
void room_call_lost(struct room_context *context);
bool room_music_plays(const struct room_context *context);
void room_music_stop(struct room_context *context);
/* The settings changed: derives names and guest mode from them. */
void room_apply_settings(struct room_context *context);
/* Ends all captures, turns and sessions of speech-to-text; the room goes on. */
void room_suspend(struct room_context *context);
/* An operator's order: every turn under way ends as cancelled; the room goes on listening. */
void room_end_turns(struct room_context *context);
/* Ends all turns and forgets everybody; the room takes no event after it. */
void room_shut_down(struct room_context *context);

#endif
