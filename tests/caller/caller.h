/* A caller in a voice channel of guildd: joins by a mediad of its own (through control's link to
 * it), plays one recording, records one other member, and keeps a timeline of both. Everything runs
 * on env's loop. The text of the recording stays with the caller; guildd and the bot get audio
 * only. */
#ifndef TESTS_CALLER_CALLER_H
#define TESTS_CALLER_CALLER_H

#include <stddef.h>
#include <stdint.h>

struct caller;
struct env;

/* Reasons of the end. E(NAME, sentence) */
#define CALLER_ENDS(E)                                                                             \
	E(ANSWERED, "the bot answered")                                                            \
	E(NO_ANSWER, "the bot did not answer")                                                     \
	E(NO_BOT, "the bot did not come into the channel")                                         \
	E(NO_CALL, "the caller's own call did not come up")                                        \
	E(NO_GUILD, "guildd did not let the caller join")

enum caller_end {
#define X(NAME, text) CALLER_##NAME,
	CALLER_ENDS(X)
#undef X
};
const char *caller_end_text(enum caller_end end);

typedef void(caller_done_h)(enum caller_end end, void *arg);

/* Another recording, played this long after the bot first began to speak. */
struct caller_line {
	const int16_t *pcm; /* at the conf's rate */
	size_t samples;
	unsigned after_ms;
};

enum { CALLER_LINES = 8 };

struct caller_conf {
	const char *api;	/* guildd's control API, http://127.0.0.1:PORT */
	const char *media_sock; /* of the caller's own mediad; NULL with spawn */
	const char *spawn;	/* the mediad program to run; NULL */
	const char *run_dir;	/* where its socket goes; NULL: /tmp */
	const char *ca_file;
	uint64_t guild, channel, user, bot;
	const int16_t *pcm; /* the recording; borrowed */
	size_t samples;
	uint32_t rate;
	struct caller_line line[CALLER_LINES]; /* in the order of their times */
	unsigned lines;
	unsigned quiet_ms;  /* the bot is done when it has been silent for so long */
	unsigned answer_ms; /* how long to wait for an answer after the last sample left */
};

int caller_alloc(struct caller **out, struct env *env, const struct caller_conf *conf,
		 caller_done_h *h, void *arg);
struct caller *caller_free(struct caller *c);

/* Both sides at 24 kHz on one clock that begins when the caller began to speak. Borrowed. */
const int16_t *caller_said(const struct caller *c, size_t *samples);
const int16_t *caller_heard(const struct caller *c, size_t *samples);

#endif
