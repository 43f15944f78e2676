/* Inside REST: one call, its answers, the handlers. Only rest*.c and interaction*.c include this.
 */
#ifndef GUILDD_REST_INSIDE_H
#define GUILDD_REST_INSIDE_H

#include "tests/guildd/bucket.h"
#include "tests/guildd/httpd.h"
#include "tests/guildd/rest.h"

enum { REST_CAPS = 4, REST_FAULTS = 16, REST_LOG = 300, REST_INTERACTIONS = 500 };

struct rest_call {
	struct guildd *g;
	struct httpd_req *http;
	const json_t *body;	    /* NULL when there is none */
	struct gd_bot *bot;	    /* NULL on routes without a token */
	struct gd_user *user;	    /* whose token it is: the bot's, or a person's */
	const char *cap[REST_CAPS]; /* what stood in the {} of the template */
	uint64_t id[REST_CAPS];	    /* the same as a snowflake, 0 when it is none */
	int status;		    /* answered with; 0 = not yet */
};

typedef void(rest_h)(struct rest_call *c);

/* Every route: R(method, template, handler, token needed, requests per window, window in s) */
#define REST_ROUTES(R)                                                                             \
	R(GET, "/gateway", rest_gateway, false, 10, 10)                                            \
	R(GET, "/gateway/bot", rest_gateway_bot, true, 10, 10)                                     \
	R(GET, "/users/@me", rest_me, true, 10, 10)                                                \
	R(GET, "/users/@me/guilds", rest_my_guilds, true, 10, 10)                                  \
	R(POST, "/oauth2/token", rest_oauth_token, false, 30, 30)                                  \
	R(GET, "/users/{}", rest_user, true, 30, 30)                                               \
	R(GET, "/applications/@me", rest_application, true, 10, 10)                                \
	R(GET, "/oauth2/applications/@me", rest_application, true, 10, 10)                         \
	R(GET, "/applications/{}/commands", rest_commands_get, true, 10, 10)                       \
	R(PUT, "/applications/{}/commands", rest_commands_put, true, 5, 20)                        \
	R(POST, "/applications/{}/commands", rest_commands_post, true, 5, 20)                      \
	R(GET, "/applications/{}/guilds/{}/commands", rest_commands_get, true, 10, 10)             \
	R(PUT, "/applications/{}/guilds/{}/commands", rest_commands_put, true, 5, 20)              \
	R(POST, "/applications/{}/guilds/{}/commands", rest_commands_post, true, 5, 20)            \
	R(GET, "/guilds/{}", rest_guild, true, 10, 10)                                             \
	R(GET, "/guilds/{}/channels", rest_guild_channels, true, 10, 10)                           \
	R(GET, "/guilds/{}/roles", rest_guild_roles, true, 10, 10)                                 \
	R(GET, "/guilds/{}/members", rest_guild_members, true, 10, 10)                             \
	R(GET, "/guilds/{}/members/{}", rest_guild_member, true, 10, 10)                           \
	R(GET, "/guilds/{}/voice-states/{}", rest_voice_state_get, true, 10, 10)                   \
	R(PATCH, "/guilds/{}/voice-states/@me", rest_voice_state_patch, true, 10, 10)              \
	R(GET, "/voice/regions", rest_voice_regions, true, 10, 10)                                 \
	R(GET, "/channels/{}", rest_channel, true, 10, 10)                                         \
	R(PATCH, "/channels/{}", rest_channel_patch, true, 5, 5)                                   \
	R(DELETE, "/channels/{}", rest_channel_delete, true, 5, 5)                                 \
	R(POST, "/channels/{}/threads", rest_thread_post, true, 5, 5)                              \
	R(POST, "/channels/{}/messages/{}/threads", rest_message_thread, true, 5, 5)               \
	R(PUT, "/channels/{}/thread-members/@me", rest_thread_join, true, 5, 5)                    \
	R(DELETE, "/channels/{}/thread-members/@me", rest_thread_leave, true, 5, 5)                \
	R(GET, "/channels/{}/thread-members", rest_thread_members, true, 10, 10)                   \
	R(GET, "/guilds/{}/threads/active", rest_guild_threads, true, 10, 10)                      \
	R(GET, "/channels/{}/messages", rest_messages_get, true, 10, 10)                           \
	R(POST, "/channels/{}/messages", rest_messages_post, true, 5, 5)                           \
	R(GET, "/channels/{}/messages/{}", rest_message_get, true, 10, 10)                         \
	R(PATCH, "/channels/{}/messages/{}", rest_message_patch, true, 5, 5)                       \
	R(DELETE, "/channels/{}/messages/{}", rest_message_delete, true, 5, 5)                     \
	R(POST, "/channels/{}/messages/bulk-delete", rest_messages_bulk_delete, true, 1, 1)        \
	R(PUT, "/channels/{}/messages/{}/reactions/{}/@me", rest_reaction_put, true, 4, 1)         \
	R(POST, "/channels/{}/typing", rest_typing, true, 5, 5)                                    \
	R(POST, "/channels/{}/send-soundboard-sound", rest_sound_send, true, 5, 5)                 \
	R(GET, "/guilds/{}/soundboard-sounds", rest_guild_sounds, true, 10, 10)                    \
	R(GET, "/soundboard-default-sounds", rest_default_sounds, true, 10, 10)                    \
	R(PUT, "/channels/{}/voice-status", rest_voice_status, true, 10, 10)                       \
	R(POST, "/interactions/{}/{}/callback", rest_callback, false, 50, 5)                       \
	R(POST, "/webhooks/{}/{}", rest_followup, false, 5, 5)                                     \
	R(GET, "/webhooks/{}/{}/messages/{}", rest_webhook_get, false, 10, 10)                     \
	R(PATCH, "/webhooks/{}/{}/messages/{}", rest_webhook_patch, false, 5, 5)                   \
	R(DELETE, "/webhooks/{}/{}/messages/{}", rest_webhook_delete, false, 5, 5)

#define R(method, path, h, token, limit, window) rest_h h;
REST_ROUTES(R)
#undef R

/* Answers: exactly one a call. Bodies are stolen. */
void rest_ok(struct rest_call *c, json_t *body);
void rest_status(struct rest_call *c, int status, json_t *body);
void rest_empty(struct rest_call *c); /* 204 */
/* Discord's JSON error: {message, code}. */
void rest_error(struct rest_call *c, int status, int code, const char *message);
/* 400 with code 50035 and the field that is wrong. */
void rest_bad_field(struct rest_call *c, const char *field, const char *why);

/* The guild or channel of id[0] if the bot may know it; otherwise NULL, answered. */
struct gd_guild *rest_guild_of(struct rest_call *c, unsigned cap);
struct gd_channel *rest_channel_of(struct rest_call *c, uint64_t need);
/* The body's content is fit for a message; otherwise false, answered. */
bool rest_content_ok(struct rest_call *c, bool may_be_empty);

/* Of OAuth2, kept until a reset: {code: …} and {token: {user, scope}}. Borrowed. */
json_t *rest_codes(struct gd_rest *r);
json_t *rest_tokens(struct gd_rest *r);
/* "Bearer TOKEN" of a person, who may read /users/@me and /users/@me/guilds; false when refused. */
bool rest_oauth_bearer(struct rest_call *c, const char *token);

struct interaction;
struct interaction *interaction_free(struct interaction *i);
struct gd_vec *rest_interactions(struct gd_rest *r);

#endif
