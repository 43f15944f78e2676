/* The facts of a database as a file, which an operator carries to another one
 * (`control --export-memory`, `--import-memory`).
 *
 *   {"format": "parley-memory-1", "facts": [{"id", "guild", "owner", "said_by": ids as texts,
 *    "name", "type", "tags", "text", "written_ms", "valid_from_ms", "valid_until_ms" or null,
 *    "superseded_by": an id of the file, or null; if it was said again, "said_ms": when}, …]}
 *
 * A fact that stands does to the facts that were there before what a new one would do
 * (fact_known.h, by words): it is known, it ends an older one, or it comes as a former value of a
 * later one. Evidence stays behind: it is utterances of the other database. Anybody may have edited
 * the file, so its facts pass the guard (control/memory/guard.h) as those of conversations do. */
#ifndef CONTROL_STORE_MEMORY_FILE_H
#define CONTROL_STORE_MEMORY_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct db;

enum { MEMORY_FILE_MAX = 64 << 20, MEMORY_FILE_FACTS = 1000000, MEMORY_FILE_TEXT = 2000 };

struct memory_import {
	/* Facts: written, there already or in other words, erased or forgotten since, and against
	 * the rules: guarded, of the future, or of people who answered that they are not to be
	 * remembered. */
	unsigned added, known, erased, refused;
};

/* The caller frees *out. Errors of db.h, ENOMEM. */
int memory_file_write(struct db *db, char **out);
/* *out: the facts, checked; the caller owns it. EBADMSG: it is no such file, or a fact in it is
 * malformed; nothing is taken then. */
int memory_file_parse(const char *text, size_t n, json_t **out);
/* Why memory_file_parse refused this text: a clause, with the place. */
void memory_file_fault(const char *text, size_t n, char *why, size_t size);
/* One transaction. dir holds the subject key and the deletions. Errors of db.h. */
int memory_file_import(struct db *db, const char *dir, const json_t *facts, uint64_t now_ms,
		       struct memory_import *out);

#endif
