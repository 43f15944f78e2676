/* The content of a message as people see it: with names in the place of users' ids, and times that
 * can be read. Pure; bytes from outside. */
#ifndef CONTROL_TEXT_CONTENT_H
#define CONTROL_TEXT_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* A text that grows in a caller's buffer, which stays a string. */
struct content {
	char *buf; /* borrowed */
	size_t n, size;
};

/* Puts n bytes behind it, truncated to fit after a whole character. */
void content_put(struct content *to, const char *text, size_t n);
/* The name that others see in the server, else the one of the account. Borrowed. */
const char *content_name(const json_t *user, const json_t *member);
/* Writes the content of a message object, cut to fit size, and returns its bytes. Users are named
 * by its own mentions; self: the bot, whose name is given; 0: it is not known. */
size_t content_copy(char *to, size_t size, const json_t *message, uint64_t self, const char *name);
/* "<#123>" at the beginning of text: its bytes, and *channel. 0: it is none. */
size_t content_channel(const char *text, uint64_t *channel);

#endif
