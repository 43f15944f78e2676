/* What was written last in the channel's text chat, by guildd's control API, which has no other way than to be asked: the bot
 * tells its troubles there. Asked once a second. */
#ifndef TESTS_TALK_BOARD_H
#define TESTS_TALK_BOARD_H

#include <stdint.h>

#include <jansson.h>

struct board;
struct env;
struct http;

enum { BOARD_SHOWN = 3 };

/* Something was written. */
typedef void(board_h)(void *arg);

/* api is borrowed; http outlives it. EINVAL, ENOMEM. Caller owns *out. */
int board_alloc(struct board **out, struct env *env, struct http *http, const char *api,
		uint64_t channel, board_h *h, void *arg);
struct board *board_free(struct board *b);
/* [{"name","text"}], oldest first, BOARD_SHOWN at most. Borrowed until the next step. */
json_t *board_list(const struct board *b);
/* Takes an answer of guildd: 0 when it changed the list, EALREADY when not, EBADMSG. */
int board_take(struct board *b, const char *text, size_t n);

#endif
