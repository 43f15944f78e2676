/* Sign-in at the dashboard with Discord: OAuth2's authorization code with PKCE and state (RFC 6749
 * section 4.1, RFC 7636), scopes identify and guilds. Off unless the settings web_discord_client,
 * web_discord_secret, and web_discord_guild or web_discord_everywhere are set.
 *
 * A sign-in belongs to the browser that began it: a cookie of its own holds a secret, and the state
 * that comes back must be that browser's. Each state is good for one answer, within ten minutes.
 * The person's token stays in memory; Discord is asked by it once an hour whether the person still
 * has the role. A question that Discord does not answer, or refuses because there were too many, is
 * asked again soon. The session ends when the person has the role no more, or when Discord has not
 * confirmed it for three hours. */
#ifndef CONTROL_WEB_DISCORD_SIGN_IN_H
#define CONTROL_WEB_DISCORD_SIGN_IN_H

#include <stdbool.h>
#include <stdint.h>

#include "control/web/discord_grant.h"

struct access;
struct discord_sign_in;
struct env;
struct http;
struct http_exchange;
struct http_head;
struct origins;
struct settings;

enum {
	DISCORD_PENDING_MAX = 16,
	DISCORD_ATTEMPTS_MAX = 4,
	DISCORD_PENDING_MS = 600000,
	DISCORD_RECHECK_MS = 3600000,
	DISCORD_RETRY_MS = 1000, /* after a question without an answer; doubles up to RECHECK_MS */
	DISCORD_UNCONFIRMED_MS = 3 * DISCORD_RECHECK_MS,
	DISCORD_SESSIONS_EACH = 3, /* of one person */
};

/* All borrowed. */
struct discord_sign_in_conf {
	struct env *env;
	struct http *http; /* NULL: off */
	struct access *access;
	const struct origins *origins;
	const struct settings *settings;
	discord_grant_known_h *knownh;
	void *arg;
};

/* ENOMEM. Caller owns *out and frees it before what it borrows, and after the server. */
int discord_sign_in_alloc(struct discord_sign_in **out, const struct discord_sign_in_conf *conf);
struct discord_sign_in *discord_sign_in_free(struct discord_sign_in *d);
bool discord_sign_in_is_on(const struct discord_sign_in *d);
void discord_sign_in_set_port(struct discord_sign_in *d, uint16_t port);
/* Looks for the cookie, as access_check_head does. */
void discord_sign_in_check_head(struct discord_sign_in *d, const struct http_head *head);

/* Sessions have ended: of those the persons' tokens are forgotten. */
void discord_sign_in_forget(struct discord_sign_in *d);
/* Asks about everybody who signed in with Discord now, because the settings may say other roles. */
void discord_sign_in_ask_again(struct discord_sign_in *d);
/* The servers that the person of this session may look at, one at a time; NULL: it is nobody's who
 * signed in here since the start, or an admin's, who sees all of them. Borrowed until the next
 * change. */
const struct discord_grants *discord_sign_in_servers(const struct discord_sign_in *d,
						     uint64_t session);
/* Sends the browser to Discord's page; or answers with a problem. */
void discord_sign_in_begin(struct discord_sign_in *d, struct http_exchange *x);
/* The browser is back: asks Discord, and answers with a session and the dashboard. */
void discord_sign_in_end(struct discord_sign_in *d, struct http_exchange *x);

#endif
