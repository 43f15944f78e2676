/* The store: one SQLite database in the state directory, used only by a worker of its own.
 *
 * Two lanes share the worker, in the order in which things were handed over:
 *   history   events of the bus that events.def keeps. They wait in a bounded queue and go to the
 * database together, in one transaction for all that wait. When the disk is too slow or full some
 * are shed: counted, with one log line. Nothing comes back. requests  settings documents, what a
 * restart needs, erasing. Never shed: a request that cannot be taken says so at once, any other
 * gets its answer, as an input of the loop (journalled; on replay SQLite is not touched).
 *
 * What is wrong with the database is told once in the log, in a sentence, and the bot goes on
 * without it. */
#ifndef CONTROL_STORE_STORE_H
#define CONTROL_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct bus;
struct embedding_vectors;
struct env;
struct settings;
struct store;
struct time_window;
struct vector;

enum {
	STORE_QUEUE = 8192,
	STORE_QUEUE_BYTES = 16 << 20,
	STORE_DOCUMENT_MAX = 768 << 10,
	STORE_VERSIONS_KEPT = 200, /* of the settings documents of a scope */
};

/* Subscribes to the bus. dir is copied, and made if need be; settings are borrowed and read at each
 * event (store_words_hours). The database is opened by the worker. ENOMEM, ENOSPC, ENAMETOOLONG,
 * errors of worker_alloc. The caller owns *out and frees it before env. */
int store_alloc(struct store **out, struct env *env, struct bus *bus,
		const struct settings *settings, const char *dir);
/* Drops nothing from now on: neither rows, words and copies that are too old nor what is more than
 * store_max_mb. */
void store_keep_all(struct store *s);
/* Writes what waits. No handler is called any more. NULL accepted. */
struct store *store_free(struct store *s);
/* Handlers with this arg are not called any more. */
void store_forget(struct store *s, const void *arg);

/* ---- settings documents ----
 * scope: which document. Versions of a scope are 1, 2, 3, …; the newest STORE_VERSIONS_KEPT
 * are kept. */
#define STORE_SETTINGS_GLOBAL "global" /* the document of control/settings/document.h */

struct store_document {
	uint64_t version;     /* 0: there is none */
	const char *document; /* JSON text; "" in a list and when there is none */
	size_t size;	      /* its bytes */
	const char *author;
	uint64_t updated_ms;
};
/* err: 0, ESTALE when the version was another (document: the present one), ENOENT, and those of
 * control/store/db.h. document: never NULL; borrowed until the handler returns. */
typedef void(store_document_h)(int err, const struct store_document *document, void *arg);
typedef void(store_list_h)(int err, const struct store_document *list, size_t n, void *arg);
typedef void(store_done_h)(int err, void *arg);

struct store_put {
	const char *scope, *document, *author;
	bool compare;	  /* only when the present version is this one */
	uint64_t version; /* 0: there must be none yet */
};
/* document in the handler: the new version. It is synced to the disk, and so is its row in the
 * audit (author, before, after), in one transaction. ENOSPC too many requests are out, EMSGSIZE,
 * ENOMEM. */
int store_settings_put(struct store *s, const struct store_put *put, store_document_h *h,
		       void *arg);
/* version 0: the newest. */
int store_settings_get(struct store *s, const char *scope, uint64_t version, store_document_h *h,
		       void *arg);
/* The versions that are kept, newest first, without their documents. */
int store_settings_list(struct store *s, const char *scope, store_list_h *h, void *arg);
/* Reads the versions without a store, before the loop runs: newest first, until the handler returns
 * false. 0 also when there is none; errors of control/store/db.h. */
typedef bool(store_version_h)(const struct store_document *document, void *arg);
int store_read_settings(const char *dir, const char *scope, store_version_h *h, void *arg);

/* ---- costs ---- */

/* The spending of each server since then (ms since 1970), as a list: author is its id, version the
 * amount in billionths of a dollar. Errors as store_settings_put. */
int store_sum_costs(struct store *s, uint64_t since_ms, store_list_h *h, void *arg);
/* The same of extraction and reflection alone. */
int store_sum_memory_costs(struct store *s, uint64_t since_ms, store_list_h *h, void *arg);

/* ---- the timeline ---- */

struct store_said {
	uint64_t guild, channel;
	uint64_t since_ms, until_ms; /* since 1970; until_ms itself is left out, 0: no end */
	const char *name;	     /* who said it, or "" */
	uint64_t user;		     /* the same by id, whatever the name; 0: by name */
	bool bot;		     /* the bot's lines alone; name and user are ignored */
	const char *words;	     /* a question whose content words find it; "": the newest */
	/* {"NAME": "ID", …}: whom words name by the names of people present; NULL: nobody. Other
	 * names are looked up in the lines. */
	const char *people;
	/* That the question names, borrowed for the call; NULL: none. Lines of other times are
	 * found beside those of a loose one, and in place of them if there are none. */
	const struct time_window *when;
	/* Whoever asks knows what was said from until_ms on. Of a time that reaches beyond it no
	 * lines of other times are found instead. */
	bool held;
	unsigned most;	  /* at most STORE_SAID_MAX */
	uint32_t wait_ms; /* for the vector of words (struct store_question) */
};
enum { STORE_SAID_MAX = 35 };
/* Lines of people and of the bot in one voice channel, the best first (control/memory/rank.h). The
 * document: [{"id": 12, "user": "ID", "name": "Ana", "at_ms": …, "text": "…", "bot": false,
 * "near": [the line before and the one after, as far as there are any]}, …]. user of a line of the
 * bot: the person it answered; "cut": true: the end of the session cut it. "unsure": true: the
 * lines are near the question, and none supports an answer. "other_time": true: nothing was found
 * of the time that the question names, and this is of another one. Errors as store_settings_put. */
int store_find_said(struct store *s, const struct store_said *what, store_document_h *h, void *arg);

struct store_lookups {
	uint64_t guild, channel;
	uint64_t since_ms; /* since 1970 */
	unsigned most;
};
/* What tools found on the web in this channel, the newest first: [{"tool", "at_ms", "text": the
 * output in one line, "user": "ID" of who asked}, …]. Of people whose words are kept. Errors as
 * store_settings_put. */
int store_find_lookups(struct store *s, const struct store_lookups *what, store_document_h *h,
		       void *arg);

/* ---- facts ---- */

/* Facts that a person asked to remember. request, a JSON text, is copied. */
struct store_facts {
	uint64_t guild;	  /* 0, of store_forget_facts: every server in which the user said facts */
	uint64_t owner;	  /* whose memory in this server; 0: the server's */
	uint64_t user;	  /* who says it, or asks */
	uint64_t channel; /* of a write: where it is told; 0: for all of the server */
	const char *name;
	const char *request;
	uint64_t since_ms; /* of a write: the user's words since then are its source */
	uint64_t said_in;  /* ... that are of this channel; 0: of `channel` */
	bool any;	   /* of a search: the server's memory beside the owner's */
	bool by_operator;  /* of store_forget_facts: an admin does it, for the user; audited so */
	unsigned most;	   /* at most STORE_FACTS_MAX */
	const char *question; /* of a search by meaning: its words; NULL: none */
	uint32_t wait_ms;     /* for the vector of question (struct store_question) */
};
enum { STORE_FACTS_MAX = 64 };
/* request: [{"text", "type", "tags": [...], "evidence": ids of the user's lines, without which it
 * is their newest ones}, …]. What each does to similar facts is decided by
 * control/memory/compare.h; FACTS_A_MINUTE (control/store/fact_rows.h) are written in a server. The
 * document:
 * {"written": [{"id", "status": "inserted" or "updated", "text"}], "skipped": [{"text",
 * "reason"}]}. Errors as store_settings_put. */
int store_write_facts(struct store *s, const struct store_facts *f, store_document_h *h, void *arg);
/* request: {"words": "…", "tags": [...], "mine": true: what the user said, "without_authors" and
 * "without_channels": ["ID", …]: facts by these people, and facts of others than the user that
 * were told in these channels alone, are left out (control/memory/untold.h); "since_ms",
 * "until_ms": the time that the words name (control/memory/time_cue.h), whose facts no newer one
 * comes before}. The document: [{"id", "text", "type", "tags", "user": "ID of who said it", "name",
 * "private", "at_ms", "score", "former": [{"text", "from_ms", "until_ms"}], "conflicts": [{"text",
 * "from_ms", "user": "ID" of its author}] of facts that contradict it, if there are any}, …], the
 * best first, without words the newest. "channels":
 * ["ID", …]: of a fact, a former or a contradicting one: where it was told, if not for all of the
 * server. "again_ms": the newest time when it was said again. "unsure": true: the fact shares no
 * word with the question and is not near enough. */
int store_find_facts(struct store *s, const struct store_facts *f, store_document_h *h, void *arg);
/* What the user said in every server, the newest first, at most so many: [{"id", "text", "user":
 * "ID"}, …]. Errors as store_settings_put. */
int store_list_own_facts(struct store *s, uint64_t user, unsigned most, store_document_h *h,
			 void *arg);
/* Deletes facts that the user said. request: {"id": 3, "tags": [...], "words": "…", "last": true:
 * only the newest}. Words delete a fact only if slice_names holds. A fact goes with what says the
 * same in the other memory of the request. The document: {"forgotten":
 * [{"id", "text", "private", "channels"}], "candidates": the same of facts that share a word with
 * the request, if none was deleted, else of those that stay though the words name them, too}.
 * Guild 0: "guild" of each fact, too; copies go in every server, and words that name different
 * facts in different servers delete none: all of these are candidates. */
int store_forget_facts(struct store *s, const struct store_facts *f, store_document_h *h,
		       void *arg);
/* The memory of a whole server (control/store/guild_facts.h). */
int store_forget_guild(struct store *s, uint64_t guild, store_document_h *h, void *arg);
/* After each request to forget facts of one server that succeeded, whoever made it, and before its
 * own handler. Not of guild 0: the document of that request has the servers. NULL: nobody is told.
 */
typedef void(store_forgotten_h)(uint64_t guild, void *arg);
void store_watch_forgotten(struct store *s, store_forgotten_h *h, void *arg);

/* ---- an encoder elsewhere ----
 * Where a provider of role embed is configured, its client (control/embeddings/) lists texts, and
 * keeps their vectors; searches wait for the vector of their question. */

struct store_question {
	const char *words; /* borrowed */
	uint32_t wait_ms;  /* after which the search uses words alone; 0: as the client likes */
};
/* Answers by store_take_meaning with the id, later. False: the question gets no vector. */
typedef bool(store_meaning_h)(const struct store_question *question, uint64_t id, void *arg);
/* From now on; NULL: no question waits. */
void store_ask_meanings(struct store *s, store_meaning_h *h, void *arg);
/* v: NULL for none in time. Borrowed. */
void store_take_meaning(struct store *s, uint64_t id, const struct vector *v);
/* Names the encoder; vectors of any other are deleted. Errors as store_settings_put. */
int store_set_encoder(struct store *s, const char *model);
/* The document of embedding_list (control/store/embedding.h). */
int store_list_texts(struct store *s, store_document_h *h, void *arg);
int store_keep_vectors(struct store *s, const struct embedding_vectors *v, store_done_h *h,
		       void *arg);

/* ---- extraction ---- */

struct store_episodes {
	uint64_t since_ms;   /* over at that time or later; ms since 1970 */
	uint64_t running_ms; /* of a session that is not over: it has a line from before that */
	unsigned most;	     /* lines */
	const char *without; /* a JSON list of servers that are left out: ["ID", …] */
};
/* The oldest session that is over and has lines of people who had agreed to be remembered, which
 * were not summed up; or one that is not over and has such a line from before running_ms, or `most`
 * of them: {"guild": "ID", "session", "channel": "ID", "extracted": the last line from
 * which facts were extracted before, "servers": the number of servers with sessions since since_ms,
 * "lines": [{"id", "user": "ID", "name", "at_ms", "text"}, …]}, the oldest lines first. ENOENT:
 * there is none. */
int store_next_episode(struct store *s, const struct store_episodes *what, store_document_h *h,
		       void *arg);
struct store_episode {
	uint64_t guild, session, channel;
	uint64_t line;	     /* its last one */
	const char *summary; /* {"text", "people": ["ID", …] whose words it sums up, "lines": ids
			      * of those that it rests on}; NULL: none */
};
/* Lines of this session up to this one are not given again, and their summary is kept; neither if
 * one of its lines or the words of one of its people are gone by now. */
int store_end_episode(struct store *s, const struct store_episode *e);
struct store_pairs {
	uint64_t day;	     /* number of the day whose reflection it is */
	uint64_t since_ms;   /* its beginning: ms since 1970 */
	unsigned most;	     /* pairs of a server on this day */
	const char *without; /* as above */
};
/* Facts that a reflection decides about (control/store/fact_pairs.h): {"guild": "ID", "owner": "ID"
 * whose memory, "user": "ID" of their author, "servers": that have facts, "mark", "pairs":
 * [{"older": id, "was": text, "older_ms", "newer": id, "is": text, "newer_ms"}, …]}. No pairs: it
 * looked at some facts and there are more. ENOENT: the day is done, or the first day has to come.
 */
int store_next_pairs(struct store *s, const struct store_pairs *what, store_document_h *h,
		     void *arg);
struct store_decisions {
	uint64_t guild, owner, user, mark; /* as they were given */
	/* {"pairs": [{"older", "newer", "relation": a name of control/memory/reflect.h}, …]} */
	const char *request;
};
/* The document: {"merged", "updated", "conflicts", "kept"}: pairs. The facts up to the mark are
 * given no more. */
int store_end_pairs(struct store *s, const struct store_decisions *what, store_document_h *h,
		    void *arg);
enum { STORE_SUMMARIES = 3 };
/* The newest summaries of a voice channel, of sessions that began at since_ms or later:
 * [{"session", "line", "text", "ended_ms", "people": ["ID", …]}, …], the newest first. ended_ms:
 * the end of the session, or its beginning if nobody knows the end. */
int store_find_summaries(struct store *s, uint64_t guild, uint64_t channel, uint64_t since_ms,
			 store_document_h *h, void *arg);

/* ---- one person ---- */

/* The sound of an utterance: G.711 mu-law at 24 kHz. */
enum { STORE_RECORDING_MAX = 30 * 24000 };
struct store_recording {
	uint64_t guild, session, user, at_ms;
	uint32_t utterance, ms;
	const uint8_t *sound; /* copied */
	size_t n;	      /* at most STORE_RECORDING_MAX */
};
/* Keeps it for keep_audio_hours. EMSGSIZE, ENOSPC, ENOMEM: it is not kept. */
int store_keep_recording(struct store *s, const struct store_recording *r);
/* Deletes those of this person in this server. Errors as store_settings_put. */
int store_drop_recordings(struct store *s, uint64_t guild, uint64_t user);
/* The recording of an utterance of this row of turns: bytes instead of JSON, and none where there
 * is no recording; author: "SERVER PERSON", version: ms. Errors as store_settings_put. */
int store_read_recording(struct store *s, uint64_t row, uint64_t utterance, store_document_h *h,
			 void *arg);

struct store_consent {
	uint64_t guild, user;
	const char *before, *after; /* names of control/consent/consent.h */
	const char *via;	    /* "/consent" */
	bool grants;		    /* allows more than was allowed before */
	bool by_default;	    /* before is "default", by which the person was remembered */
};
/* Saves a consent and its row of the ledger, synced to the disk. Errors as store_settings_put. */
int store_put_consent(struct store *s, const struct store_consent *consent, store_done_h *h,
		      void *arg);
/* One person's data: the document of control/store/export.h, of at most EXPORT_MAX bytes;
 * version: how many rows it leaves out. */
int store_export_person(struct store *s, uint64_t user, store_document_h *h, void *arg);
/* Records the request to erase this person, synced to the disk, and lists the servers whose memory
 * may know them; version: the server. The request stays until the person is erased, so that the
 * next control goes on with an erasure that a crash has interrupted. only_known: records nothing
 * about somebody whom no server knows. */
int store_begin_erasure(struct store *s, uint64_t user, bool only_known, store_list_h *h,
			void *arg);
/* Erases a person (control/store/erase.h). The document is the receipt. via: who asked;
 * unrecorded: as in struct erase. */
int store_erase_person(struct store *s, uint64_t user, const char *via, bool unrecorded,
		       store_document_h *h, void *arg);
/* The document is the receipt of the last erasure of this person, or null. */
int store_find_receipt(struct store *s, uint64_t user, store_document_h *h, void *arg);
/* Erasures that were requested, by store_begin_erasure or `control --erase`, and are not done;
 * version: the user. */
int store_list_erase_requests(struct store *s, store_list_h *h, void *arg);
/* True if there are such requests. Before the loop runs. */
bool store_has_erase_requests(const char *dir);
/* True if words of written messages are kept. Before the loop runs. */
bool store_has_messages(const char *dir);
/* {"key": the subject key, "rows": {"GUILD:MAC": state}, "since": {"GUILD:MAC": when that was
 * answered}, "unread_before": {"GUILD:MAC": until when they refused to be read, "0:MAC": when they
 * were erased}, "withdrawn": {"GUILD": when somebody there last came to allow less, "0": when
 * somebody was last erased}} (control/store/subject.h), times in ms. NULL when there is no
 * database. The caller owns *out. Before the loop runs. Errors of consents_read
 * (control/store/consents.h). */
int store_read_consents(const char *dir, json_t **out);

/* ---- what pages read ---- */

enum store_reading {
	STORE_TURNS,
	STORE_TURN,
	STORE_ERRORS,
	STORE_COSTS,
	STORE_AUDIT,
	STORE_CALLS,
	STORE_FACTS,
	STORE_SESSIONS,
	STORE_ACTIONS,
	STORE_WRITES,
	STORE_SUBJECTS,
	STORE_REFLECTIONS,
	STORE_CHAIN /* whether the audit is whole */
};
enum { STORE_READ_MAX = 100, STORE_ACTIONS_MAX = 1000 };
struct store_query {
	enum store_reading what;
	uint64_t guild, user; /* 0: any */
	/* of turns; of facts: letters that they hold; of actions: kinds as ",a,b,"; of the audit:
	 * the kind; "": any */
	const char *reason;
	uint64_t session; /* of actions: the start of the voice session, 0: any */
	/* JSON array of the voice channels that are read; NULL: all. Of turns, calls, sessions and
	 * actions. */
	const char *channels;
	uint64_t since_ms;
	uint64_t before_ms; /* of turns: earlier than this, 0: any */
	uint64_t row;	    /* of STORE_TURN; else older than this `next`, 0: the newest */
	unsigned most;	    /* at most STORE_READ_MAX, of actions STORE_ACTIONS_MAX */
	bool words;	    /* what people and the bot said, as far as it is kept */
	bool operators;	    /* what operators may see, too */
	bool timeline;	    /* of turns: each with its timeline and stages */
};
/* The document is the answer of the API (control/store/history.h). ENOENT: there is no such turn;
 * ETIMEDOUT: it took too long. Errors as store_settings_put. */
int store_read_history(struct store *s, const struct store_query *q, store_document_h *h,
		       void *arg);

/* ---- what a restart needs ---- */

#define STORE_META_WEB "web_sessions"
/* The sessions of browsers (control/web/sessions.h); copied. Errors as store_settings_put. */
int store_save_web(struct store *s, const char *document);
/* As it was saved; NULL: nothing was. The caller owns it. Before the loop runs. */
json_t *store_read_web(const char *dir);

/* Text is copied. Each replaces what was there; document NULL: forgotten. Errors as
 * store_settings_put. */
int store_save_guild(struct store *s, uint64_t guild, const char *document);
int store_drop_guilds(struct store *s);
/* The queue of music (control/music/queue_document.h) of this server. */
int store_save_queue(struct store *s, uint64_t guild, const char *document);
/* The position in its present track (the id of that entry; frames) has changed, and nothing else
 * since it was saved. A document with another present track does not get it. */
int store_save_position(struct store *s, uint64_t guild, uint32_t track, uint64_t position);
/* Writes session.json into the state directory, mode 0600, after all that was handed over before;
 * `instead` when a guild could not be saved since store_drop_guilds, so that nobody resumes a
 * session whose guilds are not known. */
int store_save_session(struct store *s, const char *text, const char *instead);
/* {guild: document} as it was saved; NULL when there is no database. The caller owns it. Before the
 * loop runs. */
json_t *store_read_guilds(const char *dir);
/* The same of queues of music. */
json_t *store_read_queues(const char *dir);
/* What a restart is to know of written messages: rows of control/text/taken.h as a JSON text, [row,
 * …], copied. Kept for STORE_TAKEN_DAYS. h may be NULL. Errors as store_settings_put. */
enum { STORE_TAKEN_DAYS = 8 };
int store_save_taken(struct store *s, const char *rows, store_done_h *h, void *arg);
/* [row, …], the newest first. NULL when there is no database. The caller owns it. Before the loop
 * runs. */
json_t *store_read_taken(const char *dir);
/* Speech in this voice channel since then (ms since 1970), as far as words are kept: the
 * newest turns that were answered, oldest first, as [{"at_ms", "user": "ID", "name", "text"} or
 * {"at_ms", "bot": true, "cut", "tainted": strangers' text was read before it, "text"}, …]. NULL
 * when there is no database. The caller owns it. Before the loop runs. */
json_t *store_read_words(const char *dir, uint64_t guild, uint64_t channel, uint64_t since_ms);

/* ---- all of it ---- */

/* err when all that was handed over before is written, or was shed. */
int store_sync(struct store *s, store_done_h *h, void *arg);
/* err: 0, or why the disk has no room, once a write has found it full. */
int store_check_room(struct store *s, store_done_h *h, void *arg);

#endif
