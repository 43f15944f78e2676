/* offlined: the offline brain. A server of the Realtime dialect, and one-shot runs of its parts. */
#include "control/offline/brain.h"
#include "control/offline/oneshot.h"
#include "control/offline/record.h"
#include "control/offline/rules.h"
#include "control/offline/server.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/ws.h"
#include "proto/base/time.h"

#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USAGE = 2, NO_MODEL = 3, RECOGNISERS = 2 };

struct options {
	const char *listen, *record, *model, *ready;
	struct oneshot_conf once;
	enum log_level level;
	bool help, version, check;
};

static const char help[] =
	"Usage: offlined --listen HOST:PORT [--record DIR] [--ready-file FILE] [--log LEVEL]\n"
	"       offlined --speak TEXT [--voice slt|rms|awb] -o FILE.wav\n"
	"       offlined --transcribe FILE.wav | --hear-general FILE.wav\n"
	"       offlined --answer TEXT [--room NAMES]\n"
	"A local server that speaks the Realtime dialect of control: it hears, answers by rules, "
	"and speaks.\n"
	"\n"
	"  --listen HOST:PORT   serve ws://HOST:PORT/v1/realtime; HOST is a numeric address, port "
	"0 "
	"takes a free one. A\n"
	"                       line of JSON with the address is printed when it is ready\n"
	"  --ready-file FILE    write that line to FILE as well\n"
	"  --record DIR         keep what is heard and said: DIR/events.jsonl and wav files\n"
	"  --model DIR          folder of the speech model (default " RECOGNISER_MODEL_DIR ")\n"
	"  --check-model        say whether the speech model is there, by the exit status\n"
	"  --speak TEXT         write TEXT as speech to the file given by -o, 24 kHz\n"
	"  --transcribe FILE    print the words of a WAV file, as the server would hear them\n"
	"  --hear-general FILE  the same with the general language model alone\n"
	"  --answer TEXT        print what the brain answers; names in the room with --room "
	"\"Alice, Bob\"\n"
	"  --log LEVEL          fatal, warn, info, debug or trace (default info when serving)\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 0 success, 1 failed, 2 invalid options, 3 the speech model is not there.\n";

static struct option longs[] = {
	{"listen", required_argument, NULL, 'l'},
	{"record", required_argument, NULL, 'r'},
	{"ready-file", required_argument, NULL, 'f'},
	{"model", required_argument, NULL, 'm'},
	{"check-model", no_argument, NULL, 'c'},
	{"speak", required_argument, NULL, 's'},
	{"voice", required_argument, NULL, 'v'},
	{"output", required_argument, NULL, 'o'},
	{"transcribe", required_argument, NULL, 't'},
	{"hear-general", required_argument, NULL, 'g'},
	{"answer", required_argument, NULL, 'a'},
	{"room", required_argument, NULL, 'n'},
	{"log", required_argument, NULL, 'L'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static bool take(struct options *o, int c)
{
	switch (c) {
	case 'l':
		o->listen = optarg;
		return true;
	case 'r':
		o->record = optarg;
		return true;
	case 'f':
		o->ready = optarg;
		return true;
	case 'm':
		o->once.model = optarg;
		return true;
	case 'c':
		o->check = true;
		return true;
	case 's':
		o->once.speak = optarg;
		return true;
	case 'v':
		o->once.voice = optarg;
		return true;
	case 'o':
		o->once.output = optarg;
		return true;
	case 't':
		o->once.transcribe = optarg;
		return true;
	case 'g':
		o->once.general = optarg;
		return true;
	case 'a':
		o->once.answer = optarg;
		return true;
	case 'n':
		o->once.room = optarg;
		return true;
	case 'L':
		return log_level_parse(optarg, &o->level);
	case 'h':
		o->help = true;
		return true;
	case 'V':
		o->version = true;
		return true;
	default:
		return false;
	}
}

static bool parse(struct options *o, int argc, char **argv)
{
	unsigned jobs;
	int c;

	while ((c = getopt_long(argc, argv, "o:hV", longs, NULL)) != -1)
		if (!take(o, c))
			return false;
	if (o->help || o->version)
		return true;
	jobs = !!o->listen + !!o->once.speak + !!o->once.transcribe + !!o->once.general +
	       !!o->once.answer + o->check;
	return optind == argc && jobs == 1 && !o->once.speak == !o->once.output;
}

static bool split_address(const char *text, char *host, size_t size, uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	char *end;
	unsigned long p;

	if (!colon || colon == text || (size_t)(colon - text) >= size)
		return false;
	p = strtoul(colon + 1, &end, 10);
	snprintf(host, size, "%.*s", (int)(colon - text), text);
	*port = (uint16_t)p;
	return colon[1] && !*end && p <= UINT16_MAX;
}

/* The file appears complete, because a reader may open it as soon as it exists. */
static int write_ready(const char *file, const char *line)
{
	char temp[1024];
	FILE *f;

	snprintf(temp, sizeof temp, "%s.new", file);
	f = fopen(temp, "w");
	if (!f)
		return errno;
	if (fputs(line, f) == EOF || fclose(f))
		return EIO;
	return rename(temp, file) ? errno : 0;
}

static int ready(const struct options *o, const char *host, uint16_t port)
{
	char line[512];

	snprintf(line, sizeof line, "{\"url\":\"ws://%s:%u/v1/realtime\"}\n", host, port);
	fputs(line, stdout);
	fflush(stdout);
	return o->ready ? write_ready(o->ready, line) : 0;
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
	(void)sig;
	(void)what;
	env_stop(arg);
}

struct running {
	struct env *env;
	struct ws_ctx *ws;
	struct rules *rules;
	struct pattern_graph graph;
	struct record *record;
	struct server *server;
	struct event *on_term, *on_int;
};

static void running_free(struct running *r)
{
	server_free(r->server);
	record_close(r->record);
	pattern_graph_free(&r->graph);
	rules_free(r->rules);
	ws_ctx_free(r->ws);
	if (r->on_term)
		event_free(r->on_term);
	if (r->on_int)
		event_free(r->on_int);
	env_free(r->env);
}

static int start(struct running *r, const struct options *o, const char *host, uint16_t port,
		 const char **why)
{
	struct server_conf conf = {.host = host, .port = port, .recognisers = RECOGNISERS};
	int err = env_alloc(&r->env, &(struct env_conf){.loop = true});

	if (err)
		return err;
	r->on_term = evsignal_new(env_base(r->env), SIGTERM, on_signal, r->env);
	r->on_int = evsignal_new(env_base(r->env), SIGINT, on_signal, r->env);
	if (!r->on_term || !r->on_int || event_add(r->on_term, NULL) || event_add(r->on_int, NULL))
		return ENOMEM;
	err = ws_ctx_alloc(&r->ws, r->env, NULL);
	if (!err)
		err = rules_alloc(&r->rules);
	if (!err)
		err = rules_graph(r->rules, &r->graph);
	if (!err && o->record) {
		*why = "the record cannot be written";
		err = record_open(&r->record, o->record, env_now(r->env) / NS_PER_MS);
	}
	if (err)
		return err;
	conf.env = r->env;
	conf.ws = r->ws;
	conf.rules = r->rules;
	conf.record = r->record;
	conf.recogniser = (struct recogniser_conf){
		.model = o->once.model, .graph = &r->graph, .sounds = rules_sounds()};
	return server_alloc(&r->server, &conf, why);
}

static bool has_model(const struct options *o)
{
	const char *why;

	return !recogniser_find_model(o->once.model, &why);
}

static int check_model(const struct options *o)
{
	const char *why = "";
	int err = recogniser_find_model(o->once.model, &why);

	if (err)
		fprintf(stderr, "offlined: %s\n", why);
	return err ? NO_MODEL : 0;
}

static int serve(const struct options *o)
{
	struct running r = {.env = NULL};
	const char *why = "it could not start";
	char host[256];
	uint16_t port;
	int err;

	if (!split_address(o->listen, host, sizeof host, &port)) {
		fprintf(stderr, "offlined: --listen wants HOST:PORT\n");
		return USAGE;
	}
	err = start(&r, o, host, port, &why);
	if (!err) {
		why = "the ready file cannot be written";
		err = ready(o, host, server_port(r.server));
	}
	if (err)
		fprintf(stderr, "offlined: %s (%s)\n", why, strerror(err));
	else
		env_run(r.env);
	running_free(&r);
	return err == ENOENT && !has_model(o) ? NO_MODEL : err ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct options o = {.level = LOG_INFO_, .once.voice = "slt"};

	if (!parse(&o, argc, argv)) {
		fprintf(stderr, "Try 'offlined --help'.\n");
		return USAGE;
	}
	if (o.help)
		fputs(help, stdout);
	else if (o.version)
		puts("offlined (Parley) " PARLEY_VERSION);
	if (o.help || o.version)
		return 0;
	if (o.check)
		return check_model(&o);
	log_init("offlined", o.level);
	signal(SIGPIPE, SIG_IGN);
	return o.listen ? serve(&o) : oneshot_run(&o.once);
}
