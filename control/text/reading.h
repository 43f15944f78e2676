/* Since when which written messages are read: what a look at the history of channels must not have
 * answered, because people wrote it while the settings promised not to read it. A value in memory,
 * which the state of control keeps; pure.
 *
 * For everybody (server 0), and for each server with settings of its own, it knows the settings
 * that say what is read, and the former ones with the times in which they held. */
#ifndef CONTROL_TEXT_READING_H
#define CONTROL_TEXT_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

enum {
	READING_FORMER = 64, /* of all servers; the oldest gives way, and nothing before is read */
	READING_SERVERS = 256, /* with settings of their own (DOCUMENT_GUILDS_MAX) */
	READING_DAYS = 8,      /* longer than anything is looked for (text_catchup_hours) */
};

/* A parent: nothing is known of the channel, which may be a thread of one that is blocked. */
#define READING_UNKNOWN UINT64_MAX

struct reading;

struct reading_rules {
	uint32_t chat; /* text_chat, as far as Discord sends the messages that it needs */
	const char *channels, *blocked; /* text_channels, text_blocked_channels; borrowed */
};

/* kept: as reading_json gave it, bytes of our own disk; NULL: nothing is known. ENOMEM. Caller owns
 * *out. */
int reading_alloc(struct reading **out, const json_t *kept);
struct reading *reading_free(struct reading *r);
/* NULL: nothing is read, and nothing was. Caller owns it. */
json_t *reading_json(const struct reading *r);
/* These are the rules from now on. Servers are told before everybody's. What holds first, for a
 * reading of which nothing was kept, counts as if it had always held. Without memory nothing that
 * was written until now is read. */
void reading_note(struct reading *r, uint64_t guild, const struct reading_rules *rules,
		  uint64_t now_ms);
/* The server has no settings of its own any more. */
void reading_drop(struct reading *r, uint64_t guild, uint64_t now_ms);
/* The i-th server with settings of its own; 0: there are no more. */
uint64_t reading_server(const struct reading *r, unsigned i);
/* The value of text_chat that held for this channel then, OFF also where the channel was blocked.
 * parent, category: as of text_channel_is_blocked, of today. */
uint32_t reading_at(const struct reading *r, uint64_t guild, uint64_t channel, uint64_t parent,
		    uint64_t category, uint64_t at_ms);

/* True if these lists keep the bot out of the channel (text_chat.h). */
bool reading_is_blocked(const char *channels, const char *blocked, uint64_t guild, uint64_t channel,
			uint64_t parent, uint64_t category);

#endif
