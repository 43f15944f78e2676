/* The server's side of the Realtime dialect: any lines of client events, with results of the
 * recogniser and the synthesis in between. No input may crash, leak or stop the session from
 * answering a well-formed event. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/offline/rules.h"
#include "control/offline/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct wants {
	uint32_t ended, speech;
	unsigned events;
};

static void on_event(const char *json, size_t len, void *arg)
{
	struct wants *w = arg;

	if (!len || json[0] != '{')
		abort();
	w->events++;
}

static void on_id(uint32_t id, void *arg)
{
	(void)id;
	(void)arg;
}

static void on_pcm(uint32_t id, const int16_t *pcm, size_t n, void *arg)
{
	volatile int16_t last = n ? pcm[n - 1] : 0;

	(void)last;
	(void)id;
	(void)arg;
}

static void on_end(uint32_t id, void *arg)
{
	((struct wants *)arg)->ended = id;
}

static void on_say(uint32_t id, const char *text, const char *voice, double speed, void *arg)
{
	if (!*voice || !(speed >= 0.25 && speed <= 1.5) || !text)
		abort();
	((struct wants *)arg)->speech = id;
}

static void work(struct session *s, struct wants *w, const struct session_moment *now)
{
	static const int16_t sound[5000];
	struct wants todo = *w;

	w->ended = w->speech = 0;
	if (todo.ended)
		session_recognised(s, now, todo.ended, "what time is it");
	if (todo.speech)
		session_take_speech(s, now, todo.speech, sound, 5000, "words", todo.speech & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char last[] = "{\"type\":\"input_audio_buffer.clear\"}";
	static struct rules *rules;
	struct session_moment now = {.local = {.tm_year = 126, .tm_mday = 1}, .random = 3};
	struct wants w = {.events = 0};
	struct session_conf conf = {.model = "m", .seed = 1};
	struct session *s = NULL;
	unsigned before;

	if (!rules && rules_alloc(&rules))
		return 0;
	conf.rules = rules;
	conf.transcription = size & 1;
	conf.out = (struct session_out){on_event, on_id, on_pcm, on_end, on_id, on_say, on_id, &w};
	if (session_alloc(&s, &conf))
		return 0;
	session_open(s, &now);
	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t n = end ? (size_t)(end - data) : size;

		session_event(s, &now, (const char *)data, n);
		now.now_ms += 20;
		work(s, &w, &now);
		data += n + (end != NULL);
		size -= n + (end != NULL);
	}
	before = w.events;
	session_event(s, &now, last, sizeof last - 1);
	if (w.events != before + 1)
		abort();
	session_free(s);
	return 0;
}
