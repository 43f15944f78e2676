/* What may be shown to others (control/store/incident.h). */
#include "control/store/incident.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/events/events.h"
#include "control/store/db.h"
#include "control/store/rows.h"
#include "control/why.h"
#include "tests/unit/ipc/loop.h"

#define GUILD UINT64_C(71771983423143937)

static char dir[32], to[48];

static void add(struct db *db, uint64_t at_ms, uint64_t guild, uint64_t user)
{
	struct bus_event turn = {
		.type = EVENT_TURN,
		.at_ms = at_ms,
		.guild = guild,
		.user = user,
		.turn = {
			.session = 9,
			.channel = 5,
			.turn = 3,
			.name = "Marzipan",
			.heard = "the secret word",
			.said = "an unspoken answer",
			.reason = "answered",
			.segments = "[{\"user\":\"501000000000000000\",\"name\":\"Marzipan\","
				    "\"utterance\":1,"
				    "\"text\":\"the secret word\"}]",
			.why = "[{\"rule\":\"direct_address\",\"yes\":true,\"value\":1,\"limit\":1,"
			       "\"unit\":\"\",\"text\":\"t\"}]"}};
	struct bus_event words = {
		.type = EVENT_UTTERANCE,
		.at_ms = at_ms,
		.guild = guild,
		.user = user,
		.utterance = {.name = "Marzipan", .text = "the secret word", .started_ms = at_ms}};
	struct bus_event fault = {
		.type = EVENT_FAULT, .at_ms = at_ms, .guild = guild, .user = user};
	struct bus_event member = {.type = EVENT_MEMBER,
				   .at_ms = at_ms,
				   .guild = guild,
				   .user = user,
				   .member = {.name = "Marzipan"}};
	struct bus_event signs = {.type = EVENT_OPERATOR_ACTION,
				  .at_ms = at_ms,
				  .action = {.actor = "Marzipan", .via = "from 192.0.2.7"}};

	struct bus_event refused = {.type = EVENT_ENGINE_REFUSED,
				    .at_ms = at_ms,
				    .guild = guild,
				    .refusal = {.role = "voice",
						.provider = "main",
						.why = "no voice for Marzipan of key whisper"}};

	struct bus_event tool = {.type = EVENT_TOOL_CALLED,
				 .at_ms = at_ms,
				 .guild = guild,
				 .tool = {.session = 9,
					  .turn = 3,
					  .call = (uint32_t)at_ms,
					  .name = "invented by a model",
					  .code = "unknown_tool"}};

	CHECK_INT(rows_add(db, &tool, true), 0);
	fault.fault.fault = "KEY";
	CHECK_INT(rows_add(db, &refused, true), 0);
	CHECK_INT(rows_add(db, &turn, true), 0);
	CHECK_INT(rows_add(db, &words, true), 0);
	CHECK_INT(rows_add(db, &fault, true), 0);
	CHECK_INT(rows_add(db, &member, true), 0);
	CHECK_INT(rows_add(db, &signs, true), 0);
}

static bool make(void)
{
	struct sqlite3_stmt *s;
	struct db *db = NULL;

	if (!folder_make(dir) || db_open(&db, dir, DB_OWN))
		return false;
	snprintf(to, sizeof to, "%s/out", dir);
	add(db, 1000, GUILD, 501000000000000000);
	add(db, 5000, GUILD, 501000000000000000);
	add(db, 5000, 8, 502000000000000000);
	s = db_use(db, DB_ADD_DOCUMENT);
	db_bind_text(s, 1, "global");
	db_bind_uint(s, 2, 1);
	db_bind_text(s, 3,
		     "{\"hold_ms\":7,\"text_chat\":\"mentions\",\"aliases\":\"bob smith\","
		     "\"guilds\":{\"71771983423143937\":{\"hold_ms\":9},\"81771983423143937\":{}},"
		     "\"mcp_servers\":[{\"name\":\"m\",\"url\":\"https://m.example/"
		     "?api_key=whisper\"},{\"name\":\"gh\",\"transport\":\"stdio\",\"command\":["
		     "\"/usr/bin/true\",\"sk-ARGSECRET\"],\"environment\":{\"TOKEN\":"
		     "\"ghp_ENVSECRET\"}},{\"name\":\"in-path\",\"url\":"
		     "\"https://host.example/PATHSECRET/"
		     "mcp\"}],\"people\":[\"503000000000000000\",504000000000000000],"
		     "\"blocked_users\":\"505000000000000000,506000000000000000\"}");
	if (db_run(db, s))
		return false;
	db_close(db);
	return true;
}

/* Whether any byte of the copy's files says so. */
static bool holds(const char *text)
{
	char command[160];

	snprintf(command, sizeof command, "grep -raq -- '%s' %s", text, to);
	return system(command) == 0;
}

TEST(an_incident_has_turns_and_no_words_names_or_people)
{
	struct incident what = {.dir = dir, .to = to};
	struct why_query query = {.state_dir = to, .turn = 3};
	struct incident_rows rows;
	json_t *found = NULL;

	CHECK(make());
	CHECK_INT(incident_export(&what, &rows), 0);
	CHECK_INT(rows.turns, 3);
	CHECK_INT(rows.events, 6);
	CHECK(holds("engine_refused"));
	CHECK(!holds("whisper"));
	CHECK(holds("direct_address"));
	CHECK(holds("KEY"));
	CHECK(!holds("secret word"));
	CHECK(!holds("unspoken"));
	CHECK(!holds("Marzipan"));
	CHECK(!holds("501000000000000000"));
	CHECK(!holds("192.0.2.7"));
	CHECK(holds("hold_ms"));
	CHECK(holds("mentions") && holds("stdio") && holds("in-path"));
	CHECK(!holds("SECRET") && !holds("bob smith") && !holds("/usr/bin"));
	CHECK(!holds("invented by a model"));
	CHECK(holds("81771983423143937"));
	CHECK(!holds("503000000000000000"));
	CHECK(!holds("504000000000000000"));
	CHECK(!holds("505000000000000000"));
	CHECK(!holds("506000000000000000"));
	CHECK_INT(why_find(&found, &query), 0);
	CHECK_INT(json_array_size(found), 6); /* and the faults */
	json_decref(found);
	/* It is never written over. */
	CHECK_INT(incident_export(&what, &rows), EEXIST);
	folder_remove(to);
	folder_remove(dir);
}

TEST(an_incident_is_of_a_server_and_of_a_time)
{
	struct incident what = {.dir = dir, .to = to, .since_ms = 2000, .guild = GUILD};
	struct incident_rows rows;

	CHECK(make());
	CHECK_INT(incident_export(&what, &rows), 0);
	CHECK_INT(rows.turns, 1);
	CHECK_INT(rows.events, 2);
	CHECK(holds("71771983423143937"));
	CHECK(!holds("81771983423143937"));
	folder_remove(to);
	folder_remove(dir);
}

static bool change(void)
{
	struct bus_event changed = {
		.type = EVENT_SETTING_CHANGED,
		.at_ms = 6000,
		.setting = {.name = "reply_path", .author = "Marzipan", .effect = "after_restart"}};
	struct bus_event order = {.type = EVENT_OPERATOR_ACTION,
				  .at_ms = 6100,
				  .action = {.actor = "Marzipan",
					     .kind = "mute",
					     .target = "server 71771983423143937",
					     .result = "carried out"}};
	struct db *db = NULL;
	bool ok = !db_open(&db, dir, DB_OWN) && !rows_add(db, &changed, true) &&
		  !rows_add(db, &order, true);

	changed.setting.name = "guilds/91771983423143937/hold_ms"; /* of another server */
	ok = ok && !rows_add(db, &changed, true);
	changed.setting.name = "guilds/71771983423143937/earcons";
	ok = ok && !rows_add(db, &changed, true);
	order.action.target = "server 8";
	ok = ok && !rows_add(db, &order, true);
	for (unsigned i = 2; i <= 4 && ok; i++) {
		static const char *const texts[] = {"{\"intent\":{\"hold_ms\":11}}",
						    "{\"intent\":{\"hold_ms\":22}}",
						    "{\"intent\":{\"hold_ms\":33}}"};
		struct sqlite3_stmt *s = db_use(db, DB_ADD_DOCUMENT);

		db_bind_text(s, 1, "global");
		db_bind_uint(s, 2, i);
		db_bind_text(s, 3, texts[i - 2]);
		db_bind_text(s, 4, "Marzipan");
		db_bind_uint(s, 5, i * 1000); /* 2000, 3000, 4000 */
		ok = db_run(db, s) == 0;
	}
	db_close(db);
	return ok;
}

/* "It broke after somebody changed something" is to be seen. */
TEST(an_incident_has_what_was_changed_and_the_settings_of_its_time)
{
	struct incident what = {.dir = dir, .to = to, .since_ms = 3500, .guild = GUILD};
	struct incident_rows rows;

	CHECK(make() && change());
	CHECK_INT(incident_export(&what, &rows), 0);
	CHECK_INT(rows.events, 5); /* with a fault and a refusal */
	CHECK(holds("reply_path") && holds("after_restart") && holds("mute"));
	CHECK(holds("guilds/71771983423143937/earcons") && !holds("guilds/9177"));
	CHECK(!holds("Marzipan"));
	/* The version of its beginning and those since. */
	CHECK(holds("hold_ms\":22") && holds("hold_ms\":33"));
	CHECK(!holds("hold_ms\":11"));
	folder_remove(to);
	/* The events keep their numbers, from the first one on. */
	what.since_ms = 0;
	CHECK_INT(incident_export(&what, &rows), 0);
	CHECK(holds("reply_path"));
	folder_remove(to);
	folder_remove(dir);
}

TEST(an_incident_of_nothing)
{
	struct incident what = {.dir = "/nowhere", .to = "/nowhere/out"};
	struct incident_rows rows;

	CHECK_INT(incident_export(&what, &rows), ENOENT);
}
