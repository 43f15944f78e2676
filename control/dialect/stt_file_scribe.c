/* Recordings for ElevenLabs Scribe (stt_file.h): POST /v1/speech-to-text. */
#include <errno.h>
#include <string.h>

#include "control/dialect/json_read.h"
#include "control/dialect/recording_form.h"
#include "control/dialect/stt_doubt.h"
#include "control/dialect/stt_file.h"
#include "proto/base/utf8.h"

static void build_fields(struct wr *w, const struct openai_recording *rec)
{
	form_field(w, rec->boundary, "model_id", *rec->model ? rec->model : "scribe_v2");
	if (*rec->language)
		form_field(w, rec->boundary, "language_code", rec->language);
	form_field(w, rec->boundary, "tag_audio_events", "false");
	form_field(w, rec->boundary, "timestamps_granularity", "word");
}

static int build(struct openai_body *out, const struct openai_recording *rec)
{
	return form_build(out, rec, build_fields);
}

static int parse(struct openai_words *out, const char *body, size_t n)
{
	struct openai_words w = {0};
	struct stt_doubt doubt = {0};
	json_t *root = n <= OPENAI_ANSWER_MAX ? json_loadb(body, n, 0, NULL) : NULL;
	const json_t *text = json_object_get(root, "text"), *words;
	const char *s = json_string_value(text);
	size_t len = json_string_length(text);

	if (!s) {
		json_decref(root);
		return EBADMSG;
	}
	len = len < sizeof w.text ? len : utf8_whole(s, sizeof w.text - 1);
	memcpy(w.text, s, len);
	words = json_object_get(root, "words");
	for (size_t i = 0; i < json_array_size(words); i++) {
		const json_t *word = json_array_get(words, i);
		const char *type = json_string_value(json_object_get(word, "type"));

		if (type && strcmp(type, "word") == 0)
			stt_doubt_add(&doubt, json_object_get(word, "logprob"));
	}
	w.doubt = stt_doubt_of(&doubt);
	json_read_copy(root, "language_code", w.language, sizeof w.language);
	json_decref(root);
	*out = w;
	return 0;
}

const struct stt_file stt_file_scribe = {
	.endpoint = "speech-to-text", .key_header = "xi-api-key", .build = build, .parse = parse};
