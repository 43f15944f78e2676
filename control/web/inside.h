/* Shared by the handlers of control/web. */
#ifndef CONTROL_WEB_INSIDE_H
#define CONTROL_WEB_INSIDE_H

#include <stddef.h>

#include <jansson.h>

#include "control/web/access.h"
#include "control/web/live_turns.h"
#include "control/web/problems.def"
#include "control/web/roles.h"
#include "control/web/routes.def"
#include "control/web/web.h"
#include "ipc/http_server.h"

/* A request that may be answered. */
struct web_request {
	struct http_exchange *x;
	const struct http_head *head;
	const json_t *body; /* NULL without one */
	enum web_role role;
	uint64_t scope;		       /* the only server that it may see; 0: all of them */
	bool open;		       /* and of it channels that everybody may enter */
	char actor[ACCESS_ACTOR_SIZE]; /* as access_actor */
	uint64_t id;		       /* in a path with :id or :guild; with :session the server */
	uint64_t id2;		       /* with :session its start, ms since 1970 */
};
typedef void(web_handle_h)(struct web *w, const struct web_request *r);

#define HANDLE_(METHOD, path, role, seen, handler, body, ms, text) web_handle_h web_##handler;
WEB_ROUTES(HANDLE_)
#undef HANDLE_

struct bus;
struct discord_sign_in;
struct live_voice;
struct music_stream;
struct state_stream;
struct store;
struct store_document;
struct store_query;

struct live_settings *web_live(const struct web *w);
struct env *web_env(const struct web *w);
struct access *web_access(const struct web *w);
struct discord_sign_in *web_discord(const struct web *w);
const struct web_conf *web_shown(const struct web *w);
/* http://127.0.0.1:PORT/ of the page to speak with the bot; "": there is none. */
const char *web_talk(const struct web *w);
/* The dashboard's files with their tags, and packed. ENOMEM. */
struct web_page;
int web_page_alloc(struct web_page **out);
struct web_page *web_page_free(struct web_page *p);
const struct web_page *web_page(const struct web *w);
struct live_turns *web_turns(const struct web *w);
struct live_voice *web_voice(const struct web *w);
/* The answer of /api/rooms (control/web/rooms_api.c). ENOMEM, ENOSPC. */
struct rooms_kept;
int rooms_alloc(struct rooms_kept **out, struct bus *bus);
struct rooms_kept *rooms_free(struct rooms_kept *k);
/* The next request has the rooms described anew. */
void rooms_forget(struct rooms_kept *k);
struct rooms_kept *web_rooms(const struct web *w);
enum web_stream_kind { WEB_STREAM_VOICE, WEB_STREAM_ACTIVITY, WEB_STREAMS };
/* NULL: nobody can look at music. */
struct music_stream *web_music(const struct web *w);
struct state_stream *web_stream(const struct web *w, enum web_stream_kind kind, bool words);
/* control/web/voice_api.c and activity_api.c; w has its conf. */
int web_make_voice_stream(struct web *w, bool words, struct state_stream **out);
int web_make_activity_stream(struct web *w, bool words, struct state_stream **out);
/* {activeCount, sessions, asrSessions, toolCalls, mcpStatus}, of the server scope alone unless it
 * is 0, and with open of channels that everybody may enter. Caller owns it. */
json_t *web_voice_state(const struct web *w, enum live_words words, uint64_t scope, bool open);
/* Answers, and returns true, if the session of this request reads as many streams as it may. */
bool web_refuse_stream(struct web *w, struct http_exchange *x);
/* {servers}, those of MCP, as control/mcp/servers.h has them. Caller owns it. */
json_t *web_mcp_servers(const struct web *w);
/* control/web/mcp_api.c. The same. Their calls and failures count for all servers of Discord, so
 * both are null unless scope is 0; lastError needs words as well. Caller owns it. */
json_t *web_mcp(const struct web *w, uint64_t scope, bool words);
/* A number of an order; no other one of this program has it. */
uint64_t web_next_order(struct web *w);
/* Takes the sentences out of the notes about screens in a room: they tell what people show. */
void web_hide_notes(json_t *room);
/* control/web/seen.c. The list without the objects whose member is not this server's id, unless
 * scope is 0. */
json_t *web_only(json_t *list, const char *member, uint64_t scope);
/* Everybody of the server may enter this channel. */
bool web_is_open(const struct web *w, uint64_t guild, uint64_t channel);
/* Rooms of the server, or of all (0), and its voice channels; with open those alone that everybody
 * may enter. Caller owns them. */
json_t *web_seen_rooms(const struct web *w, uint64_t scope, bool open);
json_t *web_seen_channels(const struct web *w, uint64_t guild, bool open);
/* The ids of the latter, for the store (store_query.channels); NULL without memory. Caller frees.
 */
char *web_open_channels(const struct web *w, uint64_t guild);
/* Without TLS in between: the request came to a loopback address. */
bool web_is_loopback(const struct web *w, const struct http_head *head);
/* control/web/share_api.c. What the cookie and the token of a request to a public route prove, for
 * its tag; its head as it was received. */
uint64_t web_share_read_head(const struct web *w, const struct http_head *head);
/* control/web/page.c */
void web_page_send(const struct web *w, const struct web_request *r, const char *path);
/* Keeps the exchange of the change of settings that waits to be saved: one at a time. */
void web_keep_change(struct web *w, struct http_exchange *x);
/* That exchange, which is the caller's to answer; NULL when its client is gone. */
struct http_exchange *web_take_change(struct web *w);
/* The exchange that waits for an export. */
struct http_exchange **web_exporting(struct web *w);
/* The erasure that an admin began: one at a time. */
struct web_erasing {
	bool on;
	uint64_t user;
	struct http_exchange *x; /* waits for its end; NULL: its client is gone */
	char actor[ACCESS_ACTOR_SIZE];
};
struct web_erasing *web_erasing(struct web *w);
/* The exchange that waits for the room to be asked again; NULL: none, or its client is gone. */
struct http_exchange *web_asking(const struct web *w);
void web_set_asking(struct web *w, struct http_exchange *x);
/* Who waits for the store (control/web/history_api.c). */
struct reads;
struct reads *web_reads(const struct web *w);
int reads_alloc(struct reads **out, struct web *w, struct store *store);
/* Answers in its own way with what the store gave; document is borrowed. */
typedef void(read_done_h)(struct web *w, struct http_exchange *x, enum web_role role,
			  const struct store_document *document);
struct read;
/* A place for a request to the store, with web_on_read as its handler and the place as its
 * argument. NULL: the request was refused, because nothing can be read now. h: NULL answers with
 * the document as it is. */
struct read *web_read_begin(struct web *w, const struct web_request *r, read_done_h *h);
void web_on_read(int err, const struct store_document *document, void *arg);
/* What the request to the store returned. */
void web_read_begun(const struct web_request *r, struct read *read, int err);
void web_read(struct web *w, const struct web_request *r, const struct store_query *q,
	      read_done_h *h);
struct store *web_reads_store(const struct web *w);
/* Takes out of a search's facts, and of their former values, what it doubts: prompts leave that
 * out, too. */
void web_memory_drop_unsure(json_t *facts);
/* Frees it without answering the requests that still wait. */
struct reads *reads_free(struct reads *r);
/* As an answer has it; NULL for NULL and without memory. Caller owns it. */
char *web_text(const json_t *body);
/* Answers with the object, which it takes; NULL is a problem of memory. */
void web_json(struct http_exchange *x, int status, json_t *body);
/* A whole body, compressed where the client accepts it and its size is worth it. text is borrowed.
 */
void web_send_text(struct http_exchange *x, int status, const char *type, const char *text);
enum web_refusal {
#define REFUSAL_(NAME, status, code, text) WEB_##NAME,
	WEB_PROBLEMS(REFUSAL_)
#undef REFUSAL_
};
/* The word of that problem. */
const char *web_refusal_code(enum web_refusal refusal);
/* Answers with that problem; more: further members, which it takes, or NULL. */
void web_refuse(struct http_exchange *x, enum web_refusal refusal);
void web_refuse_with(struct http_exchange *x, enum web_refusal refusal, json_t *more);
/* Answers, and returns true, if the query has a parameter that the route's text does not name, or a
 * name as its value that there is not (control/web/queries.def). */
bool web_refuse_query(struct web *w, const struct web_request *r, const char *text);
/* application/problem+json: code is the word that clients compare; more (may be NULL, is taken) has
 * further members. */
void web_problem(struct http_exchange *x, int status, const char *code, const char *text,
		 json_t *more);

#endif
