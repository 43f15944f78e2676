/* The audit: who did what, each row chained to the one before it by a hash, so that a row that was
 * changed, added or removed afterwards shows.
 *
 *   sealed      = BLAKE2b-256(salt, actor)
 *   said_sealed = BLAKE2b-256(said_salt, before, after)
 *   hash        = BLAKE2b-256(hash of the row before, seq, at_ms, sealed, via, kind, target,
 * result, said_sealed)
 *
 * The texts that may be personal stand in the chain as salted digests alone: the erasure of a
 * person takes the actor and its salt, and the chain stays whole. The erasure itself is a row,
 * erased_rows, whose target has the numbers of those rows: an erased row that none names was
 * disguised. Its result is the pseudonym of the person (subject.h), unless the rows are writes to
 * the memory alone: nobody erases who gave orders. Rows from before said_sealed have one seal of
 * all three texts; when such a row is erased nothing vouches for its before and after.
 *
 * Before and after may name an erased person: settings that list people, "person ID" of an order,
 * "from ADDRESS". The erasure puts the pseudonym there, and "erased" for the address, with a new
 * said_salt. Rows of kind erased_texts have in their target the seals of what it left, as
 * "SEQ:SEAL ", and vouch for it.
 *
 * audit_chain has the last row that was dropped as too old, and the newest one. Whoever can write
 * the file can make a chain of their own: keep a head elsewhere, and compare. */
#ifndef CONTROL_STORE_AUDIT_H
#define CONTROL_STORE_AUDIT_H

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

struct db;

enum { AUDIT_HASH = 65 };

/* Texts are borrowed; NULL is none. */
struct audit_row {
	uint64_t at_ms;
	const char *actor, *via, *kind, *target, *before, *after, *result;
};

enum audit_fault {
	AUDIT_WHOLE,
	AUDIT_GAP,	 /* rows before seq are missing */
	AUDIT_CHANGED,	 /* the row seq is not the one that was written */
	AUDIT_CUT,	 /* the rows after seq are missing */
	AUDIT_FORGOTTEN, /* the head that was kept elsewhere is not in the chain */
	AUDIT_TOO_OLD,	 /* rows of its time were dropped: nobody can look for it */
	AUDIT_DISGUISED, /* the row seq says that its actor was erased, and no erasure names it */
};

struct audit_state {
	enum audit_fault fault;
	uint64_t seq;	    /* of the fault; the newest row otherwise */
	uint64_t rows;	    /* that are chained and right */
	uint64_t erased;    /* of them whose actor was erased */
	uint64_t unsealed;  /* of those, with texts that nothing vouches for */
	uint64_t unchained; /* from before there was a chain */
	char head[AUDIT_HASH];
};

/* Inside the caller's transaction. Errors of db_run. */
int audit_add(struct db *db, const struct audit_row *row);
/* How many of the rows that audit_waiting counts were written; 0 at first. Errors of db.h. */
int audit_get_written(struct db *db, uint64_t *n);
int audit_set_written(struct db *db, uint64_t n);
/* Adds the rows that account for the erasure of a person, and comes before it. mac: the person's
 * pseudonym. Errors of db.h. */
int audit_note_erased(struct db *db, uint64_t user, const char *mac, uint64_t now_ms);
/* Replaces the person's id in before and after of all rows by the pseudonym, and the addresses from
 * which the person gave orders by "from erased". Comes before the erasure of their rows. *n: how
 * many rows it changed. Errors of db.h. */
int audit_erase_texts(struct db *db, uint64_t user, const char *mac, uint64_t now_ms, unsigned *n);
/* Drops rows from before at_ms (since 1970), the oldest ones first and without a gap, and adds a
 * row that says how many. *changed: how many. Errors of db.h. */
int audit_drop_old(struct db *db, uint64_t at_ms, uint64_t now_ms, unsigned *changed);
/* Walks the chain. kept: "SEQ:HASH", an earlier head, or NULL. EINVAL: kept is no head. */
int audit_check(struct db *db, const char *kept, struct audit_state *out);
/* Walks the chain as audit_check does without an earlier head. *out: the result for the dashboard,
 * {whole, fault, row, rows, …}; the caller owns it. */
int audit_tell(struct db *db, json_t **out);
/* "SEQ:HASH" of the newest row, to be kept elsewhere; "" without one. */
enum { AUDIT_HEAD = AUDIT_HASH + 24 };
int audit_head(struct db *db, char out[AUDIT_HEAD]);
/* One JSON object a line, the oldest first, with all that the chain is made of. */
int audit_export(struct db *db, FILE *out);

#endif
