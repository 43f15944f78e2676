/* Chat completions as clients of the provider API send and read them: the question in a request,
 * the tools that it offers, and an answer or a call of a tool, whole or as a stream of chunks
 * ("Chat completions" of its reference). */
#ifndef OFFLINE_CHAT_H
#define OFFLINE_CHAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct brain_call;
struct brain_room;
struct http_exchange;

/* Copies the text of the user's last message; the other messages name the people in the room.
 * Content is a string or a list of parts, of which those of type text count. EINVAL: no message of
 * a user has text. */
int chat_question(const json_t *root, struct brain_room *room, char *buf, size_t size);
/* What a tool returned, if the request ends with that, the tool's name, and the arguments of the
 * call ("": none); NULL: it does not. Borrowed from root. */
const char *chat_output(const json_t *root, const char **tool, const char **arguments);
/* True if the request (of type json_t) offers the tool. */
bool chat_offers(const char *tool, void *root);
/* Answers the request with this line. number makes the id unique. */
void chat_answer(struct http_exchange *x, const json_t *root, const char *line, uint64_t number,
		 uint64_t wall_s);
/* The same with a call of a tool. */
void chat_call(struct http_exchange *x, const json_t *root, const struct brain_call *call,
	       uint64_t number, uint64_t wall_s);

#endif
