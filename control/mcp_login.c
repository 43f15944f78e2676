#include "control/mcp_login.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "control/control.h"
#include "control/mcp/login.h"
#include "control/settings/settings.h"
#include "control/words/words.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/http_guard.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { LIMIT_S = 600 };

struct run {
	struct env *env;
	struct http *http, *guarded;
	struct http_guard *guard;
	struct tmr *limit;
	struct login *login;
	bool done;
};

static int print_fault(const char *why)
{
	fprintf(stderr, "control: the sign-in failed: %s\n", why);
	return 1;
}

static void on_link(const char *link, const char *issuer, void *arg)
{
	struct words open = {0}, elsewhere = {0};

	(void)arg;
	words_sign_in_open(&open, issuer);
	words_sign_in_elsewhere(&elsewhere);
	printf("%s\n\n%s\n\n%s\n", open.text, link, elsewhere.text);
	fflush(stdout);
}

static void on_end(const char *why, void *arg)
{
	struct run *r = arg;

	if (why)
		print_fault(why);
	r->done = !why;
	env_stop(r->env);
}

static void on_limit(void *arg)
{
	on_end("nobody signed in within 10 minutes", arg);
}

static const struct mcp_record *find_server(const struct settings *s, const char *name)
{
	for (unsigned i = 0; i < s->records.n[RECORD_KIND_MCP]; i++)
		if (strcmp(s->records.mcp[i].name, name) == 0)
			return &s->records.mcp[i];
	return NULL;
}

static int open_run(struct run *r, const struct control_conf *conf)
{
	int err = env_alloc(&r->env, &(struct env_conf){.loop = true});

	if (!err)
		err = http_alloc(&r->http, r->env, conf->ca_file, "Parley");
	if (!err)
		err = http_guard_alloc(&r->guard, NULL);
	if (!err)
		err = http_alloc_guarded(&r->guarded, r->env, conf->ca_file, "Parley", r->guard);
	if (!err)
		err = tmr_alloc(&r->limit, r->env, on_limit, r);
	return err;
}

static void close_run(struct run *r)
{
	login_free(r->login);
	tmr_free(r->limit);
	http_free(r->guarded);
	http_free(r->http);
	http_guard_free(r->guard);
	env_free(r->env);
}

int mcp_login_run(const struct settings *settings, const struct control_conf *conf,
		  const char *server, const char *scope)
{
	const struct mcp_record *record = find_server(settings, server);
	struct words done = {0};
	struct run r = {0};
	int err;

	if (!record || !record->transport)
		return print_fault(record ? "this server is a program, which needs none"
					  : "the settings name no such MCP server");
	if (!conf->state_dir)
		return print_fault("there is no state directory: give --state-dir");
	err = open_run(&r, conf);
	if (!err)
		err = login_alloc(&r.login, &(struct login_conf){.env = r.env,
								 .http = r.http,
								 .guarded = r.guarded,
								 .record = record,
								 .state_dir = conf->state_dir,
								 .scope = scope ? scope : "",
								 .linkh = on_link,
								 .endh = on_end,
								 .arg = &r});
	if (err) {
		print_fault(strerror(err));
	} else {
		tmr_start(r.limit, LIMIT_S * NS_PER_S);
		env_run(r.env);
	}
	close_run(&r);
	if (r.done) {
		words_sign_in_done(&done, server);
		puts(done.text);
	}
	return r.done ? 0 : 1;
}
