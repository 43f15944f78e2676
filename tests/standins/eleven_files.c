/* ElevenLabs by request: text to speech, and the transcription of a file. */
#include "proto/base/wav.h"
#include "tests/standins/link.h"
#include "tests/standins/multipart.h"
#include "tests/standins/services.h"
#include "tests/standins/shape.h"
#include "tests/standins/sound.h"
#include "tests/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_MS = 100, TYPE_SIZE = 256 };

/* A request that is being answered. */
struct answer {
	struct si_link *link;
	struct si_sound *sound;
	struct si_acts acts;
	uint32_t rate;
};

static const struct si_shape shape_speech[] = {
	{"text", "!str"},
	{"model_id", "str"},
	{"language_code", "str null"},
	{"voice_settings", "obj null"},
	{"voice_settings.stability", "num:0..1"},
	{"voice_settings.similarity_boost", "num:0..1"},
	{"voice_settings.style", "num:0..1"},
	{"voice_settings.use_speaker_boost", "bool"},
	{"voice_settings.speed", "num:0.7..1.2"},
	{"pronunciation_dictionary_locators", "any"},
	{"seed", "int null"},
	{"previous_text", "str null"},
	{"next_text", "str null"},
	{"previous_request_ids", "any"},
	{"next_request_ids", "any"},
	{"apply_text_normalization", "'auto' 'on' 'off'"},
	{"apply_language_text_normalization", "bool"},
	{"use_pvc_as_ivc", "bool"},
	{NULL, NULL},
};

static void answer_free(void *arg)
{
	struct answer *a = arg;

	si_sound_cancel(a->sound);
	free(a);
}

static const struct si_session_ops answer_ops = {.free = answer_free};

static struct answer *answer_begin(struct si_link *l, enum si_trigger t)
{
	struct answer *a = si_alloc(sizeof *a);

	a->link = l;
	si_link_fire(l, t, &a->acts);
	si_link_take(l, &answer_ops, a);
	return a;
}

static bool refused(struct si_link *l, int status, const char *code, const char *text)
{
	si_reply_json(l, status,
		      json_pack("{s:{s:s, s:s}}", "detail", "status", code, "message", text));
	return true;
}

static void on_sound(const int16_t *pcm, size_t n, void *arg)
{
	struct answer *a = arg;
	size_t chunk = a->rate * CHUNK_MS / 1000;
	uint32_t at_ms = a->acts.delay_ms;

	a->sound = NULL;
	si_stream(a->link, 200, "audio/pcm");
	for (size_t i = 0; i < n; i += chunk, at_ms += a->acts.gap_ms)
		si_plan(a->link, &(struct si_plan){.out = SI_OUT_CHUNK,
						   .after_ms = at_ms,
						   .piece = true,
						   .data = pcm + i,
						   .n = (n - i < chunk ? n - i : chunk) * 2});
	si_plan(a->link, &(struct si_plan){.out = SI_OUT_END, .after_ms = at_ms});
}

static bool speech_serve(struct si_link *l)
{
	char format[32];
	size_t n;
	const char *body = si_link_body(l, &n);
	json_t *root = json_loadb(body, n, 0, NULL);
	struct si_fault f;
	struct answer *a;

	if (!http_head_query(si_link_head(l), "output_format", format, sizeof format) ||
	    strncmp(format, "pcm_", 4) != 0) {
		json_decref(root);
		return refused(l, 400, "output_format_not_allowed", "Only PCM is made here.");
	}
	if (!json_is_object(root) || !si_shape_check(shape_speech, root, &f)) {
		json_decref(root);
		return refused(l, 422, "invalid_request", "A field is unknown, missing or wrong.");
	}
	a = answer_begin(l, SI_RESPONSE);
	a->rate = (uint32_t)strtoul(format + 4, NULL, 10);
	if (!a->acts.silent && a->rate >= 8000)
		a->sound = si_sound_speak(si_link_standin(l),
					  json_string_value(json_object_get(root, "text")), a->rate,
					  on_sound, a);
	json_decref(root);
	return true;
}

static void on_words(const char *words, void *arg)
{
	struct answer *a = arg;
	const char *text = words ? words : "";

	a->sound = NULL;
	si_reply_json(a->link, 200,
		      json_pack("{s:s, s:f, s:s, s:[{s:s, s:f, s:f, s:s, s:s, s:f}]}",
				"language_code", "en", "language_probability", 0.98, "text", text,
				"words", "text", text, "start", 0.0, "end", 1.0, "type", "word",
				"speaker_id", "speaker_0", "logprob", -0.05));
}

static bool transcription_serve(struct si_link *l)
{
	char type[TYPE_SIZE], model[64], format[32];
	size_t n;
	const char *body = si_link_body(l, &n);
	struct si_part file;
	struct wav w;
	struct answer *a;
	int16_t *pcm;
	bool raw;

	http_head_copy(si_link_head(l), "content-type", type, sizeof type);
	if (!si_multipart_text(type, body, n, "model_id", model, sizeof model))
		return refused(l, 422, "invalid_request", "There is no model_id.");
	if (!si_multipart_find(type, body, n, "file", &file))
		return refused(l, 422, "invalid_request", "There is no file.");
	si_multipart_text(type, body, n, "file_format", format, sizeof format);
	raw = strcmp(format, "pcm_s16le_16") == 0;
	if (raw)
		w = (struct wav){16000, 1, file.n / 2, (const uint8_t *)file.data};
	else if (wav_parse(&w, (const uint8_t *)file.data, file.n) || w.channels != 1)
		return refused(l, 400, "invalid_audio", "The file is no WAV of one channel.");
	a = answer_begin(l, SI_COMMIT);
	pcm = si_alloc(w.frames * 2 + 2);
	memcpy(pcm, w.data, w.frames * 2);
	if (!a->acts.silent)
		a->sound = si_sound_hear(si_link_standin(l), pcm, w.frames, w.rate,
					 a->acts.transcript ? a->acts.transcript->text : NULL,
					 on_words, a);
	free(pcm);
	return true;
}

static bool files_request(struct si_link *l)
{
	const struct http_head *head = si_link_head(l);
	const char *end = strrchr(head->path, '/');
	bool speech =
		strncmp(head->path, "/v1/text-to-speech/", 19) == 0 && strcmp(end, "/stream") == 0;
	bool file = strcmp(head->path, "/v1/speech-to-text") == 0;

	if (head->method != HTTP_POST || (!speech && !file))
		return false;
	if (!si_link_key(l, "xi-api-key", NULL))
		return refused(l, 401, "invalid_api_key", "Invalid API key");
	return speech ? speech_serve(l) : transcription_serve(l);
}

const struct si_service si_eleven_files = {.request = files_request};
