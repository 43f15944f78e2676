#include "tests/bench/speakers.h"

#include "mediad/dave/frame.h"
#include "mediad/transport/rtpsize.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/speech.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { FRAMES = 500 };

struct member {
	unsigned call, speaker, turn;
	uint32_t frame; /* the next one */
};

struct speakers {
	struct speakers_conf conf;
	struct speech_frame speech[FRAMES];
	struct rtpsize *keys[FAR_END_CALLS];
	struct member *members; /* call by call */
	unsigned n;
	unsigned lost;
	pthread_t thread;
	pthread_mutex_t lock; /* of keys and turns, which change while they speak */
	atomic_bool over;
	atomic_uint_fast64_t sent;
	speakers_h *h;
	void *arg;
};

static void set_key(struct speakers *c, unsigned call, unsigned rekeys)
{
	uint8_t key[FAR_END_KEY];

	far_end_key(key, call, rekeys);
	rtpsize_free(c->keys[call]);
	BENCH_OK(rtpsize_alloc(&c->keys[call], RTPSIZE_AES256_GCM, key));
}

void speakers_alloc(struct speakers **out, const struct speakers_conf *conf)
{
	struct speakers *c = calloc(1, sizeof *c);

	if (!c)
		bench_die("out of memory");
	c->conf = *conf;
	pthread_mutex_init(&c->lock, NULL);
	c->members = calloc((size_t)conf->calls * conf->speakers, sizeof *c->members);
	if (!c->members)
		bench_die("out of memory");
	speech_encode(c->speech, FRAMES, 3);
	for (unsigned i = 0; i < conf->calls; i++)
		set_key(c, conf->from + i, 0);
	speakers_set(c, conf->calls, conf->speakers, conf->burst);
	*out = c;
}

struct speakers *speakers_free(struct speakers *c)
{
	for (unsigned i = 0; i < FAR_END_CALLS; i++)
		rtpsize_free(c->keys[i]);
	pthread_mutex_destroy(&c->lock);
	free(c->members);
	free(c);
	return NULL;
}

void speakers_set(struct speakers *c, unsigned calls, unsigned speakers, unsigned burst)
{
	c->conf.burst = burst ? burst : 1;
	c->conf.speakers = speakers;
	c->n = calls * speakers;
	/* Sequence numbers continue, so that the receiver sees no gap. */
	for (unsigned i = 0; i < c->n; i++) {
		c->members[i].call = c->conf.from + i / speakers;
		c->members[i].speaker = i % speakers;
	}
}

void speakers_turn(struct speakers *c, unsigned call, unsigned speaker, unsigned turn)
{
	pthread_mutex_lock(&c->lock);
	c->members[(call - c->conf.from) * c->conf.speakers + speaker].turn = turn;
	pthread_mutex_unlock(&c->lock);
}

void speakers_rekey(struct speakers *c, unsigned call, unsigned rekeys)
{
	pthread_mutex_lock(&c->lock);
	set_key(c, call, rekeys);
	pthread_mutex_unlock(&c->lock);
}

static void speak(struct speakers *c, struct member *m, unsigned index)
{
	const struct speech_frame *k = &c->speech[(m->frame + index * 37) % FRAMES];
	struct rtp_header h = {.pt = RTP_PT_OPUS,
			       .seq = (uint16_t)m->frame,
			       .ts = m->frame * RTP_FRAME,
			       .ssrc = far_end_ssrc(m->call, m->speaker, m->turn)};
	uint8_t sealed[SPEECH_OPUS + DAVE_OPUS_OVERHEAD], p[UDP_MAX_PACKET];
	size_t n;

	m->frame++;
	if (c->conf.lost && ++c->lost % c->conf.lost == 0)
		return;
	n = far_end_seal(c->conf.far_end, m->call, m->speaker, k->p, k->n, sealed, sizeof sealed);
	BENCH_OK(rtpsize_seal(c->keys[m->call], &h, sealed, n, p, sizeof p, &n));
	if (c->h)
		c->h(m->call, m->speaker, p, n, c->arg);
	else
		far_end_send(c->conf.far_end, m->call, p, n);
	atomic_fetch_add_explicit(&c->sent, 1, memory_order_relaxed);
}

static void *run(void *arg)
{
	struct speakers *c = arg;
	uint64_t frame = c->conf.frame_us ? c->conf.frame_us * UINT64_C(1000) : 20 * NS_PER_MS,
		 gap = frame * c->conf.burst / c->n, next = bench_clock() + 5 * NS_PER_MS;

	while (!atomic_load(&c->over)) {
		for (unsigned i = 0; i < c->n; i++) {
			struct timespec ts = {(time_t)(next / NS_PER_S), (long)(next % NS_PER_S)};

			if (i % c->conf.burst == 0) {
				clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
				next += gap;
			}
			pthread_mutex_lock(&c->lock);
			speak(c, &c->members[i], i);
			pthread_mutex_unlock(&c->lock);
		}
	}
	return NULL;
}

void speakers_start(struct speakers *c, speakers_h *h, void *arg)
{
	c->h = h;
	c->arg = arg;
	atomic_store(&c->sent, 0);
	atomic_store(&c->over, false);
	if (pthread_create(&c->thread, NULL, run, c))
		bench_die("no thread");
}

uint64_t speakers_stop(struct speakers *c)
{
	atomic_store(&c->over, true);
	pthread_join(c->thread, NULL);
	return speakers_sent(c);
}

uint64_t speakers_sent(const struct speakers *c)
{
	return atomic_load_explicit(&c->sent, memory_order_relaxed);
}
