#include "control/store/embedding.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/memory/embed/embedder.h"
#include "control/memory/english.h"
#include "control/memory/question.h"
#include "control/memory/vectors.h"
#include "control/store/db.h"
#include "control/store/embedding_queue.h"
#include "ipc/log.h"
#include "proto/base/utf8.h"

enum {
	CACHES = 8,
	BATCH = 128,
	/* Vectors that are read into a cache at most: by a search, and beside other work. */
	LOADED_SEARCHING = 8192,
	LOADED_BESIDE = 65536,
	WORDS_MIN = 5,
	KINDS = 2,
	ELSEWHERE = 128,
	SENT_MIN = 16,
	SENT_MAX = 1024
};

/* The signs of one server's vectors of one kind. */
struct cache {
	struct vectors *vectors; /* NULL: free */
	enum embedding_kind kind;
	uint64_t guild, last; /* the newest row in it */
	bool partial;	      /* there may be newer rows */
	uint64_t used;
};

/* The newest question: facts and lines are searched for the same one. */
struct newest {
	char words[QUESTION_SIZE]; /* "": none */
	struct vector vector;
};

struct embedding {
	void *map;
	size_t size;
	struct embedder *embedder;     /* of the store's worker; NULL: elsewhere */
	struct embedding_queue *queue; /* NULL: elsewhere */
	char elsewhere[ELSEWHERE];     /* name of an encoder elsewhere */
	struct cache cache[CACHES];
	struct newest newest;
	uint64_t uses;
	uint64_t model;	       /* its number in the database; 0: not looked up yet */
	uint64_t taken[KINDS]; /* rows up to this one were handed out */
	int version;	       /* of the database, by another process */
	bool all;	       /* the last pump found no more rows */
};

/* ---- the file ---- */

static int map_file(struct embedding *e, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
	struct stat st;

	if (fd < 0)
		return errno;
	if (fstat(fd, &st))
		err = errno;
	else if (!S_ISREG(st.st_mode) || st.st_size < 1 || st.st_size > EMBEDDER_FILE_MAX)
		err = EFBIG;
	if (!err) {
		e->size = (size_t)st.st_size;
		e->map = mmap(NULL, e->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (e->map == MAP_FAILED) {
			err = errno;
			e->map = NULL;
		}
	}
	close(fd);
	return err;
}

int embedding_open(struct embedding **out, const char *path)
{
	struct embedding *e = calloc(1, sizeof *e);
	int err = e ? map_file(e, path) : ENOMEM;

	if (!err)
		err = embedder_alloc(&e->embedder, e->map, e->size);
	if (!err)
		err = embedding_queue_alloc(&e->queue, e->map, e->size);
	if (err)
		embedding_close(e);
	else
		*out = e;
	return err;
}

struct embedding *embedding_set_elsewhere(struct embedding *old, const char *model)
{
	struct embedding *e = calloc(1, sizeof *e);

	embedding_close(old);
	if (e)
		snprintf(e->elsewhere, sizeof e->elsewhere, "%s", model);
	log_info("memory_search", "kind=%s model=%s", e ? "words+meaning" : "words", model);
	return e;
}

bool embedding_is_elsewhere(const struct embedding *e)
{
	return e && !e->embedder;
}

struct embedding *embedding_close(struct embedding *e)
{
	if (!e)
		return NULL;
	embedding_queue_free(e->queue);
	embedding_drop(e);
	embedder_free(e->embedder);
	if (e->map)
		munmap(e->map, e->size);
	free(e);
	return NULL;
}

const char *embedding_model(const struct embedding *e)
{
	return e->embedder ? embedder_name(e->embedder) : e->elsewhere;
}

static void drop_cache(struct cache *c)
{
	vectors_free(c->vectors);
	*c = (struct cache){0};
}

void embedding_drop(struct embedding *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < CACHES; i++)
		drop_cache(&e->cache[i]);
	explicit_bzero(&e->newest, sizeof e->newest);
}

static void drop_facts(struct embedding *e)
{
	for (size_t i = 0; i < CACHES; i++)
		if (e->cache[i].kind == EMBEDDING_FACTS)
			drop_cache(&e->cache[i]);
}

/* ---- keeping vectors ---- */

static int run_with(struct db *db, enum db_statement statement, uint64_t v)
{
	sqlite3_stmt *s = db_use(db, statement);

	db_bind_uint(s, 1, v);
	return db_run(db, s);
}

/* Looks up the encoder's number and where it stopped; the first time, deletes the vectors of
 * others. */
static int find_model(struct embedding *e, struct db *db)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_EMBEDDING_MODEL);
	int err;

	db_bind_text(s, 1, embedding_model(e));
	err = db_step(db, s);
	if (!err) {
		e->model = db_uint(s, 0);
		e->taken[EMBEDDING_UTTERANCES] = db_uint(s, 1);
		e->taken[EMBEDDING_FACTS] = db_uint(s, 2);
		sqlite3_reset(s);
		return 0;
	}
	if (err != ENOENT || (err = db_begin(db)))
		return err;
	err = run_with(db, DB_DROP_VECTORS, 0);
	if (!err)
		err = run_with(db, DB_DROP_FACT_VECTORS, 0);
	if (!err)
		err = run_with(db, DB_DROP_EMBEDDING_MODELS, 0);
	s = db_use(db, DB_ADD_EMBEDDING_MODEL);
	db_bind_text(s, 1, embedding_model(e));
	if (!err)
		err = db_run(db, s);
	if (err) {
		db_rollback(db);
		return err;
	}
	e->model = db_last_row(db);
	embedding_drop(e);
	return db_commit(db);
}

static int add_vector(struct db *db, const struct embedding *e, enum embedding_kind kind,
		      uint64_t id, const struct vector *v)
{
	sqlite3_stmt *s = db_use(db, kind == EMBEDDING_FACTS ? DB_ADD_FACT_VECTOR : DB_ADD_VECTOR);

	db_bind_uint(s, 1, id);
	db_bind_uint(s, 2, e->model);
	db_bind_real(s, 3, (double)v->scale);
	db_bind_blob(s, 4, v->v, v->dim);
	return db_run(db, s);
}

int embedding_add_fact(struct db *db, struct embedding *e, uint64_t id, const struct vector *v)
{
	return e->model ? add_vector(db, e, EMBEDDING_FACTS, id, v) : 0;
}

/* Rows may be gone by now: the statement looks for them. */
static int keep_ready(struct embedding *e, struct db *db)
{
	struct embedding_item *list = embedding_queue_take(e->queue), *next;
	uint64_t until[KINDS] = {0};
	sqlite3_stmt *s;
	int err = list ? db_begin(db) : ENODATA;

	for (struct embedding_item *i = list; i; i = next) {
		next = i->next;
		until[i->kind] = i->id;
		/* Older facts than the newest in a cache may come. */
		if (i->kind == EMBEDDING_FACTS)
			drop_facts(e);
		if (!err && i->found)
			err = add_vector(db, e, (enum embedding_kind)i->kind, i->id, &i->vector);
		embedding_item_free(i);
	}
	if (err)
		goto out;
	s = db_use(db, DB_NOTE_EMBEDDED);
	db_bind_uint(s, 1, e->model);
	db_bind_uint(s, 2, until[EMBEDDING_UTTERANCES]);
	db_bind_uint(s, 3, until[EMBEDDING_FACTS]);
	err = db_run(db, s);
	if (!err)
		return db_commit(db);
out:
	if (err != ENODATA)
		db_rollback(db);
	return err == ENODATA ? 0 : err;
}

/* Short lines say too little by themselves, and the encoder knows one language. */
static bool is_worth(enum embedding_kind kind, sqlite3_stmt *s)
{
	const char *text = db_text(s, 1), *language = db_text(s, 2);

	return kind == EMBEDDING_FACTS ||
	       (english_count_words(text, strlen(text), WORDS_MIN) == WORDS_MIN &&
		(!*language || strncmp(language, "en", 2) == 0));
}

static int hand_out(struct embedding *e, struct db *db, enum embedding_kind kind)
{
	sqlite3_stmt *s = db_use(db, kind == EMBEDDING_FACTS ? DB_FIND_FACTS_TO_EMBED
							     : DB_FIND_LINES_TO_EMBED);
	unsigned rows = 0;
	int err;

	db_bind_uint(s, 1, e->taken[kind]);
	db_bind_uint(s, 2, BATCH);
	while ((err = db_step(db, s)) == 0) {
		err = embedding_queue_put(e->queue, (int)kind, db_uint(s, 0),
					  is_worth(kind, s) ? db_text(s, 1) : "");
		if (err)
			break;
		e->taken[kind] = db_uint(s, 0);
		rows++;
	}
	sqlite3_reset(s);
	e->all = e->all && rows < BATCH;
	return err == ENOENT ? 0 : err;
}

static int refresh(struct embedding *e, struct db *db)
{
	int version = db_outside_version(db), err = 0;

	if (!e->model)
		err = find_model(e, db);
	if (version != e->version)
		embedding_drop(e);
	e->version = version;
	return err;
}

static int load_partial(struct embedding *e, struct db *db);

int embedding_pump(struct embedding *e, struct db *db)
{
	int err = refresh(e, db);

	e->all = true;
	if (!err)
		err = load_partial(e, db);
	if (!e->queue)
		return err;
	if (!err)
		err = keep_ready(e, db);
	if (!err && embedding_queue_count(e->queue) < BATCH)
		err = hand_out(e, db, EMBEDDING_UTTERANCES);
	if (!err && embedding_queue_count(e->queue) < BATCH)
		err = hand_out(e, db, EMBEDDING_FACTS);
	else
		e->all = false;
	return err;
}

int embedding_finish(struct embedding *e, struct db *db)
{
	int err;

	if (!e->queue)
		return 0;
	do {
		embedding_queue_wait(e->queue);
		err = embedding_pump(e, db);
	} while (!err && (!e->all || embedding_queue_count(e->queue)));
	return err ? err : embedding_pump(e, db);
}

/* ---- an encoder elsewhere ---- */

struct texts {
	json_t *list;
	size_t bytes;
	uint64_t until[KINDS];
};

/* A short text says too little, in any language. */
static bool is_worth_sending(enum embedding_kind kind, const char *text)
{
	return kind == EMBEDDING_FACTS || strlen(text) >= SENT_MIN;
}

/* Everybody whom the bot's line answers or may quote. */
static int list_people(struct db *db, uint64_t id, json_t *people)
{
	static const enum db_statement which[] = {DB_FIND_ASKERS, DB_FIND_QUOTED};
	int err = people ? ENOENT : ENOMEM;

	for (size_t i = 0; i < sizeof which / sizeof which[0] && err == ENOENT; i++) {
		sqlite3_stmt *s = db_use(db, which[i]);

		db_bind_uint(s, 1, id);
		while ((err = db_step(db, s)) == 0)
			json_array_append_new(people, json_integer((json_int_t)db_uint(s, 0)));
		sqlite3_reset(s);
	}
	return err == ENOENT ? 0 : err;
}

/* Models have a limit: the beginning of a long text stands for all of it. */
static int add_text(struct db *db, struct texts *out, enum embedding_kind kind, sqlite3_stmt *s)
{
	json_t *people = db_uint(s, 5) ? json_array() : NULL;
	int err = db_uint(s, 5) ? list_people(db, db_uint(s, 0), people) : 0;
	char text[SENT_MAX];
	json_t *item;
	size_t n;

	utf8_copy(text, sizeof text, db_text(s, 1));
	n = strlen(text);
	if (!err && n > EMBEDDING_SENT_BYTES - out->bytes)
		err = ENOSPC;
	if (!err)
		out->until[kind] = db_uint(s, 0);
	if (err || !is_worth_sending(kind, text)) {
		json_decref(people);
		return err;
	}
	item = json_pack("{s:i,s:I,s:I,s:I,s:s,s:o*}", "kind", (int)kind, "id",
			 (json_int_t)db_uint(s, 0), "guild", (json_int_t)db_uint(s, 3), "user",
			 (json_int_t)db_uint(s, 4), "text", text, "people", people);
	out->bytes += n;
	return json_array_append_new(out->list, item) ? ENOMEM : 0;
}

static int list_kind(struct embedding *e, struct db *db, enum embedding_kind kind,
		     struct texts *out)
{
	sqlite3_stmt *s = db_use(db, kind == EMBEDDING_FACTS ? DB_FIND_FACTS_TO_EMBED
							     : DB_FIND_LINES_TO_EMBED);
	int err = 0;

	db_bind_uint(s, 1, e->taken[kind]);
	db_bind_uint(s, 2, BATCH);
	out->until[kind] = e->taken[kind];
	while (!err && json_array_size(out->list) < EMBEDDING_SENT_TEXTS) {
		err = db_step(db, s);
		if (!err)
			err = add_text(db, out, kind, s);
	}
	sqlite3_reset(s);
	return err == ENOENT || err == ENOSPC ? 0 : err;
}

int embedding_list(struct embedding *e, struct db *db, char **out)
{
	struct texts texts = {.list = json_array()};
	json_t *root;
	int err = !embedding_is_elsewhere(e) ? ENOENT : texts.list ? refresh(e, db) : ENOMEM;

	if (!err)
		err = list_kind(e, db, EMBEDDING_UTTERANCES, &texts);
	if (!err)
		err = list_kind(e, db, EMBEDDING_FACTS, &texts);
	root = err ? NULL
		   : json_pack("{s:[I,I],s:O}", "until", (json_int_t)texts.until[0],
			       (json_int_t)texts.until[1], "texts", texts.list);
	if (root)
		*out = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	json_decref(texts.list);
	return err;
}

int embedding_keep(struct embedding *e, struct db *db, const struct embedding_vectors *v)
{
	sqlite3_stmt *s;
	int err = embedding_is_elsewhere(e) ? refresh(e, db) : ENOENT;

	if (!err)
		err = db_begin(db);
	if (err)
		return err;
	for (size_t i = 0; i < v->n && !err; i++)
		err = add_vector(db, e, v->v[i].kind, v->v[i].id, &v->v[i].vector);
	s = db_use(db, DB_NOTE_EMBEDDED);
	db_bind_uint(s, 1, e->model);
	db_bind_uint(s, 2, v->until[EMBEDDING_UTTERANCES]);
	db_bind_uint(s, 3, v->until[EMBEDDING_FACTS]);
	if (!err)
		err = db_run(db, s);
	if (!err)
		err = db_commit(db);
	if (err) {
		db_rollback(db);
		return err;
	}
	/* Older rows than the newest in a cache may come. */
	embedding_drop(e);
	for (size_t i = 0; i < KINDS; i++)
		e->taken[i] = v->until[i] > e->taken[i] ? v->until[i] : e->taken[i];
	return 0;
}

/* ---- searching ---- */

int embedding_words(struct embedding *e, const char *words, struct vector *out)
{
	float v[EMBEDDER_DIM];
	int err;

	if (!e || !e->embedder)
		return ENODATA;
	/* A question whose first word, the bot's name, was cut off is the same one. */
	words += strspn(words, " ");
	if (*words && strcmp(words, e->newest.words) == 0) {
		*out = e->newest.vector;
		return 0;
	}
	err = embedder_run(e->embedder, words, strlen(words), v);
	if (err)
		return err;
	vector_pack(out, v, EMBEDDER_DIM);
	if (strlen(words) < sizeof e->newest.words) {
		strcpy(e->newest.words, words);
		e->newest.vector = *out;
	}
	return 0;
}

int embedding_text(struct embedding *e, const char *text, struct vector *out)
{
	return english_is(text, strlen(text)) ? embedding_words(e, text, out) : ENODATA;
}

static bool read_vector(sqlite3_stmt *s, int column, struct vector *out)
{
	const void *blob = sqlite3_column_blob(s, column + 1);

	int n = sqlite3_column_bytes(s, column + 1);

	if (!blob || n < 1 || n > VECTOR_DIM_MAX)
		return false;
	*out = (struct vector){.scale = (float)db_real(s, column), .dim = (uint16_t)n};
	memcpy(out->v, blob, (size_t)n);
	return true;
}

/* Reads the vectors behind the newest one in the cache, some at a time: after a start there may be
 * a million, and neither a question nor a write waits for all of them. */
static int load_new(struct db *db, struct cache *c, unsigned most)
{
	sqlite3_stmt *s =
		db_use(db, c->kind == EMBEDDING_FACTS ? DB_LOAD_FACT_VECTORS : DB_LOAD_VECTORS);
	struct vector v;
	unsigned rows = 0;
	int err;

	db_bind_uint(s, 1, c->guild);
	db_bind_uint(s, 2, c->last);
	db_bind_uint(s, 3, most);
	while ((err = db_step(db, s)) == 0) {
		const struct vector_line line = {.id = db_uint(s, 0),
						 .at_ms = db_uint(s, 1),
						 .group = db_uint(s, 2),
						 .name = vector_name(db_text(s, 3)),
						 .speaker = vector_speaker(db_uint(s, 6))};

		if (read_vector(s, 4, &v))
			err = vectors_add(c->vectors, &line, &v);
		if (err)
			break;
		c->last = line.id;
		rows++;
	}
	/* A search whose time is up stops early. */
	c->partial = rows == most || err != ENOENT;
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

static int load_partial(struct embedding *e, struct db *db)
{
	int err = 0;

	for (size_t i = 0; i < CACHES && !err; i++) {
		if (!e->cache[i].vectors || !e->cache[i].partial)
			continue;
		err = load_new(db, &e->cache[i], LOADED_BESIDE);
		e->all = e->all && !e->cache[i].partial;
	}
	return err;
}

/* The cache of this server, in place of the one that was used longest ago. */
static int open_cache(struct embedding *e, enum embedding_kind kind, uint64_t guild,
		      struct cache **out)
{
	struct cache *oldest = &e->cache[0];
	int err;

	for (size_t i = 0; i < CACHES; i++) {
		struct cache *c = &e->cache[i];

		if (c->vectors && c->kind == kind && c->guild == guild) {
			*out = c;
			return 0;
		}
		if (c->used < oldest->used)
			oldest = c;
	}
	vectors_free(oldest->vectors);
	*oldest = (struct cache){.kind = kind, .guild = guild};
	err = vectors_alloc(&oldest->vectors);
	*out = oldest;
	return err;
}

static int use_cache(struct embedding *e, struct db *db, enum embedding_kind kind, uint64_t guild,
		     struct cache **out)
{
	int err = open_cache(e, kind, guild, out);

	if (err)
		return err;
	/* Also if the time is up: another server takes a free place, and not this one. */
	(*out)->used = ++e->uses;
	return load_new(db, *out, LOADED_SEARCHING);
}

bool embedding_has_name(struct embedding *e, struct db *db, uint64_t guild, const char *name)
{
	struct cache *c = NULL;

	return use_cache(e, db, EMBEDDING_UTTERANCES, guild, &c) == 0 &&
	       vectors_has_name(c->vectors, vector_name(name));
}

bool embedding_has_rows(struct embedding *e, struct db *db, enum embedding_kind kind,
			uint64_t guild)
{
	struct cache *c = NULL;

	return e && use_cache(e, db, kind, guild, &c) == 0 && vectors_count(c->vectors);
}

int embedding_find(struct embedding *e, struct db *db, const struct embedding_query *q,
		   uint64_t *ids, size_t most, size_t *n)
{
	struct cache *c = NULL;
	int err = use_cache(e, db, q->kind, q->guild, &c);

	if (!err)
		*n = vectors_find(c->vectors, q->question, q->filter, ids, most);
	return err;
}

int embedding_get(struct db *db, enum embedding_kind kind, uint64_t guild, uint64_t id,
		  struct vector *out)
{
	sqlite3_stmt *s = db_use(db, kind == EMBEDDING_FACTS ? DB_GET_FACT_VECTOR : DB_GET_VECTOR);
	int err;

	db_bind_uint(s, 1, guild);
	db_bind_uint(s, 2, id);
	err = db_step(db, s);
	if (!err && !read_vector(s, 0, out))
		err = ENOENT;
	sqlite3_reset(s);
	return err;
}
