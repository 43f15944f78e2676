/* The file `forgotten` of the state directory: what was taken out of the memory for good, and when.
 *
 * It stands beside the database, so that a database restored from an older backup does not bring
 * back facts that somebody forgot, or messages that were deleted or edited on Discord
 * (forgotten_replay.h). Each line has a time (ms since 1970), a kind, and pseudonyms (subject.h)
 * in place of ids and words:
 *
 *   fact MAC          of server, memory, author and text: as in the table erased_facts
 *   line MAC          a line from which nothing is extracted any more: struct forgotten_line
 *   guild MAC         the memory of a whole server
 *   message MAC       a message that was deleted
 *   edited MAC MAC    a message, and of it and the text that it has now
 *   channel MAC       all messages of a channel until then
 *
 * Backups do not copy the file. `meta` of the database has how many bytes of it the database has
 * seen. On the store's worker. */
#ifndef CONTROL_STORE_FORGOTTEN_H
#define CONTROL_STORE_FORGOTTEN_H

#include <stddef.h>
#include <stdint.h>

#include "control/store/subject.h"

struct db;
struct erased_fact;
struct forgotten;

#define FORGOTTEN_FILE "forgotten"
#define FORGOTTEN_SEEN "forgotten_seen" /* the row of meta */

/* As the statements name it (NAME_OF_LINE). 0 where it has none. */
struct forgotten_line {
	uint64_t guild, session, utterance, user, started_ms, turn, message;
};

/* Notes of one transaction. *out is NULL, with a warning in the log, if there is no key to make
 * pseudonyms with: forgetting does not wait for it. The caller owns *out. ENOMEM, ENOSPC. */
int forgotten_alloc(struct forgotten **out, struct db *db, const char *dir, uint64_t at_ms);
/* NULL accepted, as by all of these. */
struct forgotten *forgotten_free(struct forgotten *f);
/* Errors of db.h, ENOMEM. An import refuses this fact from now on, or all of the server. */
int forgotten_note_fact(struct forgotten *f, const struct erased_fact *fact);
int forgotten_note_guild(struct forgotten *f, uint64_t guild);
/* ENOMEM. */
int forgotten_note_line(struct forgotten *f, const struct forgotten_line *line);
int forgotten_note_message(struct forgotten *f, uint64_t message);
int forgotten_note_edit(struct forgotten *f, uint64_t message, const char *text);
int forgotten_note_channel(struct forgotten *f, uint64_t guild, uint64_t channel);
/* Appends the notes to the file and syncs it; before the transaction is committed. ENOSPC, errors
 * of db.h; any other error of the file is a warning in the log. */
int forgotten_save(struct forgotten *f);

/* The pseudonyms. */
void forgotten_mac_guild(const struct subject_key *key, uint64_t guild, char out[SUBJECT_MAC]);
void forgotten_mac_line(const struct subject_key *key, const struct forgotten_line *line,
			char out[SUBJECT_MAC]);
void forgotten_mac_message(const struct subject_key *key, uint64_t message, char out[SUBJECT_MAC]);
void forgotten_mac_text(const struct subject_key *key, uint64_t message, const char *text,
			char out[SUBJECT_MAC]);
void forgotten_mac_channel(const struct subject_key *key, uint64_t guild, uint64_t channel,
			   char out[SUBJECT_MAC]);

#endif
