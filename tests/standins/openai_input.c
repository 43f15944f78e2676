#include "tests/standins/mind.h"
#include "tests/standins/openai.h"
#include "tests/standins/record.h"
#include "tests/standins/sound.h"
#include "tests/standins/standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SILENCE_MS = 500, MAX_APPEND = 15 << 20 };

static json_t *turns_of(const struct rt *rt)
{
	json_t *t = rt_setting(rt, rt->dialect == RT_GA ? "audio.input.turn_detection"
							: "turn_detection");

	return json_is_string(json_object_get(t, "type")) ? t : NULL;
}

static bool turn_flag(const struct rt *rt, const char *name)
{
	return !json_is_false(json_object_get(turns_of(rt), name));
}

static json_t *transcription_of(const struct rt *rt)
{
	json_t *t = rt_setting(rt, rt->dialect == RT_BETA ? "input_audio_transcription"
							  : "audio.input.transcription");

	return json_is_object(t) ? t : NULL;
}

/* ---- hearing ---- */

static void hearing_free(struct rt_hearing *h)
{
	for (struct rt_hearing **at = &h->rt->hearings; *at; at = &(*at)->next)
		if (*at == h) {
			*at = h->next;
			break;
		}
	si_sound_cancel(h->sound);
	free(h->words);
	free(h);
}

void rt_hearings_free(struct rt *rt)
{
	while (rt->hearings)
		hearing_free(rt->hearings);
}

/* One logprob a word. */
static json_t *logprobs_of(const char *words)
{
	json_t *list = json_array();

	while (*words) {
		size_t n = strcspn(words, " ");

		json_array_append_new(list, json_pack("{s:s%, s:f, s:[i]}", "token", words, n,
						      "logprob", -0.05, "bytes", words[0]));
		words += n;
		words += strspn(words, " ");
	}
	return list;
}

static bool logprobs_wanted(const struct rt *rt)
{
	return json_array_size(rt_setting(rt, "include")) > 0;
}

static void deltas_emit(struct rt *rt, const struct rt_hearing *h)
{
	const char *p = h->words;

	while (*p) {
		size_t n = strcspn(p + 1, " ") + 1;
		const char *whole = h->words;
		size_t so_far = (size_t)(p - whole) + n;

		if (rt->dialect == RT_XAI)
			rt_emit(rt, "conversation.item.input_audio_transcription.updated",
				json_pack("{s:s, s:s%}", "item_id", h->item, "transcript", whole,
					  so_far));
		else
			rt_emit(rt, "conversation.item.input_audio_transcription.delta",
				json_pack("{s:s, s:i, s:s%}", "item_id", h->item, "content_index",
					  0, "delta", p, n));
		p += n;
	}
}

static void transcript_emit(struct rt *rt, const struct rt_hearing *h)
{
	json_t *event;

	deltas_emit(rt, h);
	event = json_pack("{s:s, s:i, s:s}", "item_id", h->item, "content_index", 0, "transcript",
			  h->words);
	if (rt->dialect != RT_XAI) {
		json_object_set_new(event, "usage",
				    json_pack("{s:s, s:f}", "type", "duration", "seconds",
					      (double)h->ms / 1000));
		if (logprobs_wanted(rt))
			json_object_set_new(event, "logprobs", logprobs_of(h->words));
	}
	rt_emit(rt, "conversation.item.input_audio_transcription.completed", event);
}

/* The speech was heard and its delay is over. */
static void hearing_end(void *arg)
{
	struct rt_hearing *h = arg;
	struct rt *rt = h->rt;

	if (h->acts.fail || !h->words) {
		const struct si_act *f = h->acts.fail;

		rt_emit(rt, "conversation.item.input_audio_transcription.failed",
			json_pack("{s:s, s:i, s:{s:s, s:s, s:s, s:n}}", "item_id", h->item,
				  "content_index", 0, "error", "type", "transcription_error",
				  "code", f ? f->word : "audio_unintelligible", "message",
				  f ? f->text : "The audio could not be transcribed.", "param"));
	} else {
		if (transcription_of(rt))
			transcript_emit(rt, h);
		si_mind_add(rt->mind, "user", h->item, h->words);
	}
	hearing_free(h);
	rt_responses_begin(rt);
}

static void on_words(const char *words, void *arg)
{
	struct rt_hearing *h = arg;

	h->sound = NULL;
	h->words = words ? si_copy(words, strlen(words)) : NULL;
	if (h->acts.silent)
		return;
	si_plan(h->rt->link, &(struct si_plan){.out = SI_OUT_CALL,
					       .after_ms = h->acts.delay_ms,
					       .h = hearing_end,
					       .arg = h});
}

static void hearing_start(struct rt *rt, const char *item, const struct si_acts *acts)
{
	struct rt_hearing *h = si_alloc(sizeof *h);
	char name[RT_ID + 8];

	h->rt = rt;
	h->acts = *acts;
	h->ms = rt->n_pcm * 1000 / rt_rate(rt, true);
	snprintf(h->item, sizeof h->item, "%s", item);
	h->next = rt->hearings;
	rt->hearings = h;
	snprintf(name, sizeof name, "%s.pcm", item);
	si_record_file(rt->st->record, name, rt->pcm, rt->n_pcm * 2);
	h->sound = si_sound_hear(rt->st, rt->pcm, rt->n_pcm, rt_rate(rt, true),
				 acts->transcript ? acts->transcript->text : NULL, on_words, h);
}

/* ---- the buffer ---- */

void rt_clear(struct rt *rt, bool tell)
{
	rt->before += rt->n_pcm;
	rt->n_pcm = rt->heard = 0;
	rt->vad = (struct si_vad){0};
	if (tell)
		rt_emit(rt, "input_audio_buffer.cleared", json_object());
}

void rt_commit(struct rt *rt, const char *id)
{
	size_t ms = rt->n_pcm * 1000 / rt_rate(rt, true);
	struct si_acts acts;
	struct rt_item *it;
	char item[RT_ID];

	si_link_fire(rt->link, SI_COMMIT, &acts);
	if (acts.error) {
		rt_error_act(rt, acts.error);
		return;
	}
	if (ms < RT_MIN_COMMIT_MS) {
		rt_error(rt, "input_audio_buffer_commit_empty", NULL,
			 "Error committing input audio buffer: buffer too small. Expected at least "
			 "%dms of audio, but buffer only has %zu.00ms of audio.",
			 RT_MIN_COMMIT_MS, ms);
		return;
	}
	if (id)
		snprintf(item, sizeof item, "%s", id);
	else
		rt_id(rt, "item", item);
	rt_emit(rt, "input_audio_buffer.committed",
		json_pack("{s:n, s:s}", "previous_item_id", "item_id", item));
	it = rt_item_add(rt, item,
			 json_pack("{s:s, s:s, s:[{s:s, s:n}]}", "type", "message", "role", "user",
				   "content", "type", "input_audio", "transcript"),
			 !rt->transcription);
	it->audio_ms = (unsigned)ms;
	hearing_start(rt, item, &acts);
	rt_clear(rt, false);
}

/* ---- turn detection ---- */

static void speech_started(struct rt *rt, uint64_t at_ms)
{
	rt_id(rt, "item", rt->speech_item);
	rt_emit(rt, "input_audio_buffer.speech_started",
		rt->dialect == RT_XAI ? json_pack("{s:s}", "item_id", rt->speech_item)
				      : json_pack("{s:I, s:s}", "audio_start_ms", (json_int_t)at_ms,
						  "item_id", rt->speech_item));
	if (turn_flag(rt, "interrupt_response") && rt_response_active(rt))
		rt_response_cancel(rt, NULL, "turn_detected");
}

static void speech_stopped(struct rt *rt, uint64_t at_ms)
{
	rt_emit(rt, "input_audio_buffer.speech_stopped",
		rt->dialect == RT_XAI ? json_pack("{s:s}", "item_id", rt->speech_item)
				      : json_pack("{s:I, s:s}", "audio_end_ms", (json_int_t)at_ms,
						  "item_id", rt->speech_item));
	rt_commit(rt, rt->speech_item);
	if (!rt->transcription && turn_flag(rt, "create_response"))
		rt_response_create(rt, NULL);
}

static void speech_find(struct rt *rt)
{
	size_t frame = rt_rate(rt, true) * SI_VAD_FRAME_MS / 1000;
	const json_t *given = json_object_get(turns_of(rt), "silence_duration_ms");
	unsigned silence =
		json_is_integer(given) ? (unsigned)json_integer_value(given) : SILENCE_MS;

	while (rt->n_pcm - rt->heard >= frame) {
		uint64_t at = (rt->before + rt->heard) * 1000 / rt_rate(rt, true);
		enum si_vad_edge edge = si_vad_frame(&rt->vad, rt->pcm + rt->heard, frame, silence);

		rt->heard += frame;
		if (edge == SI_VAD_STARTED)
			speech_started(rt, at);
		else if (edge == SI_VAD_STOPPED)
			speech_stopped(rt, at);
	}
}

void rt_append_pcm(struct rt *rt, const void *data, size_t n)
{
	size_t samples = n / 2;

	if (rt->n_pcm + samples > rt->cap_pcm) {
		rt->cap_pcm = (rt->n_pcm + samples) * 2;
		rt->pcm = realloc(rt->pcm, rt->cap_pcm * 2);
		if (!rt->pcm)
			abort();
	}
	if (samples)
		memcpy(rt->pcm + rt->n_pcm, data, samples * 2);
	rt->n_pcm += samples;
	si_record_pcm(rt->st->record, si_link_number(rt->link), data, n);
	if (turns_of(rt))
		speech_find(rt);
}

void rt_append(struct rt *rt, const json_t *event)
{
	const json_t *audio = json_object_get(event, "audio");
	size_t n;
	uint8_t *data;

	if (json_string_length(audio) > MAX_APPEND) {
		rt_error(rt, "string_above_max_length", "audio", "The audio is over 15 MiB.");
		return;
	}
	data = si_unbase64(json_string_value(audio), json_string_length(audio), &n);
	if (!data || n % 2) {
		free(data);
		rt_error(rt, "invalid_value", "audio",
			 "Invalid 'audio'. Expected base64-encoded audio bytes.");
		return;
	}
	rt_append_pcm(rt, data, n);
	free(data);
}
