/* A run: from its beginning over its ops to the rest, in which nothing may be left. */
#include "tests/room/explore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/time.h"
#include "tests/room/explore_inside.h"

enum { START_MS = 1000, REST_STEPS = 4000 };

/* ---- what the world has to know of what the room did ---- */

static void await(struct explore *x, uint64_t user, uint32_t utterance)
{
	if (x->n_awaited == EXPLORE_AWAITED)
		memmove(x->awaited, x->awaited + 1, --x->n_awaited * sizeof x->awaited[0]);
	x->awaited[x->n_awaited].user = user;
	x->awaited[x->n_awaited++].utterance = utterance;
}

static void saw_playback(struct explore *x, const struct room_effect *e)
{
	switch ((int)e->type) {
	case ROOM_DO_SAY_END:
		x->ended = x->ended || e->turn == x->playing;
		break;
	case ROOM_DO_SAY_OPEN:
		x->started = x->ended = x->over = false;
		x->written = 0;
		break;
	default: /* sound */
		x->written = e->turn == x->playing ? x->written + e->pcm.n / 2 : e->pcm.n / 2;
		if (e->turn != x->playing)
			x->started = x->ended = x->over = false;
		x->playing = e->turn;
		break;
	}
}

static void saw(struct explore *x, const struct room_effect *e)
{
	switch ((int)e->type) {
	case ROOM_DO_ASR_START:
		if (e->user <= EXPLORE_USERS)
			x->utterance[e->user] = e->utterance;
		break;
	case ROOM_DO_ASR_COMMIT:
		await(x, e->user, e->utterance);
		break;
	case ROOM_DO_ASR_RECORDING:
		if (!x->recording)
			await(x, e->user, e->utterance);
		x->recording = true;
		break;
	case ROOM_DO_ASK:
	case ROOM_DO_ASK_AGAIN:
		x->asked = e->turn;
		break;
	case ROOM_DO_BRAIN_CANCEL:
		x->asked = 0;
		break;
	case ROOM_DO_CLASSIFY:
	case ROOM_DO_CLASSIFY_OVERLAP:
		x->judging.turn = e->turn;
		x->judging.question = e->chunk;
		break;
	case ROOM_DO_RETRIEVE:
		x->retrieve = e->chunk;
		break;
	case ROOM_DO_SPEAK:
		x->line.turn = e->turn;
		x->line.chunk = e->chunk;
		break;
	case ROOM_DO_SPEAK_CANCEL:
		x->line.turn = 0;
		break;
	case ROOM_DO_SOUNDBOARD:
		x->beat.turn = e->turn;
		x->beat.chunk = e->chunk;
		break;
	case ROOM_DO_INSTRUCT:
		x->instructed = false;
		x->instructions = e->chunk;
		break;
	case ROOM_DO_SAY_END:
	case ROOM_DO_SAY_OPEN:
	case ROOM_DO_SAY_PCM:
		saw_playback(x, e);
		break;
	default:
		break;
	}
}

static void step(struct explore *x, const struct room_event *ev)
{
	if (x->broken)
		return;
	if (x->scenario)
		explore_write(x, ev);
	room_step(x->room, ev, x->now, &x->fx);
	x->recording = false;
	for (size_t i = 0; i < x->fx.n; i++)
		saw(x, &x->fx.v[i]);
	x->broken = watch_step(x->watch, x->room, ev, x->now, &x->fx);
}

void explore_do(struct explore *x, const struct explore_op *op)
{
	struct room_event ev;
	uint64_t deadline;

	x->now += (uint64_t)op->wait * NS_PER_MS;
	if (op->kind == K_TIMER) {
		deadline = room_deadline(x->room);
		/* On whole ms, as scenarios have them; nobody waits for what is an hour away. */
		deadline = deadline > UINT64_MAX - NS_PER_MS
				   ? deadline
				   : (deadline + NS_PER_MS - 1) / NS_PER_MS * NS_PER_MS;
		if (deadline > x->now && deadline - x->now <= 3600 * NS_PER_S)
			x->now = deadline;
	}
	explore_event(x, op, &ev);
	step(x, &ev);
	/* A brain that was told to be silent, or has said all, says no more of its own accord. */
	if ((op->kind == K_DONE || op->kind == K_FAILED) && ev.turn == x->asked)
		x->asked = 0;
}

/* ---- beginning and ending ---- */

void explore_begin(struct explore *x, const struct explore_policy *p)
{
	if (settings_alloc(&x->settings))
		abort();
	for (unsigned i = 0; i < p->n; i++) {
		settings_set(x->settings, p->set[i].name, p->set[i].value);
		if (x->scenario)
			fprintf(x->scenario, "setting %s %s\n", p->set[i].name, p->set[i].value);
	}
	if (room_alloc(&x->room, x->settings, "Parley"))
		abort();
	watch_reset(x->watch);
	x->broken = NULL;
	x->now = START_MS * NS_PER_MS;
	x->asked = x->playing = x->retrieve = 0;
	x->n_awaited = 0;
	x->started = x->ended = x->over = x->instructed = false;
	x->line.turn = x->beat.turn = x->judging.turn = x->judging.question = 0;
	x->written = 0;
	x->started_at = x->packet_at = x->now;
	memset(x->utterance, 0, sizeof x->utterance);
	if (x->scenario)
		fprintf(x->scenario, "0 transcripts manual\n0 playback manual\n");
}

void explore_rest(struct explore *x)
{
	uint64_t until = x->now + 3600 * NS_PER_S;

	/* A room that has thoughts begins anew for ever; what it has begun when the time is up has
	 * its end still. */
	for (unsigned i = 0; i < 4 * REST_STEPS && !x->broken; i++) {
		uint64_t at = room_deadline(x->room);

		/* What the room began by itself it may bring to its end. */
		if (at == UINT64_MAX ||
		    ((at > until || i >= REST_STEPS) && !room_turn_next(&x->room->context, NULL)))
			break;
		if (at > x->now)
			x->now = (at + NS_PER_MS - 1) / NS_PER_MS * NS_PER_MS;
		step(x, &(struct room_event){.type = ROOM_TIMER});
	}
	if (!x->broken)
		x->broken = watch_rest(x->watch, x->room);
}

void explore_end(struct explore *x)
{
	x->room = room_free(x->room);
	x->settings = settings_free(x->settings);
}

const char *explore_play(struct explore *x, const struct explore_run *run, FILE *scenario)
{
	x->scenario = scenario;
	explore_begin(x, &run->policy);
	for (unsigned i = 0; i < run->n && !x->broken; i++)
		explore_do(x, &run->op[i]);
	explore_rest(x);
	if (scenario && x->broken)
		fprintf(scenario, "# %s\n", x->broken);
	explore_end(x);
	x->scenario = NULL;
	return x->broken;
}

/* ---- coming and going ---- */

static void tone(uint8_t *pcm, size_t samples, int amp)
{
	for (size_t i = 0; i < samples; i++) {
		int16_t v = (int16_t)(i / 8 % 2 ? amp : -amp);

		pcm[2 * i] = (uint8_t)(v & 0xff);
		pcm[2 * i + 1] = (uint8_t)((uint16_t)v >> 8);
	}
}

int explore_alloc(struct explore **out, struct seen *seen)
{
	struct explore *x = calloc(1, sizeof *x);

	if (!x)
		return ENOMEM;
	if (watch_alloc(&x->watch, seen)) {
		free(x);
		return ENOMEM;
	}
	tone(x->loud, sizeof x->loud / 2, EXPLORE_LOUD);
	tone(x->murmur, sizeof x->murmur / 2, EXPLORE_MURMUR);
	tone(x->soft, sizeof x->soft / 2, EXPLORE_SOFT);
	*out = x;
	return 0;
}

struct explore *explore_free(struct explore *x)
{
	if (x)
		watch_free(x->watch);
	free(x);
	return NULL;
}
