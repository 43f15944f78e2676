/* The order of found facts of which one tells what another one told before: the present value comes
 * first. On the store's worker. */
#ifndef CONTROL_STORE_FACT_NEWER_H
#define CONTROL_STORE_FACT_NEWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct db;
struct rank_line;
struct vector;

/* What was found for a question, in the order in which it answers it. Pointers are borrowed. */
struct fact_found {
	uint64_t guild;
	struct rank_line *rank; /* at_ms: when each was said last; index: its place in facts */
	size_t n;
	json_t *const *facts; /* with "user", "name", "text", "at_ms", "private" and "channels" */
	const char *question;
	/* The time that the question names; until_ms 0: none. */
	uint64_t since_ms, until_ms;
};

/* A fact to compare. Pointers are borrowed. */
struct fact_text {
	const char *text;
	const struct vector *meaning; /* NULL: not known */
};

/* True if two facts of one author are about the same: in another conversation they told it in two
 * content words of the first or more, or their meanings are near. The words are no proof where the
 * meanings are far from each other, and facts about two people (control/memory/whose.h) are not
 * about the same. author: its display name. */
bool fact_newer_alike(const struct fact_text *older, const struct fact_text *newer,
		      const char *author);
/* Notes the older fact as what the newer one may have taken the place of, unless a newer one is
 * noted: "former": [{"text", "from_ms", "until_ms", "unsure": true}], of the same author and
 * memory, since each may be told only to its own people. until_ms: when the newer one was said
 * last. That both are about the same is no proof that the older one has ended. */
void fact_newer_note(json_t *newer, uint64_t until_ms, const json_t *older);
/* Moves a newer fact before an older one that it contradicts, whoever told it, or that is about the
 * same, was told in another conversation, and is of the same author or of one from whom the newer
 * one's author takes it over. A fact of the time that the question names stays before one of
 * another time, and a fact about somebody whom the question names before one about somebody else.
 * Notes former ones as above. Errors of db.h; the facts are all there then, too. */
int fact_newer_first(struct db *db, const struct fact_found *found);

#endif
