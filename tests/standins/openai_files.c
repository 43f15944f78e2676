/* OpenAI by request, and the local servers that copy it: speech, transcription of files,
 * embeddings. */
#include "proto/base/wav.h"
#include "tests/standins/link.h"
#include "tests/standins/multipart.h"
#include "tests/standins/record.h"
#include "tests/standins/services.h"
#include "tests/standins/shape.h"
#include "tests/standins/sound.h"
#include "tests/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RATE = 24000, CHUNK_MS = 100, TYPE_SIZE = 256, DIMENSIONS = 32, TEXT_MAX = 4096 };

/* A request that is being answered. */
struct answer {
	struct si_link *link;
	struct si_sound *sound;
	struct si_acts acts;
	bool wav, sse, plain, logprobs, verbose, stream;
};

static const struct si_shape shape_speech[] = {
	{"model", "!str"},
	{"input", "!str"},
	{"voice", "!any"},
	{"instructions", "str"},
	{"response_format", "'mp3' 'opus' 'aac' 'flac' 'wav' 'pcm'"},
	{"speed", "num:0.25..4"},
	{"stream_format", "'audio' 'sse'"},
	{NULL, NULL},
};

static const struct si_shape shape_embeddings[] = {
	{"model", "!str"},
	{"input", "!str arr"},
	{"input[]", "str"},
	{"encoding_format", "'float' 'base64'"},
	{"dimensions", "int:1..4096"},
	{"user", "str"},
	{NULL, NULL},
};

static void answer_free(void *arg)
{
	struct answer *a = arg;

	si_sound_cancel(a->sound);
	free(a);
}

static const struct si_session_ops answer_ops = {.free = answer_free};

static void refuse(struct si_link *l, int status, const char *code, const char *text)
{
	si_reply_json(l, status,
		      json_pack("{s:{s:s, s:s, s:n, s:s}}", "error", "message", text, "type",
				status >= 500 ? "server_error" : "invalid_request_error", "param",
				"code", code));
}

/* NULL: the script wants an error, which was sent, or no answer. */
static struct answer *answer_begin(struct si_link *l, enum si_trigger t)
{
	struct answer *a = si_alloc(sizeof *a);

	a->link = l;
	si_link_take(l, &answer_ops, a);
	si_link_fire(l, t, &a->acts);
	if (a->acts.error)
		refuse(l, strstr(a->acts.error->word, "rate_limit") ? 429 : 400,
		       a->acts.error->word, a->acts.error->text);
	return a->acts.error || a->acts.silent ? NULL : a;
}

/* ---- speech ---- */

static void sse_plan(struct answer *a, uint32_t at_ms, bool piece, json_t *event)
{
	char *json = json_dumps(event, JSON_COMPACT), *text = si_alloc(strlen(json) + 16);
	int n = sprintf(text, "data: %s\n\n", json);

	si_plan(a->link, &(struct si_plan){.out = SI_OUT_CHUNK,
					   .after_ms = at_ms,
					   .piece = piece,
					   .data = text,
					   .n = (size_t)n});
	free(text);
	free(json);
	json_decref(event);
}

static void sound_plan(struct answer *a, uint32_t at_ms, const int16_t *pcm, size_t n)
{
	char *audio;

	if (!a->sse) {
		si_plan(a->link, &(struct si_plan){.out = SI_OUT_CHUNK,
						   .after_ms = at_ms,
						   .piece = true,
						   .data = pcm,
						   .n = n * 2});
		return;
	}
	audio = si_base64(pcm, n * 2);
	sse_plan(a, at_ms, true,
		 json_pack("{s:s, s:s}", "type", "speech.audio.delta", "audio", audio));
	free(audio);
}

static void on_sound(const int16_t *pcm, size_t n, void *arg)
{
	struct answer *a = arg;
	size_t chunk = RATE * CHUNK_MS / 1000;
	uint32_t at_ms = a->acts.delay_ms;
	uint8_t head[WAV_HEADER];

	a->sound = NULL;
	si_stream(a->link, 200, a->sse ? "text/event-stream" : a->wav ? "audio/wav" : "audio/pcm");
	if (a->wav) {
		wav_header(head, RATE, 1, n);
		si_plan(a->link, &(struct si_plan){.out = SI_OUT_CHUNK,
						   .after_ms = at_ms,
						   .data = head,
						   .n = sizeof head});
	}
	for (size_t i = 0; i < n; i += chunk, at_ms += a->acts.gap_ms)
		sound_plan(a, at_ms, pcm + i, n - i < chunk ? n - i : chunk);
	if (a->sse)
		sse_plan(a, at_ms, false,
			 json_pack("{s:s, s:{s:i, s:i, s:i}}", "type", "speech.audio.done", "usage",
				   "input_tokens", 4, "output_tokens", 20, "total_tokens", 24));
	si_plan(a->link, &(struct si_plan){.out = SI_OUT_END, .after_ms = at_ms});
}

static void speech_serve(struct si_link *l, const json_t *root)
{
	const char *format = json_string_value(json_object_get(root, "response_format"));
	const char *stream = json_string_value(json_object_get(root, "stream_format"));
	const char *input = json_string_value(json_object_get(root, "input"));
	struct answer *a;

	if (!format || (strcmp(format, "pcm") != 0 && strcmp(format, "wav") != 0)) {
		refuse(l, 400, "unsupported_format", "Only pcm and wav are made here.");
		return;
	}
	if (!*input || strlen(input) > TEXT_MAX) {
		refuse(l, 400, "string_too_long", "The input is empty or too long.");
		return;
	}
	a = answer_begin(l, SI_RESPONSE);
	if (!a)
		return;
	a->wav = strcmp(format, "wav") == 0;
	a->sse = stream && strcmp(stream, "sse") == 0;
	a->sound = si_sound_speak(si_link_standin(l), input, RATE, on_sound, a);
}

/* ---- transcription ---- */

static void stream_reply(struct answer *a, const char *words)
{
	const char *p = words;

	si_stream(a->link, 200, "text/event-stream");
	while (*p) {
		size_t n = strcspn(p + 1, " ") + 1;

		sse_plan(a, 0, true,
			 json_pack("{s:s, s:s%}", "type", "transcript.text.delta", "delta", p, n));
		p += n;
	}
	sse_plan(a, 0, false,
		 json_pack("{s:s, s:s}", "type", "transcript.text.done", "text", words));
	si_plan(a->link, &(struct si_plan){.out = SI_OUT_END});
}

static void transcript_reply(void *arg, const char *words)
{
	struct answer *a = arg;
	json_t *body;

	if (a->stream) {
		stream_reply(a, words);
		return;
	}
	if (a->plain) {
		si_reply(a->link, 200, "text/plain", words, strlen(words));
		return;
	}
	body = json_pack("{s:s, s:{s:s, s:f}}", "text", words, "usage", "type", "duration",
			 "seconds", 1.0);
	if (a->verbose)
		json_object_update_new(
			body,
			json_pack("{s:s, s:s, s:f, s:[{s:i, s:i, s:f, s:f, s:s, s:[i, i], s:f, "
				  "s:f, s:f, s:f}]}",
				  "task", "transcribe", "language", "english", "duration", 1.0,
				  "segments", "id", 0, "seek", 0, "start", 0.0, "end", 1.0, "text",
				  words, "tokens", 1, 2, "temperature", 0.0, "avg_logprob", -0.2,
				  "compression_ratio", 1.0, "no_speech_prob", 0.01));
	if (a->logprobs)
		json_object_set_new(body, "logprobs",
				    json_pack("[{s:s, s:f, s:[i]}]", "token", words, "logprob",
					      -0.05, "bytes", words[0]));
	si_reply_json(a->link, 200, body);
}

static void on_words(const char *words, void *arg)
{
	struct answer *a = arg;

	a->sound = NULL;
	transcript_reply(a, words ? words : "");
}

/* Of the form, its texts are recorded. */
static void form_record(struct si_link *l, const char *type, const char *body, size_t n)
{
	static const char *const names[] = {"model",  "language",	 "prompt",
					    "stream", "response_format", "include[]"};
	char value[TYPE_SIZE];
	json_t *form = json_object();
	char *text;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (si_multipart_text(type, body, n, names[i], value, sizeof value))
			json_object_set_new(form, names[i], json_string(value));
	text = json_dumps(form, JSON_COMPACT);
	si_record_message(si_link_standin(l)->record, si_link_number(l), "form", true, text,
			  strlen(text));
	free(text);
	json_decref(form);
}

static void transcription_serve(struct si_link *l)
{
	char type[TYPE_SIZE], format[32], include[32], flag[8];
	size_t n;
	const char *body = si_link_body(l, &n);
	struct si_part file;
	struct answer *a;
	struct wav w;
	int16_t *pcm;

	http_head_copy(si_link_head(l), "content-type", type, sizeof type);
	form_record(l, type, body, n);
	if (!si_multipart_text(type, body, n, "model", format, sizeof format)) {
		refuse(l, 400, "missing_required_parameter", "There is no model.");
		return;
	}
	if (!si_multipart_find(type, body, n, "file", &file) ||
	    wav_parse(&w, (const uint8_t *)file.data, file.n) || w.channels != 1) {
		refuse(l, 400, "invalid_file", "The file is no WAV of one channel.");
		return;
	}
	a = answer_begin(l, SI_COMMIT);
	if (!a)
		return;
	si_multipart_text(type, body, n, "response_format", format, sizeof format);
	a->plain = strcmp(format, "text") == 0;
	a->verbose = strcmp(format, "verbose_json") == 0;
	a->logprobs = si_multipart_text(type, body, n, "include[]", include, sizeof include);
	si_multipart_text(type, body, n, "stream", flag, sizeof flag);
	a->stream = strcmp(flag, "true") == 0;
	pcm = si_alloc(w.frames * 2 + 2);
	memcpy(pcm, w.data, w.frames * 2);
	si_record_pcm(si_link_standin(l)->record, si_link_number(l), pcm, w.frames * 2);
	a->sound = si_sound_hear(si_link_standin(l), pcm, w.frames, w.rate,
				 a->acts.transcript ? a->acts.transcript->text : NULL, on_words, a);
	free(pcm);
}

/* ---- embeddings ---- */

/* The same text has the same vector, and shared words bring vectors nearer. */
static void vector_make(const char *text, float v[DIMENSIONS])
{
	memset(v, 0, DIMENSIONS * sizeof *v);
	while (*text) {
		size_t n = strcspn(text, " .,?!");
		unsigned hash = 5381;

		for (size_t i = 0; i < n; i++)
			hash = hash * 33 + (unsigned char)text[i];
		v[hash % DIMENSIONS] += n ? 1 : 0;
		text += n + (text[n] != '\0');
	}
}

static json_t *vector_json(const char *text, bool base64)
{
	float v[DIMENSIONS];
	json_t *list;
	char *encoded;

	vector_make(text, v);
	if (base64) {
		encoded = si_base64(v, sizeof v);
		list = json_string(encoded);
		free(encoded);
		return list;
	}
	list = json_array();
	for (size_t i = 0; i < DIMENSIONS; i++)
		json_array_append_new(list, json_real(v[i]));
	return list;
}

static void embeddings_serve(struct si_link *l, const json_t *root)
{
	const json_t *input = json_object_get(root, "input");
	const char *format = json_string_value(json_object_get(root, "encoding_format"));
	bool base64 = format && strcmp(format, "base64") == 0;
	size_t n = json_is_array(input) ? json_array_size(input) : 1;
	json_t *data = json_array();

	for (size_t i = 0; i < n; i++) {
		const json_t *text = json_is_array(input) ? json_array_get(input, i) : input;

		json_array_append_new(data,
				      json_pack("{s:s, s:I, s:o}", "object", "embedding", "index",
						(json_int_t)i, "embedding",
						vector_json(json_string_value(text), base64)));
	}
	si_reply_json(l, 200,
		      json_pack("{s:s, s:o, s:O, s:{s:i, s:i}}", "object", "list", "data", data,
				"model", json_object_get(root, "model"), "usage", "prompt_tokens",
				4, "total_tokens", 4));
}

static bool files_request(struct si_link *l)
{
	const char *path = si_link_head(l)->path;
	bool speech = strcmp(path, "/v1/audio/speech") == 0;
	bool file = strcmp(path, "/v1/audio/transcriptions") == 0;
	bool embeddings = strcmp(path, "/v1/embeddings") == 0;
	const struct si_shape *shape = speech ? shape_speech : shape_embeddings;
	struct si_fault f;
	json_t *root;
	size_t n;
	const char *body = si_link_body(l, &n);

	if (si_link_head(l)->method != HTTP_POST || (!speech && !file && !embeddings))
		return false;
	if (!si_link_key(l, NULL, NULL)) {
		refuse(l, 401, "invalid_api_key", "Incorrect API key provided.");
		return true;
	}
	if (file) {
		transcription_serve(l);
		return true;
	}
	root = json_loadb(body, n, 0, NULL);
	if (!json_is_object(root) || !si_shape_check(shape, root, &f))
		refuse(l, 400, "invalid_request", "A field is unknown, missing or wrong.");
	else if (speech)
		speech_serve(l, root);
	else
		embeddings_serve(l, root);
	json_decref(root);
	return true;
}

const struct si_service si_openai_files = {.request = files_request};
