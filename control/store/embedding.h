/* Vectors of what the database holds: a thread of its own computes them, the store's worker keeps
 * and searches them. For the store's worker, but for embedding_open.
 *
 * A text is embedded once its row is committed, some rows at each job of the worker. Vectors go
 * with their rows. Those of another encoder are deleted, and their texts are embedded again. The
 * signs of a server's vectors stay in memory after its first search, which reads some of them, the
 * jobs that follow the others; a change by another process drops them. Without the encoder's file
 * there are no vectors, and searches use words alone. */
#ifndef CONTROL_STORE_EMBEDDING_H
#define CONTROL_STORE_EMBEDDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/memory/vectors.h"

struct db;
struct embedding;

enum embedding_kind { EMBEDDING_UTTERANCES, EMBEDDING_FACTS };

/* Maps the file and starts the thread. Errors of open and of embedder_alloc, EFBIG, EAGAIN. The
 * caller owns *out. */
int embedding_open(struct embedding **out, const char *path);
/* An encoder elsewhere in place of the old one, which is closed: the loop embeds texts with it.
 * model tells its name and dimension. NULL without memory. The caller owns it. */
struct embedding *embedding_set_elsewhere(struct embedding *old, const char *model);
/* NULL accepted. */
bool embedding_is_elsewhere(const struct embedding *e);
/* Waits for the text that is being embedded. NULL accepted. */
struct embedding *embedding_close(struct embedding *e);
/* Name and version of the encoder. Borrowed. */
const char *embedding_model(const struct embedding *e);

/* Keeps the vectors that are ready, hands out rows that have none, and reads more of the vectors
 * that searches have begun to use. Not inside a transaction. */
int embedding_pump(struct embedding *e, struct db *db);
/* The same until every row has its vector. */
int embedding_finish(struct embedding *e, struct db *db);
/* Forgets what is in memory: rows were deleted. NULL accepted. */
void embedding_drop(struct embedding *e);

/* ---- of an encoder elsewhere ---- */
enum { EMBEDDING_SENT_TEXTS = 64, EMBEDDING_SENT_BYTES = 48 << 10 };
/* The oldest texts without a vector, as many as fit: {"until": [by kind the row up to which there
 * are none left], "texts": [{"kind", "id", "guild", "user": whose words they are, "text",
 * "people": of the bot's lines the ids of all whom it answers or may quote; 0: nobody knows}, …]}.
 * ENOENT: no encoder elsewhere. The caller frees *out; NULL is ENOMEM. */
int embedding_list(struct embedding *e, struct db *db, char **out);
struct embedding_vectors {
	size_t n;
	uint64_t until[2];
	struct {
		enum embedding_kind kind;
		uint64_t id;
		struct vector vector;
	} v[EMBEDDING_SENT_TEXTS];
};
/* Keeps the vectors of rows that are still there. */
int embedding_keep(struct embedding *e, struct db *db, const struct embedding_vectors *v);

/* ---- searching ---- */
/* ENODATA: the text is not English or holds no words; e may be NULL. */
int embedding_text(struct embedding *e, const char *text, struct vector *out);
/* The same of some words that stand in an English text. */
int embedding_words(struct embedding *e, const char *words, struct vector *out);
/* Keeps the vector of a fact that was just written. Inside its transaction. */
int embedding_add_fact(struct db *db, struct embedding *e, uint64_t id, const struct vector *v);
/* True if a line of the server has a speaker of this name. */
bool embedding_has_name(struct embedding *e, struct db *db, uint64_t guild, const char *name);
/* False: the server has no vector of this kind, and a question needs none. e may be NULL. */
bool embedding_has_rows(struct embedding *e, struct db *db, enum embedding_kind kind,
			uint64_t guild);
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
