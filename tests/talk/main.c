/* talk: serves a page on 127.0.0.1 where people join guildd's voice channel from a browser. */
#include "tests/talk/talk.h"

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/ws.h"
#include "proto/discord.h"

#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USAGE = 2, TOKEN_SIZE = 128 };

struct options {
	struct talk_conf conf;
	char token[TOKEN_SIZE];
	enum log_level level;
};

static const char help[] =
	"Usage: talk --api URL --ca FILE --mediad PROGRAM --run-dir DIR --page DIR\n"
	"            --control URL --token-file FILE --guild ID --channel ID --bot ID\n"
	"            [--port N] [--log LEVEL]\n"
	"\n"
	"Serves a page on 127.0.0.1 (port N if it is free) where people join guildd's voice "
	"channel\n"
	"from a browser, each with a mediad of its own. `make talk` starts it with all it needs.\n"
	"Prints {\"url\": …} when it is ready; ends with SIGINT or SIGTERM.\n"
	"\n"
	"Exit status: 0 ended as asked, 1 failed, 2 usage.\n";

enum {
	OPT_API = 256,
	OPT_CA,
	OPT_MEDIAD,
	OPT_RUN,
	OPT_CONTROL,
	OPT_TOKEN,
	OPT_PAGE,
	OPT_GUILD,
	OPT_CHANNEL,
	OPT_BOT,
	OPT_PORT,
	OPT_LOG,
	OPT_HELP,
	OPT_VERSION
};

static const struct option longs[] = {
	{"api", required_argument, NULL, OPT_API},
	{"ca", required_argument, NULL, OPT_CA},
	{"mediad", required_argument, NULL, OPT_MEDIAD},
	{"run-dir", required_argument, NULL, OPT_RUN},
	{"control", required_argument, NULL, OPT_CONTROL},
	{"token-file", required_argument, NULL, OPT_TOKEN},
	{"page", required_argument, NULL, OPT_PAGE},
	{"guild", required_argument, NULL, OPT_GUILD},
	{"channel", required_argument, NULL, OPT_CHANNEL},
	{"bot", required_argument, NULL, OPT_BOT},
	{"port", required_argument, NULL, OPT_PORT},
	{"log", required_argument, NULL, OPT_LOG},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static bool port_of(const char *text, uint16_t *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*out = (uint16_t)n;
	return end != text && !*end && n <= UINT16_MAX;
}

/* A file, because other users of the machine can read a command line. */
static bool read_token(struct options *o, const char *path)
{
	FILE *f = fopen(path, "re");
	bool read = f && fgets(o->token, sizeof o->token, f);

	if (f)
		fclose(f);
	else
		fprintf(stderr, "talk: %s: %s\n", path, strerror(errno));
	o->token[strcspn(o->token, "\r\n")] = '\0';
	return read;
}

/* Returns -1 to continue, else the exit status. */
static int one_option(struct options *o, int opt)
{
	struct talk_conf *c = &o->conf;

	switch (opt) {
	case OPT_API:
		c->api = optarg;
		return -1;
	case OPT_CA:
		c->ca_file = optarg;
		return -1;
	case OPT_MEDIAD:
		c->mediad = optarg;
		return -1;
	case OPT_RUN:
		c->run_dir = optarg;
		return -1;
	case OPT_CONTROL:
		c->control = optarg;
		return -1;
	case OPT_TOKEN:
		c->token = o->token;
		return read_token(o, optarg) ? -1 : USAGE;
	case OPT_PAGE:
		c->page_dir = optarg;
		return -1;
	case OPT_GUILD:
		return discord_snowflake(optarg, &c->guild) ? -1 : USAGE;
	case OPT_CHANNEL:
		return discord_snowflake(optarg, &c->channel) ? -1 : USAGE;
	case OPT_BOT:
		return discord_snowflake(optarg, &c->bot) ? -1 : USAGE;
	case OPT_PORT:
		return port_of(optarg, &c->port) ? -1 : USAGE;
	case OPT_LOG:
		return log_level_parse(optarg, &o->level) ? -1 : USAGE;
	case OPT_HELP:
		fputs(help, stdout);
		return 0;
	case OPT_VERSION:
		puts("talk (Parley) " PARLEY_VERSION);
		return 0;
	default:
		return USAGE;
	}
}

static int parse(struct options *o, int argc, char **argv)
{
	const struct talk_conf *c = &o->conf;
	int opt, status;

	o->level = LOG_WARN_;
	while ((opt = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		status = one_option(o, opt);
		if (status >= 0)
			return status;
	}
	return optind == argc && c->api && c->ca_file && c->mediad && c->run_dir && c->control &&
			       c->token && c->page_dir && c->guild && c->channel && c->bot
		       ? -1
		       : USAGE;
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
	(void)sig;
	(void)what;
	env_stop(arg);
}

static int run(struct options *o)
{
	struct env_conf ec = {.loop = true};
	struct event *sig[2] = {NULL, NULL};
	struct env *env = NULL;
	struct ws_ctx *ws = NULL;
	struct talk *talk = NULL;
	const char *why = "it cannot start";
	int err = env_alloc(&env, &ec);

	for (unsigned i = 0; !err && i < 2; i++) {
		sig[i] = evsignal_new(env_base(env), i ? SIGINT : SIGTERM, on_signal, env);
		if (!sig[i] || event_add(sig[i], NULL))
			err = ENOMEM;
	}
	if (!err)
		err = ws_ctx_alloc(&ws, env, NULL);
	if (!err) {
		o->conf.env = env;
		o->conf.ws = ws;
		err = talk_alloc(&talk, &o->conf, &why);
	}
	if (err) {
		fprintf(stderr, "talk: %s (%s)\n", why, strerror(err));
	} else {
		printf("{\"url\": \"http://127.0.0.1:%u/\"}\n", talk_port(talk));
		fflush(stdout);
		env_run(env);
	}
	talk_free(talk);
	ws_ctx_free(ws);
	for (unsigned i = 0; i < 2; i++)
		if (sig[i])
			event_free(sig[i]);
	env_free(env);
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct options o = {0};
	int status = parse(&o, argc, argv);

	if (status == USAGE)
		fputs(help, stderr);
	if (status >= 0)
		return status;
	signal(SIGPIPE, SIG_IGN);
	log_init("talk", o.level);
	return run(&o);
}
