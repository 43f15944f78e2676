/* One request to an engine. What comes back carries its id; asking again is a new ask.
 *
 * An ask borrows everything that it points to; who keeps it copies it (engine_ask_copy). */
#ifndef CONTROL_ENGINE_CORE_ASK_H
#define CONTROL_ENGINE_CORE_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/settings/provider_record.h"
#include "proto/base/cursor.h"

enum {
	ENGINE_MESSAGES_MAX = 64,
	ENGINE_TOOLS_MAX = 64,
	ENGINE_IMAGES_MAX = 8,
	ENGINE_SOUNDS_MAX = 16,
	ENGINE_SOUND_RATE = 24000,
};

enum engine_speaker {
	ENGINE_USER,
	ENGINE_ASSISTANT,
	ENGINE_CALL,   /* the assistant called a tool: call, tool, text = the arguments as JSON */
	ENGINE_RESULT, /* what the call returned: call, text, failed */
};

/* Why an answer is over. */
enum engine_end {
	ENGINE_END_STOP,
	ENGINE_END_TOOLS,    /* it waits for the results of its tool calls */
	ENGINE_END_LENGTH,   /* the limit of the output is reached */
	ENGINE_END_FILTERED, /* the provider withholds the rest */
};

struct engine_image {
	const char *type; /* its media type, such as "image/jpeg" */
	struct slice data;
};

struct engine_message {
	enum engine_speaker role;
	const char *speaker; /* "" for the bot, or when the text names its speakers itself */
	const char *text;
	const char *call, *tool;	   /* of CALL and RESULT; may be NULL elsewhere */
	bool failed;			   /* of RESULT */
	const struct engine_image *images; /* of USER; ENGINE_IMAGES_MAX in an ask */
	size_t n_images;
};

/* A tool that the model may call. */
struct engine_tool {
	const char *name, *description;
	const char *schema; /* JSON Schema of the arguments, as text */
};

struct engine_ask {
	uint32_t id;   /* unique in the room, never 0 */
	uint32_t turn; /* for whom; a turn that never was is forgotten with all its asks */
	bool again;    /* the same question as the turn's last ask */
	bool one_word; /* an answer of one word is wanted, all at once */

	/* JSON Schema of the one JSON object that is the answer; NULL: the answer is words. */
	const char *answer_schema;
	enum purpose purpose;
	uint32_t output_tokens; /* most that the answer may have; 0: as the provider likes */
	uint32_t budget_ms;	/* latency budget, from the ask to the first words; 0: none */

	/* Of an engine without a session; "" otherwise. */
	const char *instructions, *model, *voice;
	size_t instructions_stable; /* bytes at their beginning that seldom change; 0: not told */
	/* Of the instructions that a session has when this is asked; 0: none. */
	uint32_t instructions_version;

	const struct engine_message *messages; /* the history, oldest first; the question is last */
	size_t n;
	/* Sound of the asker for the last message, s16le mono at ENGINE_SOUND_RATE, in pieces: a
	 * voice that takes sound hears it in place of the text. */
	const struct slice *sound;
	size_t n_sound;
	const char *sound_label;	 /* names the speaker, sent before it; may be NULL */
	const struct engine_tool *tools; /* that may be called; of an engine without a session */
	size_t n_tools;
	bool search; /* the provider may search the web by itself; of an engine without a session */
	uint32_t tools_version; /* of the tools that a session has; 0: none */
	uint64_t deadline;	/* ns; 0: none */
};

/* One allocation holds all of it; engine_ask_free ends it. ENOMEM, EINVAL without a message or with
 * too many of anything. */
int engine_ask_copy(struct engine_ask **out, const struct engine_ask *ask);
/* Of a copy: wipes its images, and takes them out of its messages. NULL accepted. */
void engine_ask_drop_images(struct engine_ask *copy);
void engine_ask_free(struct engine_ask *copy);
/* "[Alice]: hello", or the text alone without a speaker. Cut at size, and without bytes
 * that are not UTF-8; its length. */
size_t engine_message_line(const struct engine_message *m, char *buf, size_t size);

#endif
