/* Searches the memory of a process for secrets. Prints a line for each: its name and how often it
 * was found, with the mappings where.
 *
 *   search PID NAME=HEX...     NAME=text:TEXT
 *
 * Status: 0 when it could read the memory, whatever it found; 77 when that is not permitted. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECRETS = 16, BYTES = 256, CHUNK = 1 << 20, NOT_PERMITTED = 77 };

static struct secret {
	char name[32];
	uint8_t p[BYTES];
	size_t n;
	unsigned found;
	char where[400];
} secrets[SECRETS];
static unsigned n_secrets;

static bool parse_hex(struct secret *s, const char *hex)
{
	for (; hex[0] && hex[1] && s->n < BYTES; hex += 2) {
		char byte[3] = {hex[0], hex[1], '\0'}, *end;

		s->p[s->n++] = (uint8_t)strtoul(byte, &end, 16);
		if (*end)
			return false;
	}
	return s->n >= 6 && !*hex;
}

static bool parse_secret(struct secret *s, const char *arg)
{
	const char *eq = strchr(arg, '=');

	if (!eq || (size_t)(eq - arg) >= sizeof s->name)
		return false;
	memcpy(s->name, arg, (size_t)(eq - arg));
	if (strncmp(eq + 1, "text:", 5) != 0)
		return parse_hex(s, eq + 1);
	s->n = strlen(eq + 6);
	if (s->n < 6 || s->n > BYTES)
		return false;
	memcpy(s->p, eq + 6, s->n);
	return true;
}

static void note(struct secret *s, uint64_t at, const char *mapping)
{
	size_t n = strlen(s->where);

	s->found++;
	snprintf(s->where + n, sizeof s->where - n, " %llx(%s)", (unsigned long long)at, mapping);
}

/* Chunks overlap, so that a secret on a border is found, and once. */
static void search_chunk(const uint8_t *p, size_t n, size_t fresh, uint64_t at, const char *mapping)
{
	for (unsigned i = 0; i < n_secrets; i++) {
		struct secret *s = &secrets[i];

		for (const uint8_t *f = p; (f = memmem(f, n - (size_t)(f - p), s->p, s->n)); f++)
			if ((size_t)(f - p) < fresh)
				note(s, at + (uint64_t)(f - p), mapping);
	}
}

static void search_mapping(int mem, uint64_t from, uint64_t to, const char *mapping)
{
	static uint8_t buf[CHUNK + BYTES];

	for (uint64_t at = from; at < to; at += CHUNK) {
		size_t want = to - at < sizeof buf ? (size_t)(to - at) : sizeof buf;
		ssize_t k = pread(mem, buf, want, (off_t)at);

		if (k > 0)
			search_chunk(buf, (size_t)k, CHUNK, at, mapping);
	}
}

static int search(const char *pid)
{
	char path[64], line[512];
	int mem;
	FILE *maps;

	snprintf(path, sizeof path, "/proc/%s/mem", pid);
	mem = open(path, O_RDONLY);
	snprintf(path, sizeof path, "/proc/%s/maps", pid);
	maps = fopen(path, "r");
	if (mem < 0 || !maps) {
		fprintf(stderr, "search: process %s: %s\n", pid, strerror(errno));
		return NOT_PERMITTED;
	}
	while (fgets(line, sizeof line, maps)) {
		unsigned long long from, to;
		char mode[8], name[300] = "";

		if (sscanf(line, "%llx-%llx %7s %*s %*s %*s %299s", &from, &to, mode, name) >= 3 &&
		    mode[0] == 'r' && strcmp(name, "[vvar]") != 0)
			search_mapping(mem, from, to, *name ? name : "anonymous");
	}
	fclose(maps);
	close(mem);
	return 0;
}

int main(int argc, char **argv)
{
	int status;

	for (int i = 2; i < argc && n_secrets < SECRETS; i++)
		if (!parse_secret(&secrets[n_secrets++], argv[i])) {
			fprintf(stderr, "search: not NAME=HEX nor NAME=text:TEXT\n");
			return 2;
		}
	if (argc < 3)
		return 2;
	status = search(argv[1]);
	for (unsigned i = 0; i < n_secrets && !status; i++)
		printf("%s %u%s\n", secrets[i].name, secrets[i].found, secrets[i].where);
	return status;
}
