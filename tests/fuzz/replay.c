/* Runs a fuzz target over files, without libFuzzer: so that plain `make check` replays every corpus
 * and a crash file can be looked at under gdb. Ends with how many inputs ran; none at all is a
 * failure.
 *
 *   target FILE-OR-FOLDER…                   runs them
 *   target --edit MS KEPT FILE-OR-FOLDER…    then runs edited inputs for MS ms of processor time,
 * the same ones at each run. One that ends the program is kept in the file KEPT.
 *
 * Edits are blind; `make fuzz` is guided by coverage and finds more, but needs a build by clang. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	INPUTS = 1 << 14,
	EDITED = 1 << 12, /* bytes of the longest edited input */
	HANGS_S = 20,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Called by sanitizers before they end the program. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void)); /* NOLINT */

static unsigned ran, failed;

static struct {
	const char
		*kept; /* where an input that ends the program goes; NULL: inputs are not edited */
	struct input {
		uint8_t *bytes;
		size_t n;
	} inputs[INPUTS];
	unsigned n;
	const uint8_t *running;
	size_t running_n;
	uint64_t state;
} edit = {.state = 0x9e3779b97f4a7c15};

/* The next number below the limit, by xorshift: the same ones at each run. */
static size_t number(size_t below)
{
	edit.state ^= edit.state << 13;
	edit.state ^= edit.state >> 7;
	edit.state ^= edit.state << 17;
	return below ? (size_t)(edit.state >> 16) % below : 0;
}

/* Replaces N bytes at AT by those of FROM; returns the new length, or the old one where that is too
 * long. */
static size_t put(uint8_t *to, size_t n, size_t at, size_t gone, const uint8_t *from, size_t come)
{
	if (n - gone + come > EDITED)
		return n;
	memmove(to + at + come, to + at + gone, n - at - gone);
	memcpy(to + at, from, come);
	return n - gone + come;
}

/* One edit: a bit, a byte, a range that goes, comes twice or comes from another input. */
static size_t edited(uint8_t *b, size_t n)
{
	static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff, '"', '{', '-', ' ', '9'};
	const struct input *other = &edit.inputs[number(edit.n)];
	uint8_t copy[EDITED];
	size_t at = number(n), most = n - at < 16 ? n - at : 16, len = number(most + 1);

	switch (number(6)) {
	case 0:
		if (n)
			b[at] ^= (uint8_t)(1u << number(8));
		return n;
	case 1:
		if (n)
			b[at] = edges[number(sizeof edges)];
		return n;
	case 2:
		return put(b, n, at, 0, edges + number(sizeof edges), 1);
	case 3:
		return put(b, n, at, len, edges, 0);
	case 4:
		memcpy(copy, b + at, len);
		return put(b, n, at, 0, copy, len);
	default:
		at = number(n + 1);
		most = number(other->n);
		len = other->n - most;
		return put(b, n, at, n - at, other->bytes + most, len < EDITED ? len : EDITED);
	}
}

static void keep(void)
{
	int fd = edit.running ? open(edit.kept, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;

	if (fd < 0 || write(fd, edit.running, edit.running_n) < 0)
		return;
	close(fd);
	edit.running = NULL;
}

static void ends(int sig)
{
	keep();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Returns how many edited inputs ran. */
static unsigned run_edited(long ms)
{
	static uint8_t b[EDITED];
	unsigned runs = 0;

	signal(SIGABRT, ends);
	signal(SIGALRM, ends);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(keep);
	for (clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000); edit.n && clock() < end;
	     runs++) {
		const struct input *in = &edit.inputs[number(edit.n)];
		size_t n = in->n < EDITED ? in->n : EDITED;
		uint8_t *exact;

		memcpy(b, in->bytes, n);
		for (size_t edits = 1 + number(4); edits; edits--)
			n = edited(b, n);
		exact = malloc(n ? n : 1);
		if (!exact)
			break;
		memcpy(exact, b, n);
		edit.running = exact;
		edit.running_n = n;
		alarm(HANGS_S);
		LLVMFuzzerTestOneInput(exact, n);
		alarm(0);
		edit.running = NULL;
		free(exact);
	}
	return runs;
}

static void run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *buf = NULL;
	struct stat st;

	if (!f || fstat(fileno(f), &st) || !(buf = malloc((size_t)st.st_size + 1)) ||
	    fread(buf, 1, (size_t)st.st_size, f) != (size_t)st.st_size) {
		fprintf(stderr, "cannot read %s\n", path);
		failed++;
		goto out;
	}
	/* An exact-size copy, so that ASan sees a read past the end. */
	uint8_t *exact = malloc(st.st_size ? (size_t)st.st_size : 1);
	if (exact) {
		memcpy(exact, buf, (size_t)st.st_size);
		LLVMFuzzerTestOneInput(exact, (size_t)st.st_size);
		free(exact);
		ran++;
	}
	if (edit.kept && edit.n < INPUTS) {
		edit.inputs[edit.n++] = (struct input){buf, (size_t)st.st_size};
		buf = NULL;
	}
out:
	free(buf);
	if (f)
		fclose(f);
}

static void run_path(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	if (!d) {
		run_file(path);
		return;
	}
	while ((e = readdir(d))) {
		char sub[4096];

		if (e->d_name[0] == '.')
			continue;
		snprintf(sub, sizeof sub, "%s/%s", path, e->d_name);
		run_path(sub);
	}
	closedir(d);
}

static int by_bytes(const void *a, const void *b)
{
	const struct input *x = a, *y = b;
	int order = memcmp(x->bytes, y->bytes, x->n < y->n ? x->n : y->n);

	return order ? order : (x->n > y->n) - (x->n < y->n);
}

int main(int argc, char **argv)
{
	long ms = argc > 3 && !strcmp(argv[1], "--edit") ? strtol(argv[2], NULL, 10) : 0;

	edit.kept = ms ? argv[3] : NULL;
	for (int i = ms ? 4 : 1; i < argc; i++)
		run_path(argv[i]);
	printf("%u inputs ran, %u could not be read\n", ran, failed);
	if (ms && !failed) {
		/* A folder has no order of its own. */
		qsort(edit.inputs, edit.n, sizeof edit.inputs[0], by_bytes);
		printf("%u edited inputs ran\n", run_edited(ms));
	}
	for (unsigned i = 0; i < edit.n; i++)
		free(edit.inputs[i].bytes);
	return failed || !ran ? 1 : 0;
}
