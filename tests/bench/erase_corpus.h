/* Shared by the files of the bench `erase`: a random state directory, its store, and two people who
 * are in it. Ana is to be erased, Bob stays. Whatever fails here ends the bench.
 *
 * erase.c          the row; owns the corpus, which the others borrow
 * erase_corpus.c   the directory, its people, their words, and the loop of the store
 * erase_events.c   what they say, write and do
 * erase_store.c    what the store and the files beside it are made to hold besides
 * erase_crash.c    erasures by another process, and what control does when it starts again
 * erase_search.c   the search for what is left */
#ifndef TESTS_BENCH_ERASE_CORPUS_H
#define TESTS_BENCH_ERASE_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bus;
struct env;
struct settings;
struct store;
struct store_document;

enum { ERASE_WORDS = 6, ERASE_WORD = 12, ERASE_REQUESTS = 4, ERASE_SESSION = 5 };
/* How long a statement waits for the store, ms. */
enum { ERASE_BUSY_MS = 10000 };

/* The members belong to erase_corpus_open and erase_corpus_close, but others close the store and
 * open it again. */
struct erase_corpus {
	/* Names of folders and files: the state directory, journals of rooms, turns, older turns,
	 * the log of this process, and an incident. The last two stand beside the directory. */
	char dir[40], rooms[64], turns[64], old[72], log[64], incident[64];
	struct env *env;
	struct bus *bus;
	struct settings *settings;
	struct store *store; /* NULL: closed */
	uint64_t ana, bob, guild;
	unsigned char vector[48];		/* of texts that Ana said */
	char word[ERASE_WORDS][ERASE_WORD + 1]; /* only Ana says them */
	char number[12];
	char *document; /* answer of the last request */
	uint64_t listed[ERASE_REQUESTS];
	size_t n_listed;
	int err; /* of the last request */
	unsigned utterances;
	uint64_t began_ms;
};

/* Draws the people and their words with rand(), and opens a store in a new directory. began_ms:
 * when the bench began, ms since 1970, so that nothing is so old that the store deletes it, as it
 * does a second after it has opened. */
void erase_corpus_open(struct erase_corpus *c, uint64_t began_ms);
void erase_corpus_close(struct erase_corpus *c);
void erase_corpus_close_store(struct erase_corpus *c);

/* ms since 1970; a second passes with each utterance. */
uint64_t erase_corpus_now(const struct erase_corpus *c);
/* A random id of Discord's. */
uint64_t erase_corpus_id(void);
/* A random sentence of common words; ana: with one of hers and her number at its end. */
void erase_corpus_sentence(const struct erase_corpus *c, char *buf, size_t size, bool ana);
/* Makes Ana's words, number and vector the traces to search for (traces.h). */
void erase_corpus_trace_words(const struct erase_corpus *c);
/* The same and her id in several encodings. */
void erase_corpus_trace(const struct erase_corpus *c);

/* Runs the loop until the request has answered that began with err, which must be 0. Its handler is
 * one of those below, its argument the corpus. */
void erase_corpus_wait(struct erase_corpus *c, int err);
void erase_corpus_on_document(int err, const struct store_document *d, void *arg);
void erase_corpus_on_list(int err, const struct store_document *list, size_t n, void *arg);
void erase_corpus_on_done(int err, void *arg);

/* A backup of the database, as a file of this name in the directory. */
void erase_corpus_copy(const struct erase_corpus *c, const char *name);
/* Statements in the database of this file. */
void erase_corpus_run_sql(const char *path, const char *text);
/* Writes text to the file whose name is file and ending. */
void erase_corpus_write(const char *file, const char *ending, const char *text);
/* With all that is in it. */
void erase_corpus_remove(const char *folder);

#endif
