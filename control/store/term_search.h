/* Searches a full-text index for the words of a question: gives the rows that hold any of them, by
 * BM25, the best first. On the store's worker.
 *
 * FTS5's own ranking looks up the length of each matching text, one by one, which is most of its
 * work when a word is frequent. This search has FTS5 list the rows of each word and looks up a
 * length only when the row is next: until then its score is an upper bound, that of a text without
 * any other word. Scores and order are those of FTS5's bm25(), except for frequent words: of each
 * word the newest TERM_SEARCH_ROWS rows count, and after TERM_SEARCH_LENGTHS look-ups a text counts
 * as one of average length, the newest first.
 *
 * The index holds the lines of all servers. Rows outside the search's scope are left out as soon as
 * they are the most of a frequent word's rows; a caller passes over the few that remain. */
#ifndef CONTROL_STORE_TERM_SEARCH_H
#define CONTROL_STORE_TERM_SEARCH_H

#include <stdint.h>

struct db;
struct search_scope;
struct sqlite3;
struct term_search;

enum { TERM_SEARCH_ROWS = 1 << 17, TERM_SEARCH_LENGTHS = 512 };

/* Adds the SQL function that the search's statements call to a connection. ENOMEM, EIO. */
int term_search_register(struct sqlite3 *sql);

/* Lists the rows of utterances that hold a term of the query, an expression of terms_query
 * (control/memory/terms.h). Inside db_begin_search: when its time is up, the words that were read
 * until then count. scope: control/store/scope_rows.h; NULL: all rows. db is borrowed until
 * term_search_free, scope too; the caller owns *out. Errors of db.h. */
int term_search_alloc(struct term_search **out, struct db *db, const struct search_scope *scope,
		      const char *query);
/* NULL accepted. */
struct term_search *term_search_free(struct term_search *t);
/* The next row and its score, which is positive. ENOENT: there are no more; ETIMEDOUT: the search's
 * time is up; errors of db.h. */
int term_search_next(struct term_search *t, uint64_t *id, double *match);

#endif
