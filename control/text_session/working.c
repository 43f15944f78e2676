/* The message that tells of a tool at work: posted once, edited while the work goes on, and then
 * replaced by the answer, or deleted with it (inside.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/discord/rest.h"
#include "control/settings/settings.h"
#include "control/text/taken.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "ipc/log.h"
#include "proto/discord.h"

struct text_working {
	struct text_working *next;
	struct text_guild *g; /* NULL: dropped while it was posted */
	struct text_session *ts;
	uint64_t guild, channel, id; /* id 0: not known yet */
	uint64_t first;		     /* the message that is answered, of several the first */
	bool awaited;		     /* the answer waits for it */
	bool left;		     /* by a control that ended; its answer is not under way yet */
};

bool text_working_is(const char *content)
{
	return strncmp(content, TEXT_WORKING_MARK, sizeof TEXT_WORKING_MARK - 1) == 0;
}

/* Of the answer under way. */
static struct text_working **find_working(struct text_guild *g, uint64_t channel)
{
	struct text_working **at = &g->workings;

	while (*at && ((*at)->channel != channel || (*at)->left))
		at = &(*at)->next;
	return at;
}

static void change(struct text_session *ts, uint64_t guild, const char *method, uint64_t channel,
		   uint64_t id, json_t *body)
{
	char path[96], major[24];
	const struct rest_call call = {.method = method,
				       .route = "/channels/{}/messages/{}",
				       .path = path,
				       .major = major,
				       .body = body,
				       .ordered = true,
				       .idempotent = true};

	snprintf(major, sizeof major, "%llu", (unsigned long long)channel);
	snprintf(path, sizeof path, "/channels/%s/messages/%llu", major, (unsigned long long)id);
	text_quiet_request(ts, &call, "working", guild, channel);
}

static void on_posted(int err, int status, const json_t *body, void *arg)
{
	struct text_working *w = arg;
	bool awaited = w->awaited;
	struct text_guild *g = w->g;
	uint64_t channel = w->channel;

	text_quiet_told(&(struct text_done){.event = "text_not_done",
					    .what = "working",
					    .guild = w->guild,
					    .channel = channel},
			err, status, body);
	if (!err && status / 100 == 2)
		discord_snowflake(json_string_value(json_object_get(body, "id")), &w->id);
	if (!g) {
		if (w->id)
			change(w->ts, w->guild, "DELETE", w->channel, w->id, NULL);
		free(w);
		return;
	}
	w->awaited = false;
	if (!w->id) {
		struct text_working **at = find_working(g, channel);

		*at = w->next;
		free(w);
	}
	if (awaited)
		text_sending_resume(g, channel);
}

/* NULL: the settings want no such line. */
static json_t *write_line(const struct settings *s, unsigned n)
{
	const char *line = n ? s->tool_still_line : s->tool_wait_line;

	return *line ? json_pack("{s:o,s:{s:[]}}", "content",
				 json_sprintf(TEXT_WORKING_MARK "%s", line), "allowed_mentions",
				 "parse")
		     : NULL;
}

static void post(struct text_guild *g, const struct text_job *job, const struct text_effect *e,
		 json_t *body)
{
	char path[64], major[24];
	struct rest_call call = {.method = "POST",
				 .route = "/channels/{}/messages",
				 .path = path,
				 .major = major,
				 .body = body,
				 .ordered = true,
				 .idempotent = true};
	struct text_working *w = calloc(1, sizeof *w);

	if (!w)
		return;
	*w = (struct text_working){.next = g->workings,
				   .g = g,
				   .ts = g->ts,
				   .guild = g->id,
				   .channel = e->channel,
				   .first = job->first};
	snprintf(major, sizeof major, "%llu", (unsigned long long)e->channel);
	snprintf(path, sizeof path, "/channels/%s/messages", major);
	/* The answer's own nonce: a control that follows finds this message, and replaces it. */
	json_object_set_new(body, "nonce", json_sprintf("%llu.0", (unsigned long long)job->first));
	json_object_set_new(body, "enforce_nonce", json_true());
	if (e->message)
		json_object_set_new(body, "message_reference",
				    json_pack("{s:o,s:b}", "message_id",
					      json_sprintf("%llu", (unsigned long long)e->message),
					      "fail_if_not_exists", 0));
	if (rest_request(g->ts->conf.rest, &call, on_posted, w))
		free(w);
	else
		g->workings = w;
}

void text_working_tell(struct text_guild *g, const struct text_effect *e)
{
	const struct text_job *job = text_asking_find(g, e->reply);
	const struct text_working *w = *find_working(g, e->channel);
	json_t *body = job ? write_line(g->settings, e->n) : NULL;

	if (body && !w) {
		post(g, job, e, body);
	} else if (body && w->id) {
		change(g->ts, g->id, "PATCH", e->channel, w->id, body);
	}
	json_decref(body);
}

uint64_t text_working_take(struct text_guild *g, uint64_t channel, bool *later)
{
	struct text_working **at = find_working(g, channel), *w = *at;
	uint64_t id = w ? w->id : 0;

	*later = w && !id;
	if (*later)
		w->awaited = true;
	if (id) {
		*at = w->next;
		free(w);
	}
	return id;
}

uint64_t text_working_of(const struct text_guild *g, uint64_t channel, uint64_t message)
{
	for (const struct text_working *w = g->workings; w; w = w->next)
		if (w->channel == channel && w->id == message)
			return w->first;
	return 0;
}

static void drop(struct text_working **at)
{
	struct text_working *w = *at;

	if (!w)
		return;
	*at = w->next;
	w->g = NULL;
	if (!w->id)
		return; /* when it is posted */
	change(w->ts, w->guild, "DELETE", w->channel, w->id, NULL);
	free(w);
}

void text_working_drop(struct text_guild *g, uint64_t channel)
{
	drop(find_working(g, channel));
}

void text_working_delete(struct text_guild *g, uint64_t channel, uint64_t id)
{
	change(g->ts, g->id, "DELETE", channel, id, NULL);
}

void text_working_find_left(struct text_guild *g, uint64_t channel, uint64_t id, uint64_t owed)
{
	struct text_working *w;

	if (text_working_of(g, channel, id))
		return;
	w = calloc(1, sizeof *w);
	if (!w)
		return;
	*w = (struct text_working){.next = g->workings,
				   .g = g,
				   .ts = g->ts,
				   .guild = g->id,
				   .channel = channel,
				   .id = id,
				   .first = owed,
				   .left = true};
	g->workings = w;
}

static bool answers(const struct text_effect *e, uint64_t message)
{
	for (size_t i = 0; i < e->n_triggers; i++)
		if (e->triggers[i]->message == message)
			return true;
	return false;
}

void text_working_claim(struct text_guild *g, const struct text_effect *e)
{
	for (struct text_working *w = g->workings; w; w = w->next)
		if (w->left && w->channel == e->channel && answers(e, w->first) &&
		    !*find_working(g, e->channel)) {
			w->left = false;
			w->first = e->triggers[0]->message;
		}
}

static bool is_wanted(const struct text_guild *g, const struct text_working *w)
{
	const struct taken *row = w->left ? taken_find(g->ts->taken, w->first) : NULL;

	if (w->left)
		return row && (row->state == TAKEN_WAITS || row->state == TAKEN_SENDING);
	return text_is_answering(g->core, w->channel);
}

void text_working_sweep(struct text_guild *g)
{
	struct text_working **at = &g->workings;

	while (*at)
		if (is_wanted(g, *at))
			at = &(*at)->next;
		else
			drop(at);
}

void text_working_free(struct text_guild *g)
{
	while (g->workings) {
		struct text_working *w = g->workings;

		g->workings = w->next;
		w->g = NULL;
		if (w->id)
			free(w);
	}
}
