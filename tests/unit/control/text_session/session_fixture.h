/* A session of text chat for tests: real but for Discord and the providers, which nobody answers
 * for. */
#ifndef TESTS_TEXT_SESSION_FIXTURE_H
#define TESTS_TEXT_SESSION_FIXTURE_H

#include "control/consent/consent.h"
#include "control/delegate/delegates.h"
#include "control/discord/rest.h"
#include "control/engine/core/ask.h"
#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/text/missed.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "control/text_session/tools_inside.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "proto/media.h"
#include "tests/unit/ipc/loop.h"

enum { SELF = 900, ALICE = 501, BOB = 502 };

struct text_fixture {
	struct loop loop;
	struct http *http;
	struct rest *rest;
	struct settings *settings;
	struct bus *bus;
	struct consent_table *consents;
	struct delegates *delegates;
	struct text_session *ts;
};

/* Empty rooms and servers: each server has the common settings. */
static inline const struct settings *text_fixture_settings(uint64_t guild, void *arg)
{
	const struct text_fixture *f = arg;

	(void)guild;
	return f->settings;
}

static inline void text_fixture_release(uint64_t guild, void *arg)
{
	(void)guild, (void)arg;
}

static inline bool text_fixture_remembers(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild, (void)user, (void)arg;
	return false;
}

static inline void text_fixture_close(struct text_fixture *f)
{
	text_session_free(f->ts);
	rest_free(f->rest);
	delegates_free(f->delegates);
	consent_table_free(f->consents);
	bus_free(f->bus);
	settings_free(f->settings);
	http_free(f->http);
	loop_close(&f->loop);
}

/* workers: of the setting. An errno; to be closed also then. */
static inline int text_fixture_open(struct text_fixture *f, const char *workers)
{
	struct text_session_conf conf = {.settingsh = text_fixture_settings,
					 .releaseh = text_fixture_release,
					 .remembersh = text_fixture_remembers,
					 .arg = f};
	int err;

	memset(f, 0, sizeof *f);
	err = loop_open(&f->loop, NULL);
	if (!err)
		err = http_alloc(&f->http, f->loop.env, NULL, "DiscordBot (x, 0)");
	if (!err)
		err = rest_alloc(&f->rest, f->loop.env, f->http, "http://127.0.0.1:9/api", "token");
	if (!err)
		err = settings_alloc(&f->settings);
	if (!err)
		err = settings_set(f->settings, "text_chat", "all");
	if (!err)
		err = settings_set(f->settings, "workers", workers);
	if (!err)
		err = bus_alloc(&f->bus);
	if (!err)
		err = consent_table_alloc(&f->consents, NULL);
	if (!err)
		err = delegates_alloc(&f->delegates, f->loop.env, f->settings, "1");
	conf.env = f->loop.env;
	conf.http = f->http;
	conf.rest = f->rest;
	conf.settings = f->settings;
	conf.bus = f->bus;
	conf.consents = f->consents;
	conf.delegates = f->delegates;
	if (!err)
		err = text_session_alloc(&f->ts, &conf);
	if (!err)
		text_session_self(f->ts, SELF, "parley");
	return err;
}

#endif
