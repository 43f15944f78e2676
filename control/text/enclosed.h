/* What a message holds besides its words and files (Discord documentation, "Message Object"):
 * stickers, a poll, a forwarded message, embeds. Each becomes one plain line in brackets, which no
 * text within can leave. Pure: bytes from outside, so every text has a cap. */
#ifndef CONTROL_TEXT_ENCLOSED_H
#define CONTROL_TEXT_ENCLOSED_H

#include <stdbool.h>

#include <jansson.h>

enum {
	ENCLOSED_TEXT = 4096, /* all lines of a message */
	ENCLOSED_PART = 2048, /* one text of them, such as the description of an embed */
	ENCLOSED_EMBEDS = 4,
	ENCLOSED_STICKERS = 3, /* Discord takes no more in one message, */
	ENCLOSED_ANSWERS = 10, /* nor in a poll */
};

/* What its author chose: "[sticker: wave]", "[poll: question / answer / answer]". "": nothing. */
void enclosed_own(const json_t *message, char buf[ENCLOSED_TEXT]);
/* What others wrote: "[forwarded: text]"; with embeds also "[embed: title / description]". "":
 * nothing. */
void enclosed_of_strangers(const json_t *message, bool embeds, char buf[ENCLOSED_TEXT]);
/* The message that it forwards; NULL: none. Borrowed. */
const json_t *enclosed_forwarded(const json_t *message);

#endif
