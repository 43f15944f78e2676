#include "control/store/term_search.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "control/memory/terms.h"
#include "control/store/db.h"
#include "control/store/scope_rows.h"

enum {
	FIRST_ROOM = 256,
	ROWS_A_LOOK = 1024,
	CROWD = 2048, /* rows of a word that may be passed over one by one */
	SAMPLE = 32,  /* of these rows tell whether most are in the scope */
};
#define POINTER_TYPE "term_search"
/* Those of FTS5's bm25(). */
#define K1	1.2
#define B	0.75
#define IDF_MIN 1e-6

struct hit {
	uint64_t id;
	uint32_t times; /* that the word occurs in the text */
};

/* The rows of one word, in ascending order of their ids. */
struct word {
	struct hit *hit;
	size_t n, room;
	uint64_t rows; /* also those that were dropped */
	double idf;
};

struct row {
	uint64_t id;
	double score;
	bool exact; /* false: an upper bound */
};

struct term_search {
	struct db *db;
	const struct search_scope *scope; /* NULL: all rows */
	struct scope_rows *own;		  /* NULL: not needed so far */
	struct word word[TERMS_MAX];
	size_t words;
	double rows, length; /* of the whole index: how many, their average length */
	struct row *row;     /* a heap, the best on top */
	size_t n;
	unsigned lengths; /* looked up */
	bool late;
};

/* ---- rows of the scope ---- */

static void drop_foreign(const struct scope_rows *own, struct word *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->n; i++)
		if (scope_rows_has(own, w->hit[i].id))
			w->hit[kept++] = w->hit[i];
	w->n = kept;
}

/* True if most of the word's newer rows, which stay when there are too many, are foreign. */
static int sample_rows(struct term_search *t, const struct word *w, bool *foreign)
{
	size_t half = w->n / 2;
	unsigned own = 0;
	int err = 0;

	for (size_t i = 0; i < SAMPLE && !err; i++) {
		bool is_in = false;

		err = scope_rows_look_up(t->db, t->scope,
					 w->hit[half + i * (w->n - half) / SAMPLE].id, &is_in);
		own += is_in;
	}
	*foreign = own < SAMPLE / 2;
	return err;
}

/* Drops foreign rows of all words if they are the most of this frequent one. */
static int relieve_crowd(struct term_search *t, const struct word *crowded)
{
	uint64_t first = UINT64_MAX;
	bool foreign;
	int err;

	if (!t->scope || t->own || crowded->n <= CROWD)
		return 0;
	err = sample_rows(t, crowded, &foreign);
	if (err || !foreign)
		return err;
	for (size_t i = 0; i < TERMS_MAX; i++)
		if (t->word[i].n && t->word[i].hit[0].id < first)
			first = t->word[i].hit[0].id;
	err = scope_rows_alloc(&t->own, t->db, t->scope, first);
	for (size_t i = 0; i < TERMS_MAX && !err; i++)
		drop_foreign(t->own, &t->word[i]);
	return err == ENOTSUP ? 0 : err;
}

/* ---- listing rows ---- */

/* Drops foreign rows when there are too many, or else the older half. */
static int drop_rows(struct term_search *t, struct word *w)
{
	int err = relieve_crowd(t, w);

	if (err)
		return err;
	if (w->n == TERM_SEARCH_ROWS) {
		w->n /= 2;
		memmove(w->hit, w->hit + w->n, w->n * sizeof *w->hit);
	}
	return 0;
}

static int to_sqlite(struct term_search *t, int err)
{
	if (err == ETIMEDOUT)
		t->late = true;
	return !err		  ? SQLITE_OK
	       : err == ETIMEDOUT ? SQLITE_DONE
	       : err == ENOMEM	  ? SQLITE_NOMEM
				  : SQLITE_ERROR;
}

static int make_room(struct term_search *t, struct word *w)
{
	size_t room = w->room ? 2 * w->room : FIRST_ROOM;
	struct hit *hit;

	if (w->n < w->room)
		return SQLITE_OK;
	if (w->room == TERM_SEARCH_ROWS)
		return to_sqlite(t, drop_rows(t, w));
	hit = realloc(w->hit, room * sizeof *hit);
	if (!hit)
		return SQLITE_NOMEM;
	w->hit = hit;
	w->room = room;
	return SQLITE_OK;
}

static uint32_t count_places(const Fts5ExtensionApi *api, Fts5Context *row)
{
	Fts5PhraseIter at;
	int column, offset;
	uint32_t n = 0;

	if (api->xPhraseFirst(row, 0, &at, &column, &offset))
		return 1;
	for (; column >= 0; api->xPhraseNext(row, &at, &column, &offset))
		n++;
	return n ? n : 1;
}

static int add_hit(const Fts5ExtensionApi *api, Fts5Context *row, void *arg)
{
	struct term_search *t = arg;
	struct word *w = &t->word[t->words];
	uint64_t id = (uint64_t)api->xRowid(row);
	bool is_own = !t->own || scope_rows_has(t->own, id);
	int rc = is_own ? make_room(t, w) : SQLITE_OK;

	if (rc)
		return rc;
	/* The room may have been made by leaving out rows such as this one. */
	if (is_own && (!t->own || scope_rows_has(t->own, id)))
		w->hit[w->n++] = (struct hit){id, count_places(api, row)};
	if (++w->rows % ROWS_A_LOOK == 0 && db_is_late(t->db)) {
		t->late = true;
		return SQLITE_DONE;
	}
	return SQLITE_OK;
}

static int read_totals(const Fts5ExtensionApi *api, Fts5Context *fts, struct term_search *t)
{
	sqlite3_int64 rows = 0, words = 0;
	int rc = api->xRowCount(fts, &rows);

	if (!rc)
		rc = api->xColumnTotalSize(fts, -1, &words);
	t->rows = (double)rows;
	t->length = rows > 0 && words > 0 ? (double)words / (double)rows : 1;
	return rc;
}

static double weigh(const struct term_search *t, const struct word *w)
{
	double idf = log((t->rows - (double)w->rows + 0.5) / ((double)w->rows + 0.5));

	return idf > 0 ? idf : IDF_MIN;
}

/* gather_rows(index, search): FTS5 calls it for the first row that matches, and it lists the rows
 * of all words. */
static void gather_rows(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *ctx, int n,
			sqlite3_value **value)
{
	struct term_search *t = n == 1 ? sqlite3_value_pointer(value[0], POINTER_TYPE) : NULL;
	int rc = t ? read_totals(api, fts, t) : SQLITE_MISUSE;

	while (!rc && !t->late && t->words < TERMS_MAX && (int)t->words < api->xPhraseCount(fts)) {
		rc = api->xQueryPhrase(fts, (int)t->words, t, add_hit);
		rc = rc == SQLITE_DONE ? SQLITE_OK : rc;
		t->word[t->words].idf = weigh(t, &t->word[t->words]);
		t->words++;
		if (!rc && !t->late)
			rc = to_sqlite(t, relieve_crowd(t, &t->word[t->words - 1]));
		rc = rc == SQLITE_DONE ? SQLITE_OK : rc;
	}
	if (rc)
		sqlite3_result_error_code(ctx, rc);
}

int term_search_register(struct sqlite3 *sql)
{
	sqlite3_stmt *s = NULL;
	fts5_api *api = NULL;
	int rc = sqlite3_prepare_v2(sql, "SELECT fts5(?1)", -1, &s, NULL);

	if (!rc)
		rc = sqlite3_bind_pointer(s, 1, &api, "fts5_api_ptr", NULL);
	if (!rc)
		sqlite3_step(s);
	sqlite3_finalize(s);
	if (!rc && api)
		rc = api->xCreateFunction(api, "gather_rows", NULL, gather_rows, NULL);
	return rc == SQLITE_NOMEM ? ENOMEM : rc || !api ? EIO : 0;
}

/* ---- scores ---- */

static double score_word(const struct term_search *t, const struct word *w, uint32_t times,
			 double length)
{
	double f = (double)times;

	return w->idf * (f * (K1 + 1)) / (f + K1 * (1 - B + B * length / t->length));
}

static int by_id(const void *key, const void *hit)
{
	uint64_t id = *(const uint64_t *)key, other = ((const struct hit *)hit)->id;

	return (id > other) - (id < other);
}

static double score_row(const struct term_search *t, uint64_t id, double length)
{
	double score = 0;

	for (size_t i = 0; i < t->words; i++) {
		const struct word *w = &t->word[i];
		const struct hit *h = w->n ? bsearch(&id, w->hit, w->n, sizeof *h, by_id) : NULL;

		score += h ? score_word(t, w, h->times, length) : 0;
	}
	return score;
}

/* The number of words that FTS5 noted for the text: a varint in the first bytes of the blob. */
static int read_length(struct term_search *t, uint64_t id, double *out)
{
	sqlite3_stmt *s = db_use(t->db, DB_GET_TERMS_LENGTH);
	const uint8_t *p;
	uint64_t length = 0;
	int err, n;

	db_bind_uint(s, 1, id);
	err = db_step(t->db, s);
	p = err ? NULL : sqlite3_column_blob(s, 0);
	n = p ? sqlite3_column_bytes(s, 0) : 0;
	for (int i = 0; i < n && i < 9; i++) {
		length = length << 7 | (p[i] & 0x7f);
		if (!(p[i] & 0x80))
			break;
	}
	sqlite3_reset(s);
	*out = n ? (double)length : t->length;
	return err == ENOENT ? 0 : err;
}

/* ---- the heap ---- */

static bool is_better(const struct row *a, const struct row *b)
{
	return a->score > b->score || (a->score == b->score && a->id > b->id);
}

static void sift_down(struct term_search *t, size_t i)
{
	struct row moved = t->row[i];

	for (size_t child; (child = 2 * i + 1) < t->n; i = child) {
		if (child + 1 < t->n && is_better(&t->row[child + 1], &t->row[child]))
			child++;
		if (!is_better(&t->row[child], &moved))
			break;
		t->row[i] = t->row[child];
	}
	t->row[i] = moved;
}

/* The smallest id that is next in a list; at: how far each was read. */
static uint64_t find_next(const struct term_search *t, const size_t at[TERMS_MAX])
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < t->words; i++)
		if (at[i] < t->word[i].n && t->word[i].hit[at[i]].id < next)
			next = t->word[i].hit[at[i]].id;
	return next;
}

/* Merges the lists into rows with their bounds. */
static void merge_words(struct term_search *t)
{
	size_t at[TERMS_MAX] = {0};
	uint64_t id;

	while ((id = find_next(t, at)) != UINT64_MAX) {
		struct row r = {.id = id};
		uint32_t length = 0;

		/* Two words of the question may be one of the text. */
		for (size_t i = 0; i < t->words; i++) {
			const struct hit *h = &t->word[i].hit[at[i]];

			if (at[i] < t->word[i].n && h->id == id && h->times > length)
				length = h->times;
		}
		for (size_t i = 0; i < t->words; i++) {
			const struct hit *h = &t->word[i].hit[at[i]];

			if (at[i] == t->word[i].n || h->id != id)
				continue;
			r.score += score_word(t, &t->word[i], h->times, length);
			at[i]++;
		}
		t->row[t->n++] = r;
	}
	for (size_t i = t->n / 2; i-- > 0;)
		sift_down(t, i);
}

static int list_rows(struct term_search *t, const char *query)
{
	sqlite3_stmt *s = db_use(t->db, DB_GATHER_TERMS);
	size_t most = 0;
	int err;

	db_bind_text(s, 1, query);
	sqlite3_bind_pointer(s, 2, t, POINTER_TYPE, NULL);
	err = db_step(t->db, s);
	sqlite3_reset(s);
	for (size_t i = 0; i < t->words; i++)
		most += t->word[i].n;
	if (err && err != ENOENT)
		return err;
	t->row = calloc(most + 1, sizeof *t->row);
	if (!t->row)
		return ENOMEM;
	merge_words(t);
	return 0;
}

int term_search_alloc(struct term_search **out, struct db *db, const struct search_scope *scope,
		      const char *query)
{
	struct term_search *t = calloc(1, sizeof *t);
	int err;

	if (!t)
		return ENOMEM;
	t->db = db;
	t->scope = scope;
	err = list_rows(t, query);
	if (err)
		term_search_free(t);
	else
		*out = t;
	return err;
}

struct term_search *term_search_free(struct term_search *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; i < TERMS_MAX; i++)
		free(t->word[i].hit);
	scope_rows_free(t->own);
	free(t->row);
	free(t);
	return NULL;
}

/* Replaces the bound on top by the row's own score. */
static int settle_top(struct term_search *t)
{
	double length = t->length;
	int err = 0;

	if (t->lengths < TERM_SEARCH_LENGTHS) {
		err = read_length(t, t->row[0].id, &length);
		t->lengths++;
	}
	if (err)
		return err;
	t->row[0].score = score_row(t, t->row[0].id, length);
	t->row[0].exact = true;
	sift_down(t, 0);
	return 0;
}

int term_search_next(struct term_search *t, uint64_t *id, double *match)
{
	int err = 0;

	while (!err && t->n && !t->row[0].exact)
		err = settle_top(t);
	if (err)
		return err;
	if (!t->n)
		return t->late ? ETIMEDOUT : ENOENT;
	if (db_is_late(t->db))
		return ETIMEDOUT;
	*id = t->row[0].id;
	*match = t->row[0].score;
	t->row[0] = t->row[--t->n];
	sift_down(t, 0);
	return 0;
}
