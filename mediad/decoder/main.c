/* decoderd: decodes music for mediad, one jailed process a track. See --help. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ipc/http_guard.h"
#include "ipc/log.h"
#include "mediad/decoder/clips.h"
#include "mediad/decoder/fetcher.h"
#include "mediad/decoder/decode.h"
#include "ipc/jail/jail.h"
#include "mediad/decoder/tag_list.h"
#include "mediad/decoder/zygote.h"
#include "mediad/music/decoder_wire.h"
#include "mediad/music/track_ring.h"
#include "mediad/music/video_ring.h"
#include "mediad/sandbox/sandbox.h"
#include "proto/base/time.h"

enum { EXIT_USAGE = 2, LINK_FD = 3, RINGS_FD = 4, RESTART_S = 1 };

struct options {
	int roots[DECODER_ROOTS];
	unsigned n_roots;
	const char *addresses;
	bool check_jail;
	bool tags;	    /* of the files that its input names are printed */
	const char *sounds; /* a folder whose sounds are printed; NULL: mediad is served */
	enum log_level level;
};

static void print_usage(FILE *f)
{
	fputs("Usage: decoderd [options]\n"
	      "\n"
	      "Decodes music for mediad, which starts it and passes it a socket as descriptor 3 "
	      "and\n"
	      "shared memory as descriptor 4. Every track is decoded by a process of its own that "
	      "can\n"
	      "open no file, connect to nothing and start nothing.\n"
	      "\n"
	      "  --root DIR     a folder whose files may be played; up to 16, in the order of "
	      "mediad's\n"
	      "                 --music-root\n"
	      "  --address LIST addresses that sources may have although they are not public, such "
	      "as\n"
	      "                 \"10.0.0.5:8000, [fd00::1]:80\"\n"
	      "  --sounds DIR   instead: print the sounds of this folder for control, one a line, "
	      "and end\n"
	      "  --tags         instead: print the tags of the files of --root that the input "
	      "names, "
	      "for control\n"
	      "  --check-jail   instead: try the jail of the decoders; 0 if it holds, 1 if not\n"
	      "  --log LEVEL    fatal, warn, info, debug or trace (default info)\n"
	      "  --help, --version\n"
	      "\n"
	      "Exit status: 0 when mediad has closed the socket, 1 after a failure, 2 for wrong "
	      "usage.\n",
	      f);
}

static int add_root(struct options *o, const char *path)
{
	int fd;

	if (o->n_roots == DECODER_ROOTS) {
		fprintf(stderr, "decoderd: --root: more than %d folders\n", DECODER_ROOTS);
		return EXIT_USAGE;
	}
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		log_warn("music_root",
			 "path=\"%s\" error=\"%s\" hint=\"nothing in it can be played\"", path,
			 strerror(errno));
	o->roots[o->n_roots++] = fd;
	return -1;
}

/* Returns -1 to go on, or the exit status. */
static int parse_options(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"root", required_argument, NULL, 'r'},
		{"address", required_argument, NULL, 'a'},
		{"sounds", required_argument, NULL, 's'},
		{"check-jail", no_argument, NULL, 'j'},
		{"tags", no_argument, NULL, 't'},
		{"log", required_argument, NULL, 'L'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	int opt, status = -1;

	while (status < 0 && (opt = getopt_long(argc, argv, "hV", longs, NULL)) != -1) {
		if (opt == 'r') {
			status = add_root(o, optarg);
		} else if (opt == 'a') {
			o->addresses = optarg;
		} else if (opt == 's') {
			o->sounds = optarg;
		} else if (opt == 'j') {
			o->check_jail = true;
		} else if (opt == 't') {
			o->tags = true;
		} else if (opt == 'h') {
			print_usage(stdout);
			status = EXIT_SUCCESS;
		} else if (opt == 'V') {
			printf("decoderd (Parley) %s\n", PARLEY_VERSION);
			status = EXIT_SUCCESS;
		} else if (opt != 'L' || !log_level_parse(optarg, &o->level)) {
			fprintf(stderr, "Try 'decoderd --help'.\n");
			status = EXIT_USAGE;
		}
	}
	return status;
}

/* Maps the rings of video, which follow all those of sound. Without them no video is read. */
static void map_videos(struct zygote_conf *conf, off_t size)
{
	const off_t sound = (off_t)DECODER_SLOTS * TRACK_RING_MEMORY;
	void *p;

	if (size < sound + VIDEO_RING_MEMORY)
		return;
	conf->n_videos = (size_t)(size - sound) / VIDEO_RING_MEMORY;
	if (conf->n_videos > DECODER_VIDEOS)
		conf->n_videos = DECODER_VIDEOS;
	p = mmap(NULL, conf->n_videos * VIDEO_RING_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED,
		 RINGS_FD, sound);
	conf->videos = p == MAP_FAILED ? NULL : p;
	conf->n_videos = conf->videos ? conf->n_videos : 0;
}

/* Takes the descriptors that mediad passes. Returns false if there are none, as when a person
 * starts this program. */
static bool take_descriptors(struct zygote_conf *conf)
{
	struct stat st;
	int type = 0;
	socklen_t n = sizeof type;

	if (getsockopt(LINK_FD, SOL_SOCKET, SO_TYPE, &type, &n) || type != SOCK_SEQPACKET ||
	    fstat(RINGS_FD, &st) || st.st_size < TRACK_RING_MEMORY)
		return false;
	conf->link = LINK_FD;
	conf->n_rings = (size_t)st.st_size / TRACK_RING_MEMORY;
	if (conf->n_rings > DECODER_SLOTS)
		conf->n_rings = DECODER_SLOTS;
	conf->rings = mmap(NULL, conf->n_rings * TRACK_RING_MEMORY, PROT_READ | PROT_WRITE,
			   MAP_SHARED, RINGS_FD, 0);
	map_videos(conf, st.st_size);
	close(RINGS_FD);
	fcntl(LINK_FD, F_SETFD, FD_CLOEXEC);
	return conf->rings != MAP_FAILED;
}

/* Runs the process that forks the decoders; true if it is to be started again. */
static bool run_zygote(const struct zygote_conf *conf)
{
	pid_t parent = getpid(), pid = fork();
	int status = 0;

	if (pid < 0)
		return true;
	if (!pid) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
			_exit(EXIT_FAILURE);
		/* Not the first process: nothing starts that again. */
		jail_die_first();
		_exit(zygote_run(conf) ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
		return false;
	log_warn("decoder_restart", "status=%d hint=\"all tracks have ended\"", status);
	return true;
}

/* Gives up privileges, and loads what children would otherwise load each for itself. */
static int prepare_process(void)
{
	int err = sandbox_drop();

	if (!err)
		err = fetcher_prepare();
	decode_prepare();
	return err;
}

/* Without mediad: the children must be jailed all the same. */
static int prepare_alone(void)
{
	int err;

	jail_die_first();
	err = sandbox_drop();
	decode_prepare();
	return !err && !jail_works() ? ENOTSUP : err;
}

static int print_sounds(const char *path)
{
	int err = prepare_alone();

	if (!err)
		err = clips_print(path, stdout);
	if (err)
		log_warn("sound_folder", "path=\"%s\" error=\"%s\"%s", path, strerror(err),
			 err == ENOTSUP
				 ? " hint=\"system-call filters cannot be installed here; no "
				   "local sound is played\""
				 : "");
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int print_tags(const struct options *o)
{
	int err = prepare_alone();

	if (!err)
		err = tag_list_run(o->roots, o->n_roots, stdin, stdout);
	if (err)
		log_warn("music_tags",
			 "error=\"%s\" hint=\"tracks are found by their paths alone\"",
			 strerror(err));
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct options o = {.level = LOG_INFO_};
	struct zygote_conf conf = {.roots = o.roots};
	struct http_guard *guard = NULL;
	const struct timespec pause = {RESTART_S, 0};
	int status, err;

	log_init("decoderd", LOG_INFO_);
	status = parse_options(&o, argc, argv);
	if (status >= 0)
		return status;
	log_init("decoderd", o.level);
	if (o.check_jail && optind == argc)
		return sandbox_drop() || !jail_works() ? EXIT_FAILURE : EXIT_SUCCESS;
	if (o.sounds && optind == argc)
		return print_sounds(o.sounds);
	if (o.tags && optind == argc)
		return print_tags(&o);
	if (optind < argc || !take_descriptors(&conf)) {
		fprintf(stderr, "decoderd: mediad starts this program; try --help\n");
		return EXIT_USAGE;
	}
	conf.n_roots = o.n_roots;
	err = http_guard_alloc(&guard, o.addresses);
	if (err) {
		fprintf(stderr, "decoderd: --address: bad value \"%s\"; try --help\n", o.addresses);
		return EXIT_USAGE;
	}
	conf.guard = guard;
	err = prepare_process();
	if (err) {
		log_fatal("start", "error=\"%s\"", strerror(err));
		return EXIT_FAILURE;
	}
	conf.jailed = jail_works();
	if (!conf.jailed)
		log_warn("decoder_jail", "works=0 hint=\"system-call filters cannot be installed "
					 "here; no music is played\"");
	while (run_zygote(&conf))
		nanosleep(&pause, NULL);
	http_guard_free(guard);
	return EXIT_SUCCESS;
}
