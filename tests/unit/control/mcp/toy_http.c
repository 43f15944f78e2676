#include "tests/unit/control/mcp/toy_http.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

struct toy_http toy_http;

static void answer_json(struct evhttp_request *req, unsigned id, const char *rest)
{
	char text[600];
	int n = snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%u,%s}", id, rest);

	fake_http_answer(req, 200, "application/json", text, (size_t)n);
}

static const char *header(struct evhttp_request *req, const char *name)
{
	const char *v = evhttp_find_header(evhttp_request_get_input_headers(req), name);

	return v ? v : "";
}

static void answer_call(struct fake_http *f, struct evhttp_request *req, unsigned id)
{
	char said[TOY_HTTP_LONG + 1] = "spoken", text[TOY_HTTP_LONG + 200];

	if (toy_http.forgets) {
		toy_http.forgets = false;
		fake_http_answer(req, 404, "text/plain", "gone", 4);
		return;
	}
	if (toy_http.rejects) {
		toy_http.rejects--;
		fake_http_answer(req, 400, "text/plain", "bad", 3);
		return;
	}
	toy_http.calls++;
	/* A stream: a primer without data, progress, the answer in two pieces. */
	fake_http_open(f, req, "text/event-stream");
	fake_http_piece(req, "id: 1\ndata: \n\n", 14);
	fake_http_piece(req, "data: {\"method\":\"notifications/message\"}\n\n", 42);
	for (unsigned i = 0; toy_http.progresses && i < 3; i++) {
		static const char *const more[] = {",\"total\":2,\"message\":\"half of it\"",
						   ",\"total\":2", ""};

		snprintf(text, sizeof text,
			 "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
			 "\"params\":{\"progressToken\":%u,\"progress\":1%s}}\n\n",
			 id, more[i]);
		fake_http_piece(req, text, strlen(text));
	}
	/* Two bytes a character. */
	for (unsigned i = 0; toy_http.speaks_long && i < TOY_HTTP_LONG; i++)
		said[i] = i % 2 ? '\xa4' : '\xc3';
	said[toy_http.speaks_long ? TOY_HTTP_LONG : strlen(said)] = '\0';
	snprintf(text, sizeof text,
		 "data: {\"id\":%u,\"result\":{\"isError\":%s,\"content\":[{\"type\":\"text\","
		 "\"text\":\"%s\"}]}}\n\n",
		 id, toy_http.fails ? "true" : "false", said);
	fake_http_piece(req, text, 20);
	fake_http_piece(req, text + 20, strlen(text) - 20);
	evhttp_send_reply_end(req);
}

void toy_http_serve(struct fake_http *f, struct evhttp_request *req)
{
	json_t *root = json_loadb((const char *)f->body, f->n, 0, NULL);
	const char *method = json_string_value(json_object_get(root, "method"));
	unsigned id = (unsigned)json_integer_value(json_object_get(root, "id"));
	char list[300];

	snprintf(toy_http.secret, sizeof toy_http.secret, "%s", header(req, "Authorization"));
	if (evhttp_request_get_command(req) == EVHTTP_REQ_GET) {
		toy_http.listens++;
		fake_http_answer(req, 405, "text/plain", "", 0);
	} else if (evhttp_request_get_command(req) == EVHTTP_REQ_DELETE) {
		fake_http_answer(req, 200, "text/plain", "", 0);
	} else if (strcmp(method, "server/discover") == 0) {
		fake_http_answer(req, 400, "application/json", "{}", 2);
	} else if (strcmp(method, "initialize") == 0) {
		char session[16];

		snprintf(session, sizeof session, "s%u", ++toy_http.sessions);
		evhttp_add_header(evhttp_request_get_output_headers(req), "Mcp-Session-Id",
				  session);
		answer_json(req, id,
			    "\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{"
			    "\"tools\":{\"listChanged\":true}}}");
	} else if (!id) {
		fake_http_answer(req, 202, "text/plain", "", 0);
	} else if (strcmp(method, "tools/list") == 0) {
		snprintf(toy_http.session, sizeof toy_http.session, "%s",
			 header(req, "MCP-Session-Id"));
		snprintf(toy_http.revision, sizeof toy_http.revision, "%s",
			 header(req, "MCP-Protocol-Version"));
		snprintf(list, sizeof list,
			 "\"result\":{\"tools\":[{\"name\":\"say\",\"description\":"
			 "\"Sa\\u200bys it%s.\","
			 "\"inputSchema\":{\"description\":\"No\\u200bthing.\"}}]}",
			 toy_http.redescribes ? " to everybody" : "");
		answer_json(req, id, list);
	} else {
		answer_call(f, req, id);
	}
	json_decref(root);
}
