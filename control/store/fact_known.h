/* What a new fact does to those that the memory has: of the same server, memory and author, and of
 * the same people (fact_people.h), compared by control/memory/compare.h. On the store's worker.
 * Pointers are borrowed. */
#ifndef CONTROL_STORE_FACT_KNOWN_H
#define CONTROL_STORE_FACT_KNOWN_H

#include <stddef.h>
#include <stdint.h>

#include "control/memory/compare.h"

struct db;
struct embedding;
struct fact_people;
struct sqlite3_stmt;
struct vector;

enum { FACT_LIKES = 128 };

/* Facts near a text in meaning that have not ended, the nearest first. */
struct fact_likes {
	size_t n;
	struct {
		uint64_t id;
		double likeness;
	} fact[FACT_LIKES];
};

struct fact_new {
	uint64_t guild, owner, user; /* owner: whose memory, 0 the server's; user: the author */
	const char *text;
	const struct vector *meaning; /* NULL without an encoder: words alone decide */
	const struct fact_people *people;
	uint64_t newest; /* only facts up to this id; UINT64_MAX: all */
};

/* The fact that it touches. */
struct fact_touched {
	uint64_t id, said_ms; /* id 0: none; said_ms: the newest time when it was said */
	enum fact_change change;
};

/* Looks in two memories, `owner` and `other`, which may be the same, for facts of the author; user
 * 0: of anybody. meaning: NULL finds none.
 * Errors of db.h. */
int fact_known_find_likes(struct db *db, struct embedding *e, const struct fact_new *f,
			  uint64_t other, struct fact_likes *out);
/* 0: it is not among them. */
double fact_known_likeness(const struct fact_likes *likes, uint64_t id);
/* The fact with this id, if it is in one of both memories and has not ended. */
struct sqlite3_stmt *fact_known_use(struct db *db, uint64_t guild, uint64_t owner, uint64_t other,
				    uint64_t id);
/* The newest time when the fact was said, ms since 1970, of a row of this statement or another one
 * that finds facts (FIND_FACTS, FIND_NEWEST_FACTS). */
uint64_t fact_known_said_ms(struct sqlite3_stmt *s);
int fact_known_compare(struct db *db, struct embedding *e, const struct fact_new *f,
		       struct fact_touched *out);

#endif
