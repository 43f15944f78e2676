/* The people whom a question names, by their ids: names change, and two people may have the same
 * one. On the store's worker.
 *
 * A name that somebody present is called by now means that person alone, whoever had it before. Any
 * other name means everybody who had it in a line that the server keeps. */
#ifndef CONTROL_STORE_QUESTION_PEOPLE_H
#define CONTROL_STORE_QUESTION_PEOPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct db;

enum { QUESTION_PEOPLE_MAX = 16 }; /* the first ones count */

struct question_people {
	unsigned n;
	uint64_t user[QUESTION_PEOPLE_MAX];
};

/* present: {"NAME": "ID", …} of those whom the question names by their present names (struct
 * store_said); NULL: none. Errors of db.h. */
int question_people_find(struct db *db, uint64_t guild, const json_t *present, const char *question,
			 struct question_people *out);
bool question_people_has(const struct question_people *people, uint64_t user);
/* True if one of the present names is these n bytes, in any case of ASCII letters. */
bool question_people_is_present(const json_t *present, const char *name, size_t n);

/* The only person who ever had the name in a line of the server. *user 0: nobody, or several. */
int question_people_only(struct db *db, uint64_t guild, const char *name, uint64_t *user);

#endif
