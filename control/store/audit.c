#include "control/store/audit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <jansson.h>
#include <sodium.h>
#include <sqlite3.h>

#include "control/events/audit_kind.h"
#include "control/settings/forget_id.h"
#include "control/store/db.h"

enum { SALT = 16, SALT_TEXT = 2 * SALT + 1, DIGEST = 32, ERASED_LIST = 4096 };

/* ---- digests ---- */

/* Each text with its length before it, so that no two lists of texts are alike. */
static void mix(crypto_generichash_state *state, const char *text)
{
	char length[24];
	int n = snprintf(length, sizeof length, text ? "%zu:" : "-", text ? strlen(text) : 0);

	crypto_generichash_update(state, (const uint8_t *)length, (size_t)n);
	if (text)
		crypto_generichash_update(state, (const uint8_t *)text, strlen(text));
}

static void mix_number(crypto_generichash_state *state, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, n);
	mix(state, text);
}

static void finish(crypto_generichash_state *state, char out[AUDIT_HASH])
{
	uint8_t digest[DIGEST];

	crypto_generichash_final(state, digest, sizeof digest);
	sodium_bin2hex(out, AUDIT_HASH, digest, sizeof digest);
}

static void seal(const char *salt, const char *a, const char *b, char out[AUDIT_HASH])
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, NULL, 0, DIGEST);
	mix(&state, salt);
	mix(&state, a);
	mix(&state, b);
	finish(&state, out);
}

static void seal_actor(const char *salt, const struct audit_row *row, char out[AUDIT_HASH])
{
	seal(salt, row->actor, NULL, out);
}

static void seal_said(const char *salt, const struct audit_row *row, char out[AUDIT_HASH])
{
	seal(salt, row->before, row->after, out);
}

/* Of a row from before said_sealed. */
static void seal_all(const char *salt, const struct audit_row *row, char out[AUDIT_HASH])
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, NULL, 0, DIGEST);
	mix(&state, salt);
	mix(&state, row->actor);
	mix(&state, row->before);
	mix(&state, row->after);
	finish(&state, out);
}

struct seals {
	const char *actor, *said; /* said: NULL of a row from before it */
};

static void chain(const char *previous, uint64_t seq, const struct seals *sealed,
		  const struct audit_row *row, char out[AUDIT_HASH])
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, NULL, 0, DIGEST);
	mix(&state, previous);
	mix_number(&state, seq);
	mix_number(&state, row->at_ms);
	mix(&state, sealed->actor);
	mix(&state, row->via);
	mix(&state, row->kind);
	mix(&state, row->target);
	mix(&state, row->result);
	if (sealed->said)
		mix(&state, sealed->said);
	finish(&state, out);
}

/* EIO: no random bytes came. */
static int make_salt(char out[SALT_TEXT])
{
	uint8_t random[SALT];

	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		return EIO;
	sodium_bin2hex(out, SALT_TEXT, random, sizeof random);
	return 0;
}

/* ---- the ends of the chain ---- */

struct end {
	uint64_t seq;
	char hash[AUDIT_HASH];
};

static int find_end(struct db *db, const char *part, struct end *out)
{
	sqlite3_stmt *s = db_use(db, DB_GET_AUDIT_END);
	int err;

	*out = (struct end){0};
	db_bind_text(s, 1, part);
	err = db_step(db, s);
	if (err)
		return err == ENOENT ? 0 : err;
	out->seq = db_uint(s, 0);
	snprintf(out->hash, sizeof out->hash, "%s", db_text(s, 1));
	sqlite3_reset(s); /* else it goes on to read an old state of the file */
	return 0;
}

static int set_head(struct db *db, const struct end *head)
{
	sqlite3_stmt *s = db_use(db, DB_SET_AUDIT_END);

	db_bind_text(s, 1, "head");
	db_bind_uint(s, 2, head->seq);
	db_bind_text(s, 3, head->hash);
	return db_run(db, s);
}

static int find_last(struct db *db, uint64_t *seq)
{
	sqlite3_stmt *s = db_use(db, DB_LAST_AUDIT);
	int err = db_step(db, s);

	*seq = err ? 0 : db_uint(s, 0);
	sqlite3_reset(s);
	return err;
}

static int insert_row(struct db *db, const struct end *next, const struct audit_row *row,
		      const char *const sealed[4])
{
	sqlite3_stmt *s = db_use(db, DB_ADD_AUDIT);

	db_bind_uint(s, 1, next->seq);
	db_bind_uint(s, 2, row->at_ms);
	db_bind_text(s, 3, row->actor);
	db_bind_text(s, 4, row->via);
	db_bind_text(s, 5, row->kind);
	db_bind_text(s, 6, row->target);
	db_bind_text(s, 7, row->before);
	db_bind_text(s, 8, row->after);
	db_bind_text(s, 9, row->result);
	db_bind_text(s, 10, sealed[0]);
	db_bind_text(s, 11, sealed[1]);
	db_bind_text(s, 12, next->hash);
	db_bind_text(s, 13, sealed[2]);
	db_bind_text(s, 14, sealed[3]);
	return db_run(db, s);
}

int audit_add(struct db *db, const struct audit_row *row)
{
	char salt[SALT_TEXT], sealed[AUDIT_HASH], said_salt[SALT_TEXT], said[AUDIT_HASH];
	struct end head, next;
	int err = find_end(db, "head", &head);

	if (!err)
		err = make_salt(salt);
	if (!err)
		err = make_salt(said_salt);
	if (!err)
		err = find_last(db, &next.seq);
	if (err)
		return err;
	seal_actor(salt, row, sealed);
	seal_said(said_salt, row, said);
	/* A row that somebody else wrote shows as a gap, and stops nobody. */
	next.seq = (next.seq > head.seq ? next.seq : head.seq) + 1;
	chain(head.hash, next.seq, &(struct seals){sealed, said}, row, next.hash);
	err = insert_row(db, &next, row, (const char *const[4]){salt, sealed, said_salt, said});
	return err ? err : set_head(db, &next);
}

/* ---- erasures ---- */

/* The numbers of a person's rows after *last, as "3 7 12 ", as many as fit. */
static int list_rows(struct db *db, uint64_t user, bool memory, uint64_t *last,
		     char out[ERASED_LIST])
{
	sqlite3_stmt *s = db_use(db, DB_FIND_AUDIT_OF_PERSON);
	size_t n = 0;
	int err;

	*out = '\0';
	db_bind_uint(s, 1, user);
	db_bind_uint(s, 2, memory);
	db_bind_uint(s, 3, *last);
	while (n + 24 < ERASED_LIST && (err = db_step(db, s)) == 0) {
		*last = db_uint(s, 0);
		n += (size_t)snprintf(out + n, ERASED_LIST - n, "%" PRIu64 " ", *last);
	}
	sqlite3_reset(s);
	return n + 24 < ERASED_LIST && err != ENOENT ? err : 0;
}

static int note_erased(struct db *db, uint64_t user, bool memory, const struct audit_row *row)
{
	char list[ERASED_LIST];
	struct audit_row noted = *row;
	uint64_t last = 0;
	int err;

	noted.target = list;
	do {
		err = list_rows(db, user, memory, &last, list);
		if (!err && *list)
			err = audit_add(db, &noted);
	} while (!err && *list);
	return err;
}

int audit_note_erased(struct db *db, uint64_t user, const char *mac, uint64_t now_ms)
{
	struct audit_row row = {.at_ms = now_ms,
				.actor = "control",
				.via = "store",
				.kind = audit_kind_name(AUDIT_KIND_ERASED_ROWS)};
	int err = note_erased(db, user, true, &row);

	row.result = mac;
	return err ? err : note_erased(db, user, false, &row);
}

static const char *text_or_null(sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_NULL ? NULL : db_text(s, column);
}

#define WRITTEN "audit_written"

int audit_get_written(struct db *db, uint64_t *n)
{
	sqlite3_stmt *s = db_use(db, DB_GET_META);
	int err;

	*n = 0;
	db_bind_text(s, 1, WRITTEN);
	err = db_step(db, s);
	if (!err)
		*n = db_uint(s, 0);
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

int audit_set_written(struct db *db, uint64_t n)
{
	sqlite3_stmt *s = db_use(db, DB_SET_META);

	db_bind_text(s, 1, WRITTEN);
	db_bind_uint(s, 2, n);
	return db_run(db, s);
}

/* ---- texts that tell of an erased person ---- */

struct taken {
	struct db *db;
	uint64_t user;
	const char *mac;
	struct audit_row noted;
	char list[ERASED_LIST];
	size_t n;
};

/* NULL stays NULL. The caller frees *out. */
static int take_id(const struct taken *t, const char *text, char **out)
{
	unsigned n;

	*out = text ? forget_id_text(text, t->user, t->mac, &n) : NULL;
	return text && !*out ? ENOMEM : 0;
}

static int add_vouchers(struct taken *t)
{
	int err = 0;

	t->noted.target = t->list;
	if (t->n)
		err = audit_add(t->db, &t->noted);
	t->n = 0;
	return err;
}

static int change_texts(struct taken *t, uint64_t seq, const struct audit_row *row, bool chained)
{
	char salt[SALT_TEXT], sealed[AUDIT_HASH];
	sqlite3_stmt *s = db_use(t->db, DB_SET_AUDIT_TEXTS);
	int err = make_salt(salt);

	if (err)
		return err;
	seal_said(salt, row, sealed);
	db_bind_uint(s, 1, seq);
	db_bind_text(s, 2, row->before);
	db_bind_text(s, 3, row->after);
	db_bind_text(s, 4, chained ? salt : NULL);
	err = db_run(t->db, s);
	if (err || !chained)
		return err;
	if (t->n + AUDIT_HASH + 24 > sizeof t->list)
		err = add_vouchers(t);
	t->n += (size_t)snprintf(t->list + t->n, sizeof t->list - t->n, "%" PRIu64 ":%s ", seq,
				 sealed);
	return err;
}

/* A row of FIND_AUDIT_TEXTS as JSON: [seq, before, after, it is an address, it is in the chain]. */
static int take_texts(struct taken *t, const json_t *row)
{
	char *before = NULL, *after = NULL;
	bool from = json_is_true(json_array_get(row, 3));
	struct audit_row now = {0};
	int err = take_id(t, json_string_value(json_array_get(row, 1)), &before);

	if (!err)
		err = take_id(t, json_string_value(json_array_get(row, 2)), &after);
	now.before = before;
	now.after = from ? "from erased" : after;
	if (!err)
		err = change_texts(t, (uint64_t)json_integer_value(json_array_get(row, 0)), &now,
				   json_is_true(json_array_get(row, 4)));
	free(before);
	free(after);
	return err;
}

static int list_texts(struct db *db, uint64_t user, json_t *rows)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_AUDIT_TEXTS);
	int err;

	db_bind_uint(s, 1, user);
	while ((err = db_step(db, s)) == 0)
		json_array_append_new(rows,
				      json_pack("[I,s?,s?,b,b]", (json_int_t)db_uint(s, 0),
						text_or_null(s, 1), text_or_null(s, 2),
						db_uint(s, 3) != 0, text_or_null(s, 4) != NULL));
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

int audit_erase_texts(struct db *db, uint64_t user, const char *mac, uint64_t now_ms, unsigned *n)
{
	struct taken t = {.db = db,
			  .user = user,
			  .mac = mac,
			  .noted = {.at_ms = now_ms,
				    .actor = "control",
				    .via = "store",
				    .kind = audit_kind_name(
					    AUDIT_KIND_ERASED_TEXTS), /* LIST_AUDIT_VOUCHERS */
				    .result = mac}};
	json_t *rows = json_array(), *row;
	size_t i;
	int err = rows ? list_texts(db, user, rows) : ENOMEM;

	json_array_foreach(rows, i, row)
	{
		err = err ? err : take_texts(&t, row);
	}
	*n = (unsigned)json_array_size(rows);
	json_decref(rows);
	return err ? err : add_vouchers(&t);
}

/* ---- rows that are too old ---- */

/* Else a clock that jumps by a year takes the whole audit unseen. */
static int note_dropped(struct db *db, unsigned n, uint64_t now_ms)
{
	struct end before;
	char target[40], result[32];
	int err = find_end(db, "before", &before);

	snprintf(target, sizeof target, "up to %" PRIu64, before.seq);
	snprintf(result, sizeof result, "%u row%s", n, n == 1 ? "" : "s");
	return err ? err
		   : audit_add(db,
			       &(struct audit_row){.at_ms = now_ms,
						   .actor = "control",
						   .via = "store",
						   .kind = audit_kind_name(AUDIT_KIND_ROWS_DROPPED),
						   .target = target,
						   .result = result});
}

int audit_drop_old(struct db *db, uint64_t at_ms, uint64_t now_ms, unsigned *changed)
{
	sqlite3_stmt *s = db_use(db, DB_ANCHOR_AUDIT);
	unsigned n;
	int err;

	db_bind_uint(s, 1, at_ms);
	err = db_run(db, s);
	if (err)
		return err;
	s = db_use(db, DB_DROP_OLD_AUDIT);
	db_bind_uint(s, 1, at_ms);
	err = db_run(db, s);
	if (err)
		return err;
	n = db_changes(db);
	*changed += n;
	return n ? note_dropped(db, n, now_ms) : 0;
}

/* ---- checking ---- */

/* A row of READ_AUDIT; texts are borrowed until the next step. */
struct stored {
	uint64_t seq;
	struct audit_row row;
	const char *salt, *sealed, *hash, *said_salt, *said_sealed;
};

static struct stored read_row(sqlite3_stmt *s)
{
	return (struct stored){.seq = db_uint(s, 0),
			       .row = {.at_ms = db_uint(s, 1),
				       .actor = text_or_null(s, 2),
				       .via = text_or_null(s, 3),
				       .kind = text_or_null(s, 4),
				       .target = text_or_null(s, 5),
				       .before = text_or_null(s, 6),
				       .after = text_or_null(s, 7),
				       .result = text_or_null(s, 8)},
			       .salt = text_or_null(s, 9),
			       .sealed = text_or_null(s, 10),
			       .hash = text_or_null(s, 11),
			       .said_salt = text_or_null(s, 12),
			       .said_sealed = text_or_null(s, 13)};
}

static bool is_erased(const struct stored *r)
{
	return !r->salt && r->row.actor && strcmp(r->row.actor, "erased") == 0;
}

/* The actor is the one that was sealed, as far as that can be told. */
static bool fits_actor(const struct stored *r)
{
	char sealed[AUDIT_HASH];

	if (!r->said_sealed || !r->salt)
		return true;
	seal_actor(r->salt, &r->row, sealed);
	return strcmp(sealed, r->sealed) == 0;
}

/* Before and after are those that were sealed. */
static bool fits_said(const struct stored *r)
{
	char sealed[AUDIT_HASH];

	if (!r->said_sealed) {
		if (r->salt)
			seal_all(r->salt, &r->row, sealed);
		return !r->salt || strcmp(sealed, r->sealed) == 0;
	}
	if (!r->said_salt)
		return false;
	seal_said(r->said_salt, &r->row, sealed);
	return strcmp(sealed, r->said_sealed) == 0;
}

/* An erasure left these texts. vouchers: [[seq, target], …]. */
static bool is_vouched(const struct stored *r, const json_t *vouchers)
{
	char sealed[AUDIT_HASH], entry[AUDIT_HASH + 24];
	const json_t *voucher;
	size_t i;

	if (!r->said_salt)
		return false;
	seal_said(r->said_salt, &r->row, sealed);
	snprintf(entry, sizeof entry, "%" PRIu64 ":%s ", r->seq, sealed);
	json_array_foreach(vouchers, i, voucher)
	{
		const char *list = json_string_value(json_array_get(voucher, 1));
		const char *at = strstr(list, entry);

		if ((uint64_t)json_integer_value(json_array_get(voucher, 0)) > r->seq && at &&
		    (at == list || at[-1] == ' '))
			return true;
	}
	return false;
}

static enum audit_fault judge(const struct stored *r, const struct end *before,
			      const json_t *vouchers)
{
	char hash[AUDIT_HASH];

	if (r->seq != before->seq + 1)
		return AUDIT_GAP;
	if (!r->sealed || !r->hash || (!r->salt && !is_erased(r)) || !fits_actor(r) ||
	    (!fits_said(r) && !is_vouched(r, vouchers)))
		return AUDIT_CHANGED;
	chain(before->hash, r->seq, &(struct seals){r->sealed, r->said_sealed}, &r->row, hash);
	return strcmp(hash, r->hash) == 0 ? AUDIT_WHOLE : AUDIT_CHANGED;
}

/* Erased rows of which no erasure is known yet, in their order. */
struct erased {
	uint64_t *seq;
	size_t n, cap;
	json_t *vouchers;
};

static int list_vouchers(struct db *db, json_t **out)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_AUDIT_VOUCHERS);
	int err;

	*out = json_array();
	while ((err = db_step(db, s)) == 0)
		json_array_append_new(*out,
				      json_pack("[I,s]", (json_int_t)db_uint(s, 0), db_text(s, 1)));
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

static int note_erased_row(struct erased *all, uint64_t seq)
{
	if (all->n == all->cap) {
		size_t cap = all->cap ? 2 * all->cap : 64;
		uint64_t *more = realloc(all->seq, cap * sizeof *more);

		if (!more)
			return ENOMEM;
		all->seq = more;
		all->cap = cap;
	}
	all->seq[all->n++] = seq;
	return 0;
}

/* Takes those out that the target of an erasure names. Both lists ascend. */
static void account(struct erased *all, const char *list)
{
	size_t kept = 0, i = 0;

	while (i < all->n) {
		char *end;
		uint64_t seq = strtoull(list, &end, 10);

		if (end == list)
			seq = UINT64_MAX;
		if (all->seq[i] < seq)
			all->seq[kept++] = all->seq[i];
		if (all->seq[i] <= seq)
			i++;
		if (i < all->n && all->seq[i] > seq)
			list = end;
	}
	all->n = kept;
}

static int count_row(const struct stored *r, struct erased *all, struct audit_state *out)
{
	int err = 0;

	out->rows++;
	out->erased += is_erased(r);
	/* Rows from before said_sealed may have been erased before erasures were rows. */
	if (is_erased(r) && !r->said_sealed)
		out->unsealed += r->row.before || r->row.after;
	else if (is_erased(r))
		err = note_erased_row(all, r->seq);
	if (!err && r->row.kind && r->row.target &&
	    strcmp(r->row.kind, audit_kind_name(AUDIT_KIND_ERASED_ROWS)) == 0)
		account(all, r->row.target);
	return err;
}

static bool parse_kept(const char *text, struct end *out)
{
	char *end;

	errno = 0;
	out->seq = strtoull(text, &end, 10);
	if (errno || end == text || *end != ':' || strlen(end + 1) != AUDIT_HASH - 1)
		return false;
	snprintf(out->hash, sizeof out->hash, "%s", end + 1);
	return true;
}

/* Walks from `at`, which becomes the newest row. */
static int walk(struct db *db, struct end *at, const struct end *kept, bool *found,
		struct erased *all, struct audit_state *out)
{
	uint64_t first = at->seq;
	sqlite3_stmt *s = db_use(db, DB_READ_AUDIT);
	int err;

	while ((err = db_step(db, s)) == 0) {
		struct stored r = read_row(s);

		if (r.seq <= first && !r.hash) {
			out->unchained++;
			continue;
		}
		out->fault = judge(&r, at, all->vouchers);
		out->seq = r.seq;
		err = out->fault ? 0 : count_row(&r, all, out);
		if (err || out->fault)
			break;
		at->seq = r.seq;
		snprintf(at->hash, sizeof at->hash, "%s", r.hash);
		*found = *found || (at->seq == kept->seq && strcmp(at->hash, kept->hash) == 0);
	}
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

static void judge_end(const struct end *at, const struct end *head, const struct erased *all,
		      struct audit_state *out)
{
	out->seq = at->seq;
	memcpy(out->head, at->hash, sizeof out->head);
	if (at->seq != head->seq || strcmp(at->hash, head->hash) != 0) {
		out->fault = AUDIT_CUT;
	} else if (all->n) {
		out->fault = AUDIT_DISGUISED;
		out->seq = all->seq[0];
	}
}

int audit_check(struct db *db, const char *kept_text, struct audit_state *out)
{
	struct end at, head, kept = {0};
	struct erased all = {0};
	bool found = !kept_text, too_old;
	int err;

	*out = (struct audit_state){0};
	if (kept_text && !parse_kept(kept_text, &kept))
		return EINVAL;
	err = find_end(db, "before", &at);
	if (!err)
		err = find_end(db, "head", &head);
	found = found || (kept.seq == at.seq && strcmp(kept.hash, at.hash) == 0);
	too_old = kept_text && kept.seq < at.seq;
	if (!err)
		err = list_vouchers(db, &all.vouchers);
	if (!err)
		err = walk(db, &at, &kept, &found, &all, out);
	if (!err && !out->fault)
		judge_end(&at, &head, &all, out);
	free(all.seq);
	json_decref(all.vouchers);
	if (!err && !out->fault && !found)
		out->fault = too_old ? AUDIT_TOO_OLD : AUDIT_FORGOTTEN;
	return err;
}

int audit_head(struct db *db, char out[AUDIT_HEAD])
{
	struct end head;
	int err = find_end(db, "head", &head);

	*out = '\0';
	if (!err && head.seq)
		snprintf(out, AUDIT_HEAD, "%" PRIu64 ":%s", head.seq, head.hash);
	return err;
}

int audit_export(struct db *db, FILE *out)
{
	sqlite3_stmt *s = db_use(db, DB_READ_AUDIT);
	int err;

	while ((err = db_step(db, s)) == 0) {
		struct stored r = read_row(s);
		json_t *row = json_pack(
			"{s:I,s:I,s:s?,s:s?,s:s?,s:s?,s:s?,s:s?,s:s?,s:s?,s:s?,s:s?,s:s?,s:s?}",
			"seq", (json_int_t)r.seq, "at_ms", (json_int_t)r.row.at_ms, "actor",
			r.row.actor, "via", r.row.via, "kind", r.row.kind, "target", r.row.target,
			"before", r.row.before, "after", r.row.after, "result", r.row.result,
			"salt", r.salt, "sealed", r.sealed, "hash", r.hash, "said_salt",
			r.said_salt, "said_sealed", r.said_sealed);
		int written = row ? json_dumpf(row, out, JSON_COMPACT) : -1;

		json_decref(row);
		if (written || fputc('\n', out) == EOF)
			return row ? EIO : ENOMEM;
	}
	return err == ENOENT ? 0 : err;
}

int audit_tell(struct db *db, json_t **out)
{
	static const char *const faults[] = {[AUDIT_GAP] = "gap",
					     [AUDIT_CHANGED] = "changed",
					     [AUDIT_CUT] = "cut",
					     [AUDIT_DISGUISED] = "disguised"};
	struct audit_state state;
	int err = audit_check(db, NULL, &state);

	if (err)
		return err;
	*out = json_pack(
		"{s:b,s:s?,s:o,s:I,s:I,s:I,s:I,s:o}", "whole", (int)!state.fault, "fault",
		faults[state.fault], "row",
		state.seq ? json_sprintf("%llu", (unsigned long long)state.seq) : json_null(),
		"rows", (json_int_t)state.rows, "erased", (json_int_t)state.erased, "unsealed",
		(json_int_t)state.unsealed, "unchained", (json_int_t)state.unchained, "head",
		state.fault || !*state.head
			? json_null()
			: json_sprintf("%llu:%s", (unsigned long long)state.seq, state.head));
	return 0;
}
