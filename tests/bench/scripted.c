#include "tests/bench/scripted.h"

#include <stdio.h>

#include "tests/bench/bench.h"
#include "tests/bench/brain.h"
#include "tests/bench/rooms.h"

void scripted_open(struct scripted *s, const char *const *more, http_request_h *h)
{
	struct http_server_conf server = {.max_per_address = 256, .h = h};
	static const char *const names[] = {"TEXT", "SPEECH"};
	size_t n = 0;

	s->env = rooms_open(rooms_number("BENCH_ROOMS", 4, SCRIPTED_ROOMS));
	brain_alloc(&s->brain, s->env, "parley and now what", 1000, false);
	BENCH_OK(http_server_alloc(&s->server, s->env, &server));
	snprintf(s->urls[0], sizeof s->urls[0], "PARLEY_BRAIN_URL=%s", brain_url(s->brain));
	for (size_t i = 0; i < 2; i++)
		snprintf(s->urls[i + 1], sizeof s->urls[0], "PARLEY_%s_URL=http://127.0.0.1:%u/v1",
			 names[i], http_server_port(s->server));
	for (size_t i = 0; i < 3; i++)
		s->settings[n++] = s->urls[i];
	s->settings[n++] = "PARLEY_REPLY_PATH=brain";
	for (; more && *more && n < SCRIPTED_SETTINGS - 1; more++)
		s->settings[n++] = *more;
	s->settings[n] = NULL;
}

void scripted_run(const struct rooms_conf *conf, const unsigned *n, unsigned asks)
{
	rooms_begin(conf);
	for (unsigned seconds = 0; *n < asks; seconds++) {
		if (seconds > 60 + 3 * asks)
			bench_die("only %u questions (logs in %s)", *n, rooms_folder());
		rooms_run(1000);
	}
	rooms_end();
}

void scripted_row(const char *name, double *ms, size_t n, size_t of)
{
	if (!n)
		bench_die("%s: nothing was measured (logs in %s)", name, rooms_folder());
	bench_raw(name, ms, n);
	bench_row_more(name, bench_quantile(ms, n, 0.99), "ms",
		       "\"p50\": %.2f, \"max\": %.2f, \"n\": %zu, \"of\": %zu",
		       bench_quantile(ms, n, 0.5), bench_quantile(ms, n, 1), n, of);
}

void scripted_close(struct scripted *s)
{
	http_server_free(s->server);
	brain_free(s->brain);
	rooms_close();
}
