/* State and functions shared by the files of a session. Private to session*.c. */
#ifndef OFFLINE_SESSION_INSIDE_H
#define OFFLINE_SESSION_INSIDE_H

#include "control/offline/brain.h"
#include "control/offline/session.h"
#include "control/offline/vad.h"

#include <jansson.h>

enum {
	ID_SIZE = 64,
	MAX_ITEMS = 512,    /* the oldest go */
	MAX_RESPONSES = 16, /* at once; all but one out of band */
	LINE_SIZE = 2048,   /* the text of a response */
	VOICE_SIZE = 8,
};

struct item {
	char id[ID_SIZE];
	json_t *json;	    /* as sent to the client, without audio bytes */
	char role[12];	    /* "user", "assistant", "system", "" */
	char *text;	    /* its words; for audio once recognised */
	char *speaker;	    /* the speaker, or NULL */
	uint32_t utterance; /* not recognised yet, else 0 */
	bool audio;
	unsigned audio_ms;
};

struct response {
	char id[ID_SIZE];
	bool used, in_conversation, audio, begun;
	uint32_t waits_for; /* utterance */
	uint32_t speech;
	char item_id[ID_SIZE], call[ID_SIZE]; /* of a tool */
	char line[LINE_SIZE];		      /* its text */
	char told[LINE_SIZE];		      /* the part that was sent */
	char exact[LINE_SIZE];		      /* "say exactly", or "" */
	char question[LINE_SIZE];	      /* input of its own, or "" */
	bool own_input;
	struct brain_room room; /* of its own instructions */
	bool own_room;
	enum intent intent;
	char voice[32]; /* as the client named it */
	double speed;
	json_t *metadata;
	json_t *max_tokens;
	unsigned in_text, in_audio; /* tokens */
	uint64_t out_samples;
};

struct session {
	struct session_conf conf;
	const struct session_moment *now;
	struct brain *brain;
	char id[ID_SIZE], conversation[ID_SIZE], model[128];
	uint32_t next_id, next_utterance, next_speech;
	json_t *config;
	bool spoke; /* audio was sent, so the voice is fixed */
	int err;
	const char *event_id; /* of the client event being handled, or NULL */
	struct brain_room room;
	char speaker[ROOM_NAME_SIZE];
	struct item items[MAX_ITEMS];
	unsigned n_items;
	struct response responses[MAX_RESPONSES];
	/* The input buffer. */
	struct vad vad;
	bool vad_on, vad_create, vad_interrupt;
	uint32_t utterance;	 /* being fed, 0 = none begun */
	char next_item[ID_SIZE]; /* item of the running speech, with VAD */
	uint64_t buffered;	 /* samples since the last commit or clear */
	uint64_t appended;	 /* samples since the session began */
	uint64_t fed;		 /* samples given to the recogniser */
	uint64_t began_at;	 /* position where the utterance began */
	int16_t *early;		 /* a ring of samples before speech was detected */
	size_t early_cap, early_n, early_at;
};

/* session.c */
void session_id(struct session *s, const char *prefix, char id[ID_SIZE]);
/* Sends an event; steals `event` (NULL = out of memory). */
void session_emit(struct session *s, const char *type, json_t *event);
void session_error(struct session *s, const char *code, const char *param, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Reads the extensions (session.h) in instructions or a system item. */
void session_notes(struct session *s, const char *text);

/* session_config.c */
int config_init(struct session *s);
void config_update(struct session *s, json_t *update);
/* "slt", "rms" or "awb" for a voice's name; NULL when unknown. */
const char *config_voice(const char *name);
const char *config_string(const struct session *s, const char *a, const char *b, const char *c);
json_t *config_get(const struct session *s, const char *a, const char *b, const char *c);
bool config_audio_out(const struct session *s);

/* session_items.c */
void items_create(struct session *s, json_t *event);
void items_delete(struct session *s, json_t *event);
void items_retrieve(struct session *s, json_t *event);
void items_truncate(struct session *s, json_t *event);
void items_free(struct session *s);
/* Appends an item and tells the client it was added; steals json. NULL when out of memory. */
struct item *items_append(struct session *s, const char *id, json_t *json);
void items_done(struct session *s, struct item *it);
struct item *items_find(struct session *s, const char *id);
struct item *items_of_utterance(struct session *s, uint32_t utterance);
struct item *items_last_of(struct session *s, const char *role);
json_t *items_previous(const struct session *s, const struct item *it);
int item_set_text(struct item *it, const char *text);
/* Text of a client-made item's content, joined; NULL when out of memory. Caller frees. */
char *item_text_of(const json_t *item, bool *audio);

/* session_input.c */
void input_append(struct session *s, json_t *event);
void input_commit(struct session *s);
void input_clear(struct session *s, bool tell);
void input_apply_config(struct session *s);
void input_recognised(struct session *s, uint32_t utterance,
		      const char *text); /* NULL: the recogniser failed */

/* session_response.c */
void response_create(struct session *s, json_t *params);
void response_cancel(struct session *s, const char *id);
/* Cancels the speaking response of the conversation, because somebody began to speak. */
void response_interrupt(struct session *s);
void response_recognised(struct session *s, uint32_t utterance);
void response_take_speech(struct session *s, uint32_t speech, const int16_t *pcm, size_t n,
			  const char *piece, bool last);
void response_free(struct session *s);

#endif
