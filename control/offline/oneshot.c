#include "control/offline/oneshot.h"

#include "control/offline/brain.h"
#include "control/offline/recogniser.h"
#include "control/offline/rate_convert.h"
#include "control/offline/rules.h"
#include "control/offline/speech.h"
#include "control/offline/wavfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sound {
	int16_t *pcm;
	size_t n;
	int err;
};

static int fail(int err, const char *what)
{
	fprintf(stderr, "offlined: %s (%s)\n", what,
		err == EBADMSG ? "not a 16-bit PCM WAV file" : strerror(err));
	return 1;
}

static bool collect(const int16_t *pcm, size_t n, const char *piece, void *arg)
{
	struct sound *s = arg;
	int16_t *p = realloc(s->pcm, (s->n + n + 1) * sizeof *p);

	(void)piece;
	if (!p) {
		s->err = ENOMEM;
		return false;
	}
	memcpy(p + s->n, pcm, n * sizeof *p);
	s->pcm = p;
	s->n += n;
	return true;
}

static int speak(const struct oneshot_conf *c)
{
	struct sound s = {.pcm = NULL};
	struct speech *speech = NULL;
	int err = speech_alloc(&speech);

	if (!err)
		err = speech_say(speech, c->speak, c->voice, 1, collect, &s);
	if (err == EINVAL)
		fprintf(stderr, "offlined: the voices are slt, rms and awb\n");
	if (!err)
		err = s.err;
	if (!err)
		err = wavfile_write(c->output, SPEECH_RATE, s.pcm ? s.pcm : &(int16_t){0}, s.n);
	free(s.pcm);
	speech_free(speech);
	return err ? fail(err, c->output) : 0;
}

/* The file's sound at the recogniser's rate. */
static int load(const char *path, struct sound *s)
{
	struct rate_convert *r = NULL;
	const int16_t *out;
	int16_t *pcm = NULL;
	uint32_t rate;
	size_t n;
	int err = wavfile_read(path, &rate, &pcm, &n);

	if (!err)
		err = rate_convert_alloc(&r, rate, RECOGNISER_RATE, false);
	if (!err)
		err = rate_convert_run(r, pcm, n, true, &out, &n);
	if (!err && !collect(out, n, "", s))
		err = s->err;
	free(pcm);
	rate_convert_free(r);
	return err;
}

static int hear(const struct recogniser_conf *conf, const struct sound *s,
		struct recognition *heard, const char **why)
{
	struct recogniser *e = NULL;
	int err = recogniser_alloc(&e, conf, why);

	if (!err)
		err = recogniser_start(e);
	if (!err)
		err = recogniser_feed(e, s->pcm, s->n);
	if (!err)
		err = recogniser_finish(e, heard);
	recogniser_free(e);
	return err;
}

static int transcribe(const struct oneshot_conf *c)
{
	const char *path = c->transcribe ? c->transcribe : c->general, *why = path;
	struct pattern_graph graph = {.n_states = 0};
	struct recogniser_conf conf = {
		.model = c->model, .graph = &graph, .sounds = rules_sounds()};
	struct sound s = {.pcm = NULL};
	struct rules *rules = NULL;
	struct recognition heard;
	int err = load(path, &s);

	if (!err)
		err = rules_alloc(&rules);
	if (!err)
		err = rules_graph(rules, &graph);
	if (!err)
		err = hear(&conf, &s, &heard, &why);
	if (!err)
		puts(c->transcribe ? heard.text : heard.general);
	free(s.pcm);
	pattern_graph_free(&graph);
	rules_free(rules);
	return err ? fail(err, why) : 0;
}

static int answer(const struct oneshot_conf *c)
{
	struct brain_room room = {.n = 0};
	struct brain_moment now = {.room = &room};
	char line[1024], names[1024];
	struct rules *rules = NULL;
	struct brain *brain = NULL;
	struct timespec ts;
	enum intent intent;
	int err = rules_alloc(&rules);

	/* A one-shot run has no loop, so it asks the clock itself. */
	clock_gettime(CLOCK_REALTIME, &ts);
	localtime_r(&ts.tv_sec, &now.local);
	now.random = (uint64_t)ts.tv_sec * 1000000007u ^ (uint64_t)ts.tv_nsec;
	snprintf(names, sizeof names, "people in the room: %s", c->room ? c->room : "");
	brain_room_parse(&room, names);
	if (!err)
		err = brain_alloc(&brain, rules);
	if (!err)
		err = brain_answer(brain, c->answer, &now, line, sizeof line, &intent);
	if (!err)
		puts(line);
	brain_free(brain);
	rules_free(rules);
	return err ? fail(err, "no answer") : 0;
}

int oneshot_run(const struct oneshot_conf *c)
{
	if (c->speak)
		return speak(c);
	return c->answer ? answer(c) : transcribe(c);
}
