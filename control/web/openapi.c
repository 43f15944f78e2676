/* The API as an OpenAPI 3.1 document, made from routes.def: GET /api/openapi.json. */
#include <stdio.h>
#include <string.h>

#include "control/web/inside.h"
#include "control/web/queries.h"
#include "control/web/shapes.h"

struct described {
	const char *method, *path, *text;
	enum web_role role;
	bool body;
};
static const struct described routes[] = {
#define ROUTE(METHOD, p, r, seen, handler, n, ms, t) {#METHOD, p, t, WEB_##r, (n) > 0},
	WEB_ROUTES(ROUTE)
#undef ROUTE
};
enum { ROUTES = sizeof routes / sizeof routes[0], PATH_SIZE = 64 };

/* The name of the path's parameter; *n is 0 without one. */
static const char *find_parameter(const char *path, size_t *n)
{
	const char *colon = strchr(path, ':');

	*n = colon ? strcspn(colon + 1, "/") : 0;
	return colon ? colon + 1 : path + strlen(path);
}

/* "/api/rooms/:id/say" as "/api/rooms/{id}/say". */
static void write_path(const char *path, char out[PATH_SIZE])
{
	size_t n;
	const char *name = find_parameter(path, &n);

	if (n)
		snprintf(out, PATH_SIZE, "%.*s{%.*s}%s", (int)(name - 1 - path), path, (int)n, name,
			 name + n);
	else
		snprintf(out, PATH_SIZE, "%s", path);
}

static size_t name_length(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
}

static json_t *parameter_type(const char *name, size_t n)
{
	return query_is_number(name, n) ? json_pack("{s:s,s:i}", "type", "integer", "minimum", 0)
					: json_pack("{s:s}", "type", "string");
}

/* The path's parameter, and the `?name`s of the text. */
static json_t *describe_parameters(const struct described *d)
{
	json_t *list = json_array();
	size_t n;
	const char *name = find_parameter(d->path, &n);

	if (n)
		json_array_append_new(list,
				      json_pack("{s:s%,s:s,s:b,s:{s:s}}", "name", name, n, "in",
						"path", "required", 1, "schema", "type", "string"));
	for (name = d->text; (name = query_name(name, &n)); name += n)
		json_array_append_new(list, json_pack("{s:s%,s:s,s:o}", "name", name, n, "in",
						      "query", "schema", parameter_type(name, n)));
	return list;
}

/* The object that begins the text: `{a, b: what}: …`. What a member is may be an object itself. */
static json_t *describe_object(const char *text)
{
	json_t *members = json_object();
	const char *at = text;

	for (unsigned depth = *at == '{'; depth && *at; at++) {
		if (at[1] == '{' || at[1] == '[')
			depth++;
		else if (at[1] == '}' || at[1] == ']')
			depth--;
		else if (depth == 1 && (*at == '{' || (*at == ' ' && at[-1] == ',')) &&
			 name_length(at + 1))
			json_object_setn_new(members, at + 1, name_length(at + 1), json_object());
	}
	if (json_object_size(members))
		return json_pack("{s:s,s:o}", "type", "object", "properties", members);
	json_decref(members);
	return json_pack("{s:s}", "type", "object");
}

static const char *answer_type(const struct described *d)
{
	return strncmp(d->path, "/api/", 5) == 0 || strstr(d->path, "yz") ? "application/json"
	       : strcmp(d->path, "/metrics") == 0			  ? "text/plain"
									  : NULL;
}

static json_t *answer_schema(const struct described *d, const char *type)
{
	json_t *shape = shapes_answer(d->method, d->path);

	if (shape)
		return shape;
	return strcmp(type, "application/json") == 0 ? describe_object(d->body ? "" : d->text)
						     : json_pack("{s:s}", "type", "string");
}

static json_t *describe_answer(const struct described *d)
{
	const char *type = answer_type(d);
	json_t *all = json_pack("{s:s}", "description", "The answer.");

	if (strstr(d->text, "erver-sent events"))
		type = "text/event-stream";
	else if (strstr(d->text, "WAV"))
		type = "audio/wav";
	if (all && type)
		json_object_set_new(all, "content",
				    json_pack("{s:{s:o}}", type, "schema", answer_schema(d, type)));
	return all;
}

static json_t *describe_responses(const struct described *d)
{
	json_t *all = json_object();

	json_object_set_new(all, "2XX", describe_answer(d));
	json_object_set_new(
		all, "default",
		json_pack("{s:s,s:{s:{s:{s:s}}}}", "description",
			  d->role <= WEB_NOBODY ? "A problem." : "A problem; 401, 403: who may.",
			  "content", "application/problem+json", "schema", "$ref",
			  "#/components/schemas/Problem"));
	return all;
}

static void add_body(json_t *op, const struct described *d)
{
	static const char *const pictures[] = {"image/jpeg", "image/png", "image/webp"};
	json_t *shape = shapes_body(d->method, d->path), *content = json_object();

	/* A shape is a body although control reads it in pieces (routes.def says 0 then). */
	if (shape || d->body)
		json_object_set_new(
			content, "application/json",
			json_pack("{s:o}", "schema", shape ? shape : describe_object(d->text)));
	else if (strstr(d->text, "image/"))
		for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++)
			json_object_set_new(content, pictures[i], json_object());
	if (json_object_size(content))
		json_object_set_new(op, "requestBody",
				    json_pack("{s:b,s:O}", "required", 1, "content", content));
	json_decref(content);
}

static json_t *describe_operation(const struct described *d)
{
	json_t *op = json_pack("{s:s,s:o,s:o}", "summary", d->text, "parameters",
			       describe_parameters(d), "responses", describe_responses(d));

	if (op && strstr(d->text, "X-Public-Api-Token"))
		json_object_set_new(op, "security", json_pack("[{s:[]}]", "ingest"));
	else if (op && d->role <= WEB_NOBODY)
		json_object_set_new(op, "security", json_array());
	else if (op)
		json_object_set_new(op, "x-role", json_string(web_role_name(d->role)));
	add_body(op, d);
	return op;
}

static void add_route(json_t *paths, const struct described *d)
{
	char path[PATH_SIZE], method[8] = "";
	json_t *item;

	for (size_t i = 0; d->method[i] && i + 1 < sizeof method; i++)
		method[i] = (char)(d->method[i] | 0x20);
	write_path(d->path, path);
	item = json_object_get(paths, path);
	if (!item && !json_object_set_new(paths, path, json_object()))
		item = json_object_get(paths, path);
	json_object_set_new(item, method, describe_operation(d));
}

void web_openapi_get(struct web *w, const struct web_request *r)
{
	json_t *paths = json_object();

	(void)w;
	for (unsigned i = 0; i < ROUTES; i++)
		add_route(paths, &routes[i]);
	web_json(r->x, 200,
		 json_pack("{s:s,s:{s:s,s:s},s:[{s:[]},{s:[]}],s:o,s:{s:{s:{s:s,s:s},"
			   "s:{s:s,s:s,s:s},s:{s:s,s:s,s:s}},s:o}}",
			   "openapi", "3.1.0", "info", "title", "Parley", "version", PARLEY_VERSION,
			   "security", "token", "session", "paths", paths, "components",
			   "securitySchemes", "token", "type", "http", "scheme", "bearer",
			   "session", "type", "apiKey", "in", "cookie", "name",
			   "__Host-parley-PORT", "ingest", "type", "apiKey", "in", "header", "name",
			   "X-Public-Api-Token", "schemas", shapes_types()));
}
