#include "tests/bench/stderr_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/bench.h"

static const char *file; /* NULL: stderr is what it was */
static int was;

void stderr_file_end(void)
{
	if (!file)
		return;
	file = NULL;
	if (dup2(was, STDERR_FILENO) >= 0)
		close(was);
}

static void show_end(void)
{
	char tail[600];
	FILE *f = file ? fopen(file, "r") : NULL;
	size_t n;

	stderr_file_end();
	if (!f)
		return;
	if (fseek(f, -(long)sizeof tail, SEEK_END))
		rewind(f);
	n = fread(tail, 1, sizeof tail, f);
	fwrite(tail, 1, n, stderr);
	fclose(f);
}

void stderr_file_begin(const char *path)
{
	static bool shows;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);

	was = dup(STDERR_FILENO);
	if (fd < 0 || was < 0 || dup2(fd, STDERR_FILENO) < 0)
		bench_die("%s", path);
	close(fd);
	file = path;
	if (!shows && atexit(show_end))
		bench_die("no memory");
	shows = true;
}
