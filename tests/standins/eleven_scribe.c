/* ElevenLabs Scribe, transcription over a WebSocket. Source: elevenlabs.io and the official
 * client's serializers. */
#include "tests/standins/ear.h"
#include "tests/standins/services.h"
#include "tests/standins/shape.h"
#include "tests/standins/standin.h"
#include "tests/standins/vad.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SILENCE_MS = 700, MIN_COMMIT_MS = 300 };

struct scribe {
	struct si_ear ear;
	bool vad_on, timestamps, begun;
	char *format;
	size_t heard;
	struct si_vad vad;
};

static const struct si_shape shape_chunk[] = {
	{"message_type", "!'input_audio_chunk'"},
	{"audio_base_64", "!str"},
	{"commit", "bool"},
	{"sample_rate", "int"},
	{"previous_text", "str"},
	{NULL, NULL},
};

static void scribe_send(struct scribe *s, json_t *message)
{
	si_plan_json(s->ear.link, &(struct si_plan){.out = SI_OUT_TEXT}, message);
}

static void scribe_error(struct scribe *s, const char *type, const char *text)
{
	scribe_send(s, json_pack("{s:s, s:s}", "message_type", type, "error", text));
}

static json_t *words_json(const char *text, double seconds)
{
	json_t *list = json_array();
	size_t n = 1, i = 0;

	for (const char *p = text; *p; p++)
		n += *p == ' ';
	for (const char *p = text; *p; i++) {
		size_t m = strcspn(p, " ");

		json_array_append_new(list, json_pack("{s:s%, s:f, s:f, s:s, s:s, s:f}", "text", p,
						      m, "start", seconds * (double)i / (double)n,
						      "end", seconds * (double)(i + 1) / (double)n,
						      "type", "word", "speaker_id", "speaker_0",
						      "logprob", -0.05));
		p += m + strspn(p + m, " ");
	}
	return list;
}

static void committed_send(void *arg)
{
	struct scribe *s = arg;
	const char *words = s->ear.words;

	if (*words)
		scribe_send(s, json_pack("{s:s, s:s}", "message_type", "partial_transcript", "text",
					 words));
	if (s->timestamps)
		scribe_send(s, json_pack("{s:s, s:s, s:s, s:o}", "message_type",
					 "committed_transcript_with_timestamps", "text", words,
					 "language_code", "en", "words", words_json(words, 1.0)));
	else
		scribe_send(s, json_pack("{s:s, s:s}", "message_type", "committed_transcript",
					 "text", words));
}

static void scribe_commit(struct scribe *s)
{
	size_t ms = s->ear.n * 1000 / s->ear.rate;

	si_ear_commit(&s->ear);
	if (s->ear.acts.error)
		scribe_error(s, s->ear.acts.error->word, s->ear.acts.error->text);
	else if (s->ear.hearing)
		scribe_error(s, "commit_throttled", "Commits come too fast.");
	else if (ms < MIN_COMMIT_MS)
		scribe_error(s, "insufficient_audio_activity",
			     "At least 300 ms of audio are needed for a commit.");
	else
		si_ear_hear(&s->ear);
	s->ear.n = s->heard = 0;
	s->vad = (struct si_vad){0};
}

static void speech_find(struct scribe *s)
{
	size_t frame = s->ear.rate * SI_VAD_FRAME_MS / 1000;

	while (s->vad_on && s->ear.n - s->heard >= frame) {
		enum si_vad_edge edge =
			si_vad_frame(&s->vad, s->ear.pcm + s->heard, frame, SILENCE_MS);

		s->heard += frame;
		if (edge == SI_VAD_STOPPED)
			scribe_commit(s);
	}
}

static void scribe_message(void *session, bool text, const char *data, size_t n)
{
	struct scribe *s = session;
	json_t *m = text ? json_loadb(data, n, 0, NULL) : NULL;
	const json_t *rate = json_object_get(m, "sample_rate");
	struct si_fault f;
	char why[256];

	if (!json_is_object(m)) {
		scribe_error(s, "input_error", "The message is no JSON object.");
	} else if (!si_shape_check(shape_chunk, m, &f)) {
		snprintf(why, sizeof why, "The field %s is unknown, missing or wrong.", f.path);
		scribe_error(s, "input_error", why);
	} else if (s->begun && json_object_get(m, "previous_text")) {
		scribe_error(s, "input_error", "previous_text belongs to the first chunk.");
	} else if (rate && json_integer_value(rate) != s->ear.rate) {
		scribe_error(s, "input_error", "The sample rate is not that of the session.");
	} else if (!si_ear_take_base64(&s->ear, json_object_get(m, "audio_base_64"))) {
		scribe_error(s, "input_error", "The audio is no base64 of 16-bit samples.");
	} else if (json_is_true(json_object_get(m, "commit"))) {
		s->begun = true;
		scribe_commit(s);
	} else {
		s->begun = true;
		speech_find(s);
	}
	json_decref(m);
}

static void scribe_act(void *session, const struct si_act *act)
{
	struct scribe *s = session;

	if (act->action == SI_DO_ERROR) {
		scribe_error(s, act->word, act->text);
		return;
	}
	scribe_error(s, "session_time_limit_exceeded", "The session has reached its limit.");
	si_plan(s->ear.link, &(struct si_plan){.out = SI_OUT_CLOSE, .code = 1008});
}

static void scribe_free(void *session)
{
	struct scribe *s = session;

	si_ear_clear(&s->ear);
	free(s->format);
	free(s);
}

static const struct si_session_ops scribe_ops = {
	.message = scribe_message, .act = scribe_act, .free = scribe_free};

static bool scribe_open(struct si_link *l)
{
	const struct http_head *head = si_link_head(l);
	char format[32], strategy[32], model[64], flag[8];
	struct scribe *s;

	if (strcmp(head->path, "/v1/speech-to-text/realtime") != 0)
		return false;
	s = si_alloc(sizeof *s);
	s->ear =
		(struct si_ear){.st = si_link_standin(l), .link = l, .h = committed_send, .arg = s};
	if (!http_head_query(head, "audio_format", format, sizeof format))
		snprintf(format, sizeof format, "pcm_16000");
	s->format = si_copy(format, strlen(format));
	s->ear.rate = strncmp(format, "pcm_", 4) == 0 ? (uint32_t)strtoul(format + 4, NULL, 10) : 0;
	http_head_query(head, "commit_strategy", strategy, sizeof strategy);
	s->vad_on = strcmp(strategy, "vad") == 0;
	http_head_query(head, "include_timestamps", flag, sizeof flag);
	s->timestamps = strcmp(flag, "true") == 0;
	si_link_take(l, &scribe_ops, s);
	if (!si_link_key(l, "xi-api-key", "token")) {
		scribe_error(s, "auth_error", "The API key is missing or wrong.");
		si_plan(l, &(struct si_plan){.out = SI_OUT_CLOSE, .code = 1008});
		return true;
	}
	if (!http_head_query(head, "model_id", model, sizeof model) || s->ear.rate < 8000) {
		scribe_error(s, "invalid_request", "The model or the audio format is missing.");
		si_plan(l, &(struct si_plan){.out = SI_OUT_CLOSE, .code = 1008});
		return true;
	}
	scribe_send(s,
		    json_pack("{s:s, s:s, s:{s:i, s:s, s:s, s:s}}", "message_type",
			      "session_started", "session_id", "session", "config", "sample_rate",
			      (int)s->ear.rate, "audio_format", s->format, "commit_strategy",
			      s->vad_on ? "vad" : "manual", "model_id", model));
	si_link_opened(l);
	return true;
}

const struct si_service si_eleven_scribe = {.open = scribe_open};
