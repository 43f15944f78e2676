#include "tests/bench/brain.h"

#include "control/dialect/base64.h"
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CONNS = 256,
	RATE = 24000,
	PART_MS = 200,
	PART = RATE * PART_MS / 1000 * 2,
	INTERIM = RATE * 2 * 400 / 1000, /* bytes of sound after which all words are known */
};

struct conn {
	struct brain *b;
	struct ws *ws;
	unsigned number;
	uint32_t items;
	bool transcribes;
	bool follows;		  /* as Scribe does: sends interim transcripts */
	size_t heard;		  /* bytes of sound since the last commit */
	unsigned told, questions; /* conversation items that it was told */
	uint64_t image;		  /* ns: one of them had an image, since the last question */
	/* The answer that is being sent. */
	struct tmr *tmr;
	size_t asked;
	uint32_t turn;
	unsigned left; /* parts */
};

struct brain {
	struct env *env;
	struct ws_ctx *ctx;
	struct ws_server *server;
	char url[64], words[64];
	unsigned parts; /* of an answer */
	bool paced, interims;
	unsigned drop_ms; /* 0: answers */
	char sound[(PART + 2) / 3 * 4 + 1];
	struct conn conn[CONNS];
	unsigned conns, said;
	uint64_t committed;
	uint64_t *commits; /* of each commit, in order */
	size_t commits_cap;
	struct brain_asked *asked;
	size_t n, cap;
};

static void send_text(struct conn *c, const char *text, int n)
{
	BENCH_OK(ws_send(c->ws, true, text, (size_t)n));
}

static void note_commit(struct brain *b)
{
	if (b->said == b->commits_cap) {
		b->commits_cap = b->commits_cap ? 2 * b->commits_cap : 1024;
		b->commits = realloc(b->commits, b->commits_cap * sizeof *b->commits);
		if (!b->commits)
			bench_die("out of memory");
	}
	b->commits[b->said] = env_now(b->env);
}

static void on_commit(struct conn *c)
{
	char text[512];

	c->items++;
	note_commit(c->b);
	if (c->transcribes)
		c->b->committed = env_now(c->b->env);
	send_text(c, text,
		  snprintf(text, sizeof text,
			   "{\"type\":\"input_audio_buffer.committed\",\"item_id\":\"i%u\"}",
			   c->items));
	send_text(c, text,
		  snprintf(text, sizeof text,
			   "{\"type\":\"conversation.item.input_audio_transcription.completed\","
			   "\"item_id\":\"i%u\","
			   "\"content_index\":0,\"transcript\":\"%s number %u\"}",
			   c->items, c->b->words, ++c->b->said));
}

static void send_words(struct conn *c, const char *kind)
{
	char text[256];

	send_text(c, text,
		  snprintf(text, sizeof text, "{\"message_type\":\"%s\",\"text\":\"%s\"}", kind,
			   c->b->words));
}

/* Sound, or a commit. All words stand in one interim transcript. */
static void on_chunk(struct conn *c, const json_t *root)
{
	size_t before = c->heard;

	if (json_is_true(json_object_get(root, "commit"))) {
		note_commit(c->b);
		c->b->said++;
		c->heard = 0;
		send_words(c, "committed_transcript_with_timestamps");
		return;
	}
	c->heard += json_string_length(json_object_get(root, "audio_base_64")) / 4 * 3;
	if (c->b->interims && before < INTERIM && c->heard >= INTERIM)
		send_words(c, "partial_transcript");
}

static void on_item(struct conn *c, const json_t *root)
{
	const json_t *content = json_object_get(json_object_get(root, "item"), "content"), *part;
	size_t i;

	c->told++;
	json_array_foreach(content, i, part)
	{
		const char *type = json_string_value(json_object_get(part, "type"));

		if (type && strcmp(type, "input_image") == 0)
			c->image = bench_clock();
	}
}

static size_t note(struct brain *b, struct conn *c, uint32_t turn)
{
	if (b->n == b->cap) {
		b->cap = b->cap ? 2 * b->cap : 1024;
		b->asked = realloc(b->asked, b->cap * sizeof *b->asked);
		if (!b->asked)
			bench_die("out of memory");
	}
	b->asked[b->n] = (struct brain_asked){.conn = c->number,
					      .turn = turn,
					      .at = env_now(b->env),
					      .committed = b->committed,
					      .items = c->told,
					      .image = c->image,
					      .before = c->questions++};
	c->image = 0;
	return b->n++;
}

static void answer_ends(struct conn *c, const char *status)
{
	char text[256];

	c->left = 0;
	tmr_stop(c->tmr);
	send_text(c, text,
		  snprintf(text, sizeof text,
			   "{\"type\":\"response.done\",\"response\":{\"id\":\"r%u\",\"status\":"
			   "\"%s\"}}",
			   c->turn, status));
}

static void send_part(struct conn *c)
{
	struct brain *b = c->b;
	char text[PART * 2];

	if (c->left == b->parts)
		b->asked[c->asked].sound = bench_clock();
	send_text(c, text,
		  snprintf(text, sizeof text,
			   "{\"type\":\"response.output_audio.delta\",\"response_id\":\"r%u\","
			   "\"item_id\":\"a%u\",\"output_index\":0,\"content_index\":0,"
			   "\"delta\":\"%s\"}",
			   c->turn, c->turn, b->sound));
	if (!--c->left)
		answer_ends(c, "completed");
}

static void on_pace(void *arg)
{
	struct conn *c = arg;

	if (c->b->drop_ms) {
		c->left = 0;
		c->b->asked[c->asked].dropped = bench_clock();
		ws_abort(c->ws);
		return;
	}
	send_part(c);
	if (c->left)
		tmr_start(c->tmr, PART_MS * NS_PER_MS);
}

static void on_question(struct conn *c, const json_t *root)
{
	const json_t *metadata = json_object_get(json_object_get(root, "response"), "metadata");
	const char *turn = json_string_value(json_object_get(metadata, "turn"));
	const char *ask = json_string_value(json_object_get(metadata, "ask"));
	struct brain *b = c->b;
	char text[512];

	if (!turn || !ask)
		bench_die("a question without a turn");
	if (c->left)
		bench_die("a question while an answer is active");
	c->turn = (uint32_t)strtoul(turn, NULL, 10);
	c->asked = note(b, c, c->turn);
	c->left = b->parts;
	if (b->drop_ms) {
		tmr_start(c->tmr, b->drop_ms * NS_PER_MS);
		return;
	}
	send_text(c, text,
		  snprintf(text, sizeof text,
			   "{\"type\":\"response.created\",\"response\":{\"id\":\"r%s\","
			   "\"metadata\":{\"ask\":\"%s\"}}}",
			   turn, ask));
	send_text(c, text,
		  snprintf(text, sizeof text,
			   "{\"type\":\"response.output_audio_transcript.delta\",\"response_id\":"
			   "\"r%s\",\"item_id\":\"a%s\",\"delta\":\"so it is\"}",
			   turn, turn));
	if (b->paced)
		on_pace(c);
	else
		while (c->left)
			send_part(c);
}

static void on_cancel(struct conn *c)
{
	if (!c->left)
		return;
	c->b->asked[c->asked].cancelled = env_now(c->b->env);
	answer_ends(c, "cancelled");
}

static void came(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		 void *arg)
{
	struct conn *c = arg;
	const char *type;
	json_t *root;

	(void)ws, (void)code;
	if (ev == WS_CLOSED) {
		c->left = 0;
		tmr_stop(c->tmr);
	}
	if (ev != WS_TEXT)
		return;
	root = json_loadb((const char *)data, len, 0, NULL);
	type = json_string_value(json_object_get(root, "type"));
	if (c->follows)
		on_chunk(c, root);
	else if (type && strcmp(type, "input_audio_buffer.commit") == 0)
		on_commit(c);
	else if (type && strcmp(type, "conversation.item.create") == 0)
		on_item(c, root);
	else if (type && strcmp(type, "response.create") == 0)
		on_question(c, root);
	else if (type && strcmp(type, "response.cancel") == 0)
		on_cancel(c);
	json_decref(root);
}

static void accepted(struct ws *ws, const char *path, void *arg)
{
	static const char hello[] = "{\"type\":\"session.created\",\"session\":{}}",
			  begun[] = "{\"message_type\":\"session_started\"}";
	struct brain *b = arg;
	struct conn *c = &b->conn[b->conns];

	if (b->conns == CONNS)
		bench_die("too many connections to the brain");
	*c = (struct conn){.b = b,
			   .ws = ws,
			   .number = b->conns++,
			   .follows = strstr(path, "/speech-to-text/") != NULL,
			   .transcribes = strstr(path, "intent=transcription") != NULL};
	BENCH_OK(tmr_alloc(&c->tmr, b->env, on_pace, c));
	ws_set_handler(ws, came, c);
	if (c->follows)
		send_text(c, begun, sizeof begun - 1);
	else
		send_text(c, hello, sizeof hello - 1);
}

void brain_alloc(struct brain **out, struct env *env, const char *words, unsigned answer_ms,
		 bool paced)
{
	struct ws_listen_conf conf = {.host = "127.0.0.1"};
	struct brain *b = calloc(1, sizeof *b);
	uint8_t pcm[PART];

	if (!b)
		bench_die("out of memory");
	b->env = env;
	b->parts = answer_ms / PART_MS;
	b->paced = paced;
	snprintf(b->words, sizeof b->words, "%s", words);
	for (unsigned i = 0; i < PART / 2; i++) {
		int v = (i / 40 % 2 ? 1 : -1) * 6000;

		pcm[2 * i] = (uint8_t)v;
		pcm[2 * i + 1] = (uint8_t)((unsigned)v >> 8);
	}
	base64_encode(pcm, sizeof pcm, b->sound);
	BENCH_OK(ws_ctx_alloc(&b->ctx, env, NULL));
	BENCH_OK(ws_listen(&b->server, b->ctx, &conf, accepted, b));
	snprintf(b->url, sizeof b->url, "ws://127.0.0.1:%u/v1/realtime", ws_server_port(b->server));
	*out = b;
}

void brain_sends_interims(struct brain *b, bool yes)
{
	b->interims = yes;
}

void brain_drops(struct brain *b, unsigned ms)
{
	b->drop_ms = ms;
}

struct brain *brain_free(struct brain *b)
{
	for (unsigned i = 0; i < b->conns; i++) {
		tmr_free(b->conn[i].tmr);
		ws_free(b->conn[i].ws);
	}
	ws_server_free(b->server);
	ws_ctx_free(b->ctx);
	free(b->commits);
	free(b->asked);
	free(b);
	return NULL;
}

const char *brain_url(const struct brain *b)
{
	return b->url;
}

unsigned brain_port(const struct brain *b)
{
	return ws_server_port(b->server);
}

uint64_t brain_committed(const struct brain *b, unsigned number)
{
	return number && number <= b->said ? b->commits[number - 1] : 0;
}

const struct brain_asked *brain_asked(const struct brain *b, size_t *n)
{
	*n = b->n;
	return b->asked;
}
