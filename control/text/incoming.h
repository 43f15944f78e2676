/* Reads the written messages that Discord's main gateway tells of (Discord documentation, "Message
 * Object"). Pure: bytes from outside, so every field is checked and every text has a cap. */
#ifndef CONTROL_TEXT_INCOMING_H
#define CONTROL_TEXT_INCOMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "control/text/attached.h"

enum {
	INCOMING_NAME = 64,
	INCOMING_TEXT = 8192,  /* longer messages are cut */
	INCOMING_TITLE = 256,  /* of a thread */
	INCOMING_QUOTE = 1200, /* of the message that this one replies to */
	INCOMING_NONCE = 26,   /* Discord allows 25 characters */
	INCOMING_ROLES = 10,   /* that a message mentions */
	/* The same of people, of whom each is looked for at each place of the text. Discord lists
	 * fewer: */
	INCOMING_MENTIONS = 100,
	INCOMING_DELETED = 100 /* messages of one bulk deletion */
};

struct incoming {
	uint64_t guild; /* 0: direct messages */
	uint64_t channel, message, user;
	/* Which the message does not tell: of a thread its channel or forum; the category. 0: none
	 */
	uint64_t parent, category;
	uint64_t replies_to, replied_user; /* 0: it replies to nothing, or to nobody known */
	bool self, bot;			   /* its author is this bot; another one or a webhook */
	bool to_bot;			   /* mentions this bot or replies to it */
	bool starter;	/* a thread was started from it, where it stands as the first message */
	bool to_others; /* mentions others, a role or everyone, or replies to somebody else */
	bool untold;	/* it replies to something, and Discord does not tell to what */
	uint64_t role[INCOMING_ROLES]; /* mentioned; one of the bot's makes the message the bot's */
	unsigned n_roles;
	char name[INCOMING_NAME];
	/* With the names of the people whom it mentions in place of their ids, and a line for each
	 * sticker, poll, forwarded message, embed and file. "": there is none, or Discord keeps it
	 * from the bot. */
	char text[INCOMING_TEXT];
	/* Of that what its author said in their own name: without names of others, lines for what
	 * is enclosed, addresses, quotes and code (own_words.h). */
	char said[INCOMING_TEXT];
	size_t own; /* bytes of it before the text of strangers: a forwarded message, embeds */
	bool strangers, quoted_strangers; /* there is such text, in it and in quoted */
	char quoted_name[INCOMING_NAME], quoted[INCOMING_QUOTE];
	struct attached_list files, quoted_files; /* of it, and of the message that it replies to */
	char nonce[INCOMING_NONCE];
};

/* d: of MESSAGE_CREATE or MESSAGE_UPDATE. self: the bot's id; name: its name. EBADMSG; ENOMSG: not
 * a message of somebody, or an update that tells no text. A message that says from which one a
 * thread was started is read as that one (starter), in the thread. */
int incoming_read(struct incoming *out, const json_t *d, uint64_t self, const char *name);

/* What happened to messages of a channel. */
struct incoming_change {
	uint64_t guild, channel, user;
	uint64_t message[INCOMING_DELETED];
	size_t n;
};
/* d: of MESSAGE_DELETE or MESSAGE_DELETE_BULK. EBADMSG. */
int incoming_deleted(struct incoming_change *out, const json_t *d);
/* d: of MESSAGE_REACTION_ADD. EBADMSG; ENOMSG: it is no stop sign. */
int incoming_stop(struct incoming_change *out, const json_t *d);

/* The message is in a thread of this channel or forum, with this title. own: the author of a post
 * gave it the title, which stands before the text of its first message; otherwise anybody may have,
 * and the title is text of strangers behind it. */
void incoming_set_thread(struct incoming *in, uint64_t parent, const char *title, bool own);
/* The role's mention in the text is read as one of this name; where there is no place, it stays. */
void incoming_name_role(struct incoming *in, uint64_t role, const char *name);

/* The name of a channel; "": it is not known. Borrowed until the next call. */
typedef const char *(incoming_channel_h)(uint64_t channel, void *arg);
/* Mentions of channels in its texts become their names. */
void incoming_name_channels(struct incoming *in, incoming_channel_h *h, void *arg);

/* A name as prompts have it: one plain line. */
void incoming_copy_name(char to[INCOMING_NAME], const char *name);

#endif
