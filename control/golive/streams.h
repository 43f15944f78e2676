/* Streams of Discord ("Go Live") by the account of a person: which of them are watched, or shown,
 * and what has to be said to the main gateway for it. Pure.
 *
 * Discord documents neither the messages nor that bots may use them; they are those of its own
 * clients (docs/eyes.md). The account has to be in the voice channel of a stream (op 4), asks for
 * it (op 20, or op 18 for one of its own), and gets STREAM_CREATE with the ids of the stream's
 * session and STREAM_SERVER_UPDATE with a token: together a lease, which is handed out once. An
 * account can be in one voice channel, so all streams are of the same.
 *
 * Times in ns of the monotonic clock. Pointers in an action are borrowed until the handler returns;
 * the handler must not call any function here. */
#ifndef CONTROL_GOLIVE_STREAMS_H
#define CONTROL_GOLIVE_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct streams;

enum {
	STREAMS_MAX = 4,
	STREAM_KEY_SIZE = 72,
	STREAMS_ASK_MS = 10000, /* Discord's answer to a message comes within this */
	STREAMS_LEASES = 5,	/* of one stream in a row without a session that stayed up */
	STREAMS_RETRY_MS = 500, /* before the second of these */
	STREAMS_RETRY_GROWTH = 5,
};

enum streams_act_type {
	STREAMS_ACT_VOICE,  /* op 4: guild, channel, or 0 to leave */
	STREAMS_ACT_WATCH,  /* op 20: key */
	STREAMS_ACT_SHOW,   /* op 18: guild, channel; op 22: key */
	STREAMS_ACT_END,    /* op 19: key */
	STREAMS_ACT_LEASE,  /* stream: server, channel, session, token, endpoint */
	STREAMS_ACT_PAUSED, /* stream; paused */
	STREAMS_ACT_ENDED,  /* stream, which is forgotten: why, media_reason */
};
struct streams_act {
	enum streams_act_type type;
	uint32_t stream;
	uint64_t guild, channel, server;
	const char *key, *session, *token, *endpoint;
	const char *why;       /* a word, as "stream_ended", "no_answer", "left" */
	unsigned media_reason; /* of "no_session": enum media_reason; otherwise 0 */
	bool paused;
};
/* The same for people: a clause. It lives for ever. */
const char *streams_explain(const char *why);
typedef void(streams_act_h)(const struct streams_act *act, void *arg);

/* EINVAL, ENOMEM. Caller owns *out. */
int streams_alloc(struct streams **out, streams_act_h *h, void *arg);
struct streams *streams_free(struct streams *s);

/* The gateway is up. fresh: by READY, with the account's id, which ended its voice state: each
 * stream is watched again from the beginning. */
void streams_online(struct streams *s, uint64_t account, bool fresh, uint64_t now);
void streams_offline(struct streams *s);
/* The account's id; 0 before the first READY. */
uint64_t streams_account(const struct streams *s);
/* Any event of the account's gateway; others than its own voice state and those of streams are
 * ignored, and so is what is malformed. */
void streams_event(struct streams *s, const char *name, const json_t *d, uint64_t now);

/* Watches the stream of `owner`, or shows one if that is the account. ENOTCONN: the gateway is not
 * up; EAGAIN: Discord asked to slow down less than VOICE_COOL_MS ago; EBUSY: there are too many, or
 * those of another channel; EALREADY: *out is it. */
int streams_open(struct streams *s, uint64_t guild, uint64_t channel, uint64_t owner, uint64_t now,
		 uint32_t *out);
/* Ends it; no action follows for it. The account leaves the channel with the last one. */
void streams_close(struct streams *s, uint32_t stream, uint64_t now);
/* Its session as mediad reports it, by the rules of calls (control/discord/voice.h): after a reason
 * that is final the stream ends, and after a rate limit no other one begins for VOICE_COOL_MS. A
 * session that failed otherwise gets a new lease, after waits that grow to VOICE_RETRY_MAX_MS.
 * After STREAMS_LEASES of them, none of which was up for VOICE_GOOD_MS, the stream ends as
 * "no_session". */
void streams_media(struct streams *s, uint32_t stream, unsigned phase, unsigned reason,
		   bool wants_credentials, uint64_t now);

void streams_tick(struct streams *s, uint64_t now);
/* When to call streams_tick next; UINT64_MAX means never. */
uint64_t streams_deadline(const struct streams *s);

#endif
