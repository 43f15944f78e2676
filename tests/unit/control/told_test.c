/* `control --context`, from a store; and how long a store keeps it. */
#include "control/told.h"

#include <stdlib.h>

#include "control/events/events.h"
#include "control/store/db.h"
#include "control/store/db_merge.h"
#include "control/store/rows.h"
#include "tests/test.h"
#include "tests/unit/ipc/loop.h"

#define TOLD                                                                                       \
	"{\"instructions\":\"Be brief.\",\"messages\":[{\"role\":\"user\",\"speaker\":\"bob\","    \
	"\"text\":\"hello\"},{\"role\":\"assistant\",\"speaker\":\"\",\"text\":\"hi\"},"           \
	"{\"role\":\"user\",\"speaker\":\"\",\"text\":null}]}"

static struct bus_event context_of(uint32_t turn, uint64_t session)
{
	struct bus_event ev = {.type = EVENT_CONTEXT, .at_ms = 1000 * turn, .guild = 1};

	ev.context = (struct event_context){
		.session = session, .channel = 2, .turn = turn, .prompts = 1, .told = TOLD};
	return ev;
}

static int print(const char *dir, uint64_t turn, char *to, size_t size)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	const struct why_query q = {.state_dir = dir,
				    .turn = turn > UINT32_MAX ? 0 : (uint32_t)turn,
				    .message = turn > UINT32_MAX ? turn : 0};
	int status = told_run(out, &q);

	fclose(out);
	snprintf(to, size, "%s", text);
	free(text);
	return status;
}

TEST(what_a_model_was_told_is_printed_expires_and_is_erased)
{
	char dir[] = "/tmp/told-XXXXXX", text[512];
	struct bus_event one = context_of(3, 8), two = context_of(4, 9);
	struct bus_event spoke = {.type = EVENT_UTTERANCE, .at_ms = 9, .guild = 1, .user = 501};
	struct db *db = NULL;
	unsigned changed = 0;

	spoke.utterance = (struct event_utterance){.session = 9, .text = "hello"};
	CHECK(mkdtemp(dir) != NULL);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &one, true), 0);
	CHECK_INT(rows_add(db, &two, true), 0);
	CHECK_INT(rows_add(db, &spoke, true), 0);
	one.context.turn = 5;
	CHECK_INT(rows_add(db, &one, false), 0); /* no words may be kept */
	CHECK_INT(print(dir, 3, text, sizeof text), 0);
	CHECK_STR(text, "turn 3, 1970-01-01 00:00:03 UTC, prompts 1\nBe brief.\nuser bob: hello\n"
			"assistant: hi\nuser: (left out)\n");
	CHECK_INT(print(dir, 0, text, sizeof text), 0);
	CHECK(strncmp(text, "turn 4,", 7) == 0);
	CHECK_INT(print(dir, 5, text, sizeof text), 1);
	/* Whoever spoke in that session is in it. */
	CHECK_INT(db_begin_synced(db), 0);
	CHECK_INT(rows_run_erasers(db, 501, NULL, NULL), 0);
	CHECK_INT(db_commit(db), 0);
	CHECK_INT(db_merge_terms(db), 0);
	CHECK_INT(print(dir, 4, text, sizeof text), 1);
	CHECK_INT(print(dir, 3, text, sizeof text), 0);
	CHECK_INT(rows_expire(db, 100000, 50000, &changed), 0);
	CHECK_INT(print(dir, 3, text, sizeof text), 1);
	db_close(db);
	folder_remove(dir);
}

static int add_answer(struct db *db, uint64_t guild, uint64_t message, uint64_t at_ms)
{
	struct bus_event ev = {
		.type = EVENT_TEXT_MESSAGE, .at_ms = at_ms, .guild = guild, .user = 501};

	ev.text = (struct event_text){.channel = 2,
				      .message = message,
				      .signal = "direct",
				      .attention = "direct_address",
				      .rule = "force_respond",
				      .reply = 1,
				      .reason = "sent_reply",
				      .reaction = "",
				      .lasted_ms = 5000,
				      .llm1_ms = -1,
				      .followup_ms = -1};
	return rows_add(db, &ev, true);
}

/* Two starts and direct messages have each an answer of this number. */
TEST(what_a_model_was_told_is_of_the_answer_that_was_asked_about)
{
	const uint64_t first = UINT64_C(1442000000000000001);
	char dir[] = "/tmp/told-XXXXXX", text[512];
	struct bus_event ctx = context_of(1, 0);
	struct db *db = NULL;

	CHECK(mkdtemp(dir) != NULL);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	ctx.at_ms = 100000;
	CHECK_INT(rows_add(db, &ctx, true), 0);
	CHECK_INT(add_answer(db, 1, first, 102000), 0);
	ctx.at_ms = 200000;
	CHECK_INT(rows_add(db, &ctx, true), 0);
	CHECK_INT(add_answer(db, 1, first + 1, 202000), 0);
	CHECK_INT(print(dir, 1, text, sizeof text), 0);
	CHECK(strncmp(text, "answer 1 in channel 2 of server 1, 1970-01-01 00:03:20 UTC", 57) == 0);
	CHECK_INT(print(dir, first, text, sizeof text), 0);
	CHECK(strstr(text, "00:01:40 UTC") != NULL);
	CHECK_INT(print(dir, first + 1, text, sizeof text), 0);
	CHECK(strstr(text, "00:03:20 UTC") != NULL);
	/* Nothing is kept of direct messages, and the number shows nobody else's. */
	CHECK_INT(add_answer(db, 0, first + 2, 300000), 0);
	CHECK_INT(print(dir, 1, text, sizeof text), 1);
	CHECK_STR(text, "");
	CHECK_INT(print(dir, first + 2, text, sizeof text), 1);
	CHECK_STR(text, "");
	CHECK_INT(print(dir, first + 9, text, sizeof text), 1);
	CHECK_INT(print(dir, first, text, sizeof text), 0);
	db_close(db);
	folder_remove(dir);
}

TEST(what_a_model_was_told_cannot_steer_the_terminal)
{
	char dir[] = "/tmp/told-XXXXXX", text[512];
	struct bus_event ev = context_of(3, 8);
	struct db *db = NULL;

	ev.context.told =
		"{\"instructions\":\"One.\\u001b[2J\\nTwo.\",\"messages\":[{\"role\":\"user\","
		"\"speaker\":\"b\\u001b]0;x\\u0007\",\"text\":\"hi\\ncontrol: well\\u001b[A\"}]}";
	CHECK(mkdtemp(dir) != NULL);
	CHECK_INT(db_open(&db, dir, DB_OWN), 0);
	CHECK_INT(rows_add(db, &ev, true), 0);
	CHECK_INT(print(dir, 3, text, sizeof text), 0);
	CHECK(!strpbrk(text, "\033\007"));
	CHECK(strstr(text, "One. [2J\nTwo.\n"));
	CHECK(strstr(text, "hi\n  control: well"));
	db_close(db);
	folder_remove(dir);
}
