/* Chat completions as clients of the provider API send and read them: the question in a request, an
 * answer whole or as a stream of chunks ("Chat completions" of its reference). */
#ifndef OFFLINE_CHAT_H
#define OFFLINE_CHAT_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct brain_room;
struct http_exchange;

/* Copies the text of the user's last message; the other messages name the people in the room.
 * Content is a string or a list of parts, of which those of type text count. EINVAL: no message of
 * a user has text. */
int chat_question(const json_t *root, struct brain_room *room, char *buf, size_t size);
/* Answers the request with this line. number makes the id unique. */
void chat_answer(struct http_exchange *x, const json_t *root, const char *line, uint64_t number,
		 uint64_t wall_s);

#endif
