#include "tests/unit/control/text_session/text_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/consent/consent.h"
#include "control/discord/rest.h"
#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/text/missed.h"
#include "control/text/reading.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

#define MENTION "<@9>"

static const struct settings *settings_of(uint64_t guild, void *arg)
{
	const struct text_stage *s = arg;

	(void)guild;
	return s->settings;
}

static void release(uint64_t guild, void *arg)
{
	(void)guild, (void)arg;
}

static bool remembers(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild, (void)user, (void)arg;
	return true;
}

static enum tool_rank rank_of(uint64_t guild, uint64_t user, const json_t *member, void *arg)
{
	const struct text_stage *s = arg;

	(void)guild, (void)user, (void)member;
	return s->rank;
}

static bool is_known(uint64_t guild, void *arg)
{
	const struct text_stage *s = arg;

	(void)guild;
	return !s->unknown;
}

static bool may_write(uint64_t guild, uint64_t channel, void *arg)
{
	const struct text_stage *s = arg;

	(void)guild, (void)channel;
	return !s->barred;
}

static bool may_read_history(uint64_t guild, uint64_t channel, void *arg)
{
	const struct text_stage *s = arg;

	(void)guild, (void)channel;
	return !s->blind;
}

static uint32_t reading_of(uint64_t guild, uint64_t channel, uint64_t parent, uint64_t at_ms,
			   void *arg)
{
	const struct text_stage *s = arg;

	(void)guild, (void)channel, (void)parent;
	return at_ms < s->changed ? s->reading : s->settings->text_chat;
}

static uint64_t thread_of(uint64_t guild, uint64_t channel, const char **title, void *arg)
{
	const struct text_stage *s = arg;

	(void)guild;
	*title = channel == s->post && s->title ? s->title : "";
	if (s->unknown)
		return READING_UNKNOWN;
	if (channel == STAGE_UNKNOWN)
		return READING_UNKNOWN;
	return channel == s->post ? STAGE_FORUM : 0;
}

static bool is_elsewhere(uint64_t guild, uint64_t channel, void *arg)
{
	(void)arg;
	return guild == STAGE_GUILD && channel == STAGE_ELSEWHERE;
}

static uint64_t guild_of(uint64_t channel, void *arg)
{
	(void)arg;
	return channel == STAGE_CHANNEL || channel == STAGE_POST ? STAGE_GUILD : 0;
}

static size_t threads_of(uint64_t guild, uint64_t channel, uint64_t *to, size_t most, void *arg)
{
	const struct text_stage *s = arg;

	(void)guild;
	if (channel != STAGE_FORUM || !most)
		return 0;
	*to = s->post;
	return 1;
}

static size_t archived_of(uint64_t guild, uint64_t *to, size_t most, void *arg)
{
	const struct text_stage *s = arg;

	(void)guild;
	if (!s->archived || !most)
		return 0;
	*to = s->archived;
	return 1;
}

static void take_message(struct text_stage *s, uint64_t user, const struct event_message *m)
{
	if (m->text)
		s->author = user;
	snprintf(s->author_name, sizeof s->author_name, "%s", m->name ? m->name : "");
	if (m->text)
		snprintf(s->stored, sizeof s->stored, "%s", m->text);
	if (m->text)
		snprintf(s->told, sizeof s->told, "%s", m->told ? m->told : "");
	if (m->text)
		s->written_ms = m->written_ms;
	if (!m->message && s->n_deleted < sizeof s->deleted / sizeof s->deleted[0])
		s->deleted[s->n_deleted++] = m->channel;
}

static void take_event(const struct bus_event *ev, void *arg)
{
	struct text_stage *s = arg;

	if (ev->type == EVENT_MESSAGE)
		take_message(s, ev->user, &ev->message);
	if (ev->type != EVENT_TEXT_MESSAGE || s->n_ends == STAGE_ENDS)
		return;
	s->end[s->n_ends].message = ev->text.message;
	snprintf(s->end[s->n_ends].reason, sizeof s->end[0].reason, "%s", ev->text.reason);
	snprintf(s->end[s->n_ends++].rule, sizeof s->end[0].rule, "%s", ev->text.rule);
}

/* ---- Discord, and the model ---- */

static void answer_json(struct evhttp_request *req, const json_t *j)
{
	char *text = json_dumps(j, JSON_COMPACT);

	fake_http_answer(req, 200, "application/json", text ? text : "[]", text ? strlen(text) : 2);
	free(text);
}

static uint64_t query_of(const char *path, const char *name)
{
	const char *at = strstr(path, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* The newest messages before that one, if the request names one. */
static void answer_page(const struct text_stage *s, struct evhttp_request *req, const json_t *all)
{
	uint64_t before = query_of(s->fake.path, "before="),
		 limit = query_of(s->fake.path, "limit=");
	json_t *page = json_array(), *m;
	size_t i;

	json_array_foreach(all, i, m)
	{
		const char *id = json_string_value(json_object_get(m, "id"));

		if (json_array_size(page) < limit && (!before || strtoull(id, NULL, 10) < before))
			json_array_append(page, m);
	}
	answer_json(req, page);
	json_decref(page);
}

static void answer_history(struct text_stage *s, struct evhttp_request *req, uint64_t channel)
{
	if (s->n_read < STAGE_READS)
		s->read[s->n_read++] = channel;
	if (s->broken) {
		fake_http_answer(req, 200, "application/json", "{}", 2);
		return;
	}
	for (unsigned i = 0; i < s->n_histories; i++)
		if (s->history[i].channel == channel) {
			answer_page(s, req, s->history[i].list);
			return;
		}
	fake_http_answer(req, 200, "application/json", "[]", 2);
}

static void answer_model(struct text_stage *s, struct evhttp_request *req)
{
	static const char said[] = "data: {\"choices\":[{\"delta\":{\"content\":\"It is "
				   "so.\"},\"finish_reason\":\"stop\"}]}"
				   "\n\ndata: [DONE]\n\n";

	const char *say = s->first && !s->asked ? s->first : said;

	s->asked++;
	snprintf(s->prompt, sizeof s->prompt, "%.*s", (int)s->fake.n, (const char *)s->fake.body);
	fake_http_answer(req, 200, "text/event-stream", say, strlen(say));
}

static void answer_post(struct text_stage *s, struct evhttp_request *req, uint64_t channel)
{
	json_t *body = json_loadb((const char *)s->fake.body, s->fake.n, 0, NULL);

	s->posted++;
	if (s->posth)
		s->posth();
	json_object_set_new(body, "id",
			    json_sprintf("%llu", (unsigned long long)text_stage_id(s, 0)));
	json_object_set_new(body, "channel_id", json_sprintf("%llu", (unsigned long long)channel));
	answer_json(req, body);
	json_decref(body);
}

static void note_sign(struct text_stage *s)
{
	const char *message = strstr(s->fake.path, "/messages/");

	if (message && strstr(s->fake.path, "/reactions/%E2%9A%A0") && s->n_warned < 8)
		s->warned[s->n_warned++] = strtoull(message + strlen("/messages/"), NULL, 10);
}

static void serve(struct fake_http *f, struct evhttp_request *req)
{
	struct text_stage *s = f->arg;
	const char *channel = strstr(f->path, "/channels/");
	uint64_t id = channel ? strtoull(channel + strlen("/channels/"), NULL, 10) : 0;

	if (strstr(f->path, "/chat/completions"))
		answer_model(s, req);
	else if (strcmp(f->method, "other") == 0 && strstr(f->path, "/messages?"))
		answer_history(s, req, id);
	else if (strcmp(f->method, "POST") == 0 && strstr(f->path, "/messages"))
		answer_post(s, req, id);
	else {
		note_sign(s);
		fake_http_answer(req, 204, "application/json", "", 0);
	}
}

/* ---- the session ---- */

bool text_stage_open(struct text_stage *s)
{
	char url[80];

	memset(s, 0, sizeof *s);
	s->post = STAGE_POST;
	if (!fake_http_begin(&s->fake, serve, s) || settings_alloc(&s->settings) ||
	    bus_alloc(&s->bus) || consent_table_alloc(&s->consents, NULL) ||
	    bus_subscribe(s->bus, UINT64_MAX, take_event, s))
		return false;
	snprintf(url, sizeof url, "%s", s->fake.base);
	s->conf = (struct text_session_conf){.env = s->fake.env,
					     .http = s->fake.http,
					     .settings = s->settings,
					     .bus = s->bus,
					     .consents = s->consents,
					     .settingsh = settings_of,
					     .releaseh = release,
					     .remembersh = remembers,
					     .rankh = rank_of,
					     .knownh = is_known,
					     .writeh = may_write,
					     .historyh = may_read_history,
					     .readingh = reading_of,
					     .threadh = thread_of,
					     .elsewhereh = is_elsewhere,
					     .guildh = guild_of,
					     .threadsh = threads_of,
					     .archivedh = archived_of,
					     .arg = s};
	return !settings_set(s->settings, "text_url", url) &&
	       !settings_set(s->settings, "text_chat", "all") &&
	       !settings_set(s->settings, "text_coalesce_s", "0") &&
	       !settings_set(s->settings, "text_spacing_s", "0") &&
	       !settings_set(s->settings, "text_reply_share", "100") &&
	       !settings_set(s->settings, "text_reply_short", "100") &&
	       !settings_set(s->settings, "consent", "heard");
}

bool text_stage_begin(struct text_stage *s)
{
	if (rest_alloc(&s->rest, s->fake.env, s->fake.http, s->fake.base, "token"))
		return false;
	s->conf.rest = s->rest;
	if (text_session_alloc(&s->ts, &s->conf))
		return false;
	text_session_self(s->ts, STAGE_SELF, "Parley");
	return true;
}

void text_stage_close(struct text_stage *s)
{
	s->rest = rest_free(s->rest);
	s->ts = text_session_free(s->ts);
	consent_table_free(s->consents);
	bus_free(s->bus);
	settings_free(s->settings);
	for (unsigned i = 0; i < s->n_histories; i++)
		json_decref(s->history[i].list);
	json_decref(s->rows);
	fake_http_end(&s->fake);
}

static void stop(void *arg)
{
	const struct text_stage *s = arg;

	env_stop(s->fake.env);
}

void text_stage_run(struct text_stage *s)
{
	struct tmr *t = NULL;
	unsigned before;

	if (tmr_alloc(&t, s->fake.env, stop, s))
		return;
	do {
		before = s->fake.requests;
		tmr_start(t, 400 * NS_PER_MS);
		env_run(s->fake.env);
	} while (s->fake.requests != before && !s->fake.timed_out);
	tmr_free(t);
}

uint64_t text_stage_id(const struct text_stage *s, uint64_t ago_ms)
{
	static uint64_t n;

	return missed_id_of(env_wall_ms(s->fake.env) - ago_ms) + ++n % 4096;
}

json_t *text_stage_message(uint64_t guild, uint64_t channel, uint64_t id, uint64_t user,
			   const char *text)
{
	bool to_bot = strstr(text, MENTION) != NULL;
	json_t *m = json_pack(
		"{s:o,s:o,s:i,s:s,s:{s:o,s:s},s:o}", "id",
		json_sprintf("%llu", (unsigned long long)id), "channel_id",
		json_sprintf("%llu", (unsigned long long)channel), "type", 0, "content", text,
		"author", "id", json_sprintf("%llu", (unsigned long long)user), "username",
		user == STAGE_ANA ? "ana" : "bob", "mentions",
		to_bot ? json_pack("[{s:s,s:s}]", "id", "9", "username", "parley") : json_array());

	if (guild)
		json_object_set_new(m, "guild_id", json_sprintf("%llu", (unsigned long long)guild));
	return m;
}

void text_stage_wrote(struct text_stage *s, uint64_t channel, uint64_t id, uint64_t user,
		      const char *text)
{
	unsigned i = 0;

	while (i < s->n_histories && s->history[i].channel != channel)
		i++;
	if (i == STAGE_HISTORIES)
		return;
	if (i == s->n_histories) {
		s->history[s->n_histories].channel = channel;
		s->history[s->n_histories++].list = json_array();
	}
	json_array_insert_new(s->history[i].list, 0,
			      text_stage_message(0, channel, id, user, text));
}

void text_stage_event(struct text_stage *s, const char *name, uint64_t guild, uint64_t channel,
		      uint64_t id, uint64_t user, const char *text)
{
	json_t *m = text_stage_message(guild, channel, id, user, text);

	json_object_set_new(m, "member", json_pack("{s:[]}", "roles"));
	text_session_event(s->ts, name, m);
	json_decref(m);
}

void text_stage_writes(struct text_stage *s, uint64_t guild, uint64_t channel, uint64_t id,
		       uint64_t user, const char *text)
{
	text_stage_event(s, "MESSAGE_CREATE", guild, channel, id, user, text);
}

json_t *text_stage_guilds(uint64_t first, unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(
			list, json_pack("{s:o}", "id",
					json_sprintf("%llu", (unsigned long long)first + i)));
	return list;
}

void text_stage_guild(struct text_stage *s, uint64_t guild, uint64_t channel, unsigned channels,
		      uint64_t last)
{
	json_t *d =
		json_pack("{s:o,s:[],s:[]}", "id", json_sprintf("%llu", (unsigned long long)guild),
			  "channels", "threads");

	for (unsigned i = 0; i < channels; i++)
		json_array_append_new(
			json_object_get(d, "channels"),
			json_pack("{s:o,s:o}", "id",
				  json_sprintf("%llu", (unsigned long long)channel + i),
				  "last_message_id",
				  json_sprintf("%llu", (unsigned long long)last)));
	text_session_guild(s->ts, d);
	json_decref(d);
}

const char *text_stage_reason(const struct text_stage *s, uint64_t message)
{
	for (unsigned i = 0; i < s->n_ends; i++)
		if (s->end[i].message == message)
			return s->end[i].reason;
	return "";
}

bool text_stage_has_read(const struct text_stage *s, uint64_t channel)
{
	for (unsigned i = 0; i < s->n_read; i++)
		if (s->read[i] == channel)
			return true;
	return false;
}
