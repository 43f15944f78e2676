/* Vectors of what the database holds: a thread of its own computes them, the store's worker keeps
 * and searches them. For the store's worker, but for embedding_open.
 *
 * A text is embedded once its row is committed, some rows at each job of the worker. Vectors go
 * with their rows. Those of another encoder are deleted, and their texts are embedded again. The
 * signs of a server's vectors stay in memory after its first search; a change by another process
 * drops them. Without the encoder's file there are no vectors, and searches use words alone. */
#ifndef CONTROL_STORE_EMBEDDING_H
#define CONTROL_STORE_EMBEDDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct embedding;
struct vector;
struct vector_filter;

enum embedding_kind { EMBEDDING_UTTERANCES, EMBEDDING_FACTS };

/* Maps the file and starts the thread. Errors of open and of embedder_alloc, EFBIG, EAGAIN. The
 * caller owns *out. */
int embedding_open(struct embedding **out, const char *path);
/* Waits for the text that is being embedded. NULL accepted. */
struct embedding *embedding_close(struct embedding *e);
/* Name and version of the encoder. Borrowed. */
const char *embedding_model(const struct embedding *e);

/* Keeps the vectors that are ready and hands out rows that have none. Not inside a transaction. */
int embedding_pump(struct embedding *e, struct db *db);
/* The same until every row has its vector. */
int embedding_finish(struct embedding *e, struct db *db);
/* Forgets what is in memory: rows were deleted. NULL accepted. */
void embedding_drop(struct embedding *e);

/* ENODATA: the text is not English or holds no words; e may be NULL. */
int embedding_text(struct embedding *e, const char *text, struct vector *out);
/* The same of some words that stand in an English text. */
int embedding_words(struct embedding *e, const char *words, struct vector *out);
/* Keeps the vector of a fact that was just written. Inside its transaction. */
int embedding_add_fact(struct db *db, struct embedding *e, uint64_t id, const struct vector *v);
/* True if a line of the server has a speaker of this name. */
bool embedding_has_name(struct embedding *e, struct db *db, uint64_t guild, const char *name);
/* A search; question and filter are borrowed. */
struct embedding_query {
	enum embedding_kind kind;
	uint64_t guild;
	const struct vector *question;
	const struct vector_filter *filter;
};
/* Writes the ids of at most `most` rows near the question. */
int embedding_find(struct embedding *e, struct db *db, const struct embedding_query *q,
		   uint64_t *ids, size_t most, size_t *n);
/* The whole vector of a row. ENOENT. */
int embedding_get(struct db *db, enum embedding_kind kind, uint64_t guild, uint64_t id,
		  struct vector *out);

#endif
