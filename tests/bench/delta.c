/* From one message with 64 KB of an answer's sound to its samples, over the base64 decoder alone:
 * delta_ratio, the worst of the dialects. */
#include "control/dialect/base64.h"
#include "control/dialect/realtime.h"
#include "tests/bench/bench.h"
#include "tests/bench/speech.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PCM = 48 * 1024, BASE64 = PCM / 3 * 4, RATE = 24000, TURNS = 41, CALLS = 20 };

static struct rig {
	const struct realtime_dialect *dialect;
	void *codec;
	char *msg, base64[BASE64];
	size_t n;
	uint8_t pcm[PCM];
} rig;

static void whole(void *arg)
{
	struct realtime_facts facts;
	size_t n = 0;

	(void)arg;
	BENCH_OK(rig.dialect->decode(rig.codec, true, (const uint8_t *)rig.msg, rig.n, &facts));
	for (size_t i = 0; i < facts.n; i++)
		if (facts.v[i].type == REALTIME_AUDIO)
			BENCH_OK(base64_decode((const char *)facts.v[i].data.p, facts.v[i].data.n,
					       rig.pcm, PCM, &n));
	if (n != PCM)
		bench_die("no sound in the message");
	realtime_facts_clear(&facts);
}

static void bare(void *arg)
{
	size_t n = 0;

	(void)arg;
	BENCH_OK(base64_decode(rig.base64, BASE64, rig.pcm, PCM, &n));
}

/* before, after: what of the message stands around the base64; opening: what is decoded first. */
static double measure(const char *name, const struct realtime_dialect *dialect, const char *opening,
		      const char *before, const char *after)
{
	struct realtime_conf conf = {.url = "ws://127.0.0.1/",
				     .model = "m",
				     .voice = "",
				     .rate_in = RATE,
				     .rate_out = RATE};
	struct bench_turns t;
	struct realtime_facts facts;
	size_t head = strlen(before), tail = strlen(after);

	rig.dialect = dialect;
	rig.n = head + BASE64 + tail;
	rig.msg = malloc(rig.n + 1);
	if (!rig.msg)
		bench_die("out of memory");
	memcpy(rig.msg, before, head);
	memcpy(rig.msg + head, rig.base64, BASE64);
	memcpy(rig.msg + head + BASE64, after, tail + 1);
	BENCH_OK(dialect->alloc(&rig.codec, &conf));
	if (dialect->reset)
		dialect->reset(rig.codec);
	if (*opening) {
		BENCH_OK(dialect->decode(rig.codec, true, (const uint8_t *)opening, strlen(opening),
					 &facts));
		realtime_facts_clear(&facts);
	}
	bench_turns(&t, name, whole, bare, NULL, CALLS, TURNS);
	dialect->free(rig.codec);
	free(rig.msg);
	fprintf(stderr, "%s: %.1f us, %.1f us bare, %.2f\n", name, t.a / 1000, t.b / 1000, t.ratio);
	return t.ratio;
}

int main(void)
{
	static const char created[] =
		"{\"type\":\"response.created\",\"event_id\":\"e1\",\"response\":{\"id\":\"resp_"
		"1\","
		"\"object\":\"realtime.response\",\"status\":\"in_progress\"}}";
	static int16_t sound[PCM / 2];
	double worst;

	speech_make(sound, PCM / 2, RATE, 1);
	base64_encode((const uint8_t *)sound, PCM, rig.base64);
	worst = measure("delta_openai", &realtime_openai, created,
			"{\"type\":\"response.output_audio.delta\",\"event_id\":\"event_2\","
			"\"response_id\":\"resp_1\",\"item_id\":\"item_1\",\"output_index\":0,"
			"\"content_index\":0,\"delta\":\"",
			"\"}");
	bench_row("delta_ratio", worst, "ratio");
	return 0;
}
