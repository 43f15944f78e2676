/* The sessions of browsers that have signed in at the dashboard.
 *
 * A browser holds the secret in a cookie; control holds BLAKE2b of it, keyed by the token of the
 * API, so neither the database nor a journal lets anybody in, and a new token ends every session.
 * Times are ms since 1970. A value without I/O, all zero at first but for the token. */
#ifndef CONTROL_WEB_SESSIONS_H
#define CONTROL_WEB_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/web/keys.h"
#include "control/web/sign_in.h"

enum { SESSIONS_MAX = 32, SESSIONS_USED = 32, SESSION_NONCE = 32 };

struct session {
	uint64_t id; /* 1, 2, 3, …; never used twice */
	enum web_role role;
	bool discord;  /* signed in with Discord, which is asked again (discord_sign_in.h) */
	uint64_t user; /* then: who it is; 0 after a restart, because it is not saved */
	char person[WEB_KEYED_HEX]; /* the same keyed by the token, which is saved; "": nobody */
	uint64_t guild;		    /* the only server that it may see; 0: all of them */
	bool open;		    /* and of its channels those that everybody may enter */
	uint64_t created_ms, expires_ms;
	char hash[WEB_KEYED_HEX];
};

struct sessions {
	const char *token; /* borrowed */
	struct session v[SESSIONS_MAX];
	unsigned n;
	uint64_t last_id;
	struct sign_in used[SESSIONS_USED]; /* codes that were used and would still hold */
	unsigned n_used;
};

/* The secret of a new session. */
void sessions_secret(const struct sessions *s, const uint8_t nonce[SESSION_NONCE],
		     char out[WEB_KEYED_HEX]);
/* The session that has to end before this one can be added: of the lowest role that is not above
 * its own, the oldest; for one by Discord one by Discord. 0: there is a place, or none may give
 * way. */
uint64_t sessions_in_the_way(const struct sessions *s, const struct session *of);
/* Adds one of this role and these times. Returns its id; 0: there is no place. */
uint64_t sessions_add(struct sessions *s, const struct session *of, const char *secret);
/* The id of the session with this secret, also of one that is over; 0: there is none. Takes the
 * same time whatever differs. */
uint64_t sessions_match(const struct sessions *s, const char *secret);
/* NULL when it is over. Borrowed until the next change. */
const struct session *sessions_find(const struct sessions *s, uint64_t id, uint64_t now_ms);
/* Those that came by Discord hold no longer: nobody can ask about them any more. */
void sessions_limit_discord(struct sessions *s, uint64_t until_ms);
/* From now on its role, its server, and whether it sees open channels alone, are those of `to`; an
 * admin sees all servers. False: there is none. */
bool sessions_move(struct sessions *s, uint64_t id, const struct session *to);
bool sessions_end(struct sessions *s, uint64_t id);
/* All (NULL); or those of this person, whom their `person` tells. Returns how many. */
unsigned sessions_end_all(struct sessions *s, const char *person);
/* Removes what is over. Returns how many sessions. */
unsigned sessions_expire(struct sessions *s, uint64_t now_ms);
/* When the next session is over; UINT64_MAX: never. */
uint64_t sessions_deadline(const struct sessions *s);
/* Notes that the code was used. False: it was before, or so many were lately that none can be
 * noted. */
bool sessions_use_code(struct sessions *s, const struct sign_in *code, uint64_t now_ms);

/* To and from JSON, for the store. What is malformed is left out. */
json_t *sessions_format(const struct sessions *s);
void sessions_read(struct sessions *s, const json_t *j);

#endif
