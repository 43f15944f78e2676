/* A text session with Discord's REST API and a text model that are a server of HTTP on the same
 * loop. Every message that the bot answers is told as an event. */
#ifndef TESTS_TEXT_SESSION_TEXT_STAGE_H
#define TESTS_TEXT_SESSION_TEXT_STAGE_H

#include <jansson.h>

#include "control/text_session/inside.h"
#include "tests/unit/control/fake_http.h"

enum { STAGE_SELF = 9, STAGE_GUILD = 100, STAGE_CHANNEL = 1000, STAGE_ANA = 501, STAGE_BOB = 502 };
enum { STAGE_FORUM = 3000, STAGE_POST = 3001, STAGE_UNKNOWN = 4000, STAGE_ELSEWHERE = 5000 };
enum { STAGE_HISTORIES = 64, STAGE_ENDS = 64, STAGE_READS = 256 };

struct text_stage {
	struct fake_http fake;
	struct settings *settings;
	struct bus *bus;
	struct rest *rest;
	struct consent_table *consents;
	struct text_session *ts;
	struct text_session_conf conf;
	json_t *rows; /* conf.taken, if the stage owns it */
	/* The channels' histories, newest first, as Discord gives them. */
	struct {
		uint64_t channel;
		json_t *list;
	} history[STAGE_HISTORIES];
	unsigned n_histories;
	uint64_t read[STAGE_READS]; /* channels whose history was asked for, in this order */
	unsigned n_read;
	unsigned asked, posted; /* requests to the model; messages of the bot */
	void (*posth)(void);	/* a message of the bot comes to Discord; may be NULL */
	uint64_t warned[8];	/* messages on which it put a warning sign */
	unsigned n_warned;
	const char *first;     /* the model's first answer, as a stream; NULL: as its others */
	char prompt[64 << 10]; /* of the last one */
	/* How messages ended that the bot was asked to answer. */
	struct {
		uint64_t message;
		char reason[24], rule[24];
	} end[STAGE_ENDS];
	unsigned n_ends;
	enum tool_rank rank; /* of whoever Discord tells the member */
	bool unknown;	     /* Discord has told of no server */
	bool barred;	     /* the bot may write nowhere */
	bool blind;	     /* nor read what was written before */
	bool broken;	     /* Discord gives no list as a history */
	uint32_t reading;    /* the value of text_chat before `changed` (ms since 1970) */
	uint64_t changed;
	const char *title;   /* of the post */
	uint64_t post;	     /* its id: STAGE_POST, unless it matters how old it is */
	char stored[256];    /* text of the last message that was told to the store */
	char told[128];	     /* people whom it may repeat, as JSON */
	uint64_t written_ms; /* when it was written */
	uint64_t author;     /* who wrote or edited it, as the store was told; 0: it was not told */
	char author_name[32];
	uint64_t deleted[4]; /* channels whose messages the store was told to delete */
	unsigned n_deleted;
	uint64_t archived; /* a thread that was archived; 0: none */
};

/* Without a session, so that settings and the conf can be changed. False: something failed. */
bool text_stage_open(struct text_stage *s);
/* A control begins. */
bool text_stage_begin(struct text_stage *s);
void text_stage_close(struct text_stage *s);
/* Runs the loop until nothing more comes for some time. */
void text_stage_run(struct text_stage *s);
/* An id of so many ms ago. */
uint64_t text_stage_id(const struct text_stage *s, uint64_t ago_ms);
/* A message of a person, as MESSAGE_CREATE has it; the caller owns it. */
json_t *text_stage_message(uint64_t guild, uint64_t channel, uint64_t id, uint64_t user,
			   const char *text);
/* Somebody wrote it, while the bot was away. */
void text_stage_wrote(struct text_stage *s, uint64_t channel, uint64_t id, uint64_t user,
		      const char *text);
/* The same now. */
void text_stage_writes(struct text_stage *s, uint64_t guild, uint64_t channel, uint64_t id,
		       uint64_t user, const char *text);
/* An event about the message, as the last two. */
void text_stage_event(struct text_stage *s, const char *name, uint64_t guild, uint64_t channel,
		      uint64_t id, uint64_t user, const char *text);
/* READY's list of n servers from the first id on; the caller owns it. */
json_t *text_stage_guilds(uint64_t first, unsigned n);
/* GUILD_CREATE of a server with these channels, whose last messages are as old. */
void text_stage_guild(struct text_stage *s, uint64_t guild, uint64_t channel, unsigned channels,
		      uint64_t last);
/* Why the message ended; "": it did not. */
const char *text_stage_reason(const struct text_stage *s, uint64_t message);
bool text_stage_has_read(const struct text_stage *s, uint64_t channel);

#endif
