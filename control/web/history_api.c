/* What pages read over HTTP of the history in the store, and who waits for it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/store.h"
#include "control/web/inside.h"
#include "control/web/list_query.h"
#include "ipc/env.h"

/* The last places are for operators, and a client has a share: a browser with some tabs asks for
 * several pages at a time, which wait here. What goes to the store at once, such as a search of the
 * memory, waits there among the prompts: of that a client has a few. */
enum {
	READS_MAX = 64,
	READS_KEPT = 16,
	READS_EACH = 16,
	READS_DIRECT = 12,
	READS_DIRECT_EACH = 4,
	DAY_MS = 86400000
};

/* One that waits for the store. */
struct read {
	struct reads *all;
	struct http_exchange *x; /* NULL: its client is gone */
	uint64_t tag;		 /* whose it is (http_tag) */
	enum web_role role;
	read_done_h *doneh;
	bool used;
	bool direct; /* the store was asked at once */
	/* A page of the history that the store has not been asked for yet. */
	uint64_t order; /* 0: it has been */
	uint64_t round; /* of its client's pages: they are read in turn with those of others */
	struct store_query query;
	char reason[ACTION_KINDS_SIZE];
	char *channels; /* own, or NULL */
};

/* The store reads one page at a time: a prompt that wants the memory waits behind one at most. */
struct reads {
	struct web *web;
	struct store *store;
	struct read v[READS_MAX];
	struct read *asked; /* a page that the store reads; NULL */
	uint64_t orders, round;
};

int reads_alloc(struct reads **out, struct web *w, struct store *store)
{
	struct reads *r = calloc(1, sizeof *r);

	if (!r)
		return ENOMEM;
	r->web = w;
	r->store = store;
	for (unsigned i = 0; i < READS_MAX; i++)
		r->v[i].all = r;
	*out = r;
	return 0;
}

struct reads *reads_free(struct reads *r)
{
	if (!r)
		return NULL;
	for (unsigned i = 0; r->store && i < READS_MAX; i++)
		store_forget(r->store, &r->v[i]);
	for (unsigned i = 0; i < READS_MAX; i++)
		free(r->v[i].channels);
	free(r);
	return NULL;
}

struct store *web_reads_store(const struct web *w)
{
	return web_reads(w)->store;
}

static void lose_read(struct http_exchange *x, void *arg)
{
	struct read *read = arg;

	(void)x;
	read->x = NULL;
}

static void answer_read(struct read *read, int err, const struct store_document *document)
{
	struct http_exchange *x = read->x;

	read->used = false;
	read->x = NULL;
	read->order = 0;
	free(read->channels);
	read->channels = NULL;
	if (!x)
		return;
	http_on_gone(x, NULL, NULL);
	/* The session may have ended since the head: nobody looks at it again, and a stream that
	 * began now would outlive it. */
	if (access_role(web_access(read->all->web), x) < read->role)
		web_refuse(x, WEB_UNAUTHORIZED);
	else if (err)
		web_refuse(x, err == ENOENT ? WEB_NO_SUCH_TURN : WEB_NO_HISTORY);
	else if (read->doneh)
		read->doneh(read->all->web, x, read->role, document);
	else
		web_send_text(x, 200, "application/json", document->document);
}

static bool is_before(const struct read *a, const struct read *b)
{
	if ((a->role >= WEB_OPERATOR) != (b->role >= WEB_OPERATOR))
		return a->role >= WEB_OPERATOR;
	return a->round != b->round ? a->round < b->round : a->order < b->order;
}

/* Operators first, then one page of each client, then the next of each. */
static struct read *find_next(struct reads *reads)
{
	struct read *next = NULL;

	for (unsigned i = 0; i < READS_MAX; i++)
		if (reads->v[i].order && (!next || is_before(&reads->v[i], next)))
			next = &reads->v[i];
	return next;
}

/* Behind those of its client that wait, and not before whoever is read now. */
static void line_up(struct reads *reads, struct read *read)
{
	read->round = reads->round;
	for (unsigned i = 0; i < READS_MAX; i++) {
		const struct read *other = &reads->v[i];

		if (other->order && other->tag == read->tag && other->round >= read->round)
			read->round = other->round + 1;
	}
	read->order = ++reads->orders;
}

static void ask_next(struct reads *reads)
{
	static const struct store_document none = {.document = "", .author = ""};
	struct read *read;
	int err;

	while (!reads->asked && (read = find_next(reads))) {
		read->order = 0;
		if (read->round > reads->round)
			reads->round = read->round;
		err = read->x ? store_read_history(reads->store, &read->query, web_on_read, read)
			      : ECANCELED;
		if (err)
			answer_read(read, err, &none);
		else
			reads->asked = read;
	}
}

void web_on_read(int err, const struct store_document *document, void *arg)
{
	struct read *read = arg;
	struct reads *reads = read->all;

	if (reads->asked == read)
		reads->asked = NULL;
	answer_read(read, err, document);
	ask_next(reads);
}

/* A free place, or NULL. */
static struct read *find_place(struct reads *reads, uint64_t tag, enum web_role role, bool direct)
{
	struct read *place = NULL;
	unsigned used = 0, own = 0, asked = 0, own_asked = 0;

	for (unsigned i = 0; i < READS_MAX; i++) {
		struct read *read = &reads->v[i];
		bool is_own = read->tag == tag;

		used += read->used;
		own += read->used && is_own;
		asked += read->used && read->direct;
		own_asked += read->used && read->direct && is_own;
		if (!read->used && !place)
			place = read;
	}
	if (direct && (asked == READS_DIRECT || own_asked == READS_DIRECT_EACH))
		return NULL;
	return own < READS_EACH && (role >= WEB_OPERATOR || used < READS_MAX - READS_KEPT) ? place
											   : NULL;
}

static struct read *begin_read(struct web *w, const struct web_request *r, read_done_h *h,
			       bool direct)
{
	struct reads *reads = web_reads(w);
	struct read *read;

	if (!reads->store) {
		web_refuse(r->x, WEB_NO_HISTORY);
		return NULL;
	}
	read = find_place(reads, http_tag(r->x), r->role, direct);
	if (!read) {
		web_refuse(r->x, WEB_BUSY);
		return NULL;
	}
	read->used = true;
	read->x = r->x;
	read->tag = http_tag(r->x);
	read->role = r->role;
	read->doneh = h;
	read->direct = direct;
	return read;
}

struct read *web_read_begin(struct web *w, const struct web_request *r, read_done_h *h)
{
	return begin_read(w, r, h, true);
}

void web_read_begun(const struct web_request *r, struct read *read, int err)
{
	if (!err) {
		http_on_gone(r->x, lose_read, read);
		return;
	}
	read->used = false;
	web_refuse(r->x, err == ENOSPC ? WEB_BUSY : WEB_NO_HISTORY);
}

void web_read(struct web *w, const struct web_request *r, const struct store_query *q,
	      read_done_h *h)
{
	struct reads *reads = web_reads(w);
	struct read *read = begin_read(w, r, h, false);

	if (!read)
		return;
	read->query = *q;
	snprintf(read->reason, sizeof read->reason, "%s", q->reason ? q->reason : "");
	read->query.reason = read->reason;
	/* Without memory it is nothing that is read. */
	read->channels = r->open ? web_open_channels(w, r->scope) : NULL;
	read->query.channels = r->open && !read->channels ? "[]" : read->channels;
	line_up(reads, read);
	http_on_gone(r->x, lose_read, read);
	ask_next(reads);
}

static void list(struct web *w, const struct web_request *r, enum store_reading what)
{
	struct list_query q;

	if (!list_query_read(&q, r->head)) {
		web_refuse(r->x, WEB_BAD_LIST_QUERY);
		return;
	}
	/* Of costs: today's. */
	if (what == STORE_COSTS && !q.since_ms)
		q.since_ms = env_wall_ms(web_env(w)) / DAY_MS * DAY_MS;
	web_read(w, r,
		 &(struct store_query){.what = what,
				       .guild = r->scope ? r->scope : q.guild,
				       .user = q.user,
				       .reason = q.reason,
				       .since_ms = q.since_ms,
				       .before_ms = q.before_ms,
				       .row = q.cursor,
				       .most = q.limit,
				       .timeline = q.timeline,
				       .words = r->role >= WEB_OPERATOR,
				       .operators = r->role >= WEB_OPERATOR},
		 NULL);
}

void web_turns_get(struct web *w, const struct web_request *r)
{
	list(w, r, STORE_TURNS);
}

void web_turn_get(struct web *w, const struct web_request *r)
{
	web_read(w, r,
		 &(struct store_query){.what = STORE_TURN,
				       .row = r->id,
				       .guild = r->scope,
				       .words = r->role >= WEB_OPERATOR},
		 NULL);
}

void web_errors_get(struct web *w, const struct web_request *r)
{
	list(w, r, STORE_ERRORS);
}

void web_costs_get(struct web *w, const struct web_request *r)
{
	list(w, r, STORE_COSTS);
}

void web_audit_get(struct web *w, const struct web_request *r)
{
	list(w, r, STORE_AUDIT);
}

void web_audit_chain_get(struct web *w, const struct web_request *r)
{
	web_read(w, r, &(struct store_query){.what = STORE_CHAIN}, NULL);
}

void web_tool_events_get(struct web *w, const struct web_request *r)
{
	list(w, r, STORE_CALLS);
}

void web_past_sessions_get(struct web *w, const struct web_request *r)
{
	list(w, r, STORE_SESSIONS);
}

void web_reasons_get(struct web *w, const struct web_request *r)
{
	const struct web_conf *c = web_shown(w);

	web_json(r->x, 200, c->reasonsh(c->arg));
}
