/* The input audio buffer: appending, detecting begin and end of speech, and committing. */
#include "control/offline/session_inside.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MS = SESSION_RATE / 1000,
	LEAST_MS = 100,	     /* a commit of less is empty */
	EARLY_MS = 200,	     /* sound before it was noticed, without turn detection */
	EARLY_MAX_MS = 2000, /* the most prefix_padding_ms can ask for */
};

static unsigned vad_number(const struct session *s, const char *key, unsigned fallback)
{
	json_t *v = json_object_get(config_get(s, "audio", "input", "turn_detection"), key);

	return json_is_number(v) ? (unsigned)json_number_value(v) : fallback;
}

static bool vad_flag(const struct session *s, const char *key)
{
	json_t *v = json_object_get(config_get(s, "audio", "input", "turn_detection"), key);

	return !v || !json_is_false(v);
}

void input_apply_config(struct session *s)
{
	json_t *v = config_get(s, "audio", "input", "turn_detection"),
	       *t = json_object_get(v, "threshold");
	bool was_on = s->vad_on;
	unsigned early = EARLY_MS;

	s->vad_on = json_is_object(v);
	s->vad_create = s->vad_on && !s->conf.transcription && vad_flag(s, "create_response");
	s->vad_interrupt = s->vad_on && vad_flag(s, "interrupt_response");
	if (s->vad_on)
		early = vad_number(s, "prefix_padding_ms", 300) + 100;
	if (early > EARLY_MAX_MS + 100)
		early = EARLY_MAX_MS + 100;
	if (!s->early) {
		s->early = calloc((EARLY_MAX_MS + 100) * MS, sizeof *s->early);
		if (!s->early) {
			s->err = ENOMEM;
			return;
		}
	}
	s->early_cap = (size_t)early * MS;
	if (s->early_n > s->early_cap || s->early_at >= s->early_cap || was_on != s->vad_on)
		s->early_n = s->early_at = 0;
	if (was_on != s->vad_on && s->utterance)
		input_clear(s, false);
	vad_init(&s->vad, json_is_number(t) ? json_number_value(t) : 0.5,
		 s->vad_on ? vad_number(s, "silence_duration_ms", 500) : 500);
}

static void early_put(struct session *s, const int16_t *pcm, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		s->early[s->early_at] = pcm[i];
		s->early_at = (s->early_at + 1) % s->early_cap;
		if (s->early_n < s->early_cap)
			s->early_n++;
	}
}

static void recogniser_begin(struct session *s)
{
	size_t from = (s->early_at + s->early_cap - s->early_n) % s->early_cap;
	size_t first = s->early_n < s->early_cap - from ? s->early_n : s->early_cap - from;

	s->utterance = ++s->next_utterance;
	s->began_at = s->appended - s->early_n;
	s->fed = s->early_n;
	s->conf.out.recognise_begin(s->utterance, s->conf.out.arg);
	s->conf.out.recognise_pcm(s->utterance, s->early + from, first, s->conf.out.arg);
	if (s->early_n > first)
		s->conf.out.recognise_pcm(s->utterance, s->early, s->early_n - first,
					  s->conf.out.arg);
	s->early_n = s->early_at = 0;
}

static bool transcribes(const struct session *s)
{
	return s->conf.transcription ||
	       json_is_object(config_get(s, "audio", "input", "transcription"));
}

static void tell_words(struct session *s, struct item *it)
{
	if (!transcribes(s))
		return;
	if (it->text[0])
		session_emit(s, "conversation.item.input_audio_transcription.delta",
			     json_pack("{s:s,s:i,s:s}", "item_id", it->id, "content_index", 0,
				       "delta", it->text));
	session_emit(s, "conversation.item.input_audio_transcription.completed",
		     json_pack("{s:s,s:i,s:s,s:{s:s,s:f}}", "item_id", it->id, "content_index", 0,
			       "transcript", it->text, "usage", "type", "duration", "seconds",
			       it->audio_ms / 1000.0));
}

/* The recogniser failed, which differs from silence. */
static void tell_deaf(struct session *s, const struct item *it)
{
	if (transcribes(s))
		session_emit(s, "conversation.item.input_audio_transcription.failed",
			     json_pack("{s:s,s:i,s:{s:s,s:s,s:s,s:n}}", "item_id", it->id,
				       "content_index", 0, "error", "type", "transcription_error",
				       "code", "audio_unintelligible", "message",
				       "The recogniser failed; nothing was transcribed.", "param"));
}

static void item_heard(struct session *s, struct item *it, const char *text)
{
	json_t *part = json_array_get(json_object_get(it->json, "content"), 0);

	if (item_set_text(it, text ? text : "") ||
	    json_object_set_new(part, "transcript",
				text && transcribes(s) ? json_string(text) : json_null())) {
		s->err = ENOMEM;
		return;
	}
	it->utterance = 0;
	if (text)
		tell_words(s, it);
	else
		tell_deaf(s, it);
}

void input_recognised(struct session *s, uint32_t utterance, const char *text)
{
	struct item *it = items_of_utterance(s, utterance);

	if (it)
		item_heard(s, it, text);
	/* A deleted item's response still ends: it finds nothing to answer. */
	response_recognised(s, utterance);
}

/* Makes an item of the buffer; its words follow after recognition. */
static void commit(struct session *s, const char *id)
{
	uint32_t utterance = s->utterance;
	unsigned ms = (unsigned)((s->vad_on ? s->fed : s->buffered) / MS);
	struct item *it;

	s->utterance = 0;
	s->buffered = s->fed = 0;
	s->early_n = s->early_at = 0;
	session_emit(s, "input_audio_buffer.committed",
		     json_pack("{s:s?,s:s}", "previous_item_id",
			       s->n_items ? s->items[s->n_items - 1].id : NULL, "item_id", id));
	it = items_append(s, id,
			  json_pack("{s:s,s:s,s:s,s:[{s:s,s:n}]}", "type", "message", "role",
				    "user", "status", "completed", "content", "type", "input_audio",
				    "transcript"));
	if (!it)
		return;
	it->audio = true;
	it->audio_ms = ms;
	it->utterance = utterance;
	if (s->speaker[0] && !(it->speaker = strdup(s->speaker)))
		s->err = ENOMEM;
	items_done(s, it);
	if (utterance)
		s->conf.out.recognise_end(utterance, s->conf.out.arg);
	else
		item_heard(s, it, "");
}

void input_commit(struct session *s)
{
	char id[ID_SIZE];

	if (s->buffered < LEAST_MS * MS) {
		session_error(s, "input_audio_buffer_commit_empty", NULL,
			      "Error committing input audio buffer: buffer too small. Expected at "
			      "least %dms of audio, "
			      "but buffer only has %.2fms of audio.",
			      LEAST_MS, (double)s->buffered / MS);
		return;
	}
	session_id(s, "item", id);
	if (s->vad_on && s->vad.speaking) {
		memcpy(id, s->next_item, sizeof id);
		s->vad.speaking = false;
	}
	commit(s, id);
}

void input_clear(struct session *s, bool tell)
{
	if (s->utterance)
		s->conf.out.recognise_drop(s->utterance, s->conf.out.arg);
	s->utterance = 0;
	s->buffered = s->fed = 0;
	s->early_n = s->early_at = 0;
	s->vad.speaking = false;
	if (tell)
		session_emit(s, "input_audio_buffer.cleared", json_object());
}

static void speech_began(struct session *s)
{
	if (s->vad_interrupt)
		response_interrupt(s);
	recogniser_begin(s);
	session_id(s, "item", s->next_item);
	session_emit(s, "input_audio_buffer.speech_started",
		     json_pack("{s:I,s:s}", "audio_start_ms", (json_int_t)(s->began_at / MS),
			       "item_id", s->next_item));
}

static void speech_ended(struct session *s)
{
	session_emit(s, "input_audio_buffer.speech_stopped",
		     json_pack("{s:I,s:s}", "audio_end_ms", (json_int_t)(s->appended / MS),
			       "item_id", s->next_item));
	commit(s, s->next_item);
	if (s->vad_create)
		response_create(s, NULL);
}

/* A frame is stored before VAD, so that the speech it begins includes it. */
static void take_frame(struct session *s, const int16_t *pcm, size_t n)
{
	enum vad_edge edge = vad_frame(&s->vad, pcm, n);

	s->appended += n;
	s->buffered += n;
	if (!s->utterance) {
		early_put(s, pcm, n);
	} else if (s->fed < (uint64_t)SESSION_MAX_UTTERANCE_S * SESSION_RATE) {
		s->conf.out.recognise_pcm(s->utterance, pcm, n, s->conf.out.arg);
		s->fed += n;
	}
	if (s->vad_on && edge == VAD_BEGAN && !s->utterance)
		speech_began(s);
	else if (s->vad_on && edge == VAD_ENDED && s->utterance)
		speech_ended(s);
	else if (!s->vad_on && !s->utterance && s->vad.sound)
		recogniser_begin(s);
}

void input_append(struct session *s, json_t *event)
{
	json_t *audio = json_object_get(event, "audio");
	size_t len = json_string_length(audio), n = 0;
	int16_t *pcm;

	if (!json_is_string(audio)) {
		session_error(s, "missing_required_parameter", "audio", "The event has no audio.");
		return;
	}
	pcm = malloc(len / 4 * 3 + 4);
	if (!pcm) {
		s->err = ENOMEM;
		return;
	}
	if (sodium_base642bin((unsigned char *)pcm, len / 4 * 3 + 4, json_string_value(audio), len,
			      NULL, &n, NULL, sodium_base64_VARIANT_ORIGINAL) ||
	    n % sizeof *pcm) {
		session_error(s, "invalid_value", "audio",
			      "The audio is not base64 of 16 bit samples.");
		free(pcm);
		return;
	}
	n /= sizeof *pcm;
	for (size_t i = 0; i < n && !s->err; i += VAD_FRAME)
		take_frame(s, pcm + i, n - i < VAD_FRAME ? n - i : VAD_FRAME);
	free(pcm);
}
