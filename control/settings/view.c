#include "control/settings/view.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/inside.h"
#include "control/settings/presets.def"
#include "control/settings/records.h"

static const char *const effects[] = {[SETTINGS_NOW] = "applied",
				      [SETTINGS_NEXT] = "next_call",
				      [SETTINGS_START] = "after_restart",
				      [SETTINGS_SENT] = "applied_or_after_restart"};

/* Adds or gives up: once something is missing the whole is NULL. */
static void put(json_t **object, const char *name, json_t *value)
{
	if (*object && json_object_set_new(*object, name, value)) {
		json_decref(*object);
		*object = NULL;
	} else if (!*object) {
		json_decref(value);
	}
}

static void append(json_t **list, json_t *value)
{
	if (*list && json_array_append_new(*list, value)) {
		json_decref(*list);
		*list = NULL;
	} else if (!*list) {
		json_decref(value);
	}
}

/* Leaves out the parts of an address that are secrets (settings_secrets). */
static json_t *address_json(const char *url)
{
	char shown[PROVIDER_URL_MAX];

	provider_show_url(url, shown, sizeof shown);
	return json_string(shown);
}

static bool is_address(const char *name)
{
	size_t n = strlen(name);

	return (n > 4 && strcmp(name + n - 4, "_url") == 0) || strcmp(name, "otlp_endpoint") == 0;
}

static json_t *value_json(const struct settings *s, const struct settings_row *r)
{
	const char *field = (const char *)s + r->offset;
	char text[4096];
	uint32_t v = 0;

	switch (r->kind) {
	case SETTINGS_NUMBER:
		memcpy(&v, field, sizeof v);
		return json_integer(v);
	case SETTINGS_SWITCH:
		return json_boolean(*(const bool *)field);
	case SETTINGS_SECRET:
		return json_pack("{s:b}", "set", *field != '\0');
	default:
		settings_print(s, r, text, sizeof text);
		return is_address(r->name) ? address_json(text) : json_string(text);
	}
}

/* -1: there is no memory. */
static int show_address(json_t *record, const char *member)
{
	const char *url = json_string_value(json_object_get(record, member));

	return url ? json_object_set_new(record, member, address_json(url)) : 0;
}

static json_t *shown_records(const struct settings *s, const char *name)
{
	json_t *list = records_json(s, name), *record;
	size_t i;

	json_array_foreach(list, i, record)
	{
		if (show_address(record, "url") || show_address(record, "issuer")) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *settings_values_json(const struct settings *s)
{
	json_t *all = json_object();

	for (size_t i = 0; i < settings_n_rows; i++)
		put(&all, settings_rows[i].name, value_json(s, &settings_rows[i]));
	for (unsigned i = 0; records_member(i); i++)
		put(&all, records_member(i), shown_records(s, records_member(i)));
	return all;
}

/* ---- for those who may not change them ---- */

/* Numbers, switches and words tell how the bot behaves. Texts may be prompts, paths, addresses of
 * this network and ids of people. */
static json_t *public_value(const struct settings *s, const struct settings_row *r)
{
	const char *field = (const char *)s + r->offset;

	if (r->kind == SETTINGS_TEXT || r->kind == SETTINGS_IDS)
		return json_pack("{s:b}", "set", *field != '\0');
	return value_json(s, r);
}

/* What a field holds that anybody may see: neither commands and their variables nor files and
 * addresses. */
static bool is_public(const struct record_field *f)
{
	return f->kind == RECORD_NAME || f->kind == RECORD_WORD || f->kind == RECORD_NUMBER ||
	       f->kind == RECORD_DOLLARS || strcmp(f->name, "model") == 0 ||
	       strcmp(f->name, "voice") == 0;
}

static void hide_fields(json_t *record, const struct record_kind *kind)
{
	for (size_t i = 0; i < kind->n_fields; i++)
		if (!is_public(&kind->fields[i]))
			json_object_del(record, kind->fields[i].name);
}

static json_t *public_records(const struct settings *s, const char *name)
{
	json_t *list = records_json(s, name), *record;
	size_t i;

	for (unsigned k = 0; k < RECORD_KINDS; k++) {
		if (strcmp(record_kinds[k].name, name) != 0)
			continue;
		json_array_foreach(list, i, record)
		{
			hide_fields(record, &record_kinds[k]);
		}
	}
	return list;
}

json_t *settings_public_json(const struct settings *s)
{
	json_t *all = json_object();

	for (size_t i = 0; i < settings_n_rows; i++)
		put(&all, settings_rows[i].name, public_value(s, &settings_rows[i]));
	for (unsigned i = 0; records_member(i); i++)
		put(&all, records_member(i), public_records(s, records_member(i)));
	return all;
}

/* ---- who serves ---- */

static json_t *served_by(const struct settings *s, enum role role, const struct provider_record *p)
{
	char url[PROVIDER_URL_MAX];
	/* The embedded engine has none to choose. */
	const char *model = p->dialect == DIALECT_EMBEDDED ? "" : settings_model(s, role, p);

	provider_shown(p, url, sizeof url);
	return json_pack("{s:s,s:s,s:s?,s:s}", "provider", p->name, "dialect",
			 dialect_name((enum dialect)p->dialect), "model", *model ? model : NULL,
			 "url", url);
}

/* A provider that stands for a role, but whose dialect does not serve it, is not listed. */
static void append_served(json_t **list, const struct settings *s, enum role role,
			  const struct provider_record *p)
{
	if (dialect_serves((enum dialect)p->dialect, role))
		append(list, served_by(s, role, p));
}

json_t *settings_bindings_json(const struct settings *s)
{
	json_t *roles = json_object(), *purposes = json_object(), *all = json_object();
	const struct provider_record *p;

	for (unsigned r = 0; r < ROLE_COUNT; r++) {
		json_t *list = json_array();

		for (unsigned i = 0; (p = settings_role(s, (enum role)r, i)); i++)
			append_served(&list, s, (enum role)r, p);
		put(&roles, role_name((enum role)r), list);
	}
	for (unsigned u = 0; u < PURPOSE_COUNT; u++) {
		enum role role = purpose_role((enum purpose)u);
		json_t *list = json_array();

		for (unsigned i = 0; (p = settings_purpose(s, (enum purpose)u, i)); i++)
			append_served(&list, s, role, p);
		put(&purposes, purpose_name((enum purpose)u), list);
	}
	put(&all, "roles", roles);
	put(&all, "purposes", purposes);
	return all;
}

/* ---- the schema ---- */

static const char *const kinds[] = {
	[SETTINGS_NUMBER] = "number", [SETTINGS_SWITCH] = "switch", [SETTINGS_WORD] = "word",
	[SETTINGS_TEXT] = "text",     [SETTINGS_IDS] = "ids",	    [SETTINGS_SECRET] = "secret"};
static const char *const groups[] = {
#define GROUP(NAME, title) title,
	SETTINGS_GROUPS(GROUP)
#undef GROUP
};
static const char *const levels[] = {
#define LEVEL(NAME, title, text) title,
	SETTINGS_LEVELS(LEVEL)
#undef LEVEL
};

static json_t *row_schema(const struct settings *defaults, const struct settings_row *r)
{
	json_t *j = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "name", r->name, "kind", kinds[r->kind],
			      "group", groups[r->group], "level", levels[r->level], "effect",
			      effects[r->when], "text", r->text);

	put(&j, "perServer", json_boolean(!settings_is_shared(r->name)));
	if (r->kind != SETTINGS_SECRET)
		put(&j, "default", value_json(defaults, r));
	if (r->kind == SETTINGS_NUMBER) {
		put(&j, "min", json_integer(r->min));
		put(&j, "max", json_integer(r->max));
		put(&j, "unit", json_string(r->unit));
	}
	if (r->kind == SETTINGS_WORD)
		put(&j, "words", json_string(r->words));
	if (r->kind == SETTINGS_TEXT || r->kind == SETTINGS_IDS)
		put(&j, "bytes", json_integer((json_int_t)r->bytes - 1));
	return j;
}

static json_t *record_schema(const struct record_kind *k)
{
	json_t *fields = json_array();

	for (size_t i = 0; i < k->n_fields; i++) {
		const struct record_field *f = &k->fields[i];

		append(&fields,
		       json_pack("{s:s,s:s,s:b,s:s}", "name", f->name, "text", f->text, "required",
				 f->needed, "words", f->words ? f->words : ""));
	}
	return json_pack("{s:s,s:s,s:i,s:o}", "name", k->name, "text", k->text, "most", k->most,
			 "fields", fields);
}

json_t *settings_schema_json(void)
{
	json_t *rows = json_array(), *records = json_array(), *presets = json_array();
	json_t *all = json_object();
	struct settings *defaults = NULL;

	if (settings_alloc(&defaults)) {
		put(&all, "settings", NULL);
	} else {
		for (size_t i = 0; i < settings_n_rows; i++)
			append(&rows, row_schema(defaults, &settings_rows[i]));
		for (unsigned i = 0; i < RECORD_KINDS; i++)
			append(&records, record_schema(&record_kinds[i]));
	}
#define PRESET(n, t, intent)                                                                       \
	append(&presets, json_pack("{s:s,s:s,s:o}", "name", #n, "text", t, "intent",               \
				   json_loads(intent, 0, NULL)));
	SETTINGS_PRESETS(PRESET)
#undef PRESET
	put(&all, "settings", rows);
	put(&all, "records", records);
	put(&all, "presets", presets);
	settings_free(defaults);
	return all;
}

/* ---- what a change does ---- */

json_t *settings_outcome_json(const char *key, enum settings_when when)
{
	return json_pack("{s:s,s:s}", "key", key, "outcome", effects[when]);
}

struct outcomes {
	json_t *list;
	const struct settings *is;
	uint32_t sent;
};

static void add_outcome(const char *name, const char *value, bool secret, void *arg)
{
	struct outcomes *o = arg;

	(void)value;
	(void)secret;
	append(&o->list, settings_outcome_json(name, settings_when_of(name, o->is, o->sent)));
}

json_t *settings_outcomes_json(const struct settings *was, const struct settings *is, uint32_t sent)
{
	struct outcomes o = {json_array(), is, sent};

	settings_changes(was, is, add_outcome, &o);
	return o.list;
}
