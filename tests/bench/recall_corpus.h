/* The corpora of tests/memory in a database, and questions put to them through the search of the
 * store. A corpus is a server of its own with one channel; its times are taken as UTC. */
#ifndef TESTS_BENCH_RECALL_CORPUS_H
#define TESTS_BENCH_RECALL_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct db;
struct embedding;

enum { CORPUS_CHANNEL = 3, CORPUS_FOUND = 20 };

struct corpus {
	uint64_t guild;
	json_t *room, *questions, *pairs; /* arrays; pairs may be empty */
	uint64_t first;			  /* number of the row before utterance 1 */
};

/* Reads tests/memory/HALF/NAME and adds its room to db as server `guild`. Ends the program if it
 * cannot. The caller frees it. */
void corpus_open(struct corpus *c, const char *half, const char *name, struct db *db,
		 uint64_t guild);
/* The same with the first letter of each line as a capital (Latin and Cyrillic), as transcribers
 * write. */
void corpus_open_capitals(struct corpus *c, const char *half, const char *name, struct db *db,
			  uint64_t guild);
void corpus_free(struct corpus *c);
/* The objects of a file, a line each. Ends the program if it cannot be read. The caller frees it.
 */
json_t *corpus_pairs(const char *path);

/* ms since 1970 of "2026-03-02 19:04:10". */
uint64_t corpus_time(const json_t *at);
uint64_t corpus_user(const char *name);

/* The window that limits the search for a question: the one that it names, up to the question. */
struct corpus_window {
	uint64_t since_ms, until_ms;
};
struct corpus_window corpus_window(const json_t *question);

/* The lines that the store finds, the best first, as utterance numbers; returns how many.
 * *found: the document, which the caller frees; NULL: not wanted. e: NULL for words alone. */
size_t corpus_search(const struct corpus *c, struct db *db, struct embedding *e,
		     const json_t *question, uint64_t u[CORPUS_FOUND], json_t **found);
/* Right answers of some questions. */
struct corpus_count {
	unsigned right, n;
};
void corpus_add(struct corpus_count *c, bool right);
/* A row: the share, with Wilson's 95 % interval. */
void corpus_print(const char *name, struct corpus_count c);
/* True if the array holds this utterance. */
bool corpus_lists(const json_t *array, uint64_t u);

#endif
