/* Remarks of the bot's own on what a shown screen shows, where the setting screen_commentary wants
 * them.
 *
 *   state    input                                          next     effect
 *   NOTHING  SCREEN_CHANGED                                 CHANGED
 *   CHANGED  SCREEN_CHANGED                                 CHANGED  the newest change counts
 *   CHANGED  the floor is free, nobody has spoken for 2 s,  NOTHING  a turn, if the draw by
 *            commentary_interval_s after the last draw               commentary_eagerness says so
 *   CHANGED  20 s have passed, the screen is not shown any  NOTHING
 *            more, the setting is off
 *
 * The turn passes admission (rule screen_remark). The floor is free as for a thought (thought.h),
 * so there is no remark over music, in guest mode and in command-only mode. Speech that begins
 * before the remark is heard withdraws it; the end of its screen stops it even while it is heard.
 * For control/room only. */
#ifndef CONTROL_ROOM_ANSWER_REMARK_H
#define CONTROL_ROOM_ANSWER_REMARK_H

#include "control/room/base/context.h"

struct room_remark {
	uint64_t user;	     /* whose screen changed */
	uint64_t changed_at; /* 0: nothing changed that is worth a remark */
	uint64_t look_at;    /* not before */
	uint32_t turn;	     /* the last remark; 0: none */
	uint64_t about;	     /* whose screen that is of */
	unsigned drawn;	     /* draws so far */
};

void room_remark_on_event(struct room_remark *r, struct room_context *context,
			  const struct room_event *ev);
/* up_at: when the call came up first; 0 = never. */
void room_remark_tick(struct room_remark *r, struct room_context *context, uint64_t up_at);
uint64_t room_remark_deadline(const struct room_remark *r, const struct room_context *context,
			      uint64_t up_at);
/* Somebody begins to speak: a remark that waits is withdrawn. */
void room_remark_withdraw(const struct room_remark *r, struct room_context *context);

#endif
