/* standin: a provider on this machine, for tests. */
#include "ipc/log.h"
#include "tests/standins/link.h"
#include "tests/standins/prompts.h"
#include "tests/standins/record.h"
#include "tests/standins/script.h"
#include "tests/standins/standin.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <getopt.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USAGE = 2, SCRIPT_MAX = 1 << 20, LINE_SIZE = 256 };

struct options {
	const struct si_provider *provider;
	const char *script, *line, *record, *port_file, *key, *prompts;
	unsigned long port, offlined;
	enum log_level level;
};

static void usage(void)
{
	printf("Usage: standin PROVIDER [OPTION]…\n"
	       "A provider on 127.0.0.1 for tests. Prints one line of JSON with its port when it "
	       "is "
	       "ready.\n\nProviders:\n");
	for (const struct si_provider *p = si_providers; p->name; p++)
		printf("  %-18s %s\n", p->name, p->text);
	printf("\n  --port N           the port (default: any)\n"
	       "  --port-file FILE   write the port to FILE too\n"
	       "  --script FILE      which fault happens when, see below\n"
	       "  --record DIR       write what comes and goes to DIR/events.jsonl, and the sound "
	       "of "
	       "session N to DIR/N.pcm\n"
	       "  --key KEY          clients must show this key (default: any, or none)\n"
	       "  --offlined PORT    hear and speak real words by the offlined there (default: "
	       "tones)\n"
	       "  --prompts FILE     hear (xai, /v1/stt) and speak the recordings of this "
	       "catalogue: lines FILE <tab> TEXT\n"
	       "  --log LEVEL        fatal, warn, info, debug, trace (info)\n"
	       "  --help, --version\n\n"
	       "A line of a script is: TRIGGER [N|*] [TRIGGER [N|*]]… ACTION, or at MS ACTION, or "
	       "answer WORDS => TEXT.\n\nTriggers:\n");
#define X(name, word, text) printf("  %-18s %s\n", word, text);
	SI_TRIGGERS(X)
#undef X
	printf("\nActions:\n");
#define X(name, word, kind, arguments, text) printf("  %-10s %-11s %s\n", word, arguments, text);
	SI_ACTIONS(X)
#undef X
}

static const struct si_provider *provider_named(const char *name)
{
	for (const struct si_provider *p = si_providers; p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

static bool port_parse(const char *text, unsigned long *out)
{
	char *end;

	*out = strtoul(text, &end, 10);
	return *text && !*end && *out <= UINT16_MAX;
}

static bool option_take(struct options *o, int c)
{
	switch (c) {
	case 'p':
		return port_parse(optarg, &o->port);
	case 'f':
		o->port_file = optarg;
		return true;
	case 's':
		o->script = optarg;
		return true;
	case 'r':
		o->record = optarg;
		return true;
	case 'P':
		o->prompts = optarg;
		return true;
	case 'k':
		o->key = optarg;
		return true;
	case 'o':
		return port_parse(optarg, &o->offlined);
	case 'L':
		return log_level_parse(optarg, &o->level);
	default:
		return false;
	}
}

/* 0 go on, 1 done, USAGE wrong. */
static int options_parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {{"port", required_argument, NULL, 'p'},
					      {"port-file", required_argument, NULL, 'f'},
					      {"script", required_argument, NULL, 's'},
					      {"record", required_argument, NULL, 'r'},
					      {"prompts", required_argument, NULL, 'P'},
					      {"key", required_argument, NULL, 'k'},
					      {"offlined", required_argument, NULL, 'o'},
					      {"log", required_argument, NULL, 'L'},
					      {"help", no_argument, NULL, 'h'},
					      {"version", no_argument, NULL, 'V'},
					      {0}};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'h') {
			usage();
			return 1;
		}
		if (c == 'V') {
			printf("standin (Parley) %s\n", PARLEY_VERSION);
			return 1;
		}
		if (!option_take(o, c))
			return USAGE;
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "standin: name one provider\n");
		return USAGE;
	}
	o->provider = provider_named(argv[optind]);
	if (!o->provider)
		fprintf(stderr, "standin: there is no provider %s\n", argv[optind]);
	return o->provider ? 0 : USAGE;
}

static int script_read(struct si_script **out, const char *path)
{
	char *text = si_alloc(SCRIPT_MAX);
	const char *why = NULL;
	unsigned line = 0;
	size_t n = 0;
	int err;

	if (path) {
		FILE *f = fopen(path, "r");

		if (!f) {
			fprintf(stderr, "standin: %s: %s\n", path, strerror(errno));
			free(text);
			return ENOENT;
		}
		n = fread(text, 1, SCRIPT_MAX, f);
		fclose(f);
	}
	err = si_script_alloc(out, text, n, &line, &why);
	if (err)
		fprintf(stderr, "standin: %s, line %u: %s\n", path, line, why ? why : "no memory");
	free(text);
	return err;
}

struct running {
	struct si_standin st;
	const struct si_provider *provider;
	struct evconnlistener *listener;
	struct event *on_term, *on_int;
};

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *sa,
		      int n, void *arg)
{
	struct running *r = arg;

	(void)listener;
	(void)sa;
	(void)n;
	si_link_start(&r->st, r->provider, fd);
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
	struct running *r = arg;

	(void)sig;
	(void)what;
	event_base_loopbreak(r->st.base);
}

static struct event_base *base_new(void)
{
	struct event_config *cfg = event_config_new();
	struct event_base *base;

	if (!cfg)
		return NULL;
	event_config_set_flag(cfg, EVENT_BASE_FLAG_PRECISE_TIMER);
	base = event_base_new_with_config(cfg);
	event_config_free(cfg);
	return base;
}

static int listen_start(struct running *r, unsigned long port)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	r->st.base = base_new();
	if (!r->st.base)
		return ENOMEM;
	r->listener = evconnlistener_new_bind(r->st.base, on_accept, r,
					      LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE |
						      LEV_OPT_CLOSE_ON_EXEC,
					      -1, (struct sockaddr *)&sin, sizeof sin);
	r->on_term = evsignal_new(r->st.base, SIGTERM, on_signal, r);
	r->on_int = evsignal_new(r->st.base, SIGINT, on_signal, r);
	if (!r->listener || !r->on_term || !r->on_int)
		return EADDRINUSE;
	event_add(r->on_term, NULL);
	event_add(r->on_int, NULL);
	return 0;
}

/* The file appears complete, because a reader may open it as soon as it exists. */
static int file_write(const char *path, const char *text)
{
	char temp[LINE_SIZE];
	FILE *f;

	snprintf(temp, sizeof temp, "%s.new", path);
	f = fopen(temp, "w");
	if (!f)
		return errno;
	if (fputs(text, f) == EOF || fclose(f))
		return EIO;
	return rename(temp, path) ? errno : 0;
}

static int ready_tell(const struct running *r, const struct options *o)
{
	struct sockaddr_in sin;
	socklen_t n = sizeof sin;
	char port[LINE_SIZE];

	getsockname(evconnlistener_get_fd(r->listener), (struct sockaddr *)&sin, &n);
	snprintf(port, sizeof port, "%u\n", ntohs(sin.sin_port));
	printf("{\"provider\":\"%s\",\"host\":\"127.0.0.1\",\"port\":%u}\n", r->provider->name,
	       ntohs(sin.sin_port));
	fflush(stdout);
	return o->port_file ? file_write(o->port_file, port) : 0;
}

static void running_free(struct running *r)
{
	si_links_close();
	if (r->listener)
		evconnlistener_free(r->listener);
	if (r->on_term)
		event_free(r->on_term);
	if (r->on_int)
		event_free(r->on_int);
	if (r->st.base)
		event_base_free(r->st.base);
	si_script_free(r->st.script);
	si_record_close(r->st.record);
}

static int serve(const struct options *o)
{
	struct running r = {.provider = o->provider,
			    .st = {.key = o->key, .offlined_port = (uint16_t)o->offlined}};
	struct si_prompts *prompts = NULL;
	int err = script_read(&r.st.script, o->script);

	if (!err && o->prompts) {
		err = si_prompts_alloc(&prompts, o->prompts);
		r.st.prompts = prompts;
		if (err)
			fprintf(stderr, "standin: %s: %s\n", o->prompts, strerror(err));
	}
	if (!err && o->record) {
		err = si_record_open(&r.st.record, o->record);
		if (err)
			fprintf(stderr, "standin: %s: %s\n", o->record, strerror(err));
	}
	if (!err) {
		err = listen_start(&r, o->port);
		if (!err)
			err = ready_tell(&r, o);
		if (err)
			fprintf(stderr, "standin: cannot listen on port %lu: %s\n", o->port,
				strerror(err));
	}
	if (!err)
		event_base_dispatch(r.st.base);
	running_free(&r);
	si_prompts_free(prompts);
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct options o = {.level = LOG_INFO_};
	int done = options_parse(&o, argc, argv);

	if (done == USAGE)
		fprintf(stderr, "Try 'standin --help'.\n");
	if (done)
		return done == 1 ? 0 : done;
	log_init("standin", o.level);
	signal(SIGPIPE, SIG_IGN);
	return serve(&o);
}
