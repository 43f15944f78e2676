/* guildd: a Discord on this machine, or between containers, for tests. */
#include "tests/guildd/api.h"
#include "tests/guildd/certs.h"
#include "tests/guildd/dave.h"
#include "tests/guildd/gateway.h"
#include "tests/guildd/golive.h"
#include "tests/guildd/guildd.h"
#include "tests/guildd/history.h"
#include "tests/guildd/relay.h"
#include "tests/guildd/rest.h"
#include "tests/guildd/voice.h"

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/ws.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <netdb.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct options {
	const char *ready_file, *ca_file, *host;
	unsigned long port;
	enum log_level level;
	struct gd_switches sw;
};

static void usage(void)
{
	printf("Usage: guildd [OPTION]…\n"
	       "A Discord on this machine for tests: REST, main gateway, voice gateway, UDP relay, "
	       "all on 127.0.0.1 unless told otherwise.\n"
	       "Prints one line of JSON with its addresses when it is ready.\n\n"
	       "  --ready-file FILE   write that line to FILE too\n"
	       "  --host NAME         listen on this name's address, be NAME to others\n"
	       "  --port N            REST on port N, the control API on the next (default: any)\n"
	       "  --ca-file FILE      write the certificate authority to FILE too\n"
	       "  --set NAME=VALUE    a switch, see below; may be given again and again\n"
	       "  --dave-required     the same as --set dave_version=1 --set dave_required=1\n"
	       "  --log LEVEL         fatal, warn, info, debug, trace (info)\n"
	       "  --help, --version\n\nSwitches (with their defaults):\n");
	gd_switches_print();
}

/* 0 go on, 1 done, 2 wrong. */
static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {{"ready-file", required_argument, NULL, 'r'},
					      {"host", required_argument, NULL, 'n'},
					      {"port", required_argument, NULL, 'p'},
					      {"ca-file", required_argument, NULL, 'c'},
					      {"set", required_argument, NULL, 's'},
					      {"dave-required", no_argument, NULL, 'd'},
					      {"log", required_argument, NULL, 'l'},
					      {"help", no_argument, NULL, 'h'},
					      {"version", no_argument, NULL, 'V'},
					      {0}};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'r':
			o->ready_file = optarg;
			break;
		case 'n':
			o->host = optarg;
			break;
		case 'p':
			o->port = strtoul(optarg, NULL, 10);
			if (o->port < 1 || o->port >= UINT16_MAX) {
				fprintf(stderr, "guildd: not a port: %s\n", optarg);
				return 2;
			}
			break;
		case 'c':
			o->ca_file = optarg;
			break;
		case 's':
			if (gd_switch_parse(&o->sw, optarg)) {
				fprintf(stderr, "guildd: no such switch or value: %s\n", optarg);
				return 2;
			}
			break;
		case 'd':
			o->sw.dave_version = o->sw.dave_required = 1;
			break;
		case 'l':
			if (!log_level_parse(optarg, &o->level)) {
				fprintf(stderr, "guildd: no such log level: %s\n", optarg);
				return 2;
			}
			break;
		case 'h':
			usage();
			return 1;
		case 'V':
			printf("guildd (Parley) %s\n", PARLEY_VERSION);
			return 1;
		default:
			fprintf(stderr, "Try 'guildd --help'.\n");
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "guildd: unexpected argument: %s\nTry 'guildd --help'.\n",
			argv[optind]);
		return 2;
	}
	return 0;
}

static void guildd_close(struct guildd *g)
{
	/* What can still bring requests goes first, then what they would touch. */
	g->api = gd_api_free(g->api);
	g->rest = gd_rest_free(g->rest);
	g->gateway = gd_gateway_free(g->gateway);
	g->voice = gd_voice_free(g->voice);
	g->golives = gd_golives_free(g->golives);
	g->dave = gd_dave_free(g->dave);
	g->relay = gd_relay_free(g->relay);
	g->ws = ws_ctx_free(g->ws);
	g->certs = gd_certs_free(g->certs);
	g->history = gd_history_free(g->history);
	g->world = gd_world_free(g->world);
	json_decref(g->counts);
	g->counts = NULL;
}

static int guildd_open(struct guildd *g)
{
	int err;

	g->counts = json_object();
	err = g->counts ? gd_world_alloc(&g->world) : ENOMEM;
	if (!err)
		err = gd_history_alloc(&g->history, g);
	if (!err)
		err = gd_world_defaults(g->world, g->sw.long_ids);
	if (!err)
		err = gd_certs_alloc(&g->certs, g->name, g->ip);
	if (!err)
		err = ws_ctx_alloc(&g->ws, g->env, NULL);
	if (!err)
		err = gd_relay_alloc(&g->relay, g);
	if (!err)
		err = gd_dave_alloc(&g->dave, g);
	if (!err)
		err = gd_voice_alloc(&g->voice, g);
	if (!err)
		err = gd_golives_alloc(&g->golives);
	if (!err)
		err = gd_gateway_alloc(&g->gateway, g);
	if (!err)
		err = gd_rest_alloc(&g->rest, g);
	if (!err)
		err = gd_api_alloc(&g->api, g);
	return err;
}

/* Without a name: this machine's own loopback. */
static int find_address(struct guildd *g, const char *name)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *ai = NULL;
	int err = 0;

	strcpy(g->name, "localhost");
	strcpy(g->ip, "127.0.0.1");
	if (!name)
		return 0;
	if (strlen(name) >= sizeof(g->name))
		return ENAMETOOLONG;
	if (getaddrinfo(name, NULL, &hints, &ai))
		return EADDRNOTAVAIL;
	snprintf(g->name, sizeof(g->name), "%s", name);
	if (getnameinfo(ai->ai_addr, ai->ai_addrlen, g->ip, sizeof(g->ip), NULL, 0, NI_NUMERICHOST))
		err = EADDRNOTAVAIL;
	freeaddrinfo(ai);
	return err;
}

/* The text appears whole: written beside, then renamed. */
static int write_whole(const char *path, const char *text)
{
	char tmp[1024];
	FILE *f;
	int n = snprintf(tmp, sizeof(tmp), "%s.new", path);

	if (n < 0 || (size_t)n >= sizeof(tmp))
		return ENAMETOOLONG;
	f = fopen(tmp, "w");
	if (!f)
		return errno;
	if (fprintf(f, "%s\n", text) < 0 || fclose(f) || rename(tmp, path))
		return errno ? errno : EIO;
	return 0;
}

static int tell_ca(const struct guildd *g, const char *file)
{
	FILE *f = fopen(gd_certs_ca(g->certs), "r");
	char pem[8192];
	size_t n = f ? fread(pem, 1, sizeof(pem) - 1, f) : 0;

	if (f)
		fclose(f);
	pem[n] = '\0';
	return n ? write_whole(file, pem) : EIO;
}

static int tell_ready(const struct guildd *g, const char *file)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:i, s:s, s:s}", "rest", gd_rest_url(g->rest),
			      "gateway", gd_gateway_url(g->gateway), "voice",
			      gd_voice_endpoint(g->voice), "udp", (int)gd_relay_port(g->relay),
			      "control", gd_api_url(g->api), "ca", gd_certs_ca(g->certs));
	char *line = o ? json_dumps(o, 0) : NULL;
	int err = line ? 0 : ENOMEM;

	if (!err) {
		printf("%s\n", line);
		fflush(stdout);
		if (file)
			err = write_whole(file, line);
	}
	free(line);
	json_decref(o);
	return err;
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
	(void)sig;
	(void)what;
	env_stop(arg);
}

static int run(struct guildd *g, const struct options *o)
{
	struct event *term = evsignal_new(env_base(g->env), SIGTERM, on_signal, g->env);
	struct event *intr = evsignal_new(env_base(g->env), SIGINT, on_signal, g->env);
	int err = ENOMEM;

	if (term && intr && !event_add(term, NULL) && !event_add(intr, NULL))
		err = o->ca_file ? tell_ca(g, o->ca_file) : 0;
	if (!err)
		err = tell_ready(g, o->ready_file);
	if (!err)
		env_run(g->env);
	if (term)
		event_free(term);
	if (intr)
		event_free(intr);
	return err;
}

int main(int argc, char **argv)
{
	struct options o = {.level = LOG_INFO_};
	struct env_conf conf = {.loop = true};
	struct guildd g = {0};
	int err;

	gd_switches_default(&o.sw);
	err = parse(&o, argc, argv);
	if (err)
		return err == 1 ? 0 : 2;
	signal(SIGPIPE, SIG_IGN);
	log_init("guildd", o.level);
	if (sodium_init() < 0)
		return 1;
	err = env_alloc(&g.env, &conf);
	if (!err) {
		g.sw = o.sw;
		g.port = (uint16_t)o.port;
		err = find_address(&g, o.host);
		if (!err)
			err = guildd_open(&g);
		if (!err)
			err = run(&g, &o);
		guildd_close(&g);
	}
	env_free(g.env);
	if (err)
		log_fatal("start", "error=\"%s\"", strerror(err));
	return err ? 1 : 0;
}
