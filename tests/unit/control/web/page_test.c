/* What the API tells of itself, the page, and the rights of each route. */
#include "tests/unit/control/web/auth_scene.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <jansson.h>

#include "control/configure/live_settings.h"
#include "control/web/routes.def"
#include "control/web/sessions.h"

TEST(the_api_describes_itself)
{
	const json_t *paths, *turn;
	char *text;

	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_get("/api/openapi.json"), 401);
	CHECK_INT(auth_scene_sign_in_as(WEB_VIEWER, 1), 201);
	CHECK_INT(auth_scene_get("/api/openapi.json"), 200);
	CHECK_STR(auth_scene_text_of("openapi"), "3.1.0");
	paths = json_object_get(auth_scene.got, "paths");
	turn = json_object_get(json_object_get(paths, "/api/turns/{id}"), "get");
	CHECK_STR(json_string_value(json_object_get(turn, "x-role")), "viewer");
	CHECK_INT(json_array_size(json_object_get(turn, "parameters")), 1);
	CHECK_INT(json_object_size(json_object_get(paths, "/api/auth/session")), 4);
	/* What the table says of queries, bodies and answers. */
	turn = json_object_get(json_object_get(paths, "/api/turns"), "get");
	CHECK_INT(json_array_size(json_object_get(turn, "parameters")), 8);
	CHECK_STR(json_string_value(json_object_get(
			  json_array_get(json_object_get(turn, "parameters"), 2), "name")),
		  "reason");
	text = json_dumps(
		json_object_get(json_object_get(paths, "/api/rooms/{guild}/music"), "post"),
		JSON_COMPACT);
	CHECK(text && strstr(text, "\"properties\":{\"action\":{\"type\":\"string\"}}"));
	free(text);
	text = json_dumps(json_object_get(json_object_get(paths, "/api/llm/models"), "get"),
			  JSON_COMPACT);
	CHECK(text && strstr(text, "\"items\":{\"$ref\":\"#/components/schemas/Model\"}"));
	free(text);
	CHECK(json_object_get(json_object_get(json_object_get(paths, "/api/settings"), "put"),
			      "requestBody") != NULL);
	auth_scene_close();
}

static bool refers_to_types(const char *text, const json_t *types)
{
	static const char to[] = "#/components/schemas/";
	char name[64];

	while ((text = strstr(text, to))) {
		text += strlen(to);
		snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "\""), text);
		if (!json_object_get(types, name))
			return false;
	}
	return true;
}

/* A client that is made of the document knows what it gets. */
TEST(the_api_describes_what_it_answers_and_takes)
{
	const json_t *types, *turn, *ingest;
	char *text;

	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_sign_in_as(WEB_VIEWER, 1), 201);
	CHECK_INT(auth_scene_get("/api/openapi.json"), 200);
	types = json_object_get(json_object_get(auth_scene.got, "components"), "schemas");
	turn = json_object_get(json_object_get(types, "Turn"), "properties");
	CHECK(json_object_size(turn) > 12);
	text = json_dumps(json_object_get(turn, "firstAudioMs"), JSON_COMPACT);
	CHECK_STR(text, "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}");
	free(text);
	ingest = json_object_get(json_object_get(json_object_get(auth_scene.got, "paths"),
						 "/api/voice/stream-ingest/frame"),
				 "post");
	text = json_dumps(ingest, JSON_COMPACT);
	CHECK(text && strstr(text, "\"security\":[{\"ingest\":[]}]") &&
	      strstr(text, "\"dataBase64\":{\"type\":\"string\"}"));
	free(text);
	text = json_dumps(auth_scene.got, JSON_COMPACT);
	CHECK(refers_to_types(text, types));
	free(text);
	auth_scene_close();
}

TEST(the_page_runs_no_code_but_its_own)
{
	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_get("/"), 200);
	CHECK_STR(auth_scene.type, "text/html; charset=utf-8");
	CHECK(strstr(auth_scene.policy,
		     "default-src 'none'; script-src 'self'; style-src 'self'") != NULL);
	CHECK(strstr(auth_scene.policy, "frame-ancestors 'none'") != NULL);
	CHECK(strstr(auth_scene.policy, "require-trusted-types-for 'script'") != NULL);
	CHECK(!strstr(auth_scene.policy, "unsafe"));
	CHECK_INT(auth_scene_get("/page.js"), 200);
	CHECK_STR(auth_scene.type, "text/javascript; charset=utf-8");
	CHECK_INT(auth_scene_get("/page.css"), 200);
	CHECK_INT(auth_scene_get("/page.html"), 404);
	auth_scene_close();
}

static int get_packed(const char *path, const char *accept, const char *known)
{
	char accepts[80], tag[80];

	snprintf(accepts, sizeof accepts, "Accept-Encoding: %s", accept);
	snprintf(tag, sizeof tag, "If-None-Match: %s", known ? known : "x");
	return auth_scene_ask("GET", path,
			      (const char *const[4]){accepts, tag, auth_scene_cookie_line()});
}

TEST(the_page_is_sent_packed_to_those_who_take_it)
{
	char plain[48];
	size_t n;

	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_get("/page.js"), 200);
	CHECK_STR(auth_scene.coding, "");
	n = auth_scene.n;
	snprintf(plain, sizeof plain, "%s", auth_scene.tag);
	CHECK_INT(get_packed("/page.js", "deflate, gzip;q=0.5, br", NULL), 200);
	CHECK_STR(auth_scene.coding, "gzip");
	CHECK(auth_scene.magic[0] == 0x1f && auth_scene.magic[1] == 0x8b);
	CHECK(auth_scene.n > 0 && auth_scene.n < n / 2);
	CHECK(strcmp(auth_scene.tag, plain) != 0);
	snprintf(plain, sizeof plain, "%s", auth_scene.tag);
	CHECK_INT(get_packed("/page.js", "gzip", plain), 304);
	CHECK_INT(get_packed("/page.js", "gzip;q=0", NULL), 200);
	CHECK_STR(auth_scene.coding, "");
	CHECK_INT(get_packed("/page.js", "x-gzip, br", NULL), 200);
	CHECK_STR(auth_scene.coding, "");
	auth_scene_close();
}

/* The document of the API is large enough to be packed, a problem is not. */
TEST(large_answers_are_sent_packed_to_those_who_take_it)
{
	size_t n;

	CHECK(auth_scene_open(NULL));
	CHECK_INT(auth_scene_sign_in_as(WEB_VIEWER, 1), 201);
	CHECK_INT(auth_scene_get("/api/openapi.json"), 200);
	CHECK_STR(auth_scene.coding, "");
	n = auth_scene.n;
	CHECK_INT(get_packed("/api/openapi.json", "gzip, br", NULL), 200);
	CHECK_STR(auth_scene.coding, "gzip");
	CHECK(auth_scene.magic[0] == 0x1f && auth_scene.magic[1] == 0x8b);
	CHECK(auth_scene.n > 0 && auth_scene.n < n / 3);
	CHECK_INT(get_packed("/api/openapi.json", "gzip;q=0", NULL), 200);
	CHECK_STR(auth_scene.coding, "");
	CHECK_INT(get_packed("/api/nothing", "gzip", NULL), 404);
	CHECK_STR(auth_scene.coding, "");
	auth_scene_close();
}

/* The path of a route with numbers in it. */
static void fill_path(const char *path, char out[80])
{
	const char *colon = strchr(path, ':');
	bool session = colon && strncmp(colon, ":session", strlen(":session")) == 0;

	if (colon)
		snprintf(out, 80, "%.*s%s%s", (int)(colon - path), path, session ? "42-7" : "42",
			 colon + strcspn(colon, "/"));
	else
		snprintf(out, 80, "%s", path);
}

/* The status of each route above this role, as somebody of this role asks for it. */
static unsigned count_refused(enum web_role role, int status)
{
	static const struct {
		const char *method, *path;
		enum web_role role;
	} routes[] = {
#define ROUTE(METHOD, path, r, seen, handler, n, ms, text) {#METHOD, path, WEB_##r},
		WEB_ROUTES(ROUTE)
#undef ROUTE
	};
	unsigned n = 0;
	char path[80];

	for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
		if (routes[i].role <= role)
			continue;
		fill_path(routes[i].path, path);
		n++;
		if (auth_scene_ask(routes[i].method, path,
				   role == WEB_NOBODY
					   ? (const char *const[4]){auth_scene_origin_line()}
					   : (const char *const[4]){auth_scene_cookie_line(),
								    auth_scene_origin_line()}) !=
		    status) {
			test_fail(__FILE__, __LINE__, "%s %s as %d: %d", routes[i].method, path,
				  role, auth_scene.status);
			return 0;
		}
	}
	return n;
}

TEST(each_route_refuses_those_below_its_role)
{
	CHECK(auth_scene_open(NULL));
	CHECK(count_refused(WEB_NOBODY, 401) > 40);
	CHECK_INT(auth_scene_sign_in_as(WEB_VIEWER, 1), 201);
	CHECK(count_refused(WEB_VIEWER, 403) > 20);
	CHECK_INT(auth_scene_sign_in_as(WEB_OPERATOR, 2), 201);
	CHECK(count_refused(WEB_OPERATOR, 403) > 8);
	auth_scene_close();
}
