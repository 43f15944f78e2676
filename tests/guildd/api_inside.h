/* Inside the control API: one call and the handlers. Only api*.c include this. */
#ifndef GUILDD_API_INSIDE_H
#define GUILDD_API_INSIDE_H

#include "tests/guildd/api.h"
#include "tests/guildd/httpd.h"

struct api_call {
	struct guildd *g;
	struct httpd_req *http;
	const json_t *body;
	uint64_t id[2]; /* numbers of the path, in order */
};

/* Each handler answers once. */
typedef void(api_h)(struct api_call *c);

/* R(method, template, handler, what it does) */
#define API_ROUTES(R)                                                                              \
	R(GET, "/world", api_world,                                                                \
	  "guilds with channels, members, roles, voice states; users; bots")                       \
	R(GET, "/stats", api_stats, "switches, sessions, relay counters, counts per user")         \
	R(GET, "/history", api_history,                                                            \
	  "who was in which channel, sessions, sound: with times of day")                          \
	R(POST, "/reset", api_reset, "everything as after a start")                                \
	R(GET, "/switches", api_switches_get, "all switches")                                      \
	R(POST, "/switches", api_switches_set, "{name: value, …}")                                 \
	R(POST, "/faults", api_fault,                                                              \
	  "{method?, contains, after?, times?, status, retry_after?, scope?, global?}")            \
	R(GET, "/requests", api_requests, "the last REST requests")                                \
	R(POST, "/users", api_user_add, "{id?, name}")                                             \
	R(POST, "/bots", api_bot_add,                                                              \
	  "{id?, name, token, privileged?}: privileged intents that are enabled")                  \
	R(PATCH, "/bots/{}", api_bot_set, "{privileged?, application?: {field: value, …}}")        \
	R(GET, "/bots/{}/commands", api_commands, "global and guild commands")                     \
	R(POST, "/guilds", api_guild_add, "{id?, name, owner_id}")                                 \
	R(POST, "/guilds/{}/channels", api_channel_add,                                            \
	  "{id?, type: text|voice|stage|forum|category, name, user_limit?, bitrate?, parent_id?}") \
	R(PATCH, "/channels/{}", api_channel_set, "{user_limit?, bitrate?, parent_id?}")           \
	R(DELETE, "/channels/{}", api_channel_remove, "who is in it is closed with 4022")          \
	R(POST, "/channels/{}/threads", api_thread_start,                                          \
	  "{user_id, name, message_id?, private?, content?: of a forum}")                          \
	R(PATCH, "/channels/{}/thread", api_thread_set, "{archived, locked?}")                     \
	R(DELETE, "/channels/{}/thread", api_thread_remove, "the thread is deleted")               \
	R(PUT, "/channels/{}/thread/{}", api_thread_join, "this user joins the thread")            \
	R(PUT, "/channels/{}/overwrites/{}", api_overwrite, "{type: role|member, allow, deny}")    \
	R(POST, "/guilds/{}/roles", api_role_add,                                                  \
	  "{id?, name, permissions, bot_id?: whose own role}")                                     \
	R(PATCH, "/guilds/{}/roles/{}", api_role_set,                                              \
	  "{permissions}; the guild's id is @everyone")                                            \
	R(POST, "/guilds/{}/members", api_member_add, "{user_id}")                                 \
	R(PATCH, "/guilds/{}/members/{}", api_member_set, "{role_ids?, mute?, deaf?, nick?}")      \
	R(DELETE, "/guilds/{}/members/{}", api_member_remove, "is no member any more")             \
	R(POST, "/guilds/{}/sounds", api_sound_add, "{name}: one more on its soundboard")          \
	R(PATCH, "/guilds/{}/sounds/{}", api_sound_set, "{name?, available?}")                     \
	R(DELETE, "/guilds/{}/sounds/{}", api_sound_remove, "removed from its soundboard")         \
	R(POST, "/users/{}/sound", api_sound, "{guild_id?, sound_id}: plays it where they are")    \
	R(POST, "/users/{}/authorize", api_authorize,                                              \
	  "{url, deny?} -> {location}: at the OAuth2 page of this address the person agrees")      \
	R(POST, "/users/{}/join", api_join,                                                        \
	  "{channel_id, self_mute?, self_deaf?} -> a lease for the voice gateway")                 \
	R(POST, "/users/{}/stream", api_stream,                                                    \
	  "{stop?}: streams where they are -> a lease for the stream's session; or ends it")       \
	R(POST, "/users/{}/leave", api_leave, "leaves; its voice session is closed with 4014")     \
	R(POST, "/users/{}/kick", api_leave, "the same, by a moderator")                           \
	R(POST, "/users/{}/move", api_move, "{channel_id}: dragged there")                         \
	R(POST, "/users/{}/voice", api_voice_set,                                                  \
	  "{mute?, deaf?, suppress?, self_mute?, self_deaf?}")                                     \
	R(POST, "/users/{}/new-server", api_new_server,                                            \
	  "region change: a new VOICE_SERVER_UPDATE alone")                                        \
	R(POST, "/users/{}/no-server", api_no_server, "VOICE_SERVER_UPDATE with endpoint null")    \
	R(POST, "/users/{}/drop", api_drop, "{which: voice|main}: TCP gone without a close frame") \
	R(POST, "/users/{}/close", api_close, "{which, code, reason?}")                            \
	R(POST, "/users/{}/send", api_send,                                                        \
	  "{which, op, d?, seq?}: a message of the server as is")                                  \
	R(POST, "/users/{}/faults", api_voice_fault,                                               \
	  "{op?, what: lose|skip|corrupt|delay|hold, times?, ms?}: on the voice gateway's "        \
	  "messages to it")                                                                        \
	R(POST, "/users/{}/datagrams", api_datagrams,                                              \
	  "{hex: [digits, …]}: datagrams of the relay to it, as they are")                         \
	R(GET, "/users/{}/forwarded", api_forwarded,                                               \
	  "with record_forwarded: sequence numbers of sealed packets it was sent, by sender")      \
	R(GET, "/users/{}/secrets", api_secrets,                                                   \
	  "session id, token and key of its voice session, for those who look for them")           \
	R(GET, "/channels/{}/dave", api_dave_get,                                                  \
	  "its group: epoch, leaves, members, transitions")                                        \
	R(POST, "/channels/{}/dave", api_dave_fault,                                               \
	  "{what: new_sender|stale_proposal|reinit|next_transition, value?}")                      \
	R(POST, "/users/{}/invalidate", api_invalidate,                                            \
	  "the main session cannot be resumed any more")                                           \
	R(POST, "/crash", api_crash, "the voice server crashes: everybody is closed with 4015")    \
	R(POST, "/channels/{}/messages", api_message,                                              \
	  "{user_id, content, reply_to?, ping?, attachments?: [{filename, data: base64, "          \
	  "content_type?, size?}], sticker_items?, poll?, embeds?, forward?: {channel_id, "        \
	  "message_id}}: somebody writes")                                                         \
	R(PATCH, "/channels/{}/messages/{}", api_message_edit, "{content, attachments?}")          \
	R(DELETE, "/channels/{}/messages/{}", api_message_delete, "it is deleted")                 \
	R(DELETE, "/channels/{}/messages", api_messages_delete,                                    \
	  "{messages}: a moderator deletes these at once")                                         \
	R(POST, "/channels/{}/messages/{}/reactions", api_reaction,                                \
	  "{user_id, emoji}: somebody reacts")                                                     \
	R(POST, "/users/{}/direct", api_direct,                                                    \
	  "{bot_id?, closed?} -> {id}: the channel of their direct messages; closed: they "        \
	  "take none of the bot")                                                                  \
	R(GET, "/channels/{}/messages", api_messages, "what was written")                          \
	R(POST, "/interactions", api_interaction,                                                  \
	  "{user_id, channel_id, name, options?, type?, data?, message_id?, application_id?}")     \
	R(GET, "/interactions/{}", api_interaction_get, "answer, original, followups")

#define R(method, path, h, what) api_h h;
API_ROUTES(R)
#undef R

void api_ok(struct api_call *c, json_t *body); /* steals; NULL = {} */
/* 0 = api_ok without body; else 404, 409 or 400 with the error's words. */
void api_result(struct api_call *c, int err);
void api_wrong(struct api_call *c, const char *what);
/* The guild or voice state of id[0]; NULL = answered with 404. */
struct gd_guild *api_guild(struct api_call *c);
struct gd_channel *api_channel(struct api_call *c);
struct gd_vstate *api_vstate(struct api_call *c);
/* Fields of the body; def when absent. */
const char *api_text(const struct api_call *c, const char *name, const char *def);
uint64_t api_number(const struct api_call *c, const char *name, uint64_t def);

#endif
