/* How soon the request to a text model ends at its server when its answer is interrupted:
 * bargein_abort_p99_ms.
 *
 * guildd, the bot's mediad and control run unmodified (rooms.h), on the reply path brain. The text
 * model, the voice and speech-to-text are scripts in this process. The model writes a word every
 * 50 ms for as long as it may, so the interruption meets it in the middle; the voice reads three
 * seconds of sound out of each sentence.
 *
 *   abort   from control's read of the frame that confirms the interruption (the room's journal) to
 *           the end of the connection, or of the request, as the model's server learns it
 *
 *   BENCH_ASKS=n      questions in all (150)      BENCH_ROOMS=n      rooms at a time (4) */
#include "ipc/env.h"
#include "ipc/http_server.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/journal_times.h"
#include "tests/bench/rooms.h"
#include "tests/bench/scripted.h"
#include "tests/bench/speech.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORD_MS = 50,
	RATE = 24000,
	SOUND = RATE * 3,
	REQUESTS = 4096,
	BODY_MAX = 1 << 20,
};

/* A request to the model. */
struct request {
	struct http_exchange *x;
	struct tmr *tmr;
	unsigned words;
};

static struct {
	struct env *env;
	struct request request[REQUESTS];
	unsigned n;
	uint64_t ended[REQUESTS]; /* aborted by control, in order */
	size_t aborts;
	int16_t sound[SOUND];
} w;

static void on_word(void *arg)
{
	struct request *r = arg;
	char event[160];
	/* Sentences of eight words. */
	int n = snprintf(event, sizeof event,
			 "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{"
			 "\"index\":0,\"delta\":{\"content\":\"%s\"}}]}\n\n",
			 !r->words++	? "[[TO: person]] so it goes "
			 : r->words % 8 ? "so it goes "
					: "on. ");

	if (http_reply_write(r->x, event, (size_t)n))
		bench_die("the model's answer is not taken");
	tmr_start(r->tmr, WORD_MS * NS_PER_MS);
}

static void on_gone(struct http_exchange *x, void *arg)
{
	struct request *r = arg;

	(void)x;
	tmr_stop(r->tmr);
	w.ended[w.aborts++] = bench_clock();
}

static void on_body(struct http_exchange *x, const uint8_t *data, size_t n, bool last, void *arg)
{
	struct request *r = arg;

	(void)data, (void)n, (void)last;
	http_reply_begin(x, 200, "text/event-stream");
	on_word(r);
}

static void on_speech(struct http_exchange *x, const uint8_t *data, size_t n, bool last, void *arg)
{
	(void)data, (void)n, (void)last, (void)arg;
	http_reply(x, 200, "audio/pcm", w.sound, sizeof w.sound);
}

static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	static const struct http_body_limits limits = {.max = BODY_MAX};
	struct request *r = &w.request[w.n];

	(void)arg;
	if (strcmp(head->path, "/v1/audio/speech") == 0) {
		http_take_body(x, &limits, on_speech, NULL);
		return;
	}
	if (w.n == REQUESTS)
		bench_die("too many requests");
	w.n++;
	r->x = x;
	BENCH_OK(tmr_alloc(&r->tmr, w.env, on_word, r));
	http_on_gone(x, on_gone, r);
	http_take_body(x, &limits, on_body, r);
}

int main(void)
{
	unsigned asks = rooms_number("BENCH_ASKS", 150, REQUESTS / 2);
	struct scripted scripted = {0};
	struct rooms_conf conf = {.settings = scripted.settings, .journals = true};
	static double ms[REQUESTS];
	size_t n = 0;

	speech_make(w.sound, SOUND, RATE, 2);
	scripted_open(&scripted, NULL, on_request);
	w.env = scripted.env;
	scripted_run(&conf, &w.n, asks);
	for (unsigned i = 0; i < rooms_count(); i++)
		n += journal_times_after_cuts(i, w.ended, w.aborts, ms + n);
	scripted_row("bargein_abort_p99_ms", ms, n, w.n);
	for (unsigned i = 0; i < w.n; i++)
		tmr_free(w.request[i].tmr);
	scripted_close(&scripted);
	return 0;
}
