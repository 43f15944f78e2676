#include "control/store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/store/audit_waiting.h"
#include "control/store/embedding.h"
#include "control/store/job.h"
#include "control/store/rows.h"
#include "control/store/store_inside.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/worker.h"
#include "proto/base/time.h"

#define MIN UINT64_C(60000000000)
enum {
	REQUESTS_MAX = 4096,
	STORE_REQUEST_BYTES = 16 << 20,
	EXPIRE_MIN = 10,
	EXPIRE_FIRST_S = 1,
	HOUR_MS = 3600000,
	WAITING_MAX = 64,
	/* Of a search, after which it makes do with what it has found. */
	PROMPT_MS = 200, /* for a prompt, which seldom waits for so long */
	SEARCH_MS = 2000,
};

/* A pending request and the recipient of its answer. */
struct request {
	struct request *next;
	uint64_t id;
	store_document_h *documenth;
	store_list_h *listh;
	store_done_h *doneh;
	void *arg;
	uint64_t forgets; /* facts of this server; 0: none */
};

/* A search that waits for the vector of its question. */
struct waiting {
	struct waiting *next;
	uint64_t id;
	struct job job;
	struct request who;
};

struct store {
	struct env *env;
	const struct settings *settings;
	struct worker *worker;
	struct tmr *expire_tmr;
	struct queue queue;
	struct job_runner runner; /* the worker's, until it is freed */
	struct request *requests;
	uint64_t last_id;
	atomic_size_t held; /* bytes of the jobs that are out */
	struct waiting *waiting;
	unsigned n_waiting;
	store_meaning_h *meaningh; /* NULL: questions need no vector from elsewhere */
	void *meaning_arg;
	store_forgotten_h *forgottenh;
	void *forgotten_arg;
};

/* ---- history ---- */

static void count_shed(struct store *s, bool shed)
{
	if (shed && !s->queue.shed++)
		log_warn("history_shed", "waiting=%d", STORE_QUEUE);
	if (shed || !s->queue.shed)
		return;
	log_warn("history_shed_until_now", "events=%lu", s->queue.shed);
	s->queue.shed = 0;
}

static size_t text_bytes(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static size_t job_bytes(const struct job *j)
{
	return sizeof *j + text_bytes(j->scope) + text_bytes(j->text) + text_bytes(j->author) +
	       (j->meaning ? sizeof *j->meaning : 0) + (j->vectors ? sizeof *j->vectors : 0) +
	       j->sound_n;
}

/* Those that a slow disk keeps waiting hold enough memory. */
static bool is_full(struct store *s, const struct job *proto)
{
	return job_bytes(proto) > STORE_REQUEST_BYTES - atomic_load(&s->held);
}

static void drop_texts(const struct job *j)
{
	free(j->scope);
	free(j->text);
	free(j->author);
	free(j->meaning);
	free(j->vectors);
	free(j->sound);
}

/* Takes the texts in any case. */
static int make_job(struct store *s, const struct job *proto, bool full, struct job **out)
{
	struct job *j = full ? NULL : malloc(sizeof *j);

	if (!j) {
		drop_texts(proto);
		return full ? ENOSPC : ENOMEM;
	}
	*j = *proto;
	j->bytes = job_bytes(proto);
	j->held = &s->held;
	atomic_fetch_add(&s->held, j->bytes);
	*out = j;
	return 0;
}

static int post_job(struct store *s, const struct job *proto)
{
	struct job *j = NULL;
	int err = make_job(s, proto, is_full(s, proto), &j);

	if (!err)
		err = worker_post(s->worker, j);
	if (err)
		job_free(j);
	return err;
}

int store_post(struct store *s, const struct job *proto)
{
	return (int)env_answer(s->env, post_job(s, proto));
}

static void post_history(struct store *s)
{
	if (post_job(s, &(struct job){.kind = JOB_HISTORY}) == 0)
		return;
	/* The next event tries again. */
	pthread_mutex_lock(&s->queue.lock);
	s->queue.posted = false;
	pthread_mutex_unlock(&s->queue.lock);
}

static void on_event(const struct bus_event *ev, void *arg)
{
	struct store *s = arg;
	struct record *r;
	bool shed = true, post = false;
	size_t bytes = 0;

	if (env_replaying(s->env))
		return;
	if (rows_audited(ev))
		audit_waiting_add(s->queue.waiting, 1);
	r = malloc(sizeof *r);
	if (r) {
		*r = (struct record){.ev = bus_event_copy(ev, &bytes),
				     .words = s->settings->store_words_hours > 0 &&
					      !s->settings->unread};
		if (r->ev)
			post = record_queue_push(&s->queue, r, bytes, &shed);
		if (shed)
			record_free(r);
	}
	if (shed && rows_audited(ev))
		post = record_queue_mark(&s->queue, ev->at_ms);
	count_shed(s, shed);
	if (post)
		post_history(s);
}

/* Recordings from before this time are too old, or will be within ms; with the setting 0 all are.
 */
static uint64_t audio_since(const struct store *s, uint64_t ms)
{
	uint64_t keep = (uint64_t)s->settings->keep_audio_hours * HOUR_MS;

	return keep ? env_wall_ms(s->env) - (keep > ms ? keep - ms : 0) : INT64_MAX;
}

static void on_expire(void *arg)
{
	struct store *s = arg;
	uint64_t now = env_wall_ms(s->env);
	uint64_t keep = (uint64_t)s->settings->store_words_hours * HOUR_MS;
	uint64_t facts = keep ? (uint64_t)s->settings->memory_days * 24 * HOUR_MS : 0;

	/* Rows that would be too old by the next time go now. */
	if (keep)
		keep -= EXPIRE_MIN * MIN / NS_PER_MS;
	/* Settings that nobody can read may want them kept for longer. */
	if (!s->settings->unread)
		post_job(s, &(struct job){.kind = JOB_EXPIRE,
					  .now_ms = now,
					  .max_bytes = (uint64_t)s->settings->store_max_mb << 20,
					  .audio_ms = audio_since(s, EXPIRE_MIN * MIN / NS_PER_MS),
					  .words_ms = now > keep ? now - keep : 0,
					  .facts_ms = now > facts ? now - facts : 0});
	tmr_start(s->expire_tmr, EXPIRE_MIN * MIN);
}

/* ---- requests ---- */

static void drop_request(struct store *s, uint64_t id, struct request *out)
{
	for (struct request **at = &s->requests; *at; at = &(*at)->next) {
		struct request *r = *at;

		if (r->id != id)
			continue;
		*out = *r;
		*at = r->next;
		free(r);
		return;
	}
}

/* Takes the job's texts. */
static int put_job(struct store *s, const struct job *proto, const struct request *who)
{
	struct request *r, gone;
	struct job *j = NULL;
	bool full = env_answer(s->env, is_full(s, proto)) != 0;
	int err = make_job(s, proto, full, &j);

	if (err)
		return err;
	r = malloc(sizeof *r);
	if (!r) {
		job_free(j);
		return ENOMEM;
	}
	*r = *who;
	r->id = j->id = ++s->last_id;
	r->next = s->requests;
	s->requests = r;
	err = worker_put(s->worker, j, r->id);
	if (err) {
		drop_request(s, r->id, &gone);
		job_free(j);
	}
	return err;
}

void store_forget(struct store *s, const void *arg)
{
	for (struct waiting *w = s->waiting; w; w = w->next)
		if (w->who.arg == arg)
			w->who.documenth = NULL;
	for (struct request *r = s->requests; r; r = r->next)
		if (r->arg == arg) {
			r->documenth = NULL;
			r->listh = NULL;
			r->doneh = NULL;
		}
}

/* One document of an answer, made texts. False at its end. */
static bool read_document(const uint8_t **p, size_t *n, struct store_document *out, char **texts)
{
	struct answer_document d;
	size_t need;

	*texts = NULL;
	if (*n < sizeof d)
		return false;
	memcpy(&d, *p, sizeof d);
	need = sizeof d + (size_t)d.author + d.text;
	if (*n < need)
		return false;
	*texts = malloc((size_t)d.author + d.text + 2);
	if (!*texts)
		return false;
	memcpy(*texts, *p + sizeof d, d.author);
	(*texts)[d.author] = '\0';
	memcpy(*texts + d.author + 1, *p + sizeof d + d.author, d.text);
	(*texts)[(size_t)d.author + 1 + d.text] = '\0';
	*out = (struct store_document){.version = d.version,
				       .updated_ms = d.updated_ms,
				       .author = *texts,
				       .document = *texts + d.author + 1,
				       .size = d.text};
	*p += need;
	*n -= need;
	return true;
}

static void give_list(const struct request *r, int err, uint32_t n, const uint8_t *p, size_t len)
{
	size_t most = len / sizeof(struct answer_document), got = 0;
	struct store_document *list = calloc(n < most ? n + 1 : most + 1, sizeof *list);
	char *texts;

	/* author is the beginning of both texts. */
	while (list && got < n && read_document(&p, &len, &list[got], &texts))
		got++;
	r->listh(!list || got < n ? (err ? err : ENOMEM) : err, list, got, r->arg);
	for (size_t i = 0; i < got; i++)
		free((char *)(uintptr_t)list[i].author);
	free(list);
}

static void give_document(const struct request *r, int err, const uint8_t *p, size_t len)
{
	struct store_document d = {.document = "", .author = ""};
	char *texts = NULL;

	read_document(&p, &len, &d, &texts);
	r->documenth(err, &d, r->arg);
	free(texts);
}

static bool another_waits(void *arg)
{
	struct store *s = arg;

	return worker_waits(s->worker);
}

static void run_job(void *job, struct worker_answer *answer, void *arg)
{
	struct store *s = arg;

	job_run(job, answer, &s->runner);
}

static void on_answer(void *job, uint64_t owner, const uint8_t *p, size_t len, void *arg)
{
	struct store *s = arg;
	struct answer_head h = {.err = ENOMEM};
	struct request r = {0};

	drop_request(s, owner, &r);
	job_free(job);
	if (len >= sizeof h) {
		memcpy(&h, p, sizeof h);
		p += sizeof h;
		len -= sizeof h;
	}
	if (r.forgets && !h.err && s->forgottenh)
		s->forgottenh(r.forgets, s->forgotten_arg);
	if (r.documenth)
		give_document(&r, h.err, p, len);
	else if (r.listh)
		give_list(&r, h.err, h.n, p, len);
	else if (r.doneh)
		r.doneh(h.err, r.arg);
}

/* ---- settings documents ---- */

int store_settings_put(struct store *s, const struct store_put *put, store_document_h *h, void *arg)
{
	struct job j = {.kind = JOB_PUT_DOCUMENT,
			.compare = put->compare,
			.version = put->version,
			.now_ms = env_wall_ms(s->env)};

	if (strlen(put->document) > STORE_DOCUMENT_MAX)
		return EMSGSIZE;
	j.scope = strdup(put->scope);
	j.text = strdup(put->document);
	j.author = strdup(put->author ? put->author : "");
	if (!j.scope || !j.text || !j.author) {
		free(j.scope);
		free(j.text);
		free(j.author);
		return ENOMEM;
	}
	return put_job(s, &j, &(struct request){.documenth = h, .arg = arg});
}

int store_settings_get(struct store *s, const char *scope, uint64_t version, store_document_h *h,
		       void *arg)
{
	struct job j = {.kind = JOB_GET_DOCUMENT, .version = version, .scope = strdup(scope)};

	return j.scope ? put_job(s, &j, &(struct request){.documenth = h, .arg = arg}) : ENOMEM;
}

int store_settings_list(struct store *s, const char *scope, store_list_h *h, void *arg)
{
	struct job j = {.kind = JOB_LIST_DOCUMENTS, .scope = strdup(scope)};

	return j.scope ? put_job(s, &j, &(struct request){.listh = h, .arg = arg}) : ENOMEM;
}

int store_sum_costs(struct store *s, uint64_t since_ms, store_list_h *h, void *arg)
{
	return put_job(s, &(struct job){.kind = JOB_SUM_COSTS, .any = true, .now_ms = since_ms},
		       &(struct request){.listh = h, .arg = arg});
}

int store_sum_memory_costs(struct store *s, uint64_t since_ms, store_list_h *h, void *arg)
{
	return put_job(s, &(struct job){.kind = JOB_SUM_COSTS, .now_ms = since_ms},
		       &(struct request){.listh = h, .arg = arg});
}

/* ---- an encoder elsewhere ---- */

void store_ask_meanings(struct store *s, store_meaning_h *h, void *arg)
{
	s->meaningh = h;
	s->meaning_arg = arg;
}

/* Takes the job's texts. The job waits for the vector of its question if somebody embeds it. */
static int put_question(struct store *s, const struct job *j, const struct request *who,
			const struct store_question *question)
{
	struct waiting *w = NULL;

	if (s->meaningh && *question->words && s->n_waiting < WAITING_MAX)
		w = calloc(1, sizeof *w);
	if (!w)
		return put_job(s, j, who);
	*w = (struct waiting){.next = s->waiting, .id = ++s->last_id, .job = *j, .who = *who};
	if (!s->meaningh(question, w->id, s->meaning_arg)) {
		free(w);
		return put_job(s, j, who);
	}
	s->waiting = w;
	s->n_waiting++;
	return 0;
}

/* No longer wanted, or put now. */
static void end_waiting(struct store *s, struct waiting *w, const struct vector *v)
{
	int err;

	if (!w->who.documenth) {
		drop_texts(&w->job);
		return;
	}
	if (v && (w->job.meaning = malloc(sizeof *v)))
		*w->job.meaning = *v;
	err = put_job(s, &w->job, &w->who);
	if (err)
		w->who.documenth(err, &(struct store_document){.document = "", .author = ""},
				 w->who.arg);
}

void store_take_meaning(struct store *s, uint64_t id, const struct vector *v)
{
	for (struct waiting **at = &s->waiting; *at; at = &(*at)->next) {
		struct waiting *w = *at;

		if (w->id != id)
			continue;
		*at = w->next;
		s->n_waiting--;
		end_waiting(s, w, v);
		free(w);
		return;
	}
}

int store_set_encoder(struct store *s, const char *model)
{
	struct job j = {.kind = JOB_SET_ENCODER, .text = strdup(model)};

	return j.text ? store_post(s, &j) : ENOMEM;
}

int store_list_texts(struct store *s, store_document_h *h, void *arg)
{
	return put_job(s, &(struct job){.kind = JOB_LIST_TEXTS},
		       &(struct request){.documenth = h, .arg = arg});
}

int store_keep_vectors(struct store *s, const struct embedding_vectors *v, store_done_h *h,
		       void *arg)
{
	struct job j = {.kind = JOB_KEEP_VECTORS, .vectors = malloc(sizeof *v)};

	if (!j.vectors)
		return ENOMEM;
	*j.vectors = *v;
	return put_job(s, &j, &(struct request){.doneh = h, .arg = arg});
}

/* ---- searches ---- */

int store_find_said(struct store *s, const struct store_said *what, store_document_h *h, void *arg)
{
	struct job j = {.kind = JOB_FIND_SAID,
			.guild = what->guild,
			.channel = what->channel,
			.now_ms = what->since_ms > INT64_MAX ? INT64_MAX : what->since_ms,
			.until_ms = what->until_ms,
			.shared = what->held,
			.bot = what->bot,
			.when = what->when ? *what->when : (struct time_window){0},
			.urgent = what->wait_ms != 0,
			.search_ms = what->wait_ms ? PROMPT_MS : SEARCH_MS,
			.version = what->most < STORE_SAID_MAX ? what->most : STORE_SAID_MAX,
			.user = what->bot ? 0 : what->user,
			.scope = strdup(what->people ? what->people : ""),
			.author = strdup(what->user || what->bot ? "" : what->name),
			.text = strdup(what->words)};

	if (!j.scope || !j.author || !j.text) {
		free(j.scope);
		free(j.author);
		free(j.text);
		return ENOMEM;
	}
	return put_question(s, &j, &(struct request){.documenth = h, .arg = arg},
			    &(struct store_question){what->words, what->wait_ms});
}

static int post_facts(struct store *s, enum job_kind kind, const struct store_facts *f,
		      store_document_h *h, void *arg)
{
	struct job j = {.kind = kind,
			.urgent = f->wait_ms != 0,
			.search_ms = f->wait_ms ? PROMPT_MS : SEARCH_MS,
			.guild = f->guild,
			.channel = f->channel,
			.said_in = f->said_in,
			.owner = f->owner,
			.user = f->user,
			.any = f->any,
			.by_operator = f->by_operator,
			.now_ms = env_wall_ms(s->env),
			.until_ms = f->since_ms,
			.version = f->most,
			.author = strdup(f->name ? f->name : ""),
			.text = strdup(f->request)};

	if (!j.author || !j.text) {
		free(j.author);
		free(j.text);
		return ENOMEM;
	}
	return put_question(
		s, &j,
		&(struct request){.documenth = h,
				  .arg = arg,
				  .forgets = kind == JOB_FORGET_FACTS || kind == JOB_FORGET_GUILD
						     ? f->guild
						     : 0},
		&(struct store_question){f->question ? f->question : "", f->wait_ms});
}

void store_watch_forgotten(struct store *s, store_forgotten_h *h, void *arg)
{
	s->forgottenh = h;
	s->forgotten_arg = arg;
}

int store_write_facts(struct store *s, const struct store_facts *f, store_document_h *h, void *arg)
{
	return post_facts(s, JOB_WRITE_FACTS, f, h, arg);
}

int store_find_facts(struct store *s, const struct store_facts *f, store_document_h *h, void *arg)
{
	return post_facts(s, JOB_FIND_FACTS, f, h, arg);
}

int store_forget_facts(struct store *s, const struct store_facts *f, store_document_h *h, void *arg)
{
	return post_facts(s, JOB_FORGET_FACTS, f, h, arg);
}

int store_forget_guild(struct store *s, uint64_t guild, store_document_h *h, void *arg)
{
	return post_facts(s, JOB_FORGET_GUILD,
			  &(struct store_facts){.guild = guild, .request = "{}"}, h, arg);
}

int store_request(struct store *s, const struct job *proto, store_document_h *h, void *arg)
{
	return put_job(s, proto, &(struct request){.documenth = h, .arg = arg});
}

uint64_t store_now_ms(struct store *s)
{
	return env_wall_ms(s->env);
}

/* Takes the job whose texts were copied, or not for want of memory. */
static int put_copied(struct store *s, const struct job *j, const struct request *who)
{
	if (j->scope && j->text && j->author)
		return put_job(s, j, who);
	free(j->scope);
	free(j->text);
	free(j->author);
	return ENOMEM;
}

int store_put_consent(struct store *s, const struct store_consent *consent, store_done_h *h,
		      void *arg)
{
	const struct job j = {.kind = JOB_PUT_CONSENT,
			      .guild = consent->guild,
			      .user = consent->user,
			      .now_ms = env_wall_ms(s->env),
			      .scope = strdup(consent->before),
			      .text = strdup(consent->after),
			      .author = strdup(consent->via),
			      .grants = consent->grants,
			      .any = consent->by_default};

	return put_copied(s, &j, &(struct request){.doneh = h, .arg = arg});
}

int store_save_taken(struct store *s, const char *rows, store_done_h *h, void *arg)
{
	const struct job j = {
		.kind = JOB_SAVE_TAKEN, .now_ms = env_wall_ms(s->env), .text = strdup(rows)};

	return j.text ? put_job(s, &j, &(struct request){.doneh = h, .arg = arg}) : ENOMEM;
}

int store_export_person(struct store *s, uint64_t user, store_document_h *h, void *arg)
{
	return put_job(
		s, &(struct job){.kind = JOB_EXPORT, .user = user, .now_ms = env_wall_ms(s->env)},
		&(struct request){.documenth = h, .arg = arg});
}

int store_begin_erasure(struct store *s, uint64_t user, bool only_known, store_list_h *h, void *arg)
{
	struct job j = {.kind = JOB_BEGIN_ERASE, .user = user, .any = only_known};

	j.now_ms = env_wall_ms(s->env);
	return put_job(s, &j, &(struct request){.listh = h, .arg = arg});
}

int store_erase_person(struct store *s, uint64_t user, const char *via, bool unrecorded,
		       store_document_h *h, void *arg)
{
	const struct job j = {.kind = JOB_ERASE,
			      .user = user,
			      .any = unrecorded,
			      .now_ms = env_wall_ms(s->env),
			      .scope = strdup(s->settings->turns_file),
			      .text = strdup(s->settings->room_journals),
			      .author = strdup(via)};

	return put_copied(s, &j, &(struct request){.documenth = h, .arg = arg});
}

int store_find_receipt(struct store *s, uint64_t user, store_document_h *h, void *arg)
{
	return put_job(s, &(struct job){.kind = JOB_FIND_RECEIPT, .user = user},
		       &(struct request){.documenth = h, .arg = arg});
}

int store_list_erase_requests(struct store *s, store_list_h *h, void *arg)
{
	return put_job(s, &(struct job){.kind = JOB_LIST_ERASE_REQUESTS},
		       &(struct request){.listh = h, .arg = arg});
}

int store_sync(struct store *s, store_done_h *h, void *arg)
{
	return put_job(s, &(struct job){.kind = JOB_SYNC},
		       &(struct request){.doneh = h, .arg = arg});
}

int store_check_room(struct store *s, store_done_h *h, void *arg)
{
	return put_job(s, &(struct job){.kind = JOB_CHECK_ROOM},
		       &(struct request){.doneh = h, .arg = arg});
}

/* ---- recordings ---- */

int store_read_recording(struct store *s, uint64_t row, uint64_t utterance, store_document_h *h,
			 void *arg)
{
	return put_job(s,
		       &(struct job){.kind = JOB_READ_RECORDING,
				     .until_ms = row,
				     .version = utterance,
				     .now_ms = audio_since(s, 0)},
		       &(struct request){.documenth = h, .arg = arg});
}

/* ---- making ---- */

static int subscribe(struct store *s, struct bus *bus)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < EVENT_COUNT; i++)
		if (rows_kept(&(struct bus_event){.type = (enum event_type)i}))
			mask |= BUS_MASK(i);
	return bus_subscribe(bus, mask, on_event, s);
}

/* Without its file a kill loses rows of the audit that nobody can count. */
static void count_waiting(struct store *s, const char *dir)
{
	int err = audit_waiting_open(&s->queue.waiting, dir, &s->runner.handed_over);

	if (err)
		log_warn("audit_waiting", "folder=%s error=\"%s\"", dir, strerror(err));
}

int store_alloc(struct store **out, struct env *env, struct bus *bus,
		const struct settings *settings, const char *dir)
{
	struct worker_conf conf = {.name = "store",
				   .max = REQUESTS_MAX,
				   .outside = true,
				   .finish = true,
				   .runh = run_job,
				   .doneh = on_answer,
				   .freeh = job_free};
	struct store *s = calloc(1, sizeof *s);
	int err = 0;

	if (!s)
		return ENOMEM;
	s->env = env;
	s->settings = settings;
	s->queue.tail = &s->queue.head;
	pthread_mutex_init(&s->queue.lock, NULL);
	s->runner.queue = &s->queue;
	s->runner.waitsh = another_waits;
	s->runner.arg = s;
	if ((size_t)snprintf(s->runner.dir, sizeof s->runner.dir, "%s", dir) >=
	    sizeof s->runner.dir)
		err = ENAMETOOLONG;
	if (!err && !env_replaying(env))
		count_waiting(s, dir);
	snprintf(s->runner.embedder, sizeof s->runner.embedder, "%s", settings->memory_embedder);
	s->runner.elsewhere = settings_role(settings, ROLE_EMBED, 0) != NULL;
	conf.arg = s;
	if (!err)
		err = worker_alloc(&s->worker, env, &conf);
	if (!err)
		err = tmr_alloc(&s->expire_tmr, env, on_expire, s);
	if (!err)
		err = subscribe(s, bus);
	if (err) {
		store_free(s);
		return err;
	}
	tmr_start(s->expire_tmr, EXPIRE_FIRST_S * NS_PER_S);
	*out = s;
	return 0;
}

void store_keep_all(struct store *s)
{
	tmr_stop(s->expire_tmr);
}

struct store *store_free(struct store *s)
{
	struct request *r;
	struct waiting *w;
	struct record *left;

	if (!s)
		return NULL;
	tmr_free(s->expire_tmr);
	worker_free(s->worker);
	job_runner_close(&s->runner);
	while ((w = s->waiting)) {
		s->waiting = w->next;
		drop_texts(&w->job);
		free(w);
	}
	while ((r = s->requests)) {
		s->requests = r->next;
		free(r);
	}
	while ((left = s->queue.head)) {
		s->queue.head = left->next;
		record_free(left);
	}
	audit_waiting_close(s->queue.waiting);
	pthread_mutex_destroy(&s->queue.lock);
	free(s);
	return NULL;
}
