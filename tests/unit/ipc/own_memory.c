#include "tests/unit/ipc/own_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum { MESSAGE = 64 << 10, CHUNK = 256 << 10 };
/* Not at the beginning, which free() overwrites. */
enum { MARK_AT = 100, MARK_EVERY = 1000 };

struct own_memory {
	uint8_t mark[OWN_MARK];
	uint8_t message[MESSAGE];
	uint8_t chunk[CHUNK + OWN_MARK];
};

bool own_memory_begin(struct own_memory **out)
{
	struct own_memory *m =
		mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED || getrandom(m->mark, sizeof m->mark, 0) != sizeof m->mark)
		return false;
	/* Texts are searched, too. */
	for (unsigned i = 0; i < OWN_MARK; i++)
		m->mark[i] = (uint8_t)('a' + m->mark[i] % 26);
	*out = m;
	return true;
}

void own_memory_end(struct own_memory *m)
{
	munmap(m, sizeof *m);
}

const uint8_t *own_memory_message(struct own_memory *m, size_t n)
{
	memset(m->message, '-', n);
	for (size_t at = MARK_AT; at + OWN_MARK <= n; at += MARK_EVERY)
		memcpy(m->message + at, m->mark, OWN_MARK);
	return m->message;
}

static int count_chunk(struct own_memory *m, size_t n, uint64_t at)
{
	int found = 0;

	for (uint8_t *p = m->chunk; n >= OWN_MARK; p++) {
		p = memmem(p, n - (size_t)(p - m->chunk), m->mark, OWN_MARK);
		if (!p || p - m->chunk >= CHUNK)
			break;
		printf("the mark is at %llx\n", (unsigned long long)at + (uint64_t)(p - m->chunk));
		found++;
	}
	return found;
}

static int count_mapping(struct own_memory *m, int mem, uint64_t from, uint64_t to)
{
	int found = 0;

	for (uint64_t at = from; at < to; at += CHUNK) {
		size_t want = to - at < sizeof m->chunk ? (size_t)(to - at) : sizeof m->chunk;
		ssize_t k = pread(mem, m->chunk, want, (off_t)at);

		found += k > 0 ? count_chunk(m, (size_t)k, at) : 0;
	}
	return found;
}

/* Kernel and sanitizers merge and reserve mappings, so ours is cut out by its addresses, and what
 * is not resident is no memory that was written. */
int own_memory_count(struct own_memory *m)
{
	const uint64_t ours = (uintptr_t)m, end = ours + sizeof *m;
	FILE *maps = fopen("/proc/self/maps", "r");
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC), found = 0;
	char line[512];

	while (maps && mem >= 0 && fgets(line, sizeof line, maps)) {
		unsigned long long from, to;
		char mode[8];

		if (sscanf(line, "%llx-%llx %7s", &from, &to, mode) != 3 || mode[0] != 'r' ||
		    mode[1] != 'w' || to - from > UINT64_C(1) << 32)
			continue;
		if (from < end && to > ours) {
			found += count_mapping(m, mem, from, from < ours ? ours : from);
			from = end < to ? end : to;
		}
		found += count_mapping(m, mem, from, to);
	}
	if (!maps || mem < 0)
		found = -1;
	if (maps)
		fclose(maps);
	if (mem >= 0)
		close(mem);
	return found;
}
