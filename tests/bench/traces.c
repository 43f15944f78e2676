#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/bench/bench.h"
#include "tests/bench/traces.h"

enum { TRACES_MAX = 40 };

static struct trace {
	size_t n;
	char bytes[64];
} trace[TRACES_MAX];
static unsigned n_traces;

void traces_clear(void)
{
	n_traces = 0;
}

void traces_add(const void *p, size_t n)
{
	if (n_traces == TRACES_MAX || n > sizeof trace[0].bytes)
		bench_die("too many traces");
	trace[n_traces].n = n;
	memcpy(trace[n_traces++].bytes, p, n);
}

void traces_add_text(const char *text)
{
	traces_add(text, strlen(text));
}

unsigned traces_in(const char *p, size_t n)
{
	unsigned found = 0;

	for (unsigned i = 0; i < n_traces; i++)
		for (const char *at = p;
		     (at = memmem(at, n - (size_t)(at - p), trace[i].bytes, trace[i].n)); at++)
			found++;
	return found;
}

unsigned traces_in_file(const char *path)
{
	FILE *f = fopen(path, "r");
	struct stat st;
	unsigned found;
	char *p;

	if (!f || fstat(fileno(f), &st))
		bench_die("%s", path);
	p = malloc((size_t)st.st_size + 1);
	if (!p || fread(p, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
		bench_die("%s", path);
	found = traces_in(p, (size_t)st.st_size);
	if (found && getenv("ERASE_TELL"))
		fprintf(stderr, "%u traces in %s\n", found, path);
	free(p);
	fclose(f);
	return found;
}

unsigned traces_in_folder(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	unsigned found = 0;

	while (d && (e = readdir(d))) {
		char path[400];
		struct stat st;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		found += traces_in(e->d_name, strlen(e->d_name));
		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
			found += traces_in_folder(path);
		else
			found += traces_in_file(path);
	}
	if (d)
		closedir(d);
	return found;
}
