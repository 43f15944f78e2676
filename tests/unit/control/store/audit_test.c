/* The chain of the audit (control/store/audit.h). */
#include "control/store/audit.h"

#include <errno.h>
#include <jansson.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/db.h"
#include "control/store/rows.h"
#include "tests/test.h"
#include "tests/unit/ipc/loop.h"

enum { ANA = 501 };

static char dir[32], path[64];
static struct db *db;
static struct audit_state state;

static bool begin(void)
{
	if (!folder_make(dir))
		return false;
	snprintf(path, sizeof path, "%s/parley.db", dir);
	return db_open(&db, dir, DB_OWN) == 0;
}

static void end(void)
{
	db = db_close(db);
	folder_remove(dir);
}

static void add(uint64_t at_ms, const char *actor, const char *result)
{
	CHECK_INT(db_begin(db), 0);
	CHECK_INT(audit_add(db, &(struct audit_row){.at_ms = at_ms,
						    .actor = actor,
						    .via = "tool",
						    .kind = "memory_write",
						    .target = "guild:7",
						    .before = "{\"a\":1}",
						    .result = result}),
		  0);
	CHECK_INT(db_commit(db), 0);
}

static void add_four(void)
{
	add(1000, "501", "inserted");
	add(2000, "502", "inserted");
	add(3000, "501", "updated");
	add(4000, NULL, NULL);
}

static bool run(const char *sql)
{
	sqlite3 *other = NULL;
	bool ran = sqlite3_open(path, &other) == SQLITE_OK &&
		   sqlite3_exec(other, sql, NULL, NULL, NULL) == SQLITE_OK;

	sqlite3_close(other);
	return ran;
}

/* -1: it cannot be told. */
static int check(const char *kept)
{
	return audit_check(db, kept, &state) ? -1 : (int)state.fault;
}

TEST(an_audit_that_nobody_touched_is_whole)
{
	CHECK(begin());
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	CHECK_INT(state.rows, 0);
	add_four();
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	CHECK_INT(state.rows, 4);
	CHECK_INT(state.seq, 4);
	CHECK_INT(strlen(state.head), AUDIT_HASH - 1);
	end();
}

/* Each edit, and where it shows. */
TEST(every_edit_of_the_audit_shows)
{
	static const struct {
		const char *sql;
		enum audit_fault fault;
		uint64_t seq;
	} edits[] = {
		{"DELETE FROM audit WHERE seq = 2", AUDIT_GAP, 3},
		{"DELETE FROM audit WHERE seq = 1", AUDIT_GAP, 2},
		{"DELETE FROM audit WHERE seq = 4", AUDIT_CUT, 3},
		{"DELETE FROM audit", AUDIT_CUT, 0},
		{"UPDATE audit SET result = 'refused' WHERE seq = 2", AUDIT_CHANGED, 2},
		{"UPDATE audit SET actor = '777' WHERE seq = 3", AUDIT_CHANGED, 3},
		{"UPDATE audit SET before = '{}' WHERE seq = 1", AUDIT_CHANGED, 1},
		{"UPDATE audit SET at_ms = 5 WHERE seq = 1", AUDIT_CHANGED, 1},
		{"UPDATE audit SET via = kind, kind = via WHERE seq = 1", AUDIT_CHANGED, 1},
		{"UPDATE audit SET target = NULL WHERE seq = 1", AUDIT_CHANGED, 1},
		{"UPDATE audit SET result = '' WHERE seq = 4", AUDIT_CHANGED, 4},
		{"UPDATE audit SET salt = NULL WHERE seq = 2", AUDIT_CHANGED, 2},
		{"UPDATE audit SET hash = NULL, sealed = NULL WHERE seq = 2", AUDIT_CHANGED, 2},
		{"UPDATE audit SET before = NULL WHERE seq = 1", AUDIT_CHANGED, 1},
		{"UPDATE audit SET said_salt = NULL WHERE seq = 1", AUDIT_CHANGED, 1},
		{"UPDATE audit SET said_salt = NULL, said_sealed = NULL, actor = 'erased', salt ="
		 " NULL WHERE seq = 1",
		 AUDIT_CHANGED, 1},
		/* A row that is disguised as an erased one. */
		{"UPDATE audit SET actor = 'erased', salt = NULL WHERE seq = 2", AUDIT_DISGUISED,
		 2},
		{"UPDATE audit SET actor = 'erased', salt = NULL, before = 'forged' WHERE seq = 2",
		 AUDIT_CHANGED, 2},
		{"UPDATE audit SET seq = 9 WHERE seq = 4", AUDIT_GAP, 9},
		{"INSERT INTO audit(at_ms, actor, kind) VALUES(9, 'x', 'y')", AUDIT_CHANGED, 5},
	};

	for (unsigned i = 0; i < sizeof edits / sizeof edits[0]; i++) {
		CHECK(begin());
		add_four();
		CHECK(run(edits[i].sql));
		CHECK_INT(check(NULL), edits[i].fault);
		CHECK_INT(state.seq, edits[i].seq);
		/* The next row is written all the same, and mends nothing. */
		add(5000, "token", "refused");
		CHECK(check(NULL) != AUDIT_WHOLE);
		end();
	}
}

static void erase(uint64_t user)
{
	sqlite3_stmt *s;

	CHECK_INT(db_begin(db), 0);
	CHECK_INT(audit_note_erased(db, user, "pseudonym", 4500), 0);
	s = db_use(db, DB_ERASE_AUDIT);
	db_bind_uint(s, 1, user);
	CHECK_INT(db_run(db, s), 0);
	CHECK_INT(db_commit(db), 0);
}

TEST(an_erased_person_leaves_the_chain_whole)
{
	CHECK(begin());
	add_four();
	erase(ANA);
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	CHECK_INT(state.rows, 5);
	CHECK_INT(state.erased, 2);
	CHECK_INT(state.unsealed, 0);
	/* Nothing is left by which the id could be tried out. */
	CHECK(run("CREATE TABLE left AS SELECT * FROM audit WHERE actor = 'erased' AND salt IS NOT "
		  "NULL"));
	add(5000, "501", "inserted");
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	/* Another erasure accounts for its own rows, and none for those of somebody else. */
	erase(ANA);
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	CHECK_INT(state.erased, 3);
	CHECK(run("UPDATE audit SET actor = 'erased', salt = NULL WHERE seq = 2"));
	CHECK_INT(check(NULL), AUDIT_DISGUISED);
	CHECK_INT(state.seq, 2);
	end();
}

/* What an erasure leaves of a row is still what was written. */
TEST(the_texts_of_an_erased_row_are_sealed)
{
	CHECK(begin());
	add_four();
	erase(ANA);
	CHECK(run("UPDATE audit SET after = 'forged' WHERE seq = 1"));
	CHECK_INT(check(NULL), AUDIT_CHANGED);
	CHECK_INT(state.seq, 1);
	end();
}

/* The texts of a column of the rows of a kind, one after the other. */
static const char *rows_of(const char *kind, const char *column)
{
	static char all[8192];
	char sql[160];
	sqlite3 *other = NULL;
	sqlite3_stmt *s = NULL;

	*all = '\0';
	snprintf(sql, sizeof sql, "SELECT coalesce(%s, '-') FROM audit WHERE kind = '%s'", column,
		 kind);
	if (sqlite3_open(path, &other) == SQLITE_OK &&
	    sqlite3_prepare_v2(other, sql, -1, &s, NULL) == SQLITE_OK)
		while (sqlite3_step(s) == SQLITE_ROW && strlen(all) < sizeof all / 2)
			strncat(all, (const char *)sqlite3_column_text(s, 0),
				sizeof all - strlen(all) - 1);
	sqlite3_finalize(s);
	sqlite3_close(other);
	return all;
}

/* Nobody erases who gave orders. Who caused a write to the memory stays unnamed. */
TEST(an_erasure_keeps_the_pseudonym_of_who_gave_orders)
{
	CHECK(begin());
	add_four();
	erase(ANA);
	CHECK_STR(rows_of("erased_rows", "target"), "1 3 ");
	CHECK_STR(rows_of("erased_rows", "result"), "-");
	CHECK_INT(db_begin(db), 0);
	CHECK_INT(audit_add(db, &(struct audit_row){.at_ms = 6000,
						    .actor = "discord:501",
						    .kind = "settings"}),
		  0);
	CHECK_INT(db_commit(db), 0);
	erase(ANA);
	CHECK_STR(rows_of("erased_rows", "target"), "1 3 6 ");
	CHECK_STR(rows_of("erased_rows", "result"), "-pseudonym");
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	end();
}

TEST(an_erasure_of_many_rows_accounts_for_all_of_them)
{
	CHECK(begin());
	for (unsigned i = 0; i < 1500; i++)
		add(1000, i % 3 ? "501" : "502", "inserted");
	erase(ANA);
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	CHECK_INT(state.erased, 1000);
	CHECK(strlen(rows_of("erased_rows", "target")) > 4000);
	end();
}

/* ---- rows from before said_sealed ---- */

static void mix(crypto_generichash_state *h, const char *text)
{
	char length[24];

	snprintf(length, sizeof length, text ? "%zu:" : "-", text ? strlen(text) : 0);
	crypto_generichash_update(h, (const uint8_t *)length, strlen(length));
	if (text)
		crypto_generichash_update(h, (const uint8_t *)text, strlen(text));
}

static void digest(const char *const *text, unsigned n, char out[AUDIT_HASH])
{
	crypto_generichash_state h;
	uint8_t bytes[32];

	crypto_generichash_init(&h, NULL, 0, sizeof bytes);
	for (unsigned i = 0; i < n; i++)
		mix(&h, text[i]);
	crypto_generichash_final(&h, bytes, sizeof bytes);
	sodium_bin2hex(out, AUDIT_HASH, bytes, sizeof bytes);
}

/* Version 25 of the database with one row: of 501, whose texts are sealed together. */
static bool make_old(void)
{
	const char *sealed_of[] = {"00ff", "501", "before", NULL};
	char sealed[AUDIT_HASH], hash[AUDIT_HASH], sql[1024];
	const char *chained[] = {"", "1", "1000", sealed, "tool", "settings", "all", "saved"};

	digest(sealed_of, 4, sealed);
	digest(chained, 8, hash);
	snprintf(sql, sizeof sql,
		 "INSERT INTO audit(seq, at_ms, actor, via, kind, target, before, result, salt, "
		 "sealed, hash) VALUES(1, 1000, '501', 'tool', 'settings', 'all', 'before', "
		 "'saved', '00ff', '%s', '%s'); UPDATE audit_chain SET seq = 1, hash = '%s' WHERE "
		 "part = 'head'; ALTER TABLE audit DROP COLUMN said_salt; ALTER TABLE audit DROP "
		 "COLUMN said_sealed; ALTER TABLE facts DROP COLUMN said_ms; DROP TABLE "
		 "music_positions;"
		 "DROP INDEX costs_session; ALTER TABLE sessions DROP COLUMN spoken_ms;"
		 " PRAGMA user_version = 25",
		 sealed, hash, hash);
	db = db_close(db);
	return run(sql) && db_open(&db, dir, DB_OWN) == 0;
}

TEST(a_chain_from_before_the_second_seal_goes_on)
{
	CHECK(begin());
	CHECK(make_old());
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	CHECK_INT(state.rows, 1);
	add(2000, "502", "inserted");
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	CHECK_INT(state.rows, 2);
	CHECK(run("UPDATE audit SET before = 'forged' WHERE seq = 1"));
	CHECK_INT(check(NULL), AUDIT_CHANGED);
	CHECK(run("UPDATE audit SET before = 'before' WHERE seq = 1"));
	erase(ANA);
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	CHECK_INT(state.erased, 1);
	CHECK_INT(state.unsealed, 1);
	end();
}

TEST(rows_that_are_too_old_leave_the_chain_whole)
{
	unsigned changed = 0;
	char kept[AUDIT_HEAD];

	CHECK(begin());
	CHECK_INT(audit_head(db, kept), 0);
	CHECK_STR(kept, "");
	add_four();
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	snprintf(kept, sizeof kept, "4:%s", state.head);
	/* The clock was set back: this one is not dropped from the middle. */
	add(1500, "502", "inserted");
	CHECK_INT(audit_drop_old(db, 2500, 7000, &changed), 0);
	CHECK_INT(changed, 2);
	CHECK_INT(check(kept), AUDIT_WHOLE);
	CHECK_INT(state.rows, 4); /* and the one that tells of it */
	CHECK_STR(rows_of("rows_dropped", "target || ': ' || result"), "up to 2: 2 rows");
	CHECK_INT(audit_drop_old(db, 2500, 7000, &changed), 0);
	CHECK_INT(changed, 2);
	CHECK_INT(check(kept), AUDIT_WHOLE);
	CHECK_INT(state.rows, 4);
	CHECK_INT(audit_drop_old(db, UINT32_MAX, UINT32_MAX, &changed), 0);
	/* Whoever cut everything away would say that it was too old. */
	CHECK_INT(check(kept), AUDIT_TOO_OLD);
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	CHECK_INT(state.rows, 1);
	add(6000, "502", "inserted");
	CHECK_INT(check(kept), AUDIT_TOO_OLD);
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	CHECK_INT(state.seq, 8);
	CHECK_INT(audit_head(db, kept), 0);
	CHECK_INT(check(kept), AUDIT_WHOLE);
	end();
}

/* Whoever can write the file can make a whole chain of other rows; a head that was kept elsewhere
 * tells. */
TEST(a_chain_that_was_made_anew_lacks_the_head_that_was_kept)
{
	char kept[AUDIT_HASH + 8];

	CHECK(begin());
	add_four();
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	snprintf(kept, sizeof kept, "4:%s", state.head);
	CHECK(run("DELETE FROM audit; UPDATE audit_chain SET seq = 0, hash = ''"));
	add_four();
	add(5000, NULL, NULL);
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	CHECK_INT(check(kept), AUDIT_FORGOTTEN);
	CHECK_INT(audit_check(db, "4:abc", &state), EINVAL);
	CHECK_INT(audit_check(db, "", &state), EINVAL);
	end();
}

TEST(rows_from_before_the_chain_are_counted_apart)
{
	CHECK(begin());
	CHECK(run("INSERT INTO audit(at_ms, actor, kind) VALUES(9, 'x', 'y');"
		  "UPDATE audit_chain SET seq = 1"));
	add_four();
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	CHECK_INT(state.unchained, 1);
	CHECK_INT(state.rows, 4);
	end();
}

TEST(the_audit_is_exported_with_its_chain)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	json_t *row;

	CHECK(begin());
	add_four();
	CHECK_INT(audit_export(db, out), 0);
	fclose(out);
	CHECK_INT(check(NULL), AUDIT_WHOLE);
	text[n - 1] = '\0';
	row = json_loads(strrchr(text, '\n'), 0, NULL);
	CHECK_INT(json_integer_value(json_object_get(row, "seq")), 4);
	CHECK(json_is_null(json_object_get(row, "actor")));
	CHECK_STR(json_string_value(json_object_get(row, "hash")), state.head);
	json_decref(row);
	free(text);
	end();
}
