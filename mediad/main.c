/* mediad: the media plane. See --help. */
#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/journal.h"
#include "ipc/journal_play.h"
#include "ipc/json_wipe.h"
#include "ipc/log.h"
#include "mediad/engine/engine.h"
#include "mediad/health.h"
#include "mediad/mediad.h"
#include "mediad/music/decoder_wire.h"
#include "mediad/replay.h"
#include "mediad/sandbox/sandbox.h"
#include "proto/base/address_list.h"

enum { EXIT_USAGE = 2, ORPHAN_S = 600, OWN_PAGES = 64 << 10, HEAP_STEP = 16 << 10 };

struct options {
	const char *listen, *ca, *journal, *shapes, *replay, *print, *health;
	uid_t peer_uid;
	unsigned threads, orphan_s;
	bool no_sandbox;
	enum log_level level;
	bool log_json;
	const char *level_name;
	const char *decoderd, *music_addresses, *music_roots[DECODER_ROOTS];
	unsigned n_music_roots;
};

struct program {
	struct options opt;
	struct env *env;
	struct journal *journal;
	struct mediad *mediad;
	struct event *sig[2];
	uint32_t src_stop;
};

static void print_usage(FILE *f)
{
	fputs("Usage: mediad --listen PATH [options]\n"
	      "       mediad --replay FILE\n"
	      "       mediad --journal-print FILE\n"
	      "       mediad --health PATH\n"
	      "\n"
	      "Holds voice calls for a control that connects to the Unix socket PATH.\n"
	      "\n"
	      "  --listen PATH          listen on this Unix socket (mode 0660)\n"
	      "  --peer-uid USER        also accept a control that runs as this user, a number or "
	      "a name\n"
	      "  --ca FILE              trust this certificate authority (PEM) too\n"
	      "  --threads N            audio threads, 1 to 32 (default: one per core less one)\n"
	      "  --orphan-timeout S     leave the calls when no control has connected for S "
	      "seconds\n"
	      "                         (default 600)\n"
	      "  --journal FILE         record every input; the file holds call keys and voices\n"
	      "  --journal-shape FILE   record the time and kind of each input, without keys, "
	      "audio\n"
	      "                         and text\n"
	      "  --journal-print FILE   print a journal, one line per record, without its content\n"
	      "  --replay FILE          replay a recorded session and compare what it sends;\n"
	      "                         with --journal-shape write the shapes of the recording\n"
	      "  --health PATH          ask the mediad that listens there whether it answers; exit "
	      "status 0 or 1\n"
	      "  --music-root DIR       play music files of this folder; up to 16 folders, which "
	      "control\n"
	      "                         counts from 0\n"
	      "  --music-address LIST   IP addresses with ports from which music may come although "
	      "they are\n"
	      "                         not public or have another port than 80 and 443: "
	      "control's\n"
	      "                         web_read_allowed, such as \"10.0.0.5:8000, [fd00::1]:80\"\n"
	      "  --decoderd PROGRAM     decode music with this program, also from the web; with "
	      "--music-root\n"
	      "                         the default is decoderd beside mediad or in PATH; without "
	      "both options\n"
	      "                         music is refused\n"
	      "  --no-sandbox           do not give up privileges and system calls (for "
	      "debuggers)\n"
	      "  --log LEVEL            fatal, warn, info, debug or trace (default info)\n"
	      "  --help, --version\n"
	      "\n"
	      "With --journal and --replay the last lines on stdout are `shape HEX` and `digest "
	      "HEX`,\n"
	      "sums of all input and output; the first leaves out audio that a codec made. Exit\n"
	      "status of --replay: 0 as recorded, 3 only the audio differs (another CPU), 1 "
	      "otherwise.\n",
	      f);
}

static int print_version(void)
{
	printf("mediad (Parley) %s\n", PARLEY_VERSION);
	return 0;
}

/* Parses a whole number in [min, max]; returns false otherwise. */
static bool parse_number(const char *text, unsigned long min, unsigned long max, unsigned *out)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || n < min || n > max)
		return false;
	*out = (unsigned)n;
	return true;
}

/* Parses a user by number or name, because services get their numbers when they are installed. */
static bool parse_user(const char *text, uid_t *out)
{
	const struct passwd *pw;
	unsigned uid;

	if (parse_number(text, 0, UINT32_MAX - 1, &uid)) {
		*out = (uid_t)uid;
		return true;
	}
	pw = getpwnam(text);
	if (pw)
		*out = pw->pw_uid;
	return pw != NULL;
}

static int report_bad_option(const char *option, const char *value)
{
	fprintf(stderr, "mediad: %s: bad value \"%s\"; try --help\n", option, value);
	return EXIT_USAGE;
}

/* decoderd would end at an entry that is wrong, and all music with it. */
static int addresses_option(struct options *o, const char *list)
{
	size_t n;
	const char *wrong = address_list_fault(list, &n);
	struct address_entry e;

	o->music_addresses = list;
	if (!wrong && strlen(list) < ADDRESS_LIST_BYTES)
		return -1;
	if (!wrong || address_entry_read(&e, wrong, n))
		return report_bad_option("--music-address", list);
	fprintf(stderr,
		"mediad: --music-address: \"%.*s\" is no IP address with a port, such as "
		"10.0.0.5:8000; try --help\n",
		(int)n, wrong);
	return EXIT_USAGE;
}

/* A folder that cannot be opened takes away its own files alone: it may be mounted later, and calls
 * need none. Returns -1 to go on, or the exit status; so does one_option. */
static int music_option(struct options *o, int opt)
{
	if (opt == 'a')
		return addresses_option(o, optarg);
	if (opt == 'd')
		o->decoderd = optarg;
	else if (*optarg && o->n_music_roots < DECODER_ROOTS)
		o->music_roots[o->n_music_roots++] = optarg;
	else
		return report_bad_option("--music-root", optarg);
	return -1;
}

static int one_option(struct options *o, int opt)
{
	switch (opt) {
	case 'l':
		o->listen = optarg;
		break;
	case 'u':
		if (!parse_user(optarg, &o->peer_uid))
			return report_bad_option("--peer-uid", optarg);
		break;
	case 'c':
		o->ca = optarg;
		break;
	case 't':
		if (!parse_number(optarg, 1, ENGINE_THREADS, &o->threads))
			return report_bad_option("--threads", optarg);
		break;
	case 'o':
		if (!parse_number(optarg, 0, 86400, &o->orphan_s))
			return report_bad_option("--orphan-timeout", optarg);
		break;
	case 'S':
		o->no_sandbox = true;
		break;
	case 'j':
		o->journal = optarg;
		break;
	case 's':
		o->shapes = optarg;
		break;
	case 'p':
		o->print = optarg;
		break;
	case 'r':
		o->replay = optarg;
		break;
	case 'H':
		o->health = optarg;
		break;
	case 'L':
		if (!log_level_parse(optarg, &o->level))
			return report_bad_option("--log", optarg);
		o->level_name = optarg;
		break;
	case 'm':
	case 'd':
	case 'a':
		return music_option(o, opt);
	case 'h':
		print_usage(stdout);
		return 0;
	case 'V':
		return print_version();
	default:
		fprintf(stderr, "Try 'mediad --help'.\n");
		return EXIT_USAGE;
	}
	return -1;
}

static int parse_options(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"listen", required_argument, NULL, 'l'},
		{"peer-uid", required_argument, NULL, 'u'},
		{"ca", required_argument, NULL, 'c'},
		{"threads", required_argument, NULL, 't'},
		{"orphan-timeout", required_argument, NULL, 'o'},
		{"journal", required_argument, NULL, 'j'},
		{"journal-shape", required_argument, NULL, 's'},
		{"journal-print", required_argument, NULL, 'p'},
		{"replay", required_argument, NULL, 'r'},
		{"health", required_argument, NULL, 'H'},
		{"no-sandbox", no_argument, NULL, 'S'},
		{"music-root", required_argument, NULL, 'm'},
		{"music-address", required_argument, NULL, 'a'},
		{"decoderd", required_argument, NULL, 'd'},
		{"log", required_argument, NULL, 'L'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	int opt, status;

	while ((opt = getopt_long(argc, argv, "hV", longs, NULL)) != -1) {
		status = one_option(o, opt);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		fprintf(stderr, "mediad: not an option: \"%s\"; try --help\n", argv[optind]);
	else if (!!o->listen + !!o->replay + !!o->print + !!o->health != 1)
		fprintf(stderr, "mediad: give --listen PATH, --replay FILE, --journal-print FILE "
				"or --health PATH; try --help\n");
	else if (o->journal && o->shapes)
		fprintf(stderr,
			"mediad: give --journal or --journal-shape, not both; try --help\n");
	else
		return -1;
	return EXIT_USAGE;
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
	struct program *p = arg;

	(void)what;
	log_info("stopping", "signal=%d", (int)sig);
	env_deliver(p->env, p->src_stop, 0, NULL, 0);
}

static void on_stopped(void *arg)
{
	struct program *p = arg;

	env_stop(p->env);
}

static int start_program(struct program *p)
{
	static const int signals[] = {SIGTERM, SIGINT};
	struct mediad_conf mc = {
		.listen = p->opt.listen,
		.peer_uid = p->opt.peer_uid,
		.ca_file = p->opt.ca,
		.threads = p->opt.threads,
		.orphan_s = p->opt.orphan_s,
		.decoderd = p->opt.decoderd,
		.music_roots = p->opt.music_roots,
		.n_music_roots = p->opt.n_music_roots,
		.music_addresses = p->opt.music_addresses,
		.log_level = p->opt.level_name,
		.log_json = p->opt.log_json,
		.stoppedh = on_stopped,
		.arg = p,
	};
	struct env_conf ec = {.loop = true};
	char meta[MEDIAD_META_MAX];
	int err = 0;

	mediad_meta(meta, sizeof meta, &mc, !p->opt.shapes);
	if (p->opt.journal)
		err = journal_create(&p->journal, p->opt.journal, p->opt.threads + 1, meta);
	else if (p->opt.shapes)
		err = journal_create_shapes(&p->journal, p->opt.shapes, p->opt.threads + 1, meta);
	ec.journal = mc.journal = p->journal;
	if (!err)
		err = env_alloc(&p->env, &ec);
	mc.env = p->env;
	if (!err)
		err = mediad_alloc(&p->mediad, &mc);
	/* The replay makes these in the same order. */
	if (!err)
		err = env_source_add(p->env, &p->src_stop, mediad_stop_input, p->mediad);
	for (unsigned i = 0; i < 2 && !err; i++) {
		p->sig[i] = evsignal_new(env_base(p->env), signals[i], on_signal, p);
		if (!p->sig[i] || event_add(p->sig[i], NULL))
			err = ENOMEM;
	}
	return err;
}

static void print_sums(struct program *p)
{
	struct env *envs[ENGINE_THREADS + 1] = {p->env};

	for (unsigned i = 1; i <= p->opt.threads; i++)
		envs[i] = engine_env(mediad_engine(p->mediad), i);
	journal_print_sums(envs, p->opt.threads + 1);
}

/* OpenSSL opens certificate authorities file by file when it needs them. Read from one bundle, they
 * are loaded now, before files can no longer be opened. */
static void read_certificates_at_start(void)
{
	static const char bundle[] = "/etc/ssl/certs/ca-certificates.crt";

	if (access(bundle, R_OK) == 0)
		setenv("SSL_CERT_FILE", bundle, 0);
}

/* The writers of the journal and of the log need the same system calls as the worker. */
static void lock_writer(void)
{
	sandbox_require(SANDBOX_WORKER);
}

/* Every file that is ever needed is open from here on. */
static void lock_down(const struct program *p)
{
	sandbox_keep_directory(mediad_directory(p->mediad));
	sandbox_require(SANDBOX_LOOP);
}

/* Returns the sandbox in force, for the log. */
static const char *sandbox_name(const struct options *o)
{
	return o->no_sandbox ? "none" : sandbox_has_landlock() ? "seccomp,landlock" : "seccomp";
}

/* A wrong option would otherwise show only when the first call fails. */
static bool can_start(const struct options *o)
{
	if (!o->ca || access(o->ca, R_OK) == 0)
		return true;
	fprintf(stderr, "mediad: --ca %s: %s\n", o->ca, strerror(errno));
	return false;
}

/* What the start failed at: the journal is made before everything else. */
static const char *failed_path(const struct program *p)
{
	const char *journal = p->opt.journal ? p->opt.journal : p->opt.shapes;

	return journal && !p->journal ? journal : p->opt.listen;
}

/* Not every bot plays music, but whoever misses it looks here. */
static void say_music(const struct options *o)
{
	if (!o->decoderd)
		log_info("music",
			 "off=1 hint=\"started with --music-root DIR for each of control's "
			 "music_folders, or with --decoderd, mediad plays music\"");
	else
		log_info("music", "music_roots=%u music_addresses=\"%s\"", o->n_music_roots,
			 o->music_addresses ? o->music_addresses : "");
}

static int run_program(struct program *p)
{
	int err;

	if (!can_start(&p->opt))
		return EXIT_FAILURE;
	err = p->opt.no_sandbox ? 0 : sandbox_drop();
	if (err) {
		fprintf(stderr,
			"mediad: privileges cannot be given up: %s; --no-sandbox keeps them\n",
			strerror(err));
		return EXIT_FAILURE;
	}
	if (p->opt.no_sandbox)
		log_warn("sandbox", "hint=\"--no-sandbox: an error in mediad can reach all that "
				    "its user can\"");
	read_certificates_at_start();
	journal_on_writer(lock_writer);
	err = start_program(p);
	/* The loop thread must not wait for whoever reads the log. */
	if (!err)
		err = log_start_writer(lock_writer);
	if (!err) {
		lock_down(p);
		log_info("listening", "path=%s threads=%u version=%s sandbox=%s", p->opt.listen,
			 p->opt.threads, PARLEY_VERSION, sandbox_name(&p->opt));
		say_music(&p->opt);
		env_run(p->env);
		/* Teardown is no part of the recorded session. */
		engine_join(mediad_engine(p->mediad));
		env_finish(p->env);
		if (p->journal)
			print_sums(p);
		err = mediad_failed(p->mediad) ? ESRCH : 0;
	} else {
		fprintf(stderr, "mediad: %s: %s\n", failed_path(p), strerror(err));
	}
	for (unsigned i = 0; i < 2; i++)
		if (p->sig[i])
			event_free(p->sig[i]);
	mediad_free(p->mediad);
	env_free(p->env);
	if (p->journal && journal_broken(p->journal)) {
		fprintf(stderr, "mediad: %s: the journal is incomplete\n",
			p->opt.journal ? p->opt.journal : p->opt.shapes);
		err = EIO;
	}
	journal_free(p->journal);
	log_stop_writer();
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct program p = {.opt = {.peer_uid = (uid_t)-1,
				    .orphan_s = ORPHAN_S,
				    .level = LOG_INFO_,
				    .level_name = "info"}};
	const char *json;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	int status;

	p.opt.threads = cores > ENGINE_THREADS ? ENGINE_THREADS
			: cores > 2	       ? (unsigned)cores - 1
					       : 1;
	status = parse_options(&p.opt, argc, argv);
	if (status >= 0)
		return status;
	if (p.opt.n_music_roots && !p.opt.decoderd)
		p.opt.decoderd = "decoderd";
	/* Allocations as large as a call stream get pages of their own, so that untouched pages
	 * cost nothing and freed ones leave no large heap. */
	mallopt(M_MMAP_THRESHOLD, OWN_PAGES);
	mallopt(M_TOP_PAD, HEAP_STEP);
	log_init("mediad", p.opt.level);
	json = getenv("PARLEY_LOG_JSON");
	p.opt.log_json = json && strcmp(json, "1") == 0;
	log_set_json(p.opt.log_json);
	signal(SIGPIPE, SIG_IGN);
	json_wipe_on_free();
	if (p.opt.print)
		return journal_print_file(p.opt.print);
	if (p.opt.health)
		return health_print(p.opt.health);
	return p.opt.replay ? journal_exit(p.opt.replay, mediad_replay(p.opt.replay, p.opt.shapes))
			    : run_program(&p);
}
