/* What people are told about the end-to-end encryption of a call: that some of them cannot be heard
 * or that the bot cannot speak, each once and only when it lasts, that it is over, and what they
 * can compare.
 *
 * A value without I/O, all zero at first. Its owner gives it what mediad tells and calls secure_say
 * until it gives nothing, after each input and at secure_deadline. */
#ifndef CONTROL_SECURE_H
#define CONTROL_SECURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct media_call_secure;

enum {
	SECURE_DEAF_MS = 3000,	   /* shorter spells heal by themselves */
	SECURE_KEYLESS_MS = 10000, /* keys come with the next member within seconds */
	SECURE_WELL_MS = 2000,
	SECURE_AGAIN_MS = 60000, /* the same trouble is told again no sooner */
};

struct secure_trouble {
	bool now, told;
	uint64_t changed, told_at;
};
struct secure {
	bool known;
	struct secure_trouble deaf, keyless;
};

/* others: somebody else is in the channel. Times in ns. */
void secure_update(struct secure *s, const struct media_call_secure *m, bool others, uint64_t now);
/* The call ended, or its mediad is lost: nothing is known. */
void secure_forget(struct secure *s);
/* A sentence for the room, NULL when there is nothing to say. */
const char *secure_say(struct secure *s, uint64_t now);
/* UINT64_MAX = never. */
uint64_t secure_deadline(const struct secure *s);

/* A privacy code in groups of five. "" for none. Always terminated. */
void secure_code(const struct media_call_secure *m, char *buf, size_t size);
/* A line for /status. Always terminated. */
void secure_status(const struct media_call_secure *m, char *buf, size_t size);

#endif
