#include "control/library/index.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/memory/terms.h"
#include "control/music/match.h"
#include "control/music/path_tags.h"

enum { VERSION = 2, QUERY_MAX = 2048 };

#define SCHEMA                                                                                     \
	"CREATE TABLE files(id INTEGER PRIMARY KEY, folder TEXT, path TEXT, size INTEGER,"         \
	" changed INTEGER, scan INTEGER, title TEXT, artist TEXT, album TEXT,"                     \
	" duration INTEGER, tagged INTEGER,"                                                       \
	" UNIQUE(folder, path));"                                                                  \
	"CREATE INDEX untagged ON files(scan) WHERE NOT tagged;"                                   \
	"CREATE VIRTUAL TABLE words USING fts5(text, tokenize='trigram');"                         \
	"PRAGMA user_version=2;"

/* Q(NAME, sql) */
#define QUERIES(Q)                                                                                 \
	Q(TOUCH, "UPDATE files SET scan = ?3 WHERE folder = ?1 AND path = ?2 AND size = ?4"        \
		 " AND changed = ?5")                                                              \
	Q(FORGET_WORDS, "DELETE FROM words WHERE rowid ="                                          \
			" (SELECT id FROM files WHERE folder = ?1 AND path = ?2)")                 \
	Q(PUT, "INSERT INTO files(folder, path, scan, size, changed, title, artist, album,"        \
	       " duration, tagged) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, 0)"                   \
	       " ON CONFLICT(folder, path) DO UPDATE SET"                                          \
	       " scan = ?3, size = ?4, changed = ?5, title = ?6, artist = ?7, album = ?8,"         \
	       " duration = 0, tagged = 0 RETURNING id")                                           \
	Q(PUT_WORDS, "INSERT INTO words(rowid, text) VALUES(?1, ?2)")                              \
	Q(DROP_WORDS, "DELETE FROM words WHERE rowid IN"                                           \
		      " (SELECT id FROM files WHERE folder = ?1 AND scan <> ?2)")                  \
	Q(DROP, "DELETE FROM files WHERE folder = ?1 AND scan <> ?2")                              \
	Q(COUNT, "SELECT count(*), coalesce(max(scan), 0) FROM files")                             \
	Q(UNTAGGED, "SELECT id, changed, folder, path FROM files"                                  \
		    " WHERE NOT tagged AND scan = ?2 LIMIT ?1")                                    \
	Q(TAG, "UPDATE files SET tagged = 1, duration = ?3,"                                       \
	       " title = iif(?4 = '', title, ?4), artist = iif(?5 = '', artist, ?5),"              \
	       " album = iif(?6 = '', album, ?6) WHERE id = ?1 AND changed = ?2"                   \
	       " RETURNING title, artist, album")                                                  \
	Q(FORGET_ROW, "DELETE FROM words WHERE rowid = ?1")                                        \
	Q(SEARCH,                                                                                  \
	  "SELECT f.folder, f.path, f.title, f.artist, f.album, f.duration FROM words w"           \
	  " JOIN files f ON f.id = w.rowid WHERE words MATCH ?1 ORDER BY w.rank LIMIT 200")        \
	Q(SEARCH_SHORT,                                                                            \
	  "SELECT f.folder, f.path, f.title, f.artist, f.album, f.duration FROM words w"           \
	  " JOIN files f ON f.id = w.rowid WHERE instr(w.text, ?1) LIMIT 200")

enum query {
#define Q(NAME, sql) NAME,
	QUERIES(Q)
#undef Q
		QUERY_COUNT
};

struct library_index {
	sqlite3 *sql;
	sqlite3_stmt *query[QUERY_COUNT];
	char *folders[WALK_FOLDERS];
	unsigned n;
	uint64_t scan;
	unsigned files;
};

static sqlite3_stmt *use_query(struct library_index *x, enum query q)
{
	sqlite3_reset(x->query[q]);
	sqlite3_clear_bindings(x->query[q]);
	return x->query[q];
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
	sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
}

static int run_query(sqlite3_stmt *s)
{
	int rc;

	while ((rc = sqlite3_step(s)) == SQLITE_ROW)
		;
	sqlite3_reset(s);
	return rc == SQLITE_DONE ? 0 : rc == SQLITE_NOMEM ? ENOMEM : EIO;
}

static int read_count(struct library_index *x)
{
	sqlite3_stmt *s = use_query(x, COUNT);

	if (sqlite3_step(s) != SQLITE_ROW)
		return EIO;
	x->files = (unsigned)sqlite3_column_int64(s, 0);
	x->scan = (uint64_t)sqlite3_column_int64(s, 1);
	sqlite3_reset(s);
	return 0;
}

static int read_version(sqlite3 *sql)
{
	sqlite3_stmt *s = NULL;
	int version = -1;

	if (sqlite3_prepare_v2(sql, "PRAGMA user_version", -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		version = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	return version;
}

/* A crash may damage the file; the next scan makes it again. */
static int open_file(struct library_index *x, const char *path)
{
	static const char *const texts[] = {
#define Q(NAME, sql) [NAME] = sql,
		QUERIES(Q)
#undef Q
	};
	int version;

	if (sqlite3_open_v2(path, &x->sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL))
		return EIO;
	chmod(path, 0600);
	sqlite3_busy_timeout(x->sql, 1000);
	sqlite3_exec(x->sql, "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF", NULL, NULL,
		     NULL);
	version = read_version(x->sql);
	if (version == 0 && sqlite3_exec(x->sql, SCHEMA, NULL, NULL, NULL))
		return EIO;
	if (version != 0 && version != VERSION)
		return EIO;
	for (unsigned i = 0; i < QUERY_COUNT; i++)
		if (sqlite3_prepare_v2(x->sql, texts[i], -1, &x->query[i], NULL))
			return EIO;
	return read_count(x);
}

static void close_file(struct library_index *x)
{
	for (unsigned i = 0; i < QUERY_COUNT; i++) {
		sqlite3_finalize(x->query[i]);
		x->query[i] = NULL;
	}
	sqlite3_close(x->sql);
	x->sql = NULL;
}

int library_index_open(struct library_index **out, const char *path, const char *const *folders,
		       unsigned n)
{
	struct library_index *x = calloc(1, sizeof *x);
	int err = x ? 0 : ENOMEM;

	while (!err && x->n < n && x->n < WALK_FOLDERS) {
		x->folders[x->n] = strdup(folders[x->n]);
		if (!x->folders[x->n])
			err = ENOMEM;
		else
			x->n++;
	}
	if (!err && open_file(x, path)) {
		close_file(x);
		err = unlink(path) && errno != ENOENT ? errno : open_file(x, path);
	}
	if (err)
		library_index_close(x);
	else
		*out = x;
	return err;
}

struct library_index *library_index_close(struct library_index *x)
{
	if (!x)
		return NULL;
	close_file(x);
	for (unsigned i = 0; i < x->n; i++)
		free(x->folders[i]);
	free(x);
	return NULL;
}

int library_index_begin_batch(struct library_index *x)
{
	return sqlite3_exec(x->sql, "BEGIN IMMEDIATE", NULL, NULL, NULL) ? EIO : 0;
}

int library_index_end_batch(struct library_index *x)
{
	if (sqlite3_exec(x->sql, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	sqlite3_exec(x->sql, "ROLLBACK", NULL, NULL, NULL);
	return EIO;
}

void library_index_begin_scan(struct library_index *x)
{
	x->scan++;
}

static sqlite3_stmt *use_file(struct library_index *x, enum query q, const struct walk_file *f)
{
	sqlite3_stmt *s = use_query(x, q);

	bind_text(s, 1, x->folders[f->root]);
	bind_text(s, 2, f->path);
	if (q == FORGET_WORDS)
		return s;
	sqlite3_bind_int64(s, 3, (sqlite3_int64)x->scan);
	sqlite3_bind_int64(s, 4, (sqlite3_int64)f->size);
	sqlite3_bind_int64(s, 5, (sqlite3_int64)f->changed_ns);
	return s;
}

static int put_words(struct library_index *x, sqlite3_int64 id, const struct track *t)
{
	char text[TRACK_TITLE_MAX + TRACK_ARTIST_MAX + TRACK_ALBUM_MAX], folded[MUSIC_FOLDED_MAX];
	sqlite3_stmt *s = use_query(x, PUT_WORDS);

	snprintf(text, sizeof text, "%s %s %s", t->artist, t->title, t->album);
	music_fold(folded, text);
	sqlite3_bind_int64(s, 1, id);
	bind_text(s, 2, folded);
	return run_query(s);
}

int library_index_put(struct library_index *x, const struct walk_file *f)
{
	struct track t = {0};
	sqlite3_stmt *s;
	sqlite3_int64 id;
	int err = run_query(use_file(x, TOUCH, f));

	if (err || sqlite3_changes(x->sql))
		return err;
	if (x->files >= LIBRARY_FILES_MAX)
		return ENOSPC;
	if (!path_tags_read(&t, f->path))
		return 0;
	err = run_query(use_file(x, FORGET_WORDS, f));
	x->files += !err && !sqlite3_changes(x->sql);
	s = use_file(x, PUT, f);
	bind_text(s, 6, t.title);
	bind_text(s, 7, t.artist);
	bind_text(s, 8, t.album);
	if (err || sqlite3_step(s) != SQLITE_ROW)
		return EIO;
	id = sqlite3_column_int64(s, 0);
	err = run_query(s);
	return err ? err : put_words(x, id, &t);
}

/* ---- tags ---- */

static int find_folder(const struct library_index *x, const char *folder)
{
	for (unsigned i = 0; i < x->n; i++)
		if (strcmp(x->folders[i], folder) == 0)
			return (int)i;
	return -1;
}

static const char *read_column(sqlite3_stmt *s, int i)
{
	const char *text = (const char *)sqlite3_column_text(s, i);

	return text ? text : "";
}

int library_index_untagged(struct library_index *x, struct library_file *to, size_t most, size_t *n)
{
	sqlite3_stmt *s = use_query(x, UNTAGGED);
	int rc = SQLITE_DONE;

	*n = 0;
	sqlite3_bind_int64(s, 1, (sqlite3_int64)most);
	sqlite3_bind_int64(s, 2, (sqlite3_int64)x->scan);
	while (*n < most && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct library_file *f = &to[(*n)++];
		int root = find_folder(x, read_column(s, 2));

		*f = (struct library_file){.id = sqlite3_column_int64(s, 0),
					   .changed_ns = (uint64_t)sqlite3_column_int64(s, 1),
					   .root = (unsigned)root};
		snprintf(f->path, sizeof f->path, "%s", read_column(s, 3));
	}
	sqlite3_reset(s);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : EIO;
}

int library_index_tag(struct library_index *x, const struct library_tags *tags)
{
	sqlite3_stmt *s = use_query(x, TAG);
	struct track t = {0};
	int rc, err;

	sqlite3_bind_int64(s, 1, tags->id);
	sqlite3_bind_int64(s, 2, (sqlite3_int64)tags->changed_ns);
	sqlite3_bind_int64(s, 3, (sqlite3_int64)tags->duration_ms);
	bind_text(s, 4, tags->title);
	bind_text(s, 5, tags->artist);
	bind_text(s, 6, tags->album);
	rc = sqlite3_step(s);
	if (rc == SQLITE_DONE)
		return 0;
	if (rc != SQLITE_ROW)
		return EIO;
	snprintf(t.title, sizeof t.title, "%s", read_column(s, 0));
	snprintf(t.artist, sizeof t.artist, "%s", read_column(s, 1));
	snprintf(t.album, sizeof t.album, "%s", read_column(s, 2));
	err = run_query(s);
	s = use_query(x, FORGET_ROW);
	sqlite3_bind_int64(s, 1, tags->id);
	if (!err)
		err = run_query(s);
	return err ? err : put_words(x, tags->id, &t);
}

/* ---- the end of a scan ---- */

static int drop_unseen(struct library_index *x, unsigned folder)
{
	static const enum query queries[] = {DROP_WORDS, DROP};
	int err = 0;

	for (unsigned i = 0; i < 2 && !err; i++) {
		sqlite3_stmt *s = use_query(x, queries[i]);

		bind_text(s, 1, x->folders[folder]);
		sqlite3_bind_int64(s, 2, (sqlite3_int64)x->scan);
		err = run_query(s);
	}
	return err;
}

int library_index_end_scan(struct library_index *x, const struct walk *w)
{
	uint64_t scan = x->scan;
	int err = 0;

	for (unsigned i = 0; i < x->n && !err; i++)
		if (walk_opened(w, i))
			err = drop_unseen(x, i);
	if (!err)
		err = read_count(x);
	x->scan = scan;
	return err;
}

unsigned library_index_count(const struct library_index *x)
{
	return x->files;
}

/* ---- search ---- */

/* The bytes of three characters of one word; 0: there are fewer. */
static size_t measure_trigram(const char *at, const char *end)
{
	const char *p = at;

	for (unsigned i = 0; i < 3; i++)
		if (p == end || terms_next(&p, end) == ' ')
			return 0;
	return (size_t)(p - at);
}

/* "abc" OR "bcd" …: the first trigrams of the words, at most `most`. Returns their number. */
static unsigned write_query(char to[QUERY_MAX], const char *folded, unsigned most)
{
	const char *at = folded, *end = folded + strlen(folded);
	unsigned trigrams = 0;
	size_t n = 0;

	for (; at < end && trigrams < most; terms_next(&at, end)) {
		size_t len = measure_trigram(at, end);

		if (len && n + 32 < QUERY_MAX)
			n += (size_t)snprintf(to + n, QUERY_MAX - n, "%s\"%.*s\"",
					      trigrams++ ? " OR " : "", (int)len, at);
	}
	return trigrams;
}

static bool read_track(const struct library_index *x, sqlite3_stmt *s, struct track *t)
{
	int root = find_folder(x, read_column(s, 0));

	*t = (struct track){.source = TRACK_LOCAL, .root = (uint32_t)root};
	snprintf(t->reference, sizeof t->reference, "%s", read_column(s, 1));
	snprintf(t->title, sizeof t->title, "%s", read_column(s, 2));
	snprintf(t->artist, sizeof t->artist, "%s", read_column(s, 3));
	snprintf(t->album, sizeof t->album, "%s", read_column(s, 4));
	t->duration_ms = (uint64_t)sqlite3_column_int64(s, 5);
	return root >= 0;
}

static sqlite3_stmt *find_candidates(struct library_index *x, const char *query, unsigned trigrams)
{
	char folded[MUSIC_FOLDED_MAX], text[QUERY_MAX];
	sqlite3_stmt *s;

	music_fold(folded, query);
	if (write_query(text, folded, trigrams)) {
		s = use_query(x, SEARCH);
	} else {
		/* Too short for trigrams, as a korean title may be. LIKE would miss it: FTS5 counts
		 * bytes there. */
		memcpy(text, folded, strlen(folded) + 1);
		s = use_query(x, SEARCH_SHORT);
	}
	bind_text(s, 1, text);
	return s;
}

int library_index_search(struct library_index *x, const char *query, unsigned trigrams,
			 struct library_hit hits[LIBRARY_HITS_MAX], size_t *n)
{
	struct track *found = calloc(LIBRARY_CANDIDATES, sizeof *found);
	struct music_hit ranked[LIBRARY_CANDIDATES];
	sqlite3_stmt *s;
	size_t count = 0;
	int rc;

	if (!found)
		return ENOMEM;
	s = find_candidates(x, query, trigrams);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && count < LIBRARY_CANDIDATES)
		if (read_track(x, s, &found[count])) {
			ranked[count] = (struct music_hit){.track = &found[count]};
			count++;
		}
	sqlite3_reset(s);
	count = music_rank(query, ranked, count);
	*n = count < LIBRARY_HITS_MAX ? count : LIBRARY_HITS_MAX;
	for (size_t i = 0; i < *n; i++)
		hits[i] = (struct library_hit){.score = ranked[i].score, .track = *ranked[i].track};
	free(found);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : EIO;
}
