#include "tests/bench/bare_pacer.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "mediad/audio/encoder.h"
#include "mediad/engine/priority.h"
#include "proto/base/time.h"
#include "proto/rtp.h"
#include "tests/bench/bare.h"
#include "tests/bench/bench.h"
#include "tests/bench/far_end.h"
#include "tests/bench/speech.h"

enum { RATE = 24000, SOUND = 4 * RATE };

static struct {
	struct bare_pacer_conf conf;
	atomic_bool over;
	pthread_t threads[BARE_PACER_THREADS];
	/* Speech at 24 kHz; its halves as stereo at 48 kHz where music is encoded. */
	int16_t sound[SOUND];
} pacer;

static void pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void send_frame(int fd, struct bare_sender *m)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				 .sin_port = htons(pacer.conf.port)};
	uint8_t p[UDP_MAX_PACKET];
	size_t n;

	bare_sender_seal(m, p, &n);
	sendto(fd, p, n, 0, (struct sockaddr *)&to, sizeof to);
}

static void encode_frame(struct bare_sender *m, unsigned frame)
{
	size_t n = pacer.conf.music ? 2 * RTP_FRAME : BARE_IN;
	const int16_t *in = pacer.sound + frame % (SOUND / n) * n;

	if (pacer.conf.music)
		bare_sender_encode_stereo(m, in);
	else
		bare_sender_encode(m, in);
}

static void *run(void *arg)
{
	const struct bare_pacer_conf *conf = &pacer.conf;
	unsigned self = (unsigned)(uintptr_t)arg, n = 0;
	struct bare_sender *senders[FAR_END_CALLS];
	uint64_t next = bench_clock() + 50 * NS_PER_MS, gap;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	pin(conf->cpu);
	priority_raise(NULL);
	for (unsigned c = self; c < conf->calls; c += conf->threads) {
		if (conf->music)
			bare_sender_alloc_stereo(&senders[n], far_end_own_ssrc(c),
						 ENCODER_COMPLEXITY);
		else
			bare_sender_alloc(&senders[n], far_end_own_ssrc(c), ENCODER_COMPLEXITY);
		encode_frame(senders[n++], 0);
	}
	gap = 20 * NS_PER_MS / (n ? n : 1);
	for (unsigned frame = 1; !atomic_load(&pacer.over) && n; frame++) {
		for (unsigned i = 0; i < n; i++, next += gap) {
			struct timespec ts = {(time_t)(next / NS_PER_S), (long)(next % NS_PER_S)};

			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
			send_frame(fd, senders[i]);
			encode_frame(senders[i], frame + i * 7u);
		}
	}
	while (n)
		bare_sender_free(senders[--n]);
	close(fd);
	return NULL;
}

void bare_pacer_start(const struct bare_pacer_conf *conf)
{
	if (!conf->threads || conf->threads > BARE_PACER_THREADS)
		bench_die("%u threads", conf->threads);
	pacer.conf = *conf;
	atomic_store(&pacer.over, false);
	speech_make(pacer.sound, SOUND, RATE, 1);
	for (unsigned i = 0; i < conf->threads; i++)
		if (pthread_create(&pacer.threads[i], NULL, run, (void *)(uintptr_t)i))
			bench_die("no thread");
}

void bare_pacer_stop(void)
{
	atomic_store(&pacer.over, true);
	for (unsigned i = 0; i < pacer.conf.threads; i++)
		pthread_join(pacer.threads[i], NULL);
}
