/* imaged and framed: decode pictures and key frames of videos for control, one jailed process a
 * picture. See --help. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "control/vision/core/image_wire.h"
#include "control/vision/imaged/picture.h"
#include "control/vision/imaged/program.h"
#include "ipc/jail/jail.h"
#include "ipc/jail/landlock.h"
#include "ipc/log.h"

enum { EXIT_USAGE = 2 };

static void print_usage(FILE *f)
{
	fprintf(f,
		"Usage: %s [options]\n"
		"\n"
		"Decodes %s for control, which starts it:\n"
		"they come on stdin, each behind a line ID BYTES SIDE QUALITY CODEC, and go as one "
		"line\n"
		"each to stdout. Every one is decoded by a process of its own that can open no "
		"file,\n"
		"connect to nothing and start nothing.\n"
		"\n"
		"  --check-jail   instead: try the jail of the decoders; 0 if it holds, 1 if not\n"
		"  --help, --version\n"
		"\n"
		"Exit status: 0 when stdin is closed, 1 after a failure, 2 for wrong usage.\n",
		image_program.name, image_program.what);
}

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, bool *check)
{
	static const struct option longs[] = {{"check-jail", no_argument, NULL, 'j'},
					      {"help", no_argument, NULL, 'h'},
					      {"version", no_argument, NULL, 'V'},
					      {NULL, 0, NULL, 0}};
	int opt;

	while ((opt = getopt_long(argc, argv, "hV", longs, NULL)) != -1) {
		if (opt == 'j') {
			*check = true;
		} else if (opt == 'h') {
			print_usage(stdout);
			return EXIT_SUCCESS;
		} else if (opt == 'V') {
			printf("%s (Parley) %s\n", image_program.name, PARLEY_VERSION);
			return EXIT_SUCCESS;
		} else {
			fprintf(stderr, "Try '%s --help'.\n", image_program.name);
			return EXIT_USAGE;
		}
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "%s: control starts this program; try --help\n", image_program.name);
	return EXIT_USAGE;
}

/* This process itself only copies bytes; it needs no file, and may leave no picture in a core. */
static int give_up_privileges(void)
{
	const struct rlimit none = {0, 0};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    setrlimit(RLIMIT_CORE, &none))
		return errno;
	return landlock_forbid_files(-1, NULL);
}

/* Fresh memory for each picture, so that the next one's process inherits nothing of it. */
static int serve(const struct image_request *q, bool jailed)
{
	size_t n_memory = PICTURE_MEMORY + q->bytes, n = 0;
	uint8_t *memory =
		mmap(NULL, n_memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct image_result r = {.reason = IMAGE_NO_JAIL};
	char *line = NULL;
	int err = ENOMEM;

	if (memory == MAP_FAILED)
		return err;
	if (fread(memory + PICTURE_MEMORY, 1, q->bytes, stdin) != q->bytes) {
		munmap(memory, n_memory);
		return EPIPE;
	}
	if (jailed)
		picture_decode(&r, memory, (struct slice){memory + PICTURE_MEMORY, q->bytes},
			       &q->limits);
	r.id = q->id;
	err = image_result_write(&r, &line, &n);
	if (!err && fwrite(line, 1, n, stdout) != n)
		err = EPIPE;
	if (line)
		explicit_bzero(line, n);
	free(line);
	munmap(memory, n_memory);
	return err;
}

static int serve_all(bool jailed)
{
	char line[IMAGE_REQUEST_MAX];
	struct image_request q;
	int err = 0;

	/* Nothing of a picture stays in a buffer, which children would inherit. */
	setvbuf(stdin, NULL, _IONBF, 0);
	setvbuf(stdout, NULL, _IONBF, 0);
	while (!err && fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		err = image_request_read(&q, line);
		if (!err)
			err = serve(&q, jailed);
	}
	return err;
}

int main(int argc, char **argv)
{
	bool check = false, jailed;
	int status, err;

	log_init(image_program.name, LOG_INFO_);
	status = parse_options(argc, argv, &check);
	if (status >= 0)
		return status;
	if (image_program.prepare)
		image_program.prepare();
	err = give_up_privileges();
	jailed = !err && jail_works();
	if (check)
		return jailed ? EXIT_SUCCESS : EXIT_FAILURE;
	if (!jailed)
		log_warn("image_jail", "works=0 hint=\"system-call filters cannot be installed "
				       "here; no picture is decoded\"");
	err = serve_all(jailed);
	if (err)
		log_warn("images", "error=\"%s\"", strerror(err));
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
