/* Runs a fuzz target over files, without libFuzzer: so that plain `make check` replays every corpus
 * and a crash file can be looked at under gdb. Ends with how many inputs ran; none at all is a
 * failure. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned ran, failed;

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

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run_path(argv[i]);
	printf("%u inputs ran, %u could not be read\n", ran, failed);
	return failed || !ran ? 1 : 0;
}
