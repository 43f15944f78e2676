#include "tests/sound/talk.h"

#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/sound/mic.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	AUDIBLE = 100,	    /* of 32768 */
	QUIET_MS = 1200,    /* between two items */
	BREATH_MS = 700,    /* a longer silence of the bot ends its answer */
	PATIENCE_MS = 6000, /* for an answer */
	LISTEN_MS = 3500,   /* for one that should not come */
	LONGEST_MS = 20000, /* of listening */
	RTP_PER_SAMPLE = 48000 / MIC_LOW,
};

enum state { WAITING, ASKING, LISTENING, HOLDING, SPEAKING, WATCHING, OVER };

struct talk {
	struct env *env;
	struct talk_conf conf;
	enum state state;
	const struct item *item;      /* NULL: all are over */
	uint64_t since;		      /* the state */
	uint64_t began;		      /* the item */
	uint64_t bot_first, bot_last; /* of its newest stretch of sound; ns */
	bool answered;
	int16_t *pcm; /* what is being said */
	uint32_t capture, first_rtp;
	bool in_capture;
	uint64_t first_at; /* MIC_LOW samples since t0 */
};

static void state_enter(struct talk *t, enum state s)
{
	t->state = s;
	t->since = env_now(t->env);
}

/* The next item of the room, from this one on. */
static void item_next(struct talk *t, const struct item *from)
{
	while (from < t->conf.items + t->conf.n && from->room != t->conf.room)
		from++;
	t->item = from < t->conf.items + t->conf.n ? from : NULL;
	t->answered = false;
	state_enter(t, t->item ? WAITING : OVER);
}

int talk_alloc(struct talk **out, struct env *env, const struct talk_conf *conf)
{
	struct talk *t = calloc(1, sizeof *t);

	if (!t)
		return ENOMEM;
	t->env = env;
	t->conf = *conf;
	item_next(t, conf->items);
	*out = t;
	return 0;
}

struct talk *talk_free(struct talk *t)
{
	if (t)
		free(t->pcm);
	free(t);
	return NULL;
}

/* ---- hearing ---- */

static bool is_audible(const int16_t *pcm, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)pcm[i] * pcm[i];
	return n && sqrt(sum / (double)n) > AUDIBLE;
}

/* Where its arrival and its RTP time put it, so that pauses are as long as they were. */
void talk_hears(struct talk *t, const struct media_heard *f)
{
	int16_t pcm[2048];
	size_t n = f->pcm.n / 2 < 2048 ? f->pcm.n / 2 : 2048;
	uint64_t pos, at;

	if (f->at < t->conf.t0)
		return;
	memcpy(pcm, f->pcm.p, n * 2);
	if (!t->in_capture || f->capture != t->capture) {
		t->in_capture = true;
		t->capture = f->capture;
		t->first_rtp = f->rtp;
		t->first_at = (f->at - t->conf.t0) * MIC_LOW / NS_PER_S;
	}
	pos = t->first_at + (uint32_t)(f->rtp - t->first_rtp) / RTP_PER_SAMPLE;
	at = t->conf.t0 + pos * NS_PER_S / MIC_LOW;
	if (pwrite(t->conf.record, pcm, n * 2, (off_t)(pos * 2)) < 0)
		perror("sound: recording");
	if (t->conf.echo)
		mic_hears(t->conf.echo, at, pcm, n);
	if (!is_audible(pcm, n))
		return;
	if (!t->bot_last || at > t->bot_last + BREATH_MS * NS_PER_MS)
		t->bot_first = at;
	t->bot_last = at;
}

void talk_capture_ends(struct talk *t)
{
	t->in_capture = false;
}

/* ---- speaking ---- */

static void say(struct talk *t, struct mic *mic, const char *path, enum state next)
{
	size_t n;

	free(t->pcm);
	t->pcm = items_sound(path, &n);
	if (!t->pcm || mic_say(mic, t->pcm, n)) {
		fprintf(stderr, "sound: room %u cannot say %s\n", t->conf.room, path);
		exit(1);
	}
	state_enter(t, next);
}

static void item_end(struct talk *t)
{
	uint64_t now = env_now(t->env);

	fprintf(t->conf.played, "%zu\t%u\t%llu\t%llu\t%d\n", (size_t)(t->item - t->conf.items),
		t->conf.room, (unsigned long long)((t->began - t->conf.t0) * MIC_LOW / NS_PER_S),
		(unsigned long long)((now - t->conf.t0) * MIC_LOW / NS_PER_S), t->answered);
	item_next(t, t->item + 1);
}

static bool passed(uint64_t now, uint64_t since, unsigned ms)
{
	return now >= since + ms * NS_PER_MS;
}

static bool is_watched_enough(const struct talk *t, uint64_t now)
{
	bool takeover = strcmp(t->item->class, "takeover") == 0;
	unsigned quiet = t->item->after || takeover ? (unsigned)QUIET_MS : (unsigned)LISTEN_MS;

	if (passed(now, t->since, LONGEST_MS))
		return true;
	return passed(now, t->since, LISTEN_MS) && passed(now, t->bot_last, quiet);
}

static void hold(struct talk *t, uint64_t now)
{
	const struct item *it = t->item;
	struct mic *mic = it->other ? t->conf.other : t->conf.asker;
	bool due = it->after ? passed(now, t->bot_last, BREATH_MS) &&
				       passed(now, t->bot_last, it->at_ms)
			     : passed(now, t->bot_first, it->at_ms);

	if (strcmp(it->said, "-") == 0)
		state_enter(t, WATCHING);
	else if (due)
		say(t, mic, it->said, SPEAKING);
}

bool talk_tick(struct talk *t)
{
	uint64_t now = env_now(t->env);

	switch (t->state) {
	case WAITING:
		if (now < t->conf.first || !passed(now, t->since, QUIET_MS) ||
		    (t->bot_last && !passed(now, t->bot_last, QUIET_MS)))
			break;
		t->began = now;
		say(t, t->conf.asker, t->item->question, ASKING);
		break;
	case ASKING:
		if (!mic_speaks(t->conf.asker))
			state_enter(t, LISTENING);
		break;
	case LISTENING:
		if (t->bot_last > t->began && t->bot_first > t->began) {
			t->answered = true;
			state_enter(t, HOLDING);
		} else if (passed(now, t->since, PATIENCE_MS)) {
			item_end(t);
		}
		break;
	case HOLDING:
		hold(t, now);
		break;
	case SPEAKING:
		if (!mic_speaks(t->conf.asker) && !mic_speaks(t->conf.other))
			state_enter(t, WATCHING);
		break;
	case WATCHING:
		if (is_watched_enough(t, now))
			item_end(t);
		break;
	case OVER:
		break;
	}
	return t->state != OVER;
}
