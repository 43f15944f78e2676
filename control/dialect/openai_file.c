/* Recordings of the OpenAI dialect: a form of several parts out, words in. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/openai_http.h"
#include "control/dialect/recording_form.h"
#include "proto/base/utf8.h"

enum { DOUBT_MAX = 1000000, SEGMENTS_MAX = 1000 };

/* Where the recogniser's own decoder takes a stretch for silence. */
#define NO_SPEECH	0.6
#define NO_SPEECH_DOUBT (-1.0)

char *openai_http_url(const char *base, const char *endpoint)
{
	size_t n = strlen(base), size;
	char *url;

	while (n && base[n - 1] == '/')
		n--;
	size = n + 1 + strlen(endpoint) + 1;
	url = malloc(size);
	if (url)
		snprintf(url, size, "%.*s/%s", (int)n, base, endpoint);
	return url;
}

/* ---- the form ---- */

/* Which answer tells how sure it is: that depends on the model, and models refuse what they do not
 * know. */
static bool tells_logprobs(const char *model)
{
	return strncmp(model, "gpt-4o", 6) == 0 && !strstr(model, "diarize");
}

static bool tells_segments(const char *model)
{
	return strncmp(model, "whisper", 7) == 0;
}

static void build_fields(struct wr *w, const struct openai_recording *rec)
{
	form_field(w, rec->boundary, "model", rec->model);
	if (*rec->language)
		form_field(w, rec->boundary, "language", rec->language);
	form_field(w, rec->boundary, "response_format",
		   tells_segments(rec->model) ? "verbose_json" : "json");
	if (tells_logprobs(rec->model))
		form_field(w, rec->boundary, "include[]", "logprobs");
}

int openai_transcription(struct openai_body *out, const struct openai_recording *rec)
{
	return form_build(out, rec, build_fields);
}

/* ---- the words ---- */

struct mean {
	double sum, n;
};

static void mean_add(struct mean *m, const json_t *logprob, size_t weight)
{
	double v = json_number_value(logprob);

	if (!json_is_number(logprob) || !(v <= 0))
		return;
	m->sum -= v * (double)weight;
	m->n += (double)weight;
}

static uint32_t doubt(const struct mean *m)
{
	double v = m->n > 0 ? m->sum * 1000 / m->n : 0;

	return m->n <= 0 ? 0 : v >= DOUBT_MAX ? DOUBT_MAX + 1 : (uint32_t)v + 1;
}

/* Appended as it stands, at most up to a character's end. */
static void add(struct openai_words *w, const json_t *text)
{
	const char *s = json_string_value(text);
	size_t at = strlen(w->text), n = s ? strlen(s) : 0, most = sizeof w->text - 1 - at;

	if (!at)
		for (; n && (*s == ' ' || *s == '\n'); n--)
			s++;
	if (n > most)
		n = utf8_whole(s, most);
	if (n)
		memcpy(w->text + at, s, n);
	w->text[at + n] = '\0';
}

static bool silence_p(const json_t *segment)
{
	const json_t *none = json_object_get(segment, "no_speech_prob");
	const json_t *sure = json_object_get(segment, "avg_logprob");

	return json_is_number(none) && json_is_number(sure) &&
	       json_number_value(none) > NO_SPEECH && json_number_value(sure) < NO_SPEECH_DOUBT;
}

/* There was speech when any stretch had some. */
static void least(struct openai_words *w, const json_t *none)
{
	double v = json_number_value(none);
	uint32_t told;

	if (!json_is_number(none) || !(v >= 0 && v <= 1))
		return;
	told = (uint32_t)(v * 1000) + 1;
	if (!w->no_speech || told < w->no_speech)
		w->no_speech = told;
}

static void read_segments(struct openai_words *w, struct mean *m, const json_t *segments)
{
	for (size_t i = 0; i < json_array_size(segments) && i < SEGMENTS_MAX; i++) {
		const json_t *s = json_array_get(segments, i);
		size_t tokens = json_array_size(json_object_get(s, "tokens"));

		least(w, json_object_get(s, "no_speech_prob"));
		if (silence_p(s))
			continue;
		add(w, json_object_get(s, "text"));
		mean_add(m, json_object_get(s, "avg_logprob"), tokens ? tokens : 1);
	}
}

/* Whisper names the language in English, lower case; servers of the same interface send a code. */
static void read_language(struct openai_words *w, const json_t *root)
{
	static const char *const names[][2] = {
		{"english", "en"}, {"german", "de"},   {"spanish", "es"}, {"french", "fr"},
		{"italian", "it"}, {"dutch", "nl"},    {"polish", "pl"},  {"portuguese", "pt"},
		{"russian", "ru"}, {"japanese", "ja"}, {"korean", "ko"},  {"chinese", "zh"},
	};
	const char *told = json_string_value(json_object_get(root, "language"));
	size_t n = told ? strlen(told) : 0;

	for (size_t i = 0; told && i < sizeof names / sizeof names[0]; i++)
		if (strcmp(told, names[i][0]) == 0)
			memcpy(w->language, names[i][1], sizeof "en");
	/* Other names are languages without lists. */
	if (n == 2 || n == 3 || (n == 5 && told[2] == '-'))
		memcpy(w->language, told, n + 1);
}

int openai_transcript(struct openai_words *out, const char *body, size_t n)
{
	struct openai_words w = {0};
	struct mean m = {0};
	json_t *root = n <= OPENAI_ANSWER_MAX ? json_loadb(body, n, 0, NULL) : NULL;
	const json_t *text = json_object_get(root, "text"), *logprobs, *segments;

	if (!json_is_string(text)) {
		json_decref(root);
		return EBADMSG;
	}
	logprobs = json_object_get(root, "logprobs");
	segments = json_object_get(root, "segments");
	for (size_t i = 0; i < json_array_size(logprobs); i++)
		mean_add(&m, json_object_get(json_array_get(logprobs, i), "logprob"), 1);
	if (json_array_size(segments))
		read_segments(&w, &m, segments);
	else
		add(&w, text);
	w.doubt = doubt(&m);
	read_language(&w, root);
	json_decref(root);
	*out = w;
	return 0;
}
