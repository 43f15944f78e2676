/* An agent of ACP that sends what it likes, line by line, to a client that opens, prompts and
 * cancels: no input may crash, leak or pass a bound, and every prompt gets exactly one result. The
 * first byte chooses what is granted and the cost limit; lines that begin with ! are commands. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/acp.h"
#include "proto/base/utf8.h"
#include "tests/fuzz/peer_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TASKS = 64 };

struct state {
	struct acp *a;
	uint64_t now;
	unsigned tasks, results[TASKS];
};

static void on_send(const char *text, size_t n, void *arg)
{
	(void)arg;
	require(n == strlen(text) && !strchr(text, '\n'));
}

static void on_change(void *arg)
{
	(void)arg;
}

static void on_progress(uint64_t task, const char *text, void *arg)
{
	const struct state *s = arg;

	require(task < s->tasks && !s->results[task] && utf8_valid(text) &&
		strlen(text) < ACP_PROGRESS_MAX && !strchr(text, '\n'));
}

static void on_result(uint64_t task, const struct acp_result *result, void *arg)
{
	struct state *s = arg;

	require(task < s->tasks && !s->results[task]++);
	require(result->n <= ACP_TEXT_MAX && result->n == strlen(result->text) &&
		utf8_valid(result->text));
}

static void run_command(const uint8_t *p, size_t n, void *arg)
{
	struct state *s = arg;

	switch (n ? p[0] : 0) {
	case 'o':
		acp_open(s->a, s->now);
		break;
	case 'x':
		acp_close(s->a, "it ended");
		break;
	case 'p':
		if (s->tasks < TASKS && acp_prompt(s->a, s->tasks++, "do it", 5000, s->now))
			s->results[s->tasks - 1]++;
		break;
	case 'k':
		acp_cancel(s->a, n > 1 ? p[1] % TASKS : 0, s->now);
		break;
	case 't':
		s->now += UINT64_C(1000000000) * n;
		acp_timer(s->a, s->now);
		break;
	default:
		break;
	}
}

static void take_message(const char *p, size_t n, void *arg)
{
	struct state *s = arg;

	acp_receive(s->a, p, n, s->now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct state s = {.now = 1};
	struct acp_conf conf = {.client = "parley",
				.version = "1",
				.folder = "/home",
				.grants =
					size ? (enum acp_grants)(data[0] % 3) : ACP_GRANTS_READING,
				.cost_max = size && data[0] & 4 ? 1000000 : 0,
				.sendh = on_send,
				.changeh = on_change,
				.progressh = on_progress,
				.resulth = on_result,
				.arg = &s};

	if (!size || acp_alloc(&s.a, &conf))
		return 0;
	acp_open(s.a, s.now);
	feed_peer_lines(data, size, run_command, take_message, &s);
	acp_close(s.a, "it ended");
	for (unsigned i = 0; i < s.tasks; i++)
		require(s.results[i] == 1);
	acp_free(s.a);
	return 0;
}
