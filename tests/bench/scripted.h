/* Rooms (rooms.h) on the reply path brain, whose text model, voice and speech-to-text are scripts
 * in this process: questions by the brain's transcripts, answers by the bench's own HTTP handler.
 * The world is the process's, as with rooms.h; scripted_close() frees all. */
#ifndef TESTS_BENCH_SCRIPTED_H
#define TESTS_BENCH_SCRIPTED_H

#include <stddef.h>

#include "ipc/http_server.h"

struct env;
struct rooms_conf;

enum { SCRIPTED_ROOMS = 8, SCRIPTED_SETTINGS = 8 };

struct scripted {
	struct env *env;
	struct brain *brain;
	struct http_server *server;
	char urls[3][160];
	const char *settings[SCRIPTED_SETTINGS]; /* for rooms_conf; NULL at the end */
};

/* more: further settings of control, NULL at the end, or NULL. h answers control's requests. */
void scripted_open(struct scripted *s, const char *const *more, http_request_h *h);
/* Runs rooms until *n questions were asked, then ends them. */
void scripted_run(const struct rooms_conf *conf, const unsigned *n, unsigned asks);
/* Prints the row NAME with its p99, and its raw values. None is an error. */
void scripted_row(const char *name, double *ms, size_t n, size_t of);
void scripted_close(struct scripted *s);

#endif
