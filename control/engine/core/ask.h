/* One request to an engine. What comes back carries its id; asking again is a new ask.
 *
 * An ask borrows everything that it points to; who keeps it copies it (engine_ask_copy). */
#ifndef CONTROL_ENGINE_CORE_ASK_H
#define CONTROL_ENGINE_CORE_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ENGINE_MESSAGES_MAX = 64 };

enum engine_speaker { ENGINE_USER, ENGINE_ASSISTANT };

struct engine_message {
	enum engine_speaker role;
	const char *speaker; /* "" for the bot, or when the text names its speakers itself */
	const char *text;
};

struct engine_ask {
	uint32_t id;   /* unique in the room, never 0 */
	uint32_t turn; /* for whom; a turn that never was is forgotten with all its asks */
	bool again;    /* the same question as the turn's last ask */
	bool one_word; /* an answer of one word is wanted, all at once */

	/* Of an engine without a session; "" otherwise. */
	const char *instructions, *model, *voice;
	/* Of the instructions that a session has when this is asked; 0: none. */
	uint32_t instructions_version;

	const struct engine_message *messages; /* the history, oldest first; the question is last */
	size_t n;
	uint64_t deadline; /* ns; 0: none */
};

/* One allocation holds all of it; free() it. ENOMEM, EINVAL without a message or with too many. */
int engine_ask_copy(struct engine_ask **out, const struct engine_ask *ask);
/* "[Alice]: hello", or the text alone without a speaker. Cut at size; its length. */
size_t engine_message_line(const struct engine_message *m, char *buf, size_t size);

#endif
