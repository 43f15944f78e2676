/* Checks the services that the settings name by HTTP: whether each has an address and a key, and
 * whether its server accepts the key. */
#include "control/check_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/control.h"
#include "control/engine/probe.h"
#include "control/settings/provider.h"
#include "control/settings/provider_record.h"
#include "control/settings/settings.h"
#include "ipc/http.h"

enum { ANSWER_MS = 10000 };

static const struct {
	const char *what, *setting;
} services[] = {
	[SETTINGS_SERVICE_ASR] = {"recordings", "PARLEY_ASR_URL"},
	[SETTINGS_SERVICE_TEXT] = {"text", "PARLEY_TEXT_URL"},
	[SETTINGS_SERVICE_SPEECH] = {"speech", "PARLEY_SPEECH_URL"},
};
enum { N_SERVICES = sizeof services / sizeof services[0] };

static void ask_next(struct check *c);

/* The address without the parts that may be secret, for display. */
static const char *hide_secrets(const char *base)
{
	const char *at = strrchr(base, '@');

	return at ? at + 1 : base;
}

static void on_models(const struct http_resp *resp, void *arg)
{
	struct check *c = arg;
	const char *what = services[c->service].what;
	struct settings_provider p;

	if (settings_provider(c->settings, (enum settings_service)c->service, &p) == 0) {
		if (resp->err)
			check_say(c, CHECK_MISSING, what, "%s cannot be reached (look at %s): %s",
				  hide_secrets(p.base), services[c->service].setting,
				  resp->errtext);
		else if (resp->status == 401 || resp->status == 403)
			check_say(c, CHECK_MISSING, what, "%s does not take the key: look at %s",
				  hide_secrets(p.base), p.key_name);
		else
			check_say(c, CHECK_OK, what, "%s answers", hide_secrets(p.base));
	}
	c->service++;
	ask_next(c);
}

/* Returns false if there is nothing to ask. */
static bool ask_service(struct check *c)
{
	enum settings_service which = (enum settings_service)c->service;
	const char *what = services[which].what;
	struct settings_provider p;

	if (!settings_asks(c->settings, which))
		return false;
	switch (settings_provider(c->settings, which, &p)) {
	case 0:
		break;
	case ENOENT:
		if (which == SETTINGS_SERVICE_TEXT &&
		    c->settings->admission == SETTINGS_ADMISSION_CLASSIFIER)
			check_say(c, CHECK_WARNING, what,
				  "the embedded brain cannot tell whom words are meant for: set "
				  "%s, or %s",
				  services[which].setting, SETTINGS_KEY_NAME);
		return false;
	default:
		check_say(c, CHECK_MISSING, what,
			  "%s is not an address: http:// or https:// and a server",
			  services[which].setting);
		return false;
	}
	if (probe_needs_key(p.base) && !*p.key) {
		check_say(c, CHECK_MISSING, what, "%s needs a key: set %s", hide_secrets(p.base),
			  p.key_name);
		return false;
	}
	/* Any answer says that somebody is there. */
	if (probe_models(c->http, p.base, p.key, ANSWER_MS, on_models, c) == 0)
		return true;
	check_say(c, CHECK_MISSING, what, "%s is not an address", services[which].setting);
	return false;
}

static void ask_next(struct check *c)
{
	for (; c->service < N_SERVICES; c->service++)
		if (ask_service(c))
			return;
	check_discord(c);
}

void check_services(struct check *c)
{
	c->service = 0;
	ask_next(c);
}
