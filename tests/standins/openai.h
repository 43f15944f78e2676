/* The Realtime wire of OpenAI and of those that copy it: GA, the former beta form, xAI. One
 * session.
 *
 * Sources: OpenAI's OpenAPI document (schemas RealtimeClientEvent*, RealtimeServerEvent*,
 * RealtimeBeta*), docs.x.ai. Private to openai*.c, but for the services. */
#ifndef STANDINS_OPENAI_H
#define STANDINS_OPENAI_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/standins/link.h"
#include "tests/standins/shape.h"
#include "tests/standins/vad.h"

struct si_mind;
struct si_sound;
struct si_standin;

enum rt_dialect { RT_GA, RT_BETA, RT_XAI };
enum { RT_ID = 48, RT_CHUNK_MS = 100, RT_MIN_COMMIT_MS = 100 };

struct rt;

struct rt_item {
	struct rt_item *next;
	char id[RT_ID];
	json_t *json;	   /* without sound */
	unsigned audio_ms; /* that was sent of it */
	bool spoken;	   /* by the model */
};

/* Speech that is being transcribed. */
struct rt_hearing {
	struct rt_hearing *next;
	struct rt *rt;
	struct si_sound *sound;
	struct si_acts acts;
	char item[RT_ID];
	char *words; /* once heard */
	size_t ms;
};

struct rt_response {
	struct rt_response *next;
	struct rt *rt;
	struct si_sound *sound;
	struct si_acts acts;
	char id[RT_ID], item[RT_ID], call[RT_ID];
	uint32_t tag;
	bool conversation, audio, begun, added;
	char *instructions, *text, *tool, *arguments;
	struct si_mind *mind; /* of an answer with input of its own, else NULL */
	json_t *metadata, *modalities;
	size_t pieces, in_tokens;
};

struct rt {
	struct si_standin *st;
	struct si_link *link;
	enum rt_dialect dialect;
	bool transcription, spoke, binary_in, binary_out, audio_in;
	json_t *session;
	char conversation[RT_ID];
	struct si_mind *mind;
	struct rt_item *items;
	struct rt_hearing *hearings;
	struct rt_response *responses;
	uint32_t ids, tags;
	size_t cached_tokens;
	const char *event_id; /* of the event being handled, or NULL */
	/* the input buffer */
	int16_t *pcm;
	size_t n_pcm, cap_pcm, heard; /* heard: looked at for speech */
	uint64_t before;	      /* samples before the buffer */
	struct si_vad vad;
	char speech_item[RT_ID];
};

/* openai.c */
void rt_id(struct rt *rt, const char *prefix, char id[RT_ID]);
/* Sends an event of GA's name, which the dialect may change. Steals event. */
void rt_emit(struct rt *rt, const char *type, json_t *event);
/* The same as a part of an answer. */
void rt_emit_later(struct rt *rt, const struct si_plan *plan, const char *type, json_t *event);
void rt_error(struct rt *rt, const char *code, const char *param, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* An error of the script. */
void rt_error_act(struct rt *rt, const struct si_act *act);
/* Sends an error and returns false unless the event has this shape. */
bool rt_check(struct rt *rt, const struct si_shape *shape, const json_t *event);
/* A setting of the session: path as "audio.input.format"; NULL when absent. */
json_t *rt_setting(const struct rt *rt, const char *path);
uint32_t rt_rate(const struct rt *rt, bool in);

/* openai_session.c */
json_t *rt_session_default(const struct rt *rt, const char *model);
void rt_session_update(struct rt *rt, json_t *event);

/* openai_items.c */
void rt_item_create(struct rt *rt, json_t *event);
void rt_item_delete(struct rt *rt, const json_t *event);
void rt_item_retrieve(struct rt *rt, const json_t *event);
void rt_item_truncate(struct rt *rt, const json_t *event);
/* Steals json. tell: sends that it was added, and that it is whole. */
struct rt_item *rt_item_add(struct rt *rt, const char *id, json_t *json, bool tell);
struct rt_item *rt_item_find(struct rt *rt, const char *id);
/* True if an item that a client made may be; else an error was sent. */
bool rt_item_check(struct rt *rt, const json_t *item, const char *param);
/* Adds the words of an item to a mind. */
void rt_item_learn(struct si_mind *m, const char *id, const json_t *item);
void rt_items_free(struct rt *rt);

/* openai_input.c */
void rt_append(struct rt *rt, const json_t *event);
void rt_append_pcm(struct rt *rt, const void *data, size_t n);
void rt_commit(struct rt *rt, const char *id);
void rt_clear(struct rt *rt, bool tell);
void rt_hearings_free(struct rt *rt);

/* openai_response.c */
void rt_response_create(struct rt *rt, const json_t *event);
void rt_response_cancel(struct rt *rt, const char *id, const char *reason);
/* The speech that answers waited for was heard. */
void rt_responses_begin(struct rt *rt);
void rt_responses_free(struct rt *rt);
/* Speaks a given text as an item of the conversation. */
void rt_response_force(struct rt *rt, const char *text);
struct rt_response *rt_response_active(struct rt *rt);

/* openai_shape.c */
extern const struct si_shape rt_shape_session[], rt_shape_transcription[], rt_shape_beta[],
	rt_shape_beta_transcription[], rt_shape_xai[], rt_shape_append[], rt_shape_bare[],
	rt_shape_item_create[], rt_shape_item_id[], rt_shape_truncate[], rt_shape_response[],
	rt_shape_response_beta[], rt_shape_cancel[];

#endif
