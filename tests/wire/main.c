/* wire: the dialects of control by themselves, for make interop.
 *
 *   wire list             the names of the dialects
 *   wire sends DIALECT    every message that the dialect can send, one JSON object a line: the
 *                         command, and the message (or, of a binary one, its length)
 *   wire takes DIALECT    reads messages from stdin, one a line, and prints what each says
 *
 * So the events can be held against published schemas, and published events against the parser. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/dialect/openai.h"
#include "control/dialect/realtime.h"
#include "control/engine/caps.def"
#include "control/engine/engine.h"
#include "tests/picture.h"
#include "tests/wire/wire.h"

enum { RATE = 24000, PCM_SIZE = 9600 };

#define TOOLS                                                                                      \
	"[{\"name\":\"weather\",\"description\":\"The weather.\",\"parameters\":{\"type\":"        \
	"\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]}}]"

static const struct {
	const char *name;
	enum dialect dialect;
	const struct realtime_dialect *wire;
} wires[] = {
#define WIRE_(D, WIRE) {#D, DIALECT_##D, &(WIRE)},
	ENGINE_WIRES(WIRE_)
#undef WIRE_
};

static const uint8_t pcm[PCM_SIZE];

/* One of each, as control sends them. */
static const struct {
	const char *name;
	struct realtime_command cmd;
} commands[] = {
	{"describe",
	 {.type = REALTIME_DESCRIBE, .instructions = "Be brief.", .tools = TOOLS, .handle = ""}},
	{"instruct", {.type = REALTIME_INSTRUCT, .instructions = "Be briefer."}},
	{"tools", {.type = REALTIME_TOOLS, .tools = TOOLS}},
	{"tools", {.type = REALTIME_TOOLS, .tools = "[]"}},
	{"item", {.type = REALTIME_ITEM, .id = "ask_1", .text = "[Alice]: good morning"}},
	{"item", {.type = REALTIME_ITEM, .id = "", .assistant = true, .text = "Good morning."}},
	{"image",
	 {.type = REALTIME_IMAGE,
	  .id = "picture_1",
	  .mime = "image/png",
	  .text = "a picture",
	  .data = {picture_png, sizeof picture_png}}},
	{"activity", {.type = REALTIME_ACTIVITY}},
	{"append", {.type = REALTIME_APPEND, .data = {pcm, sizeof pcm}}},
	{"commit", {.type = REALTIME_COMMIT, .id = ""}},
	{"drop_audio", {.type = REALTIME_DROP_AUDIO}},
	{"respond", {.type = REALTIME_RESPOND, .ask = 1, .turn = 2}},
	{"respond", {.type = REALTIME_RESPOND, .ask = 3, .turn = 4, .limit = 200}},
	{"say", {.type = REALTIME_SAY, .ask = 5, .turn = 6, .text = "All is well."}},
	{"cancel", {.type = REALTIME_CANCEL, .id = "resp_1"}},
	{"cancel", {.type = REALTIME_CANCEL, .id = ""}},
	{"truncate", {.type = REALTIME_TRUNCATE, .id = "item_1", .ms = 1200}},
	{"delete", {.type = REALTIME_DELETE, .id = "item_1"}},
	{"result", {.type = REALTIME_RESULT, .call = "call_1", .name = "weather", .text = "sunny"}},
	{"result",
	 {.type = REALTIME_RESULT,
	  .call = "call_2",
	  .name = "weather",
	  .text = "{\"error\":\"gone\"}",
	  .failed = true}},
	{"keepalive", {.type = REALTIME_KEEPALIVE}},
};

static const char *const facts[] = {
	[REALTIME_SESSION] = "session",
	[REALTIME_HANDLE] = "handle",
	[REALTIME_HEARD_ITEM] = "heard_item",
	[REALTIME_HEARD_PART] = "heard_part",
	[REALTIME_HEARD_TEXT] = "heard_text",
	[REALTIME_RESPONSE] = "response",
	[REALTIME_AUDIO] = "audio",
	[REALTIME_TEXT] = "text",
	[REALTIME_CALL_BEGUN] = "call_begun",
	[REALTIME_CALL_FRAGMENT] = "call_fragment",
	[REALTIME_CALL] = "call",
	[REALTIME_CALL_REVOKED] = "call_revoked",
	[REALTIME_INTERRUPTED] = "interrupted",
	[REALTIME_DONE] = "done",
	[REALTIME_USAGE] = "usage",
	[REALTIME_ERROR] = "error",
	[REALTIME_GO_AWAY] = "go_away",
};

void wire_print_sent(const char *command, bool text, const void *data, size_t n)
{
	json_t *event = text ? json_loadb(data, n, 0, NULL) : NULL;
	json_t *line = json_pack("{s:s, s:b, s:I}", "command", command, "text", text, "bytes",
				 (json_int_t)n);

	if (text && !event)
		json_object_set_new(line, "invalid", json_true());
	if (event)
		json_object_set_new(line, "event", event);
	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(line);
}

void wire_print_taken(int err, json_t *names)
{
	json_t *out = json_pack("{s:i, s:o}", "err", err, "facts", names);

	json_dumpf(out, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(out);
}

static int message_print(bool text, const void *data, size_t n, void *arg)
{
	wire_print_sent(arg, text, data, n);
	return 0;
}

static int sends(const struct realtime_dialect *wire, void *codec)
{
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		int err = wire->encode(codec, &commands[i].cmd, message_print,
				       (void *)commands[i].name);

		if (err && err != ENOTSUP) {
			fprintf(stderr, "wire: %s: %s\n", commands[i].name, strerror(err));
			return 1;
		}
	}
	return 0;
}

static int takes(const struct realtime_dialect *wire, void *codec)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while ((n = getline(&line, &size, stdin)) > 0) {
		struct realtime_facts got;
		json_t *names = json_array();
		int err;

		n -= line[n - 1] == '\n';
		err = wire->decode(codec, true, (const uint8_t *)line, (size_t)n, &got);
		for (size_t i = 0; !err && i < got.n; i++)
			json_array_append_new(names, json_string(facts[got.v[i].type]));
		if (!err)
			realtime_facts_clear(&got);
		wire_print_taken(err, names);
	}
	free(line);
	return 0;
}

int main(int argc, char **argv)
{
	struct realtime_conf conf = {.url = "ws://127.0.0.1:1/v1/realtime",
				     .model = "model",
				     .voice = "voice",
				     .rate_out = RATE};
	const struct engine_caps *caps;
	size_t n = sizeof wires / sizeof wires[0], i = 0;
	void *codec = NULL;
	int status = 2;

	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		for (; i < n; i++)
			puts(wires[i].name);
		wire_exchange_list();
		return 0;
	}
	if (argc == 3) {
		bool out = strcmp(argv[1], "sends") == 0;

		status = out ? wire_exchange_sends(argv[2]) : wire_exchange_takes(argv[2]);
		if (status >= 0)
			return status;
		status = 2;
	}
	while (argc == 3 && i < n && strcasecmp(wires[i].name, argv[2]) != 0)
		i++;
	caps = i < n ? engine_caps(wires[i].dialect, ROLE_VOICE) : NULL;
	conf.rate_in = caps && caps->rate_in ? caps->rate_in : RATE;
	if (argc != 3 || i == n || wires[i].wire->alloc(&codec, &conf)) {
		fprintf(stderr, "usage: wire list | sends DIALECT | takes DIALECT\n");
		return status;
	}
	if (strcmp(argv[1], "sends") == 0)
		status = sends(wires[i].wire, codec);
	else if (strcmp(argv[1], "takes") == 0)
		status = takes(wires[i].wire, codec);
	wires[i].wire->free(codec);
	return status;
}
