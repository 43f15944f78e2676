/* Measures the recognition rate of offlined: its phrase files as text, then spoken by three voices
 * through Opus with packet loss, then sentences that are not addressed to it.
 *
 *   offline_measure [--every N] [--loss 0,5,10] [--verbose] PHRASES… [--not-meant FILE]
 *                   [--promised FILE]
 *
 * Prints shares, and fails if text is under 85 %, speech without loss under 80 %, more than 5 % of
 * the unaddressed sentences are taken for a command, or a promised phrase is not understood from
 * each voice without loss. --every N takes each N-th line only, but of the promised ones. */
#include "control/offline/recogniser.h"
#include "control/offline/rate_convert.h"
#include "control/offline/rules.h"
#include "control/offline/speech.h"

#include <getopt.h>
#include <opus/opus.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	MAX_PHRASES = 2000,
	MAX_LOSSES = 4,
	VOICES = 3,
	RATE = SPEECH_RATE,
	FRAME = RATE / 50,
	MAX_PACKET = 1275,
	BITRATE = 48000,
	THREADS = 2,
	TEXT_GOAL = 85,
	SPEECH_GOAL = 80,
	FALSE_LIMIT = 5,
};

static const char *const voices[VOICES] = {"slt", "rms", "awb"};

enum kind { PHRASE, NOT_MEANT, PROMISED };

struct phrase {
	enum intent want;
	enum kind kind;
	char text[200];
};

struct tally {
	unsigned right, all;
};

static struct {
	struct phrase phrase[MAX_PHRASES];
	unsigned n, every;
	unsigned loss[MAX_LOSSES], n_losses;
	bool verbose;
	struct rules *rules;
	struct pattern_graph graph;
	pthread_mutex_t lock; /* guards the fields below, and flite */
	struct speech *speech;
	unsigned next, jobs;
	struct tally text, spoken[MAX_LOSSES][VOICES], taken, promised;
	double audio_s, cpu_s;
} m = {.every = 1, .lock = PTHREAD_MUTEX_INITIALIZER};

struct sound {
	int16_t *pcm;
	size_t n;
};

static void die(const char *what)
{
	fprintf(stderr, "offline_measure: %s\n", what);
	exit(2);
}

static bool keep(const int16_t *pcm, size_t n, const char *piece, void *arg)
{
	struct sound *s = arg;
	int16_t *p = realloc(s->pcm, (s->n + n + FRAME) * sizeof *p);

	(void)piece;
	if (!p)
		die("out of memory");
	memcpy(p + s->n, pcm, n * sizeof *p);
	s->pcm = p;
	s->n += n;
	return true;
}

static void load(const char *path, enum kind kind)
{
	const bool not_meant = kind == NOT_MEANT;
	FILE *f = fopen(path, "r");
	char line[512];
	unsigned seen = 0;

	if (!f)
		die(path);
	while (fgets(line, sizeof line, f)) {
		struct phrase *p = &m.phrase[m.n];
		char *text = not_meant ? line : strchr(line, '\t');

		line[strcspn(line, "\n")] = '\0';
		if (!line[0] || line[0] == '#' || (seen++ % m.every && kind != PROMISED))
			continue;
		if (m.n == MAX_PHRASES || !text)
			die("a phrase file is malformed or too long");
		if (!not_meant)
			*text++ = '\0';
		text[strcspn(text, "\t")] = '\0';
		if (!not_meant && !intent_parse(line, &p->want))
			die(line);
		p->kind = kind;
		snprintf(p->text, sizeof p->text, "%s", text);
		m.n++;
	}
	fclose(f);
}

/* The audio of one packet: decoded, from the next packet's FEC, or concealed. */
static void receive(OpusDecoder *d, const uint8_t *now, int now_n, bool lost, const uint8_t *next,
		    int next_n, int16_t *out)
{
	int got;

	if (!lost)
		got = opus_decode(d, now, now_n, out, FRAME, 0);
	else if (next)
		got = opus_decode(d, next, next_n, out, FRAME, 1);
	else
		got = opus_decode(d, NULL, 0, out, FRAME, 0);
	if (got != FRAME)
		die("opus");
}

/* Encodes and decodes at 48 kbit/s with FEC, losing each 20 ms packet with this probability. */
static void through_opus(struct sound *s, unsigned loss, uint64_t seed)
{
	size_t frames = (s->n + FRAME - 1) / FRAME;
	int err, *size = calloc(frames + 1, sizeof *size);
	uint8_t(*packet)[MAX_PACKET] = calloc(frames + 1, sizeof *packet);
	bool *lost = calloc(frames + 1, sizeof *lost);
	OpusEncoder *e = opus_encoder_create(RATE, 1, OPUS_APPLICATION_VOIP, &err);
	OpusDecoder *d = opus_decoder_create(RATE, 1, &err);

	if (!size || !packet || !lost || !e || !d)
		die("out of memory");
	opus_encoder_ctl(e, OPUS_SET_BITRATE(BITRATE));
	opus_encoder_ctl(e, OPUS_SET_INBAND_FEC(1));
	opus_encoder_ctl(e, OPUS_SET_PACKET_LOSS_PERC((int)loss));
	memset(s->pcm + s->n, 0, (frames * FRAME - s->n) * sizeof *s->pcm);
	for (size_t i = 0; i < frames; i++) {
		size[i] = opus_encode(e, s->pcm + i * FRAME, FRAME, packet[i], MAX_PACKET);
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		lost[i] = (seed >> 33) % 100 < loss;
	}
	for (size_t i = 0; i < frames; i++) {
		bool redundant = i + 1 < frames && !lost[i + 1];

		receive(d, packet[i], size[i], lost[i], redundant ? packet[i + 1] : NULL,
			size[i + 1], s->pcm + i * FRAME);
	}
	s->n = frames * FRAME;
	opus_encoder_destroy(e);
	opus_decoder_destroy(d);
	free(size);
	free(packet);
	free(lost);
}

static void hear(struct recogniser *e, struct rate_convert *r, struct sound *s,
		 struct recognition *h)
{
	const int16_t *out;
	size_t n;

	rate_convert_reset(r);
	if (rate_convert_run(r, s->pcm, s->n, true, &out, &n) || recogniser_start(e))
		die("the recogniser failed");
	for (size_t i = 0; i < n; i += 1600)
		if (recogniser_feed(e, out + i, n - i < 1600 ? n - i : 1600))
			die("the recogniser failed");
	if (recogniser_finish(e, h))
		die("the recogniser failed");
}

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Measures one sentence with one voice and one loss rate. Unaddressed sentences and promised ones
 * have no loss. */
static void one(struct recogniser *e, struct rate_convert *r, unsigned job)
{
	unsigned v = job % VOICES, l = job / VOICES % m.n_losses, p = job / VOICES / m.n_losses;
	const struct phrase *ph = &m.phrase[p];
	struct sound s = {.pcm = NULL};
	struct recognition h;
	struct reading reading;
	const bool not_meant = ph->kind == NOT_MEANT;
	struct tally *t = not_meant		 ? &m.taken
			  : ph->kind == PROMISED ? &m.promised
						 : &m.spoken[l][v];
	bool right;
	double t0;

	if (ph->kind != PHRASE && l)
		return;
	pthread_mutex_lock(&m.lock);
	if (speech_say(m.speech, ph->text, voices[v], 1, keep, &s))
		die("the voice failed");
	pthread_mutex_unlock(&m.lock);
	through_opus(&s, ph->kind == PROMISED ? 0 : m.loss[l], job);
	t0 = cpu_now();
	hear(e, r, &s, &h);
	t0 = cpu_now() - t0;
	if (rules_read(m.rules, h.text, &reading))
		die("out of memory");
	right = not_meant ? reading.intent != INTENT_NONE : reading.intent == ph->want;
	pthread_mutex_lock(&m.lock);
	m.audio_s += (double)s.n / RATE;
	m.cpu_s += t0;
	t->all++;
	t->right += right;
	if (right == not_meant && (m.verbose || ph->kind == PROMISED))
		printf("  %s %u %%: \"%s\" -> \"%s\" (%s, %.1f, %.2f)\n", voices[v], m.loss[l],
		       ph->text, h.text, intent_name(reading.intent), h.distance, h.agreement);
	pthread_mutex_unlock(&m.lock);
	free(s.pcm);
}

static void *work(void *arg)
{
	struct recogniser_conf conf = {.graph = &m.graph, .sounds = rules_sounds()};
	struct rate_convert *r = NULL;
	struct recogniser *e = NULL;
	const char *why = "out of memory";

	(void)arg;
	if (recogniser_alloc(&e, &conf, &why) ||
	    rate_convert_alloc(&r, RATE, RECOGNISER_RATE, false))
		die(why);
	for (;;) {
		unsigned job;

		pthread_mutex_lock(&m.lock);
		job = m.next++;
		if (job < m.jobs && job && job % 200 == 0)
			printf("  … %u of %u\n", job, m.jobs);
		pthread_mutex_unlock(&m.lock);
		if (job >= m.jobs)
			break;
		one(e, r, job);
	}
	recogniser_free(e);
	rate_convert_free(r);
	return NULL;
}

static double share(struct tally t)
{
	return t.all ? 100.0 * t.right / t.all : 0;
}

static void text_score(void)
{
	for (unsigned i = 0; i < m.n; i++) {
		struct reading r;
		bool right;

		if (m.phrase[i].kind == NOT_MEANT)
			continue;
		if (rules_read(m.rules, m.phrase[i].text, &r))
			die("out of memory");
		right = r.intent == m.phrase[i].want;
		m.text.all++;
		m.text.right += right;
		if (m.verbose && !right)
			printf("  text: \"%s\" -> %s\n", m.phrase[i].text, intent_name(r.intent));
	}
}

static int report(void)
{
	bool ok_text = share(m.text) >= TEXT_GOAL, ok_speech = true,
	     ok_taken = share(m.taken) <= FALSE_LIMIT,
	     ok_promised = m.promised.right == m.promised.all;
	unsigned passed;

	printf("text: %u of %u understood, %.1f %% (goal %d)\n", m.text.right, m.text.all,
	       share(m.text), TEXT_GOAL);
	for (unsigned l = 0; l < m.n_losses; l++) {
		struct tally sum = {0};

		for (unsigned v = 0; v < VOICES; v++) {
			sum.right += m.spoken[l][v].right;
			sum.all += m.spoken[l][v].all;
		}
		printf("speech, %2u %% of packets lost: %.1f %% understood (slt %.1f, rms %.1f, "
		       "awb %.1f)\n",
		       m.loss[l], share(sum), share(m.spoken[l][0]), share(m.spoken[l][1]),
		       share(m.spoken[l][2]));
		if (!m.loss[l])
			ok_speech = share(sum) >= SPEECH_GOAL;
	}
	printf("not meant for it: %u of %u taken for a command, %.1f %% (limit %d)\n",
	       m.taken.right, m.taken.all, share(m.taken), FALSE_LIMIT);
	printf("promised: %u of %u understood (goal: all)\n", m.promised.right, m.promised.all);
	printf("time of a core per second of sound: %.2f s\n",
	       m.audio_s > 0 ? m.cpu_s / m.audio_s : 0);
	passed = ok_text + ok_speech + ok_taken + ok_promised;
	printf("%u passed, %u failed, 0 skipped\n", passed, 4 - passed);
	return passed == 4 ? 0 : 1;
}

static void losses(char *list)
{
	for (char *p = strtok(list, ","); p; p = strtok(NULL, ",")) {
		if (m.n_losses == MAX_LOSSES)
			die("too many losses");
		m.loss[m.n_losses++] = (unsigned)strtoul(p, NULL, 10);
	}
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {{"every", required_argument, NULL, 'e'},
					      {"loss", required_argument, NULL, 'l'},
					      {"not-meant", required_argument, NULL, 'n'},
					      {"promised", required_argument, NULL, 'p'},
					      {"verbose", no_argument, NULL, 'v'},
					      {NULL, 0, NULL, 0}};
	const char *not_meant = NULL, *promised = NULL;
	pthread_t thread[THREADS];
	int c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'e')
			m.every = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'l')
			losses(optarg);
		else if (c == 'n')
			not_meant = optarg;
		else if (c == 'p')
			promised = optarg;
		else if (c == 'v')
			m.verbose = true;
		else
			return 2;
	}
	if (optind == argc || !m.every)
		die("usage: offline_measure [--every N] [--loss 0,5,10] [--verbose] [--not-meant "
		    "FILE] [--promised FILE] PHRASES...");
	if (!m.n_losses)
		m.loss[m.n_losses++] = 0;
	for (; optind < argc; optind++)
		load(argv[optind], PHRASE);
	if (not_meant)
		load(not_meant, NOT_MEANT);
	if (promised)
		load(promised, PROMISED);
	if (rules_alloc(&m.rules) || rules_graph(m.rules, &m.graph) || speech_alloc(&m.speech))
		die("out of memory");
	text_score();
	m.jobs = m.n * m.n_losses * VOICES;
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, NULL))
			die("no thread");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	c = report();
	speech_free(m.speech);
	pattern_graph_free(&m.graph);
	rules_free(m.rules);
	return c;
}
