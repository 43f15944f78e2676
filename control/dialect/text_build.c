#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"
#include "control/dialect/text_inside.h"

enum { LINE_MAX_BYTES = 16384 };

/* ---- options ---- */

static const struct {
	const char *name;
	enum text_server server;
	const char *slot_method, *slot_path; /* NULL: it has no slots that can be cleared */
} servers[] = {
	{"llama.cpp", TEXT_SERVER_LLAMACPP, "POST", "slots/%d?action=erase"},
	{"ollama", TEXT_SERVER_OLLAMA, NULL, NULL},
	{"vllm", TEXT_SERVER_VLLM, NULL, NULL},
	{"localai", TEXT_SERVER_LOCALAI, NULL, NULL},
};

static enum text_server server_named(const char *name)
{
	for (size_t i = 0; name && i < sizeof servers / sizeof servers[0]; i++)
		if (strcmp(servers[i].name, name) == 0)
			return servers[i].server;
	return TEXT_SERVER_ANY;
}

static void take_bool(const json_t *root, const char *name, bool *to)
{
	const json_t *v = json_object_get(root, name);

	if (json_is_boolean(v))
		*to = json_is_true(v);
}

static void take_text(const json_t *root, const char *name, char *to, size_t size)
{
	const char *v = json_string_value(json_object_get(root, name));

	if (v && strlen(v) < size && !strpbrk(v, "\r\n"))
		snprintf(to, size, "%s", v);
}

void text_options_parse(struct text_options *out, const char *json)
{
	json_t *root = *json ? json_loads(json, 0, NULL) : NULL;
	const json_t *slot = json_object_get(root, "slot");

	*out = (struct text_options){.stream_usage = true, .cache = true, .slot = -1};
	out->server = server_named(json_string_value(json_object_get(root, "server")));
	take_bool(root, "store", &out->store);
	take_bool(root, "stream_usage", &out->stream_usage);
	take_bool(root, "cache", &out->cache);
	take_bool(root, "bearer", &out->bearer);
	if (json_is_boolean(json_object_get(root, "schema")))
		out->schema = json_is_true(json_object_get(root, "schema")) ? TEXT_SCHEMA_ALWAYS
									    : TEXT_SCHEMA_NEVER;
	if (json_is_integer(slot) && json_integer_value(slot) >= 0 &&
	    json_integer_value(slot) < 1024)
		out->slot = (int32_t)json_integer_value(slot);
	take_text(root, "version", out->version, sizeof out->version);
	take_text(root, "effort", out->effort, sizeof out->effort);
	out->output_tokens = (uint32_t)text_number(root, "output_tokens");
	json_decref(root);
}

bool text_slot_cancel(const struct text_options *o, const char **method, char *path, size_t size)
{
	for (size_t i = 0; o->slot >= 0 && i < sizeof servers / sizeof servers[0]; i++) {
		if (servers[i].server != o->server || !servers[i].slot_path)
			continue;
		*method = servers[i].slot_method;
		snprintf(path, size, servers[i].slot_path, (int)o->slot);
		return true;
	}
	return false;
}

/* ---- JSON ---- */

char *text_print(json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	return text;
}

bool text_put(json_t *root, const char *name, json_t *value)
{
	return value && json_object_set_new(root, name, value) == 0;
}

json_t *text_line(const struct engine_message *m)
{
	char *line = malloc(LINE_MAX_BYTES);
	json_t *text = NULL;

	if (line) {
		engine_message_line(m, line, LINE_MAX_BYTES);
		text = json_string(line);
	}
	free(line);
	return text;
}

static json_t *encode(const char *head, const struct slice *data)
{
	size_t n = strlen(head), size = n + base64_encoded(data->n);
	char *text = malloc(size + 1);
	json_t *out = NULL;

	if (text) {
		memcpy(text, head, n);
		base64_encode(data->p, data->n, text + n);
		out = json_stringn(text, size);
		explicit_bzero(text, size);
	}
	free(text);
	return out;
}

json_t *text_base64(const struct slice *data)
{
	return encode("", data);
}

json_t *text_data_url(const struct engine_image *image)
{
	char head[96];

	snprintf(head, sizeof head, "data:%.60s;base64,", image->type);
	return encode(head, &image->data);
}

json_t *text_json(const char *text)
{
	json_t *v = json_loads(text, 0, NULL);

	if (json_is_object(v))
		return v;
	json_decref(v);
	return json_object();
}

/* ---- limits ---- */

/* "o1", "o4-mini" */
static bool is_o_model(const char *model)
{
	return model[0] == 'o' && model[1] >= '0' && model[1] <= '9';
}

bool text_is_openai(const char *model)
{
	return is_o_model(model) || strncmp(model, "gpt-", 4) == 0;
}

/* "gpt-5", "gpt-5-mini-2025-08-07"; later ones do not reason unless they are told to. */
static bool is_gpt_5(const char *model)
{
	static const char *const sizes[] = {"gpt-5-mini", "gpt-5-nano", "gpt-5"};

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		size_t n = strlen(sizes[i]);

		if (strncmp(model, sizes[i], n) == 0)
			return !model[n] || strncmp(model + n, "-20", 3) == 0;
	}
	return false;
}

const char *text_effort(const struct text_request *r)
{
	if (*r->options->effort || !r->ask->one_word)
		return r->options->effort;
	return is_gpt_5(r->ask->model) ? "minimal" : is_o_model(r->ask->model) ? "low" : "";
}

/* Reasoning counts among the tokens of an answer; o models cannot be told to leave it. */
static uint32_t word_tokens(const char *model)
{
	if (is_o_model(model))
		return 512;
	if (strncmp(model, "gpt-5", 5) == 0)
		return 64;
	return strncmp(model, "gpt-", 4) == 0 ? 16 : 2;
}

uint32_t text_limit(const struct text_request *r)
{
	if (r->ask->one_word)
		return word_tokens(r->ask->model);
	return r->ask->output_tokens ? r->ask->output_tokens : r->options->output_tokens;
}

/* ---- the form of an answer ---- */

/* Models that refuse a request with a schema of its answer. */
static bool is_schemaless(const char *model)
{
	static const char *const beginnings[] = {
		"gpt-3",	   "gpt-4-",	       "gpt-4o-2024-05-13", "o1-mini",
		"o1-preview",	   "claude-2",	       "claude-3",	    "claude-opus-4-0",
		"claude-opus-4-1", "claude-opus-4-20", "claude-sonnet-4-0", "claude-sonnet-4-20"};

	for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
		if (strncmp(model, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return strcmp(model, "gpt-4") == 0;
}

json_t *text_answer_schema(const struct text_request *r, bool known)
{
	enum text_schema told = r->options->schema;

	if (!r->ask->answer_schema || told == TEXT_SCHEMA_NEVER)
		return NULL;
	if (told == TEXT_SCHEMA_BY_MODEL && (!known || is_schemaless(r->ask->model)))
		return NULL;
	return json_loads(r->ask->answer_schema, 0, NULL);
}
