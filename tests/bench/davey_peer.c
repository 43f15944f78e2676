/* Our side of tests/interop/bench/davey.mjs, asked a line at a time so that both sides take turns:
 *
 *   frames N               seals and opens N frames of 160 bytes     -> "SEAL_NS OPEN_NS" a frame
 *   keypackage CHANNEL     what op 26 carries, of fixed keys         -> hex
 *   welcome CHANNEL SENDER_HEX WELCOME_HEX                           -> "NS" to take it in; the
 * privacy code after it */
#include "mediad/dave/job.h"
#include "mediad/dave/media.h"
#include "tests/bench/bench.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USER = 4242, FRAME = 160, LINE = 1 << 20 };

static void run_job(struct dave_mls_state **room, struct dave_job *j)
{
	j->mls_state = *room;
	memset(j->seed, 7, sizeof j->seed);
	dave_job_run(j);
	*room = j->mls_state;
	j->mls_state = NULL;
	if (j->verdict != DAVE_DONE)
		bench_die("job %d: verdict %d, error %d", j->type, j->verdict, j->err);
}

static struct dave_job *job(enum dave_job_type type, const uint8_t *in, size_t n)
{
	struct dave_job *j;

	BENCH_OK(dave_job_alloc(&j, type));
	if (n) {
		j->in.p = malloc(n);
		if (!j->in.p)
			bench_die("out of memory");
		memcpy(j->in.p, in, n);
		j->in.n = n;
	}
	return j;
}

static struct dave_mls_state *room_with_keys(uint64_t channel, const uint8_t *sender, size_t n,
					     bool print)
{
	struct dave_mls_state *room;
	struct dave_job *j;

	BENCH_OK(dave_mls_state_alloc(&room, USER));
	if (n) {
		j = job(DAVE_JOB_EXTERNAL_SENDER, sender, n);
		run_job(&room, j);
		dave_job_free(j);
	}
	j = job(DAVE_JOB_RESET, NULL, 0);
	j->channel = channel;
	run_job(&room, j);
	for (size_t i = 0; print && i < j->out.n; i++)
		printf("%02x", j->out.p[i]);
	if (print)
		printf("\n");
	dave_job_free(j);
	return room;
}

static size_t unhex(uint8_t *out, size_t cap, const char *hex)
{
	size_t n = 0;

	if (!hex || sodium_hex2bin(out, cap, hex, strlen(hex), NULL, &n, NULL))
		bench_die("bad hex");
	return n;
}

static void welcome(uint64_t channel, const char *sender_hex, const char *welcome_hex)
{
	static uint8_t sender[1024], in[LINE / 2];
	size_t n_sender = unhex(sender, sizeof sender, sender_hex),
	       n = unhex(in, sizeof in, welcome_hex);
	struct dave_mls_state *room = room_with_keys(channel, sender, n_sender, false);
	struct dave_job *j = job(DAVE_JOB_WELCOME, in, n);
	char code[31];
	uint64_t from = bench_cpu();

	run_job(&room, j);
	from = bench_cpu() - from;
	BENCH_OK(dave_privacy_code(code, j->epoch->authenticator));
	printf("%llu %s %u\n", (unsigned long long)from, code, j->epoch->n);
	dave_job_free(j);
	dave_mls_state_free(room);
}

static void frames(unsigned n)
{
	static const uint8_t base[DAVE_SECRET] = "0123456789abcdef", plain[FRAME];
	struct dave_sealer *sealer;
	struct dave_opener *opener;
	struct dave_key *k;
	struct {
		uint8_t p[FRAME + DAVE_OPUS_OVERHEAD];
		size_t n;
	} *sealed = calloc(n, sizeof *sealed);
	uint8_t out[FRAME + DAVE_OPUS_OVERHEAD];
	size_t got;
	uint64_t from, seal, epoch;

	if (!sealed)
		bench_die("out of memory");
	BENCH_OK(dave_sealer_alloc(&sealer));
	BENCH_OK(dave_opener_alloc(&opener));
	BENCH_OK(dave_key_alloc(&k, base, 1, 0));
	dave_sealer_set(sealer, k);
	BENCH_OK(dave_key_alloc(&k, base, 1, 0));
	dave_opener_add(opener, k, 0, NULL, NULL);
	from = bench_cpu();
	for (unsigned i = 0; i < n; i++)
		BENCH_OK(dave_seal(sealer, DAVE_OPUS, plain, FRAME, sealed[i].p, sizeof sealed[i].p,
				   &sealed[i].n));
	seal = bench_cpu() - from;
	from = bench_cpu();
	for (unsigned i = 0; i < n; i++)
		if (dave_open(opener, (struct slice){sealed[i].p, sealed[i].n}, 1, out, sizeof out,
			      &got, &epoch) != DAVE_SEALED)
			bench_die("frame %u did not open", i);
	printf("%.1f %.1f\n", (double)seal / n, (double)(bench_cpu() - from) / n);
	dave_sealer_free(sealer);
	dave_opener_free(opener);
	free(sealed);
}

int main(void)
{
	char *line = malloc(LINE), *word[4];

	if (!line || sodium_init() < 0)
		bench_die("no memory, or libsodium does not start");
	while (fgets(line, LINE, stdin)) {
		unsigned n = 0;

		line[strcspn(line, "\n")] = '\0';
		for (char *save, *w = strtok_r(line, " ", &save); w && n < 4;
		     w = strtok_r(NULL, " ", &save))
			word[n++] = w;
		if (n == 2 && strcmp(word[0], "frames") == 0)
			frames((unsigned)strtoul(word[1], NULL, 10));
		else if (n == 2 && strcmp(word[0], "keypackage") == 0)
			dave_mls_state_free(
				room_with_keys(strtoull(word[1], NULL, 10), NULL, 0, true));
		else if (n == 4 && strcmp(word[0], "welcome") == 0)
			welcome(strtoull(word[1], NULL, 10), word[2], word[3]);
		else
			bench_die("what is \"%s\"?", n ? word[0] : "");
		fflush(stdout);
	}
	free(line);
	return 0;
}
