/* One realtime voice session for one room: asks, and hands back sound and words. A shell around
 * control/dialect.
 *
 *   link          event                       next
 *   DOWN          retry timer                 CONNECTING
 *   CONNECTING    open                        UP: session.update, what was remembered, then a
 * waiting ask CONNECTING,UP closed                      DOWN: the running ask failed; retry after
 * 0.5 s, 1 s, 2 s … 30 s
 *
 * One answer runs at a time, as the dialect demands. An ask that comes while a cancelled one is
 * still winding down waits for its end (at most 1.5 s). Sound and words of a cancelled answer are
 * dropped by response id. When the session is lost its conversation is lost with it, so the last
 * exchanges are told again to the next.
 *
 * Everything runs on env's loop thread. What conf names is borrowed for the brain's life. The
 * handler is never called from inside a function of this header. */
#ifndef CONTROL_ENGINE_REALTIME_H
#define CONTROL_ENGINE_REALTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct realtime;
struct env;
struct ws_ctx;

enum realtime_event {
	REALTIME_AUDIO,	     /* data: s16le mono at 24 kHz */
	REALTIME_TEXT,	     /* data: more words of what is being said, UTF-8 */
	REALTIME_DONE,	     /* the answer is whole */
	REALTIME_FAILED_ASK, /* data: why; no more comes of this turn */
	REALTIME_LINK_UP,    /* turn 0 */
	REALTIME_LINK_DOWN,  /* turn 0, data: why */
};

/* data borrowed until return. */
typedef void(realtime_h)(enum realtime_event ev, uint32_t turn, const uint8_t *data, size_t len,
			 void *arg);

struct realtime_conf {
	struct env *env;
	struct ws_ctx *ws;
	const char *url; /* of the server, without ?model=; ws:// or wss:// */
	const char *model;
	const char *voice; /* "" leaves the server's own */
	const char *key;   /* "" sends no Authorization */
	realtime_h *h;
	void *arg;
};

/* Connects in the background. conf's texts are copied. EINVAL, ENOMEM. Caller owns *out. */
int realtime_alloc(struct realtime **out, const struct realtime_conf *conf);
struct realtime *realtime_free(struct realtime *b);

/* The instructions from now on; copied, sent when they differ. ENOMEM. */
int realtime_instruct(struct realtime *b, const char *text);
/* One line of the room; the answer comes to the handler. One ask waits at most: a newer one takes
 * its place. ENOMEM. */
int realtime_ask(struct realtime *b, uint32_t turn, const char *line);
/* Another answer to the same: its line is in the conversation already. */
void realtime_again(struct realtime *b, uint32_t turn);
/* Nothing more of this turn's answer is wanted. */
void realtime_cancel(struct realtime *b, uint32_t turn);
/* So many ms of this turn's answer were heard: the model's memory is cut there. */
void realtime_truncate(struct realtime *b, uint32_t turn, uint32_t ms);
/* Words that were not for the bot, for it to know; asks for nothing. ENOTCONN without a session,
 * ENOMEM. */
int realtime_hear(struct realtime *b, const char *line);
/* An exchange as it was in the room, for a session that has to begin anew. said may be "". ENOMEM.
 */
int realtime_remember(struct realtime *b, const char *line, const char *said);

bool realtime_up(const struct realtime *b);
/* Malformed messages that were dropped. */
uint64_t realtime_malformed(const struct realtime *b);

#endif
