#include "control/offline/http_api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/offline/brain.h"
#include "control/offline/brain_tools.h"
#include "control/offline/chat.h"
#include "control/offline/multipart.h"
#include "control/offline/rate_convert.h"
#include "control/offline/record.h"
#include "control/offline/session_inside.h"
#include "control/offline/speech_queue.h"
#include "control/offline/transcript.h"
#include "control/offline/wavfile.h"
#include "ipc/env.h"
#include "ipc/http_server.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/base/wav.h"

enum { LINE_MAX_ = 4096, TYPE_SIZE = 256, KEPT_MAX = 70 * SESSION_RATE, CHAT_QUESTION_SIZE = 8192 };

/* A request that waits for a recogniser or the speech queue. */
struct ask {
	struct ask *next;
	struct http_api *a;
	struct http_exchange *x; /* until it is answered or its client is gone */
	uint64_t job;
	bool speech;
	struct transcript_wish wish; /* of a recording */
	/* for the record */
	char *text;
	int16_t *pcm;
	size_t n;
};

struct http_api {
	struct http_api_conf conf;
	struct ask *list;
	unsigned n;
	uint32_t last_job;
};

static void ask_free(struct ask *k)
{
	for (struct ask **at = &k->a->list; *at; at = &(*at)->next)
		if (*at == k) {
			*at = k->next;
			k->a->n--;
			break;
		}
	free(k->text);
	free(k->pcm);
	free(k);
}

/* The client disconnected. */
static void on_gone(struct http_exchange *x, void *arg)
{
	struct ask *k = arg;

	(void)x;
	if (k->speech)
		speech_queue_stop(k->a->conf.speech, k->job);
	else
		recogniser_pool_drop(k->a->conf.recognisers, k->job);
	ask_free(k);
}

static struct ask *ask_new(struct http_api *a, struct http_exchange *x, bool speech)
{
	struct ask *k = a->n < HTTP_API_MAX ? calloc(1, sizeof *k) : NULL;

	if (!k)
		return NULL;
	k->a = a;
	k->x = x;
	k->speech = speech;
	k->job = (uint64_t)HTTP_API_OWNER << 32 | ++a->last_job;
	k->next = a->list;
	a->list = k;
	a->n++;
	http_on_gone(x, on_gone, k);
	return k;
}

static struct ask *ask_of(const struct http_api *a, uint64_t job)
{
	for (struct ask *k = a->list; k; k = k->next)
		if (k->job == job)
			return k;
	return NULL;
}

/* ---- answers ---- */

/* Steals root. */
static void answer_json(struct http_exchange *x, int status, json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	http_reply(x, text ? status : 500, "application/json", text, text ? strlen(text) : 0);
	free(text);
	json_decref(root);
}

void http_api_refuse(struct http_exchange *x, int status, const char *param, const char *why)
{
	answer_json(x, status,
		    json_pack("{s:{s:s,s:s,s:s?,s:n}}", "error", "message", why, "type",
			      status < 500 ? "invalid_request_error" : "server_error", "param",
			      param, "code"));
}

static void write_down(struct ask *k, const char *text, int inside)
{
	struct record *record = k->a->conf.record;

	if (record &&
	    record_add(record, env_now(k->a->conf.env) / NS_PER_MS, k->speech ? "said" : "heard",
		       text, inside, k->pcm ? k->pcm : &(int16_t){0}, k->n))
		log_warn("record_failed", "text=\"%s\"", text);
}

static void keep(struct ask *k, const int16_t *pcm, size_t n)
{
	int16_t *grown;

	if (!k->a->conf.record || !n || n > KEPT_MAX - k->n)
		return;
	grown = realloc(k->pcm, (k->n + n) * sizeof *pcm);
	if (!grown)
		return;
	k->pcm = grown;
	memcpy(k->pcm + k->n, pcm, n * sizeof *pcm);
	k->n += n;
}

/* ---- a recording ---- */

static int feed(struct ask *k, const struct wav *w)
{
	struct rate_convert *r = NULL;
	const int16_t *at_rate;
	int16_t *pcm = NULL;
	size_t n = w->frames;
	int err = wavfile_mono(w, &pcm);

	at_rate = pcm;
	if (!err && w->rate != SESSION_RATE)
		err = rate_convert_alloc(&r, w->rate, SESSION_RATE, false);
	if (!err && r)
		err = rate_convert_run(r, pcm, n, true, &at_rate, &n);
	if (!err)
		err = recogniser_pool_begin(k->a->conf.recognisers, k->job);
	if (!err)
		err = recogniser_pool_feed(k->a->conf.recognisers, k->job, at_rate, n);
	if (!err) {
		keep(k, at_rate, n);
		err = recogniser_pool_end(k->a->conf.recognisers, k->job);
	}
	rate_convert_free(r);
	free(pcm);
	return err;
}

static void transcribe(struct http_api *a, struct http_exchange *x, struct slice body)
{
	char type[TYPE_SIZE];
	const uint8_t *file;
	size_t n;
	struct transcript_wish wish;
	const char *param;
	struct wav w;
	struct ask *k;

	http_head_copy(http_request_head(x), "content-type", type, sizeof type);
	if (!multipart_find(type, body.p, body.n, "file", &file, &n)) {
		http_api_refuse(x, 400, "file", "There is no part named file.");
		return;
	}
	if (wav_parse(&w, file, n)) {
		http_api_refuse(x, 400, "file",
				"Only WAV files with 16 bit samples are understood.");
		return;
	}
	if (transcript_wish_parse(&wish, type, body, &param)) {
		http_api_refuse(x, 400, param, "There is no such format here.");
		return;
	}
	k = ask_new(a, x, false);
	if (!k) {
		http_api_refuse(x, 503, NULL, "Too much is asked at once.");
		return;
	}
	wish.seconds = (double)w.frames / (w.rate ? w.rate : 1);
	k->wish = wish;
	if (feed(k, &w)) {
		recogniser_pool_drop(a->conf.recognisers, k->job);
		http_on_gone(x, NULL, NULL);
		ask_free(k);
		http_api_refuse(x, 500, NULL, "It cannot be heard now.");
	}
}

void http_api_recognised(struct http_api *a, uint64_t job, const struct recognition *heard)
{
	struct ask *k = ask_of(a, job);

	if (!k)
		return;
	if (heard) {
		write_down(k, heard->text, heard->in_grammar);
		transcript_answer(k->x, &k->wish, heard->text);
	} else {
		http_api_refuse(k->x, 500, NULL, "The recogniser failed.");
	}
	ask_free(k);
}

/* ---- speech ---- */

static void speak(struct http_api *a, struct http_exchange *x, const json_t *root)
{
	const char *text = json_string_value(json_object_get(root, "input"));
	const char *voice = config_voice(json_string_value(json_object_get(root, "voice")));
	const char *format = json_string_value(json_object_get(root, "response_format"));
	const json_t *speed = json_object_get(root, "speed");
	double v = json_is_number(speed) ? json_number_value(speed) : 1;
	struct ask *k;

	if (!text || strlen(text) > LINE_MAX_)
		http_api_refuse(x, 400, "input", "There is no input, or too much of it.");
	else if (!voice)
		http_api_refuse(x, 400, "voice", "There is no such voice here.");
	else if (!format || strcmp(format, "pcm") != 0)
		http_api_refuse(x, 400, "response_format", "Only the format pcm is made here.");
	else if (!(v >= 0.25 && v <= 4))
		http_api_refuse(x, 400, "speed", "The speed is from 0.25 to 4.");
	else if (!(k = ask_new(a, x, true)))
		http_api_refuse(x, 503, NULL, "Too much is asked at once.");
	else {
		k->text = strdup(text);
		if (speech_queue_say(a->conf.speech, k->job, text, voice, v)) {
			http_on_gone(x, NULL, NULL);
			ask_free(k);
			http_api_refuse(x, 500, NULL, "It cannot be said now.");
		}
	}
}

void http_api_take_speech(struct http_api *a, uint64_t job, const int16_t *pcm, size_t n, bool last)
{
	struct ask *k = ask_of(a, job);
	uint8_t bytes[4096];

	if (!k)
		return;
	http_reply_begin(k->x, 200, "audio/pcm");
	keep(k, pcm, n);
	for (size_t at = 0; at < n;) {
		size_t m = n - at < sizeof bytes / 2 ? n - at : sizeof bytes / 2;

		for (size_t i = 0; i < m; i++) {
			bytes[2 * i] = (uint8_t)pcm[at + i];
			bytes[2 * i + 1] = (uint8_t)((uint16_t)pcm[at + i] >> 8);
		}
		http_reply_write(k->x, bytes, 2 * m);
		at += m;
	}
	if (!last)
		return;
	http_reply_end(k->x);
	write_down(k, k->text ? k->text : "", -1);
	ask_free(k);
}

/* ---- an answer ---- */

/* Each request stands alone and carries all context. call->tool: empty, or a tool is to be called
 * in place of an answer. */
static int think(struct http_api *a, const json_t *root, const char *asked,
		 const struct brain_moment *m, char *line, struct brain_call *call)
{
	const char *tool, *arguments, *output = chat_output(root, &tool, &arguments);
	struct brain *brain = NULL;
	enum intent intent;
	int err;

	call->tool[0] = line[0] = '\0';
	if (output) {
		brain_say_output(tool, arguments, output, line, BRAIN_ANSWER_SIZE);
		return 0;
	}
	err = brain_alloc(&brain, a->conf.rules);
	if (!err && !brain_wants_tool(brain, asked, chat_offers, (void *)(uintptr_t)root, call)) {
		call->tool[0] = '\0';
		err = brain_answer(brain, asked, m, line, BRAIN_ANSWER_SIZE, &intent);
	}
	brain_free(brain);
	return err;
}

static void answer(struct http_api *a, struct http_exchange *x, const json_t *root,
		   const struct session_moment *now)
{
	struct brain_room room = {0};
	char asked[CHAT_QUESTION_SIZE];
	struct brain_moment m = {
		.local = now->local, .random = now->random, .room = &room, .alone = true};
	char line[BRAIN_ANSWER_SIZE];
	struct brain_call call;

	if (chat_question(root, &room, asked, sizeof asked))
		http_api_refuse(x, 400, "messages", "There is no message of a user with text.");
	else if (think(a, root, asked, &m, line, &call))
		http_api_refuse(x, 500, NULL, "It cannot be answered now.");
	else if (*call.tool)
		chat_call(x, root, &call, now->random, now->wall_s);
	else
		chat_answer(x, root, line, now->random, now->wall_s);
}

/* ---- interface ---- */

void http_api_post(struct http_api *a, struct http_exchange *x, struct slice body,
		   const struct session_moment *now)
{
	const char *path = http_request_head(x)->path;
	bool speech = strcmp(path, "/v1/audio/speech") == 0;
	json_t *root;

	if (strcmp(path, "/v1/audio/transcriptions") == 0) {
		transcribe(a, x, body);
		return;
	}
	root = json_loadb((const char *)body.p, body.n, 0, NULL);
	if (!speech && strcmp(path, "/v1/chat/completions") != 0)
		http_api_refuse(x, 404, NULL, "There is no such thing here.");
	else if (!json_is_object(root))
		http_api_refuse(x, 400, NULL, "The body is no JSON object.");
	else if (speech)
		speak(a, x, root);
	else
		answer(a, x, root, now);
	json_decref(root);
}

int http_api_alloc(struct http_api **out, const struct http_api_conf *conf)
{
	struct http_api *a = calloc(1, sizeof *a);

	if (!a)
		return ENOMEM;
	a->conf = *conf;
	*out = a;
	return 0;
}

struct http_api *http_api_free(struct http_api *a)
{
	struct ask *k;

	if (!a)
		return NULL;
	while ((k = a->list) != NULL) {
		a->list = k->next;
		ask_free(k);
	}
	free(a);
	return NULL;
}
