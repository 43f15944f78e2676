/* Shared by the files of roles (roles.h). For control/engine/roles*.c only. */
#ifndef CONTROL_ENGINE_ROLES_STATE_H
#define CONTROL_ENGINE_ROLES_STATE_H

#include "control/engine/core/traffic.h"
#include "control/engine/roles.h"
#include "control/settings/settings.h"

struct tmr;

enum { ROLES_LIVE = 32, ROLES_UTTERANCES = 64 };

/* One provider that serves a use, opened or not. */
struct served {
	struct roles *r;
	enum engine_use use;
	unsigned place; /* in the list */
	/* Its own copy: a key goes to the address that it was given for. Keys, models and voices
	 * follow the settings as long as these have a provider of that name at that address. */
	struct provider_record *record;
	const struct engine_caps *caps;
	void *engine; /* NULL: not opened yet */
	bool down;    /* its session is lost */
	bool silent;  /* it does not answer, and nobody takes its place */
	bool failed;  /* the last ask */
	uint64_t rests_until;
	uint64_t held_until; /* its rate limit lasts until then */
	uint64_t life_at;    /* when something came of it last */
	/* Its cost (roles_usage.c). */
	struct traffic context; /* what its session can have read; of one without a session: none */
	uint64_t asked_text;	/* bytes of the longest ask, which its context holds */
	bool tells;		/* it has told usage of an answer */
	struct traffic loose;	/* of no answer, such as sound that is transcribed */
	struct usage loose_usage;
	uint64_t loose_since; /* 0: nothing is loose */
	struct owed {
		uint32_t turn, chunk; /* of an answer that was cut */
		struct traffic traffic;
		uint64_t since; /* 0: none */
	} owed;
};

struct list {
	struct served v[ROLE_PROVIDERS_MAX];
	unsigned n;
};

/* An ask, kept after its end until its place is needed, so that it can be asked again and
 * truncated. */
struct live {
	uint32_t id; /* 0: free */
	uint32_t turn, chunk;
	enum engine_use use;
	struct served *by;
	unsigned tried; /* bits: providers that have failed it */
	bool over;
	bool life;	   /* something of it came */
	bool held;	   /* it has already waited once for a rate limit */
	bool retried;	   /* the last provider left failed it once */
	uint64_t retry_at; /* it is asked again; 0: it is not */
	uint64_t since;	   /* when the turn's first ask of this provider without a sign of life was
			      asked; 0: its silence was told */
	struct engine_ask *ask;
	struct traffic traffic;
	bool used; /* its usage was told */
};

/* The transcriber of an utterance. */
struct hearer {
	uint32_t utterance;
	struct served *by;
	uint64_t awaited_since; /* its transcript is; 0: it is not, or it came */
	size_t bytes;		/* of its sound that are not counted yet */
};

struct roles {
	struct env *env;
	struct ws_ctx *ws;
	struct http *http;
	const struct settings *settings;
	enum engine_transcription transcription; /* as the room began with */
	bool saves;				 /* the last provider serves first */
	roles_h *h;
	void *arg;
	struct list list[ENGINE_USE_COUNT];
	struct live live[ROLES_LIVE];
	struct hearer hearer[ROLES_UTTERANCES]; /* the oldest go */
	unsigned hearers;
	uint32_t asks, instructions_version, tools_version;
	char *instructions;
	bool search;		  /* providers of answers may search the web by themselves */
	struct engine_ask *tools; /* holds the tools; NULL: none yet */
	struct tmr *silence;
	struct tmr *usage;
};

/* ---- roles.c ---- */
/* Brings its record up to date with the settings. False: key, address and dialect there are those
 * of another provider by now, and it goes on as it was opened. */
bool roles_refresh(struct served *s);
/* Opens the provider, unless it is open. ENOENT: its address is not known yet. */
int roles_open(struct served *s);
/* The first provider that is ready and not among `tried`; else the first that is not; NULL: nobody
 * is left. */
struct served *roles_pick(const struct roles *r, enum engine_use use, unsigned tried);

/* True if images are sent to it. */
bool roles_sent_images(const struct served *s);
/* It failed for this reason: it rests, for as long as it asks for (proto/http/retry_after.h). */
void roles_rest(struct served *s, struct slice why);
/* The utterance has a transcript, or is known to get none. */
void roles_transcribed(struct roles *r, uint32_t utterance);

/* ---- roles_asks.c ---- */
enum { ROLES_REST_S = 30, ROLES_RETRY_MS = 700 };
/* The turn's newest ask of the use, NULL without one; FOLLOWUP is REPLY. */
struct live *roles_live_by_turn(struct roles *r, enum engine_use use, uint32_t turn);
/* An engine_h; arg: the struct served. */
void roles_take_event(const struct engine_event *ev, void *arg);
void roles_tell(const struct served *s, const struct live *l, const struct engine_event *ev);
/* The timer of asks that have no sign of life, or are asked again; arg: the struct roles. */
void roles_time(void *arg);

/* ---- roles_usage.c: every answer has one usage, told or estimated ---- */
enum { ROLES_USAGE_S = 30, ROLES_OWED_S = 5 };
/* The ask was given to its provider; sound or words of it came. */
void roles_count_ask(struct live *l, const struct engine_ask *ask);
void roles_count_event(struct live *l, const struct engine_event *ev);
/* The provider was told this outside of an ask. */
void roles_count_heard(struct served *s, const struct engine_message *message);
void roles_count_sound(struct served *s, size_t bytes);
/* The provider tells usage, of l or (NULL) of no answer. */
void roles_take_usage(struct served *s, struct live *l, const struct usage *usage);
/* The answer is over. cut: by us, so that its usage may still come. */
void roles_settle(struct live *l, bool cut);
/* The timer of usage that is collected or awaited; arg: the struct roles. */
void roles_usage_time(void *arg);
/* Tells what is left. */
void roles_usage_end(struct roles *r);

#endif
