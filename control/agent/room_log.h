/* Writes a room's journal (control/room/journal.h) to a file of its own,
 * FOLDER/GUILD-MILLISECONDS.parley-room, mode 0600. If the file cannot be created or written,
 * room_log logs the error and the room continues. */
#ifndef CONTROL_AGENT_ROOM_LOG_H
#define CONTROL_AGENT_ROOM_LOG_H

#include <stdint.h>

struct env;
struct room_effects;
struct room_event;
struct room_log;
struct settings;

/* NULL if settings->room_journals names no folder, on replay, and on failure. bot_name: the bot's
 * name. Caller owns. */
struct room_log *room_log_new(struct env *env, const struct settings *settings,
			      const char *bot_name, uint64_t guild);
/* Writes the end of the journal. NULL accepted. */
struct room_log *room_log_free(struct room_log *l);
/* Writes one step of the room and its effects. NULL accepted. */
void room_log_step(struct room_log *l, const struct room_event *ev, uint64_t now,
		   const struct room_effects *fx);
/* Writes the settings that apply to the next steps. NULL accepted. */
void room_log_settings(struct room_log *l, const struct settings *settings);

#endif
