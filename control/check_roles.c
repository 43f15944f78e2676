/* Which provider serves each role that the settings use, and whether it answers and takes its key.
 */
#include "control/check_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/control.h"
#include "control/engine/probe.h"
#include "control/settings/settings.h"
#include "ipc/http.h"
#include "ipc/tmr.h"
#include "ipc/unreachable.h"
#include "ipc/ws.h"
#include "proto/base/time.h"

enum { ANSWER_MS = 10000, SHOWN = 256 };

static void check_next(struct check *c);

static const struct provider_record *asked(const struct check *c)
{
	return settings_role(c->settings, (enum role)c->role, c->provider);
}

static const char *role_asked(const struct check *c)
{
	static const char *const labels[] = {
#define LABEL(NAME, name, text) "role " #name,
		SETTINGS_ROLES(LABEL)
#undef LABEL
	};

	return labels[c->role];
}

/* Where its key comes from, for people. */
static const char *key_source(const struct provider_record *p)
{
	static const char *const implied[][2] = {{"asr", "PARLEY_ASR_KEY"},
						 {"text", "PARLEY_TEXT_KEY"},
						 {"speech", "PARLEY_SPEECH_KEY"}};

	if (*p->key_file)
		return p->key_file;
	for (size_t i = 0; i < sizeof implied / sizeof implied[0]; i++)
		if (strcmp(implied[i][0], p->name) == 0)
			return implied[i][1];
	return *p->key || provider_takes_short_key(p) ? SETTINGS_KEY_NAME
						      : "a key_file in its line of providers";
}

/* "NAME, model MODEL, at https://…", without what may be secret in the address. */
static const char *shown(const struct check *c, char buf[SHOWN])
{
	const struct provider_record *p = asked(c);
	const char *model = p->dialect == DIALECT_EMBEDDED
				    ? ""
				    : settings_model(c->settings, (enum role)c->role, p);
	char url[PROVIDER_URL_MAX];

	provider_shown(p, url, sizeof url);
	snprintf(buf, SHOWN, "%s%s%s, at %.*s", p->name, *model ? ", model " : "", model, SHOWN / 2,
		 url);
	return buf;
}

/* Where another provider can take over, one that fails is no reason not to start. */
static enum check_verdict failure(const struct check *c)
{
	return settings_role(c->settings, (enum role)c->role, 1) ? CHECK_WARNING : CHECK_MISSING;
}

static void say_no_key(struct check *c, const struct provider_record *p)
{
	char text[SHOWN];

	/* That its key file holds none was said once for all of its roles. */
	if (!*p->key_file)
		check_say(c, failure(c), role_asked(c), "%s needs a key: set %s", shown(c, text),
			  key_source(p));
}

static void finish_provider(struct check *c)
{
	tmr_stop(c->tmr);
	c->brain = probe_free(c->brain);
	c->provider++;
	check_next(c);
}

void check_roles_late(struct check *c)
{
	char text[SHOWN];

	check_say(c, failure(c), role_asked(c), "%s does not answer within %d s", shown(c, text),
		  ANSWER_MS / 1000);
	finish_provider(c);
}

/* ---- voice: a session is opened, which is free of charge ---- */

static void on_voice(enum probe_answer answer, const char *why, void *arg)
{
	struct check *c = arg;
	char text[SHOWN], key[160];

	switch (answer) {
	case PROBE_CREATED:
		check_say(c, CHECK_OK, role_asked(c), "%s answers", shown(c, text));
		break;
	case PROBE_REFUSED:
		check_say(c, failure(c), role_asked(c), "%s refuses: %s", shown(c, text), why);
		break;
	case PROBE_CLOSED:
		snprintf(key, sizeof key, "the key is not accepted; look at %.100s",
			 key_source(asked(c)));
		check_say(c, failure(c), role_asked(c), "%s cannot be %s: %s", shown(c, text),
			  unreachable_told(why, strlen(why)) ? "reached" : "used",
			  strstr(why, "unauthorized") ? key
			  : *why		      ? why
						      : "it hung up");
		break;
	}
	finish_provider(c);
}

static int open_voice(struct check *c, const struct provider_record *p)
{
	char socket[PROVIDER_URL_MAX];
	int err = provider_socket_url(p, socket, sizeof socket);

	if (err)
		return err;
	tmr_start(c->tmr, ANSWER_MS * NS_PER_MS);
	return probe_session(
		&c->brain, c->ws_ctx,
		&(struct probe_conf){.dialect = (enum dialect)p->dialect,
				     .url = socket,
				     .model = settings_model(c->settings, ROLE_VOICE, p),
				     .key = p->key},
		on_voice, c);
}

/* ---- others: most servers have a list of their models, which is free; any answer says that
 * somebody is there ---- */

static void on_models(const struct http_resp *resp, void *arg)
{
	struct check *c = arg;
	char text[SHOWN];

	if (resp->err)
		check_say(c, failure(c), role_asked(c), "%s cannot be reached: %s", shown(c, text),
			  resp->errtext);
	else if ((resp->status == 401 || resp->status == 403) && !*asked(c)->key)
		say_no_key(c, asked(c));
	else if (resp->status == 401 || resp->status == 403)
		check_say(c, failure(c), role_asked(c), "%s does not take the key: look at %s",
			  shown(c, text), key_source(asked(c)));
	else
		check_say(c, CHECK_OK, role_asked(c), "%s answers", shown(c, text));
	finish_provider(c);
}

static int ask_models(struct check *c, const struct provider_record *p)
{
	return probe_models(c->http, p, ANSWER_MS, on_models, c);
}

/* ---- all of them ---- */

/* False: nothing is to be asked over the network. */
static bool check_provider(struct check *c, const struct provider_record *p)
{
	char text[SHOWN];

	if (!dialect_serves((enum dialect)p->dialect, (enum role)c->role)) {
		check_say(c, CHECK_WARNING, role_asked(c),
			  "%s cannot serve this role: name another provider%s", p->name,
			  settings_key_serves((enum role)c->role) ? ", or set " SETTINGS_KEY_NAME
								  : "");
	} else if (p->dialect == DIALECT_EMBEDDED && !*p->url) {
		check_say(c, CHECK_OK, role_asked(c),
			  "the embedded engine serves, without a network");
	} else if (provider_needs_key(p) && !*p->key) {
		say_no_key(c, p);
	} else if (c->role == ROLE_VOICE ? open_voice(c, p) : ask_models(c, p)) {
		check_say(c, failure(c), role_asked(c), "%s is not an address that can be asked",
			  shown(c, text));
	} else {
		return true;
	}
	return false;
}

static void check_next(struct check *c)
{
	const struct provider_record *p;

	for (; c->role < ROLE_COUNT; c->role++, c->provider = 0)
		for (; settings_uses(c->settings, (enum role)c->role) && (p = asked(c));
		     c->provider++)
			if (check_provider(c, p))
				return;
	check_discord(c);
}

void check_roles(struct check *c)
{
	c->role = c->provider = 0;
	check_next(c);
}
