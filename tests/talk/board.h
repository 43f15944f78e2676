/* The last messages of the channel's text chat, where the bot reports its faults. Polls guildd's
 * control API once a second, because the API has no notifications. */
#ifndef TESTS_TALK_BOARD_H
#define TESTS_TALK_BOARD_H

#include <stdint.h>

#include <jansson.h>

struct board;
struct env;
struct http;

enum { BOARD_SHOWN = 3 };

/* A new message arrived. */
typedef void(board_h)(void *arg);

/* api is borrowed; http outlives it. EINVAL, ENOMEM. Caller owns *out. */
int board_alloc(struct board **out, struct env *env, struct http *http, const char *api,
		uint64_t channel, board_h *h, void *arg);
struct board *board_free(struct board *b);
/* [{"name","text"}], oldest first, BOARD_SHOWN at most. Borrowed until the next step. */
json_t *board_list(const struct board *b);
/* Handles a response of guildd: 0 if it changed the list, EALREADY if not, EBADMSG. */
int board_take(struct board *b, const char *text, size_t n);

#endif
