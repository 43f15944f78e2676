#include "ipc/journal_play.h"

#include "ipc/env.h"
#include "ipc/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUM = 32 };

/* Over the sums of all threads, and over the recorded one where that is another: so that a record
 * that was tampered with anywhere never gives the sum of the original. */
static void print_sum(const char *name, struct env *const *envs, unsigned n,
		      void (*of)(struct env *env, char hex[65]), char (*recorded)[65])
{
	crypto_generichash_state st;
	uint8_t sum[SUM];
	char hex[65];

	crypto_generichash_init(&st, NULL, 0, sizeof sum);
	for (unsigned i = 0; i < n; i++) {
		of(envs[i], hex);
		crypto_generichash_update(&st, (const uint8_t *)hex, 64);
		if (recorded && strcmp(recorded[i], hex) != 0)
			crypto_generichash_update(&st, (const uint8_t *)recorded[i], 65);
	}
	crypto_generichash_final(&st, sum, sizeof sum);
	sodium_bin2hex(hex, sizeof hex, sum, sizeof sum);
	printf("%s %s\n", name, hex);
}

void journal_print_sums(struct env *const *envs, unsigned n)
{
	print_sum("shape", envs, n, env_shape, NULL);
	print_sum("digest", envs, n, env_digest, NULL);
}

/* 0, EILSEQ or EPROTO: how near one thread came. */
static int compare(struct env *env, unsigned thread, const char *digest, const char *shape)
{
	char now[65];

	env_shape(env, now);
	if (strcmp(now, shape) != 0) {
		fprintf(stderr, "thread %u sent something else than was recorded\n", thread);
		return EPROTO;
	}
	env_digest(env, now);
	if (strcmp(now, digest) == 0)
		return 0;
	fprintf(stderr, "thread %u made other sound than was recorded; all else is the same\n",
		thread);
	return EILSEQ;
}

int journal_play(struct journal_reader *r, struct env **envs, unsigned n)
{
	char digests[JOURNAL_PLAY_THREADS][65], shapes[JOURNAL_PLAY_THREADS][65];
	uint64_t at = 0;
	int err, worst = 0;

	if (n > JOURNAL_PLAY_THREADS)
		return EINVAL;
	err = journal_replay(r, envs, n, &at, digests);
	for (unsigned i = 0; i < n; i++) {
		journal_recorded_shape(r, i, shapes[i]);
		env_finish(envs[i]);
	}
	print_sum("shape", envs, n, env_shape, shapes);
	print_sum("digest", envs, n, env_digest, digests);
	if (err == EPROTO)
		fprintf(stderr, "the replay diverged from the record at %" PRIu64 "\n", at);
	for (unsigned i = 0; i < n && !err; i++) {
		int near = compare(envs[i], i, digests[i], shapes[i]);

		if (near && worst != EPROTO)
			worst = near;
	}
	return err ? err : worst;
}

int journal_exit(const char *path, int err)
{
	switch (err) {
	case 0:
		return EXIT_SUCCESS;
	case EILSEQ:
		return JOURNAL_EXIT_SOUND;
	case EPROTO:
		return EXIT_FAILURE;
	case EBADMSG:
		fprintf(stderr, "%s: damaged, or cut before its end\n", path);
		return EXIT_FAILURE;
	case ENOTSUP:
		fprintf(stderr, "%s: a journal of shapes cannot be replayed\n", path);
		return EXIT_FAILURE;
	default:
		fprintf(stderr, "%s: %s\n", path, strerror(err));
		return EXIT_FAILURE;
	}
}

int journal_print_file(const char *path)
{
	int err = journal_print(path, stdout);

	if (fflush(stdout) && !err)
		err = errno;
	return err ? journal_exit(path, err) : EXIT_SUCCESS;
}
