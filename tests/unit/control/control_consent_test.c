/* /consent and "Forget me": what is answered when, and what takes effect when. */
#include "control/control_inside.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/configure/live_settings.h"
#include "control/consent/consent.h"
#include "control/discord/commands.h"
#include "control/discord/rest.h"
#include "control/events/events.h"
#include "control/media/media.h"
#include "control/settings/settings.h"
#include "control/store/db.h"
#include "control/store/erase.h"
#include "control/store/store.h"
#include "control/writer.h"
#include "tests/unit/control/fake_http.h"
#include "tests/unit/ipc/loop.h"

enum { GUILD = 100, ANA = 501, BOB = 502 };

static struct scene {
	struct fake_http fake;
	struct control c;
	char dir[32], database[64];
	char content[600]; /* of the newest answer */
	unsigned rows;	   /* saved consents when it came */
	unsigned answers;
} fx;

static unsigned count_saved(void)
{
	sqlite3_stmt *s = NULL;
	sqlite3 *sql = NULL;
	unsigned n = 0;

	if (sqlite3_open(fx.database, &sql) == SQLITE_OK &&
	    sqlite3_prepare_v2(sql, "SELECT count(*) FROM consents", -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		n = (unsigned)sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(sql);
	return n;
}

/* Stops the loop with the answer to a press. */
static void serve(struct fake_http *f, struct evhttp_request *req)
{
	bool edits = strcmp(f->method, "PATCH") == 0;
	json_t *body = json_loadb((const char *)f->body, f->n, 0, NULL);
	const json_t *data = edits ? body : json_object_get(body, "data");
	const char *content = json_string_value(json_object_get(data, "content"));

	if (content) {
		snprintf(fx.content, sizeof fx.content, "%s", content);
		fx.rows = count_saved();
		fx.answers++;
		env_stop(f->env);
	} else if (edits) { /* a form with a file */
		snprintf(fx.content, sizeof fx.content, "%.*s", (int)f->n, (const char *)f->body);
		fx.answers++;
		env_stop(f->env);
	}
	json_decref(body);
	fake_http_answer(req, edits ? 200 : 204, "application/json", "{}", edits ? 2 : 0);
}

static int save_nothing(const struct live_settings_version *version, void *arg)
{
	(void)version, (void)arg;
	return ENOENT;
}

static bool begin(void)
{
	struct control *c = &fx.c;
	struct live_settings_conf live = {.saveh = save_nothing};
	const struct media_conf media = {.socks = (const char *[]){"/nowhere", NULL}};

	memset(&fx, 0, sizeof fx);
	if (!folder_make(fx.dir) || !fake_http_begin(&fx.fake, serve, NULL))
		return false;
	snprintf(fx.database, sizeof fx.database, "%s/parley.db", fx.dir);
	c->env = fx.fake.env;
	if (settings_alloc(&c->settings))
		return false;
	live.settings = c->settings;
	return !live_settings_alloc(&c->live, &live) && !bus_alloc(&c->bus) &&
	       !writer_alloc(&c->writer, c->env, c->bus, c->settings) &&
	       !store_alloc(&c->store, c->env, c->bus, c->settings, fx.dir) &&
	       !consent_table_alloc(&c->consents, NULL) &&
	       !rest_alloc(&c->rest, c->env, fx.fake.http, fx.fake.base, "token") &&
	       !media_alloc(&c->media, c->env, &media) &&
	       !commands_alloc(&c->commands, c->env, c->rest, control_on_command, NULL, c) &&
	       !components_alloc(&c->components, c->env, c->rest, control_on_press,
				 control_on_typing, c);
}

static void end(void)
{
	struct control *c = &fx.c;

	rest_free(c->rest);
	components_free(c->components);
	commands_free(c->commands);
	media_free(c->media);
	live_settings_free(c->live);
	writer_free(c->writer);
	store_free(c->store);
	control_end_consents(c);
	control_end_privacy(c);
	consent_table_free(c->consents);
	bus_free(c->bus);
	settings_free(c->settings);
	fake_http_end(&fx.fake);
	folder_remove(fx.dir);
}

static void press_in(const char *guild, uint64_t user, const char *action, const char *value)
{
	char id[96], who[24];
	json_t *d;

	snprintf(id, sizeof id, "parley:%s:%llu:%llu", action, (unsigned long long)user,
		 (unsigned long long)(env_wall_ms(fx.c.env) / 1000));
	snprintf(who, sizeof who, "%llu", (unsigned long long)user);
	d = json_pack("{s:s,s:s,s:i,s:s,s:s,s:{s:{s:s}},s:{s:s,s:[s]}}", "id", "7",
		      "application_id", "9", "type", 3, "token", "abc", "guild_id", "100", "member",
		      "user", "id", who, "data", "custom_id", id, "values", value);
	if (!*guild) { /* a direct message */
		json_object_del(d, "guild_id");
		json_object_set_new(d, "user", json_pack("{s:s}", "id", who));
		json_object_del(d, "member");
	}
	CHECK(components_interaction(fx.c.components, d, env_wall_ms(fx.c.env)));
	json_decref(d);
}

static void press(uint64_t user, const char *action, const char *value)
{
	press_in("100", user, action, value);
}

/* Until so many presses are answered; false when they are not. */
static bool await_answers(unsigned n)
{
	while (fx.answers < n && !fx.fake.timed_out)
		env_run(fx.fake.env);
	return !fx.fake.timed_out;
}

static bool await_answer(void)
{
	return await_answers(fx.answers + 1);
}

static enum consent answer_of(uint64_t user)
{
	return consent_answer(fx.c.consents, GUILD, user);
}

TEST(a_consent_is_answered_once_it_is_saved)
{
	CHECK(begin());
	press(ANA, "consent", "remembered");
	CHECK_INT(answer_of(ANA), CONSENT_DEFAULT); /* not before it is saved */
	CHECK(await_answer());
	CHECK(strstr(fx.content, "heard and remembered"));
	CHECK_INT(fx.rows, 1);
	CHECK_INT(answer_of(ANA), CONSENT_REMEMBERED);
	CHECK(control_remembers(GUILD, ANA, &fx.c));
	end();
}

TEST(a_refusal_takes_effect_at_once)
{
	CHECK(begin());
	press(ANA, "consent", "neither");
	CHECK_INT(answer_of(ANA), CONSENT_NEITHER);
	CHECK(await_answer());
	CHECK(strstr(fx.content, "not heard"));
	CHECK_INT(fx.rows, 1);
	end();
}

/* The first one is saved later than the second takes effect. */
/* What allows less is never held up. */
TEST(a_member_may_not_allow_more_and_less_all_the_time)
{
	CHECK(begin());
	for (unsigned i = 0; i < 3; i++) {
		press(ANA, "consent", "remembered");
		CHECK(await_answer());
		CHECK_INT(answer_of(ANA), CONSENT_REMEMBERED);
		press(ANA, "consent", "neither");
		CHECK(await_answer());
		CHECK_INT(answer_of(ANA), CONSENT_NEITHER);
	}
	press(ANA, "consent", "heard");
	CHECK(await_answer());
	CHECK(strstr(fx.content, "3 times a minute"));
	CHECK_INT(answer_of(ANA), CONSENT_NEITHER);
	/* Nor are others. */
	press(BOB, "consent", "remembered");
	CHECK(await_answer());
	press(BOB, "consent", "heard");
	CHECK(await_answer());
	CHECK_INT(answer_of(BOB), CONSENT_HEARD);
	end();
}

/* Than the one before, which the store has not saved yet. */
TEST(an_answer_that_allows_less_than_one_that_waits_is_not_held_up)
{
	CHECK(begin());
	for (unsigned i = 0; i < 2; i++) {
		press(ANA, "consent", "heard");
		CHECK(await_answer());
		press(ANA, "consent", "neither");
		CHECK(await_answer());
	}
	press(ANA, "consent", "remembered");
	press(ANA, "consent", "heard");
	CHECK(await_answers(6));
	CHECK_INT(answer_of(ANA), CONSENT_HEARD);
	end();
}

TEST(a_refusal_outlives_a_consent_that_is_still_being_saved)
{
	CHECK(begin());
	press(ANA, "consent", "remembered");
	press(ANA, "consent", "neither");
	CHECK_INT(answer_of(ANA), CONSENT_NEITHER);
	CHECK(await_answers(2));
	CHECK_INT(answer_of(ANA), CONSENT_NEITHER);
	end();
}

/* The first one is saved behind the second one, which the store has no room for. */
TEST(a_refusal_that_is_not_saved_outlives_a_consent_that_is)
{
	struct store *store;

	CHECK(begin());
	press(ANA, "consent", "remembered");
	store = fx.c.store;
	fx.c.store = NULL;
	press(ANA, "consent", "neither");
	fx.c.store = store;
	CHECK(await_answers(2));
	CHECK_INT(count_saved(), 1);
	CHECK_INT(answer_of(ANA), CONSENT_NEITHER);
	end();
}

/* The store has another key than the consents were saved with. */
static void break_store(void)
{
	char path[64];
	FILE *f;

	press(BOB, "consent", "heard");
	CHECK(await_answer());
	snprintf(path, sizeof path, "%s/subject-key", fx.dir);
	f = fopen(path, "w");
	CHECK(f &&
	      fputs("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", f) >= 0);
	fclose(f);
}

TEST(a_consent_that_is_not_saved_changes_nothing_and_says_so)
{
	CHECK(begin());
	break_store();
	press(ANA, "consent", "remembered");
	CHECK(await_answer());
	CHECK(strstr(fx.content, "nothing has changed"));
	CHECK(!strstr(fx.content, "remembered"));
	CHECK_INT(answer_of(ANA), CONSENT_DEFAULT);
	end();
}

TEST(a_refusal_that_is_not_saved_holds_until_the_restart_and_says_so)
{
	CHECK(begin());
	break_store();
	press(ANA, "consent", "neither");
	CHECK(await_answer());
	CHECK(strstr(fx.content, "holds until I restart"));
	CHECK_INT(answer_of(ANA), CONSENT_NEITHER);
	end();
}

TEST(blocked_people_and_those_of_another_default_are_not_told_to_models)
{
	CHECK(begin());
	CHECK(!control_remembers(GUILD, ANA, &fx.c));
	CHECK_INT(live_settings_base(fx.c.live, "consent", "remembered"), 0);
	live_settings_apply(fx.c.live);
	CHECK(control_remembers(GUILD, ANA, &fx.c));
	CHECK_INT(live_settings_base(fx.c.live, "blocked_users", "501"), 0);
	live_settings_apply(fx.c.live);
	CHECK(!control_remembers(GUILD, ANA, &fx.c));
	CHECK(control_remembers(GUILD, BOB, &fx.c));
	end();
}

/* Presses the button that erases; whether the answer has these words. */
static bool is_answered(uint64_t user, const char *words)
{
	press(user, "forget_sure", "");
	return await_answer() && strstr(fx.content, words);
}

/* The server that knows her, and one that she never spoke in. */
TEST(an_erased_member_is_not_remembered_by_default)
{
	enum { OTHER = 200 };

	CHECK(begin());
	CHECK_INT(live_settings_base(fx.c.live, "consent", "remembered"), 0);
	live_settings_apply(fx.c.live);
	press(ANA, "consent", "heard"); /* the server knows her now */
	CHECK(await_answer());
	CHECK_INT(consent_set(fx.c.consents, GUILD, ANA, CONSENT_DEFAULT, 0), 0);
	CHECK(control_remembers(GUILD, ANA, &fx.c));
	CHECK(is_answered(ANA, "parley-erasure-1"));
	CHECK(!control_remembers(GUILD, ANA, &fx.c));
	CHECK_INT(answer_of(ANA), CONSENT_HEARD);
	CHECK_INT(consent_answer(fx.c.consents, OTHER, ANA), CONSENT_DEFAULT);
	end();
}

TEST(a_member_is_erased_once_in_a_while)
{
	CHECK(begin());
	CHECK(is_answered(ANA, "parley-erasure-1"));
	CHECK(is_answered(ANA, "once in 10 min."));
	CHECK(is_answered(BOB, "parley-erasure-1"));
	end();
}

/* As a person does in a direct message: the command, and its button. */
static void ask_to_be_forgotten(uint64_t user)
{
	char who[24];
	json_t *d;

	snprintf(who, sizeof who, "%llu", (unsigned long long)user);
	d = json_pack("{s:s,s:s,s:i,s:s,s:s,s:{s:s},s:{s:s}}", "id", who, "application_id", "9",
		      "type", 2, "token", "def", "channel_id", "301", "user", "id", who, "data",
		      "name", "privacy");
	commands_interaction(fx.c.commands, d, env_wall_ms(fx.c.env));
	json_decref(d);
	CHECK(await_answer());
	press_in("", user, "forget", "");
	CHECK(await_answer());
	press_in("", user, "forget_sure", "");
	CHECK(await_answer());
}

/* Whoever is known nowhere has nothing searched, and there are many of them. */
TEST(a_stranger_who_writes_to_the_bot_is_told_that_nothing_is_kept)
{
	CHECK(begin());
	press(BOB, "consent", "heard"); /* a server knows him now */
	CHECK(await_answer());
	ask_to_be_forgotten(ANA);
	CHECK(strstr(fx.content, "I keep nothing about you."));
	ask_to_be_forgotten(503);
	CHECK(strstr(fx.content, "once in 1 min."));
	ask_to_be_forgotten(BOB);
	CHECK(strstr(fx.content, "a search of the files found no trace"));
	ask_to_be_forgotten(BOB);
	CHECK(strstr(fx.content, "once in 10 min."));
	end();
}

static void write_to_the_bot(uint64_t user)
{
	bus_publish(fx.c.bus, &(struct bus_event){.type = EVENT_TEXT_MESSAGE,
						  .at_ms = env_wall_ms(fx.c.env),
						  .user = user,
						  .text = {.reason = "sent_reply"}});
}

/* What they wrote to the bot alone is erased, and is no way around the limit. */
TEST(who_only_wrote_to_the_bot_is_searched_for_once_a_minute)
{
	CHECK(begin());
	write_to_the_bot(ANA);
	write_to_the_bot(503);
	ask_to_be_forgotten(ANA);
	CHECK(strstr(fx.content, "1 row erased; a search of the files found no trace"));
	ask_to_be_forgotten(503);
	CHECK(strstr(fx.content, "once in 1 min."));
	CHECK(!store_has_erase_requests(fx.dir)); /* so no start erases them either */
	end();
}

/* Accounts cost nothing. */
TEST(strangers_who_are_refused_take_no_members_place)
{
	CHECK(begin());
	CHECK(is_answered(BOB, "parley-erasure-1"));
	for (unsigned i = 0; i < ERASURES_KEPT; i++) {
		press_in("", 600 + i, "forget_sure", "");
		CHECK(await_answer());
	}
	CHECK(is_answered(BOB, "once in 10 min."));
	end();
}

/* The turn file cannot be read at first. */
TEST(a_failed_erasure_may_be_repeated_at_once)
{
	char turns[64];

	CHECK(begin());
	snprintf(turns, sizeof turns, "%s/turns", fx.dir);
	CHECK_INT(symlink("/nowhere", turns), 0);
	CHECK_INT(settings_set(fx.c.settings, "turns_file", turns), 0);
	press(ANA, "forget_sure", "");
	CHECK(await_answer());
	CHECK(!strstr(fx.content, "parley-erasure-1"));
	CHECK_INT(unlink(turns), 0);
	CHECK(is_answered(ANA, "parley-erasure-1"));
	CHECK(is_answered(ANA, "once in 10 min."));
	end();
}

TEST(saved_answers_that_cannot_be_read_are_told)
{
	json_t *kept = json_pack("{s:b}", "unread", 1);
	struct words words = {0};

	CHECK(begin());
	consent_table_free(fx.c.consents);
	CHECK_INT(consent_table_alloc(&fx.c.consents, kept), 0);
	json_decref(kept);
	CHECK_INT(live_settings_base(fx.c.live, "consent", "remembered"), 0);
	live_settings_apply(fx.c.live);
	CHECK(!control_remembers(GUILD, ANA, &fx.c));
	control_tell_present_consent(&fx.c, GUILD, ANA, &words);
	CHECK(strstr(words.text, "I cannot read"));
	end();
}

static void request(uint64_t user)
{
	struct db *db = NULL;

	CHECK_INT(db_open(&db, fx.dir, DB_JOIN), 0);
	CHECK_INT(erase_request(db, user, env_wall_ms(fx.c.env)), 0);
	db_close(db);
	control_take_erase_requests(&fx.c);
}

static void on_poll(void *arg)
{
	struct tmr **poll = arg;

	if (!store_has_erase_requests(fx.dir))
		env_stop(fx.c.env);
	else
		tmr_start(*poll, 5 * NS_PER_MS);
}

/* Until no erasure is requested any more. */
static bool await_erasures(void)
{
	struct tmr *poll = NULL;

	if (tmr_alloc(&poll, fx.c.env, on_poll, &poll))
		return false;
	tmr_start(poll, 0);
	env_run(fx.c.env);
	tmr_free(poll);
	return !fx.fake.timed_out;
}

TEST(requests_of_other_processes_are_carried_out)
{
	CHECK(begin());
	press(ANA, "consent", "heard");
	CHECK(await_answer());
	request(ANA);
	CHECK(await_erasures());
	request(BOB);
	CHECK(await_erasures());
	end();
}

static void on_poll_requests(void *arg)
{
	struct tmr **poll = arg;

	if (!fx.c.privacy_requests)
		env_stop(fx.c.env);
	else
		tmr_start(*poll, 5 * NS_PER_MS);
}

/* Until the receipt of each erasure has come. */
static bool await_receipts(void)
{
	struct tmr *poll = NULL;

	if (tmr_alloc(&poll, fx.c.env, on_poll_requests, &poll))
		return false;
	tmr_start(poll, 0);
	env_run(fx.c.env);
	tmr_free(poll);
	return !fx.fake.timed_out;
}

/* Also while nobody waits for the first one any more. */
TEST(the_dashboard_has_one_person_erased_at_a_time)
{
	CHECK(begin());
	CHECK_INT(control_erase(ANA, &fx.c), 0);
	CHECK_INT(control_erase(BOB, &fx.c), EBUSY);
	CHECK(await_receipts());
	CHECK_INT(control_erase(BOB, &fx.c), 0);
	CHECK(await_receipts());
	end();
}
