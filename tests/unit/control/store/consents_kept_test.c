/* Answers to the question of consent, behind a restart, an erasure and an older backup. */
#include "tests/unit/control/store/person_scene.h"

#include <errno.h>
#include <sys/stat.h>

#include "control/store/store.h"
#include "control/store/consent_file.h"
#include "control/store/deletions.h"
#include "control/words/words.h"
#include "control/store/rows.h"
#include "control/store/subject.h"
#include "control/events/events.h"

static const char *state_of(const json_t *kept, uint64_t user)
{
	struct subject_key key;
	char mac[SUBJECT_MAC], row[64];

	if (subject_key_parse(json_string_value(json_object_get(kept, "key")), &key))
		return "no key";
	subject_mac(&key, user, mac);
	snprintf(row, sizeof row, "7:%s", mac);
	return json_string_value(json_object_get(json_object_get(kept, "rows"), row));
}

/* The same of what a start would read; "not read" if it cannot. */
static const char *state_now(uint64_t user)
{
	static char state[16];
	const char *found;
	json_t *kept;

	if (store_read_consents(person_dir, &kept))
		return "not read";
	found = state_of(kept, user);
	snprintf(state, sizeof state, "%s", found ? found : "none");
	json_decref(kept);
	return state;
}

/* Whatever the receipt says. Positive errno. */
static int erase_ana(void)
{
	char *receipt = NULL;
	int err = person_erase_ana(NULL, NULL, &receipt);

	free(receipt);
	return err;
}

/* A time of the object `times`, in milliseconds. server: "7" or, of an erasure, "0". */
static json_int_t time_of(const json_t *kept, const char *times, const char *server)
{
	struct subject_key key;
	char mac[SUBJECT_MAC], row[64];

	if (subject_key_parse(json_string_value(json_object_get(kept, "key")), &key))
		return -1;
	subject_mac(&key, ANA, mac);
	snprintf(row, sizeof row, "%s:%s", server, mac);
	return json_integer_value(json_object_get(json_object_get(kept, times), row));
}

static json_int_t withdrawn_ms(const json_t *kept, const char *server)
{
	return json_integer_value(json_object_get(json_object_get(kept, "withdrawn"), server));
}

TEST(a_restart_knows_since_when_answers_hold)
{
	struct consent_change change = {.guild = 7,
					.user = ANA,
					.at_ms = 1500,
					.before = "default",
					.after = "neither",
					.via = "/consent"};
	json_t *kept;

	person_open();
	CHECK_INT(consents_put(person_db, person_dir, &change), 0);
	change.at_ms = 1600;
	change.before = "neither";
	change.after = "heard";
	CHECK_INT(consents_put(person_db, person_dir, &change), 0);
	change.at_ms = 1700;
	change.before = "heard";
	change.after = "remembered";
	CHECK_INT(consents_put(person_db, person_dir, &change), 0);
	CHECK_INT(store_read_consents(person_dir, &kept), 0);
	CHECK_INT(time_of(kept, "since", "7"), 1700);
	CHECK_INT(time_of(kept, "unread_before", "7"), 1600);
	CHECK_INT(time_of(kept, "unread_before", "0"), 0);
	CHECK_INT(withdrawn_ms(kept, "7"), 1500);
	CHECK_INT(withdrawn_ms(kept, "0"), 0);
	json_decref(kept);
	CHECK_INT(erase_ana(), 0);
	CHECK_INT(store_read_consents(person_dir, &kept), 0);
	CHECK(time_of(kept, "unread_before", "0") > 0);
	CHECK(time_of(kept, "since", "7") == time_of(kept, "unread_before", "0"));
	CHECK_INT(time_of(kept, "unread_before", "7"), 1600);
	CHECK(withdrawn_ms(kept, "0") == time_of(kept, "unread_before", "0"));
	/* They were remembered until the erasure. */
	CHECK(withdrawn_ms(kept, "7") == withdrawn_ms(kept, "0"));
	json_decref(kept);
	db_close(person_db);
	folder_remove(person_dir);
}

/* The ledger keeps the change without the id; a refusal to be heard holds on. */
TEST(consents_survive_a_restart_and_refusals_an_erasure)
{
	struct consent_change change = {.guild = 7,
					.user = ANA,
					.at_ms = 1500,
					.before = "default",
					.after = "remembered",
					.via = "/consent"};
	char *receipt = NULL;

	person_open();
	CHECK_INT(consents_put(person_db, person_dir, &change), 0);
	CHECK_STR(state_now(ANA), "remembered");
	CHECK_INT(person_erase_ana(NULL, NULL, &receipt), 0);
	CHECK(strstr(receipt, "\"traces\":0"));
	free(receipt);
	CHECK_STR(state_now(ANA), "heard");
	CHECK_INT(erase_ana(), 0);
	CHECK_STR(state_now(ANA), "heard");
	change.after = "neither";
	CHECK_INT(consents_put(person_db, person_dir, &change), 0);
	CHECK_INT(person_erase_ana(NULL, NULL, &receipt), 0);
	CHECK(strstr(receipt, "\"traces\":0"));
	free(receipt);
	CHECK_STR(state_now(ANA), "neither");
	db_close(person_db);
	folder_remove(person_dir);
}

static void answer_consent(uint64_t user, uint64_t at_ms, const char *after)
{
	const struct consent_change change = {.guild = 7,
					      .user = user,
					      .at_ms = at_ms,
					      .before = "default",
					      .after = after,
					      .via = "/consent",
					      .grants = strcmp(after, "remembered") == 0};

	CHECK_INT(consents_put(person_db, person_dir, &change), 0);
}

/* As at a start: how many answers of the file the database did not hold. -1: it failed. */
static int replay(void)
{
	unsigned changed = 9;

	return consents_replay(person_dir, &changed) ? -1 : (int)changed;
}

/* Puts the copy in the place of the database and starts; as replay(). */
static int restore(const char *backup)
{
	char path[64];
	unsigned people;

	db_close(person_db);
	person_db = NULL;
	snprintf(path, sizeof path, "%s/parley.db", person_dir);
	return rename(backup, path) || deletions_replay(person_dir, &people) ? -1 : replay();
}

static void open_for_backup(char backup[64])
{
	person_db = NULL;
	CHECK(folder_make(person_dir));
	CHECK_INT(db_open(&person_db, person_dir, DB_OWN), 0);
	snprintf(backup, 64, "%s/copy", person_dir);
}

TEST(an_older_backup_does_not_bring_back_a_consent_or_lose_a_refusal)
{
	char backup[64];

	person_open();
	snprintf(backup, sizeof backup, "%s/copy", person_dir);
	answer_consent(ANA, 1500, "remembered");
	CHECK_INT(db_backup(person_db, backup), 0);
	answer_consent(ANA, 1600, "neither");
	answer_consent(ANA, 1700, "heard");
	answer_consent(BOB, 1600, "neither");
	CHECK_INT(restore(backup), 2);
	CHECK_STR(state_now(ANA), "heard");
	CHECK_STR(state_now(BOB), "neither");
	CHECK_INT(replay(), 0);
	folder_remove(person_dir);
}

/* The member was told that nothing changed. */
TEST(an_answer_that_was_not_saved_allows_nothing_after_a_restart)
{
	struct consent_change change = {.guild = 7,
					.user = ANA,
					.at_ms = 1600,
					.before = "neither",
					.after = "heard",
					.via = "/consent",
					.grants = true};

	person_open();
	answer_consent(ANA, 1500, "neither");
	CHECK(person_sql("PRAGMA query_only = ON"));
	CHECK(consents_put(person_db, person_dir, &change));
	db_close(person_db);
	CHECK_INT(replay(), 0);
	CHECK_STR(state_now(ANA), "neither");
	folder_remove(person_dir);
}

/* The backup holds the consent and no other row of the person. */
TEST(an_older_backup_does_not_bring_back_the_consent_of_an_erased_person)
{
	char backup[64];

	open_for_backup(backup);
	answer_consent(ANA, 1500, "remembered");
	answer_consent(BOB, 1500, "heard");
	/* Old rows of the ledger may be gone. */
	CHECK_INT(db_run(person_db, person_use(DB_ERASE_CONSENT_LEDGER, ANA)), 0);
	CHECK_INT(db_backup(person_db, backup), 0);
	CHECK_INT(erase_ana(), 0);
	CHECK_INT(restore(backup), 0);
	CHECK_STR(state_now(ANA), "heard");
	CHECK_STR(state_now(BOB), "heard");
	folder_remove(person_dir);
}

/* The backup is older than the consent, which the file alone knows. */
TEST(an_older_backup_does_not_make_an_erased_person_remembered)
{
	char backup[64];

	open_for_backup(backup);
	answer_consent(BOB, 1400, "heard");
	CHECK_INT(db_backup(person_db, backup), 0);
	answer_consent(ANA, 1500, "remembered");
	CHECK_INT(erase_ana(), 0);
	CHECK_INT(restore(backup), 1);
	CHECK_STR(state_now(ANA), "heard");
	CHECK_INT(replay(), 0);
	folder_remove(person_dir);
}

/* A crash cut the last line short, and a disk damaged another. */
TEST(a_broken_line_does_not_hide_an_older_answer)
{
	char backup[64], path[64], mac[SUBJECT_MAC];
	struct subject_key key;
	FILE *f;

	open_for_backup(backup);
	answer_consent(BOB, 1400, "heard");
	CHECK_INT(db_backup(person_db, backup), 0);
	answer_consent(ANA, 1500, "neither");
	CHECK_INT(subject_key_find(person_dir, &key), 0);
	subject_mac(&key, ANA, mac);
	snprintf(path, sizeof path, "%s/consents", person_dir);
	f = fopen(path, "a");
	CHECK(f && fprintf(f, "1600 7 \377 heard\n1600 7 %s remem", mac) > 0);
	fclose(f);
	CHECK_INT(restore(backup), 1);
	CHECK_STR(state_now(ANA), "neither");
	folder_remove(person_dir);
}

TEST(consents_without_their_key_are_not_read)
{
	char key[64];
	json_t *kept;

	person_open();
	snprintf(key, sizeof key, "%s/subject-key", person_dir);
	answer_consent(ANA, 1500, "neither");
	person_write(key, "short");
	CHECK_INT(store_read_consents(person_dir, &kept), EINVAL);
	CHECK(!kept);
	unlink(key);
	CHECK_INT(store_read_consents(person_dir, &kept), ENOKEY);
	CHECK(access(key, F_OK) != 0);
	/* Another key would match nobody. */
	person_write(key, "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
	CHECK_INT(chmod(key, 0600), 0);
	CHECK_INT(store_read_consents(person_dir, &kept), EKEYREJECTED);
	db_close(person_db);
	folder_remove(person_dir);
}

/* Another key would make a pseudonym that matches nobody once the right one is back. */
TEST(an_erasure_without_the_key_of_the_consents_fails)
{
	char key[64], away[72], *receipt = NULL;

	person_open();
	answer_consent(ANA, 1500, "remembered");
	snprintf(key, sizeof key, "%s/subject-key", person_dir);
	snprintf(away, sizeof away, "%s.away", key);
	CHECK_INT(rename(key, away), 0);
	CHECK_INT(person_erase_ana(NULL, NULL, &receipt), ENOKEY);
	CHECK(!receipt && access(key, F_OK) != 0);
	CHECK_INT(rename(away, key), 0);
	CHECK_INT(erase_ana(), 0);
	CHECK_STR(state_now(ANA), "heard");
	db_close(person_db);
	folder_remove(person_dir);
}
