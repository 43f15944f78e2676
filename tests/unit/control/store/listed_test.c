/* An erased person in settings that list people, and in what the audit says of orders. */
#include "control/store/listed.h"

#include <sqlite3.h>

#include "control/settings/forget_id.h"
#include "control/store/audit.h"
#include "control/store/db.h"
#include "control/store/deletions.h"
#include "tests/unit/control/store/store_scene.h"

#define ANA UINT64_C(501234567890123456)
#define BOB UINT64_C(502234567890123456)
#define IDS "501234567890123456, 502234567890123456"

static struct store_scene *const s = &store_scene;
static char receipt[2048];

static void on_document(int err, const struct store_document *document, void *arg)
{
	(void)arg;
	s->err = err;
	snprintf(receipt, sizeof receipt, "%s", document->document);
	env_stop(s->l.env);
}

static bool put(const char *document)
{
	const struct store_put what = {
		.scope = STORE_SETTINGS_GLOBAL, .document = document, .author = "token"};

	return store_settings_put(s->store, &what, on_document, NULL) == 0 && loop_run(&s->l) &&
	       s->err == 0;
}

static bool erase(uint64_t user)
{
	return store_erase_person(s->store, user, "test", false, on_document, NULL) == 0 &&
	       loop_run(&s->l) && s->err == 0;
}

static void act(const char *actor, const char *kind, const char *target, const char *via)
{
	bus_publish(s->bus, &(struct bus_event){.type = EVENT_OPERATOR_ACTION,
						.at_ms = store_scene_ms(1),
						.action = {.actor = actor,
							   .via = via,
							   .kind = kind,
							   .target = target,
							   .result = "carried out"}});
}

/* -1: it cannot be told. */
static int check_audit(void)
{
	struct audit_state state = {0};
	struct db *db = NULL;
	int err = db_open(&db, s->dir, DB_READ);

	if (!err)
		err = audit_check(db, NULL, &state);
	db_close(db);
	return err ? -1 : (int)state.fault;
}

static void begin(void)
{
	store_scene_begin();
	store_scene_open(NULL);
	CHECK(put("{\"version\":1,\"intent\":{\"blocked_users\":\"" IDS "\"}}"));
	CHECK(put("{\"version\":2,\"intent\":{\"guilds\":{\"7\":{\"blocked_users\":\"" IDS
		  "\",\"name\":\"1501234567890123456\"}}}}"));
	CHECK(put("{\"version\":3,\"intent\":{\"blocked_users\":\"<@501234567890123456>\"}}"));
	act("token", "share_link", "server 7 person 501234567890123456", "http from 10.0.0.1");
	act("501234567890123456", "sign_in", "session 1", "http from 93.184.1.2");
	act("session 1 (admin)", "say", "server 7", "http from 93.184.1.2");
	act("502234567890123456", "sign_in", "session 2", "http from 10.0.0.7");
}

TEST(an_erasure_takes_the_id_out_of_old_settings_and_leaves_the_block)
{
	begin();
	CHECK(erase(ANA));
	CHECK_INT(store_scene_number("SELECT count(*) FROM settings_documents WHERE version < 3"
				     " AND instr(document, ', 502234567890123456')"),
		  2);
	CHECK_INT(store_scene_number("SELECT count(*) FROM settings_documents WHERE version < 3"
				     " AND instr(document, '\"501234567890123456')"),
		  0);
	/* Digits of another number. */
	CHECK_INT(
		store_scene_number(
			"SELECT instr(document, '1501234567890123456') > 0 FROM settings_documents"
			" WHERE version = 2"),
		1);
	CHECK_INT(store_scene_number("SELECT instr(document, '<@501234567890123456>') > 0"
				     " FROM settings_documents WHERE version = 3"),
		  1);
	/* The receipt tells of it, and of no traces. */
	CHECK(strstr(receipt, "\"traces\":0,\"listed\":1"));
	CHECK(strstr(receipt, "\"settings_documents\":2"));
	store_scene_close();
	store_scene_end();
}

TEST(an_erasure_takes_the_id_and_the_address_out_of_the_audit)
{
	begin();
	CHECK(erase(ANA));
	CHECK_INT(
		store_scene_number(
			"SELECT count(*) FROM audit WHERE replace(target || coalesce(before, '') ||"
			" coalesce(after, '') || via, '1501234567890123456', '')"
			" LIKE '%501234567890123456%'"),
		0);
	CHECK_INT(store_scene_number(
			  "SELECT count(*) FROM audit WHERE target || coalesce(before, '') || "
			  "coalesce(after, '') || via LIKE '%93.184.1.2%'"),
		  0);
	CHECK_INT(store_scene_number("SELECT count(*) FROM audit WHERE after = 'from erased'"), 2);
	/* Of others everything stays. */
	CHECK_INT(store_scene_number("SELECT count(*) FROM audit WHERE after = 'from 10.0.0.7'"),
		  1);
	CHECK_INT(store_scene_number("SELECT count(*) FROM audit WHERE after = 'from 10.0.0.1'"),
		  1);
	CHECK_INT(store_scene_number(
			  "SELECT count(*) FROM audit WHERE instr(after, '502234567890123456')"),
		  2);
	CHECK_INT(check_audit(), AUDIT_WHOLE);
	CHECK(erase(BOB));
	CHECK_INT(check_audit(), AUDIT_WHOLE);
	store_scene_close();
	store_scene_end();
}

static bool run_sql(const char *sql)
{
	sqlite3 *own = NULL;
	bool ok = sqlite3_open(s->path, &own) == SQLITE_OK &&
		  sqlite3_exec(own, sql, NULL, NULL, NULL) == SQLITE_OK;

	sqlite3_close(own);
	return ok;
}

/* The erasure vouches for what it left, and for nothing else. */
TEST(texts_of_the_audit_that_an_erasure_changed_are_sealed_again)
{
	begin();
	CHECK(erase(ANA));
	store_scene_close();
	CHECK_INT(check_audit(), AUDIT_WHOLE);
	CHECK(run_sql("UPDATE audit SET before = 'person 7' WHERE kind = 'share_link'"));
	CHECK_INT(check_audit(), AUDIT_CHANGED);
	store_scene_end();
}

TEST(a_person_whom_only_a_list_names_is_erased_again_after_a_restore)
{
	char backup[64];
	struct db *db = NULL;
	unsigned people = 9;

	begin();
	store_scene_close();
	CHECK(run_sql("DELETE FROM audit"));
	snprintf(backup, sizeof backup, "%.31s/copy", s->dir);
	CHECK_INT(db_open(&db, s->dir, DB_READ), 0);
	CHECK_INT(db_backup(db, backup), 0);
	db_close(db);
	store_scene_open(NULL);
	CHECK(erase(ANA));
	store_scene_close();
	CHECK_INT(rename(backup, s->path), 0);
	CHECK_INT(deletions_replay(s->dir, &people), 0);
	CHECK_INT(people, 1);
	CHECK_INT(store_scene_number("SELECT count(*) FROM settings_documents WHERE version < 3"
				     " AND instr(document, '\"501234567890123456')"),
		  0);
	store_scene_end();
}

TEST(an_id_goes_out_of_a_text_alone)
{
	static const struct {
		const char *text, *left;
		unsigned n;
	} texts[] = {
		{"12, 34", "x, 34", 1},
		{"<@12>;<@!12> 12", "x;x x", 3},
		{"112 121 12a", "112 121 xa", 1},
		{"<#12>", "<#x>", 1},
		{"", "", 0},
		{"12<@12", "x<@x", 2},
	};

	for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		unsigned n = 9;
		char *left = forget_id_text(texts[i].text, 12, "x", &n);

		CHECK_STR(left, texts[i].left);
		CHECK_INT(n, texts[i].n);
		free(left);
	}
}

/* SQLite may leave what was deleted between the rows of a page: there only a new file helps. */
TEST(an_erasure_finds_nothing_between_the_rows_of_a_page)
{
	char head[8], id[] = "501234567890123456";
	int page, rows;
	FILE *f;

	begin();
	store_scene_close();
	page = store_scene_number("SELECT rootpage FROM sqlite_master WHERE name = 'utterances'");
	CHECK(page > 1);
	f = fopen(s->path, "r+");
	CHECK(f && fseek(f, (page - 1) * 4096L, SEEK_SET) == 0);
	CHECK_INT(fread(head, 1, sizeof head, f), sizeof head);
	rows = (uint8_t)head[3] << 8 | (uint8_t)head[4];
	CHECK_INT(head[0], 13); /* a leaf: its rows stand at its end */
	CHECK_INT(fseek(f, (page - 1) * 4096L + 8 + 2 * rows + 100, SEEK_SET), 0);
	CHECK_INT(fwrite(id, 1, sizeof id, f), sizeof id);
	fclose(f);
	store_scene_open(NULL);
	CHECK(erase(ANA));
	CHECK(strstr(receipt, "\"traces\":0,\"listed\":1"));
	store_scene_close();
	store_scene_end();
}
