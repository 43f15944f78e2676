#include "control/offline/transcript.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/offline/multipart.h"
#include "ipc/http_server.h"

enum { FIELD_SIZE = 64 };

/* ---- a request ---- */

/* Copies a text field of the form; "" without one. */
static void copy_field(const char *type, struct slice body, const char *name, char *buf)
{
	const uint8_t *part;
	size_t n;

	buf[0] = '\0';
	if (multipart_find(type, body.p, body.n, name, &part, &n) && n < FIELD_SIZE)
		snprintf(buf, FIELD_SIZE, "%.*s", (int)n, (const char *)part);
}

int transcript_wish_parse(struct transcript_wish *out, const char *type, struct slice body,
			  const char **param)
{
	static const char *const formats[] = {[TRANSCRIPT_JSON] = "json",
					      [TRANSCRIPT_TEXT] = "text",
					      [TRANSCRIPT_VERBOSE] = "verbose_json",
					      [TRANSCRIPT_SRT] = "srt",
					      [TRANSCRIPT_VTT] = "vtt"};
	struct transcript_wish w = {0};
	bool known = false;
	char format[FIELD_SIZE], stream[FIELD_SIZE], words[FIELD_SIZE];

	copy_field(type, body, "response_format", format);
	copy_field(type, body, "stream", stream);
	copy_field(type, body, "timestamp_granularities[]", words);
	for (unsigned i = 0; i < sizeof formats / sizeof formats[0]; i++) {
		if (strcmp(format[0] ? format : "json", formats[i]) != 0)
			continue;
		w.format = (enum transcript_format)i;
		known = true;
	}
	if (!known) {
		*param = "response_format";
		return EINVAL;
	}
	w.stream = strcmp(stream, "true") == 0 || strcmp(stream, "1") == 0;
	w.words = strcmp(words, "word") == 0;
	*out = w;
	return 0;
}

/* ---- an answer ---- */

/* Steals root. */
static void write_event(struct http_exchange *x, json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	if (text) {
		http_reply_write(x, "data: ", 6);
		http_reply_write(x, text, strlen(text));
		http_reply_write(x, "\n\n", 2);
	}
	free(text);
	json_decref(root);
}

static void stream_transcript(struct http_exchange *x, const char *text)
{
	http_reply_begin(x, 200, "text/event-stream");
	for (const char *p = text; *p;) {
		size_t n = strspn(p, " ");

		n += strcspn(p + n, " ");
		write_event(
			x, json_pack("{s:s,s:s%}", "type", "transcript.text.delta", "delta", p, n));
		p += n;
	}
	write_event(x, json_pack("{s:s,s:s}", "type", "transcript.text.done", "text", text));
	http_reply_end(x);
}

/* The recogniser tells no times: the words share the recording evenly. */
static json_t *make_words(const struct transcript_wish *w, const char *text)
{
	json_t *list = json_array();
	double at = 0, step = strlen(text) ? w->seconds / (double)strlen(text) : 0;

	for (const char *p = text; *p;) {
		size_t gap = strspn(p, " "), n = strcspn(p + gap, " ");

		if (n)
			json_array_append_new(list,
					      json_pack("{s:s%,s:f,s:f}", "word", p + gap, n,
							"start", at + step * (double)gap, "end",
							at + step * (double)(gap + n)));
		at += step * (double)(gap + n);
		p += gap + n;
	}
	return list;
}

static json_t *make_verbose(const struct transcript_wish *w, const char *text)
{
	json_t *segment = json_pack("{s:i,s:i,s:f,s:f,s:s,s:[],s:f,s:f,s:f,s:f}", "id", 0, "seek",
				    0, "start", 0.0, "end", w->seconds, "text", text, "tokens",
				    "temperature", 0.0, "avg_logprob", 0.0, "compression_ratio",
				    1.0, "no_speech_prob", text[0] ? 0.0 : 1.0);
	json_t *root =
		json_pack("{s:s,s:s,s:f,s:s,s:[o]}", "task", "transcribe", "language", "english",
			  "duration", w->seconds, "text", text, "segments", segment);

	if (root && w->words)
		json_object_set_new(root, "words", make_words(w, text));
	return root;
}

/* A caption of the whole recording. */
static void send_captions(struct http_exchange *x, const struct transcript_wish *w,
			  const char *text)
{
	bool srt = w->format == TRANSCRIPT_SRT;
	unsigned ms = (unsigned)(w->seconds * 1000);
	size_t size = strlen(text) + 128;
	char *out = malloc(size);
	int n = 0;

	if (out)
		n = snprintf(out, size, "%s00:00:00%c000 --> 00:%02u:%02u%c%03u\n%s\n\n",
			     srt ? "1\n" : "WEBVTT\n\n", srt ? ',' : '.', ms / 60000,
			     ms / 1000 % 60, srt ? ',' : '.', ms % 1000, text);
	http_reply(x, out ? 200 : 500, "text/plain; charset=utf-8", out, (size_t)n);
	free(out);
}

void transcript_answer(struct http_exchange *x, const struct transcript_wish *w, const char *text)
{
	json_t *root;
	char *body;

	if (w->stream) {
		stream_transcript(x, text);
		return;
	}
	if (w->format == TRANSCRIPT_TEXT) {
		http_reply(x, 200, "text/plain; charset=utf-8", text, strlen(text));
		return;
	}
	if (w->format == TRANSCRIPT_SRT || w->format == TRANSCRIPT_VTT) {
		send_captions(x, w, text);
		return;
	}
	root = w->format == TRANSCRIPT_VERBOSE ? make_verbose(w, text)
					       : json_pack("{s:s}", "text", text);
	body = root ? json_dumps(root, JSON_COMPACT) : NULL;
	http_reply(x, body ? 200 : 500, "application/json", body, body ? strlen(body) : 0);
	free(body);
	json_decref(root);
}
