/* Writes a room's journal (control/room/journal.h) to a file of its own,
 * FOLDER/GUILD-SESSION.parley-room, mode 0600, on a worker: no disk delays the room. A failure
 * to create or write the file, or a disk that is too slow, is logged and ends the journal; the room
 * continues. */
#ifndef CONTROL_AGENT_ROOM_LOG_H
#define CONTROL_AGENT_ROOM_LOG_H

#include <stdint.h>

struct env;
struct room_effects;
struct room_event;
struct room_log;
struct settings;

/* NULL when settings->room_journals names no folder, and when it cannot be. On replay nothing is
 * written. bot_name: what the bot is called. session: its start, ms since 1970.
 * Caller owns. */
struct room_log *room_log_new(struct env *env, const struct settings *settings,
			      const char *bot_name, uint64_t guild, uint64_t session);
/* Hands its end to the worker and does not wait for the disk. NULL accepted. */
struct room_log *room_log_free(struct room_log *l);
/* At the end of the program: waits up to 2 s until the journals that were freed are written. */
void room_log_settle(void);
/* A step that was made, and what it gave. NULL accepted. */
void room_log_step(struct room_log *l, const struct room_event *ev, uint64_t now,
		   const struct room_effects *fx);
/* The settings that the next steps are under. NULL accepted. */
void room_log_settings(struct room_log *l, const struct settings *settings);

#endif
