/* The settings over HTTP: GET and PUT /api/settings and what belongs to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/configure/live_settings.h"
#include "control/settings/view.h"
#include "control/web/inside.h"
#include "ipc/env.h"
#include "proto/base/iso_time.h"
#include "proto/discord.h"
#include "proto/base/utf8.h"

enum { FAULTS_TOLD = 32, FAULT_SIZE = 768 };

static void hide_addresses(json_t *lists)
{
	json_t *list, *served;
	const char *name;
	size_t i;

	json_object_foreach(lists, name, list)
	{
		json_array_foreach(list, i, served)
		{
			json_object_set_new(served, "url", json_null());
		}
	}
}

/* Without the addresses of providers, which may be ones of this network. NULL without memory. */
static json_t *public_bindings(const struct settings *s)
{
	json_t *all = settings_bindings_json(s);

	hide_addresses(json_object_get(all, "roles"));
	hide_addresses(json_object_get(all, "purposes"));
	return all;
}

/* The document as it is now, with these effective settings. The intent is as somebody wrote it,
 * with whole addresses and the settings of every server, and for admins alone, as are the texts of
 * the settings. */
static json_t *describe(const struct live_settings *l, const struct settings *s, bool admin)
{
	const struct document *d = live_settings_document(l);
	const char *at = document_updated_at(d);

	return json_pack("{s:o,s:o,s:o,s:{s:I,s:s?}}", "intent",
			 admin ? json_incref((json_t *)document_intent(d)) : json_object(),
			 "effective", admin ? settings_values_json(s) : settings_public_json(s),
			 "bindings", admin ? settings_bindings_json(s) : public_bindings(s),
			 "_meta", "version", (json_int_t)document_version(d), "updatedAt",
			 *at ? at : NULL);
}

static json_t *current(const struct live_settings *l)
{
	return describe(l, live_settings_wanted(l), true);
}

/* With the effective settings of one server, as they are wanted for its next call. */
static json_t *current_of(const struct live_settings *l, uint64_t guild, bool admin)
{
	struct settings *s = NULL;
	json_t *all;

	if (settings_alloc(&s))
		return NULL;
	live_settings_wanted_of(l, guild, s);
	all = describe(l, s, admin);
	if (all &&
	    json_object_set_new(all, "guild", json_sprintf("%llu", (unsigned long long)guild))) {
		json_decref(all);
		all = NULL;
	}
	settings_free(s);
	return all;
}

/* Who sees one server sees its settings. */
void web_settings_get(struct web *w, const struct web_request *r)
{
	const struct live_settings *l = web_live(w);
	bool admin = r->role >= WEB_ADMIN;
	uint64_t guild = r->scope;
	char id[24];

	if (http_head_has_query(r->head, "guild") &&
	    (!http_head_query(r->head, "guild", id, sizeof id) || !discord_snowflake(id, &guild)))
		web_refuse(r->x, WEB_BAD_GUILD);
	else if (guild)
		web_json(r->x, 200, current_of(l, guild, admin));
	else
		web_json(r->x, 200, describe(l, live_settings_wanted(l), admin));
}

void web_settings_schema(struct web *w, const struct web_request *r)
{
	(void)w;
	web_json(r->x, 200, settings_schema_json());
}

void web_settings_history(struct web *w, const struct web_request *r)
{
	json_t *list = document_history(live_settings_document(web_live(w)));

	web_json(r->x, 200, list ? json_pack("{s:o}", "versions", list) : NULL);
}

/* 0 without the parameter. False: it is no number. */
static bool read_version(const struct http_head *head, const char *name, uint64_t *out)
{
	char text[20];

	*out = 0;
	if (!http_head_has_query(head, name))
		return true;
	if (!http_head_query(head, name, text, sizeof text) || !*text ||
	    text[strspn(text, "0123456789")])
		return false;
	*out = strtoull(text, NULL, 10);
	return true;
}

void web_settings_diff(struct web *w, const struct web_request *r)
{
	uint64_t from, to;
	json_t *list;

	if (!read_version(r->head, "from", &from) || !read_version(r->head, "to", &to)) {
		web_refuse(r->x, WEB_BAD_VERSION);
		return;
	}
	list = document_diff(live_settings_document(web_live(w)), from, to);
	if (list)
		web_json(r->x, 200, json_pack("{s:o}", "changes", list));
	else
		web_refuse(r->x, WEB_NO_SUCH_VERSION);
}

/* ---- changes ---- */

static void add_fault(const char *member, const char *text, void *arg)
{
	json_t *list = arg;
	char pointer[160], detail[FAULT_SIZE];

	/* Names are cut at a number of bytes, here and before. */
	snprintf(pointer, sizeof pointer, "/intent/%s", member);
	snprintf(detail, sizeof detail, "%s", text);
	utf8_mend(pointer);
	utf8_mend(detail);
	if (json_array_size(list) < FAULTS_TOLD)
		json_array_append_new(list,
				      json_pack("{s:s,s:s}", "pointer", pointer, "detail", detail));
}

/* Which version the client saw. Before the first change its time is null, which counts when it is
 * said. */
static void read_meta(const json_t *body, struct document_change *change)
{
	const json_t *meta = json_object_get(body, "_meta");
	const json_t *at = json_object_get(meta, "expectedUpdatedAt");
	const json_t *version = json_object_get(meta, "version");

	if (json_is_string(at))
		change->updated_at = json_string_value(at);
	else if (json_is_null(at) || (json_is_integer(version) && !json_integer_value(version)))
		change->updated_at = "";
	if (json_is_integer(version) && json_integer_value(version))
		change->version = (uint64_t)json_integer_value(version);
}

/* A change that was not made: its faults or why (NULL or ""), with the document as it stands. */
static void refuse(struct web *w, struct http_exchange *x, enum document_result result,
		   json_t *faults, const char *why)
{
	json_t *more = current(web_live(w));

	if (more && json_array_size(faults))
		json_object_set(more, "errors", faults);
	if (more && why && *why)
		json_object_set_new(more, "detail", json_string(why));
	web_problem(x, document_result_status(result), document_result_name(result),
		    document_result_text(result), more);
}

/* The outcome that a saved change waits for, as the seeds' clients read it; NULL: none. */
static const char *waits_for(const json_t *outcomes)
{
	const char *what = NULL;
	const json_t *one;
	size_t i;

	json_array_foreach(outcomes, i, one)
	{
		const char *outcome = json_string_value(json_object_get(one, "outcome"));

		if (outcome && strcmp(outcome, "after_restart") == 0)
			return outcome;
		if (outcome && strcmp(outcome, "next_call") == 0)
			what = outcome;
	}
	return what;
}

static void accept(struct web *w, struct http_exchange *x, const json_t *outcomes)
{
	json_t *all = current(web_live(w));
	const char *waits = waits_for(outcomes);

	if (all && ((outcomes && json_object_set(all, "outcomes", (json_t *)outcomes)) ||
		    json_object_set_new(all, "saveAppliedToRuntime", json_boolean(!waits)) ||
		    json_object_set_new(all, "saveApplyError",
					waits ? json_string(waits) : json_null()))) {
		json_decref(all);
		all = NULL;
	}
	web_json(x, 200, all);
}

static void answer_change(const struct live_settings_done *done, void *arg)
{
	struct web *w = arg;
	struct http_exchange *x = web_take_change(w);

	if (!x)
		return;
	if (done->result == DOCUMENT_SAVED)
		accept(w, x, done->outcomes);
	else
		refuse(w, x, done->result, NULL, done->why);
}

static void put_intent(struct web *w, const struct web_request *r, const json_t *intent)
{
	char now[ISO_TIME_SIZE];
	struct document_change change = {.author = r->actor, .now = now};
	json_t *faults = json_array();
	enum document_result result;

	iso_time_format(now, env_wall_ms(web_env(w)));
	read_meta(r->body, &change);
	result = live_settings_put(web_live(w), intent, &change, add_fault, faults, answer_change,
				   w);
	if (result == DOCUMENT_SAVED)
		web_keep_change(w, r->x);
	else
		refuse(w, r->x, result, faults, NULL);
	json_decref(faults);
}

void web_settings_put(struct web *w, const struct web_request *r)
{
	put_intent(w, r, json_object_get(r->body, "intent"));
}

void web_settings_reset(struct web *w, const struct web_request *r)
{
	json_t *none = json_object();

	put_intent(w, r, none);
	json_decref(none);
}

/* The defaults of the program with the preset over them; NULL: there is no such preset. */
static json_t *preset_values(const char *preset)
{
	const struct document_change change = {.updated_at = "", .author = "", .now = ""};
	struct settings *base = NULL, *out = NULL;
	json_t *intent = json_pack("{s:s}", "preset", preset), *values = NULL;
	struct document *d = NULL;

	if (!settings_alloc(&base) && !settings_alloc(&out) && !document_alloc(&d) && intent &&
	    document_put(d, base, intent, &change, NULL, NULL) == DOCUMENT_SAVED &&
	    document_effective(d, base, 0, out, NULL, NULL) == 0)
		values = settings_values_json(out);
	document_free(d);
	settings_free(out);
	settings_free(base);
	json_decref(intent);
	return values;
}

void web_settings_preset_defaults(struct web *w, const struct web_request *r)
{
	const char *preset = json_string_value(json_object_get(r->body, "preset"));
	json_t *values = preset && *preset ? preset_values(preset) : NULL;

	(void)w;
	if (values)
		web_json(r->x, 200, json_pack("{s:s,s:o}", "preset", preset, "effective", values));
	else
		web_refuse(r->x, WEB_BAD_PRESET);
}

/* There is nothing to do: what is saved is in effect. */
void web_settings_refresh(struct web *w, const struct web_request *r)
{
	accept(w, r->x, NULL);
}

void web_settings_check_intent(struct web *w, const struct web_request *r)
{
	json_t *faults = json_array();
	enum document_result result = live_settings_try(
		web_live(w), json_object_get(r->body, "intent"), add_fault, faults);

	if (result == DOCUMENT_SAVED)
		web_json(r->x, 200, json_pack("{s:[]}", "errors"));
	else
		refuse(w, r->x, result, faults, NULL);
	json_decref(faults);
}

void web_settings_undo(struct web *w, const struct web_request *r)
{
	char now[ISO_TIME_SIZE];
	struct document_change change = {.author = r->actor, .now = now};
	enum document_result result;

	iso_time_format(now, env_wall_ms(web_env(w)));
	read_meta(r->body, &change);
	result = live_settings_undo(web_live(w), &change, answer_change, w);
	if (result == DOCUMENT_SAVED)
		web_keep_change(w, r->x);
	else
		refuse(w, r->x, result, NULL, NULL);
}
