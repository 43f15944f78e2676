/* Addresses that people wrote in a channel. */
#include "control/text_session/tools_inside.h"
#include "tests/test.h"
#include "tests/unit/control/text_session/text_stage.h"

static struct text_stage s;

static bool was_written(const char *url)
{
	struct text_seat seat = {.g = text_session_open(s.ts, STAGE_GUILD),
				 .channel = STAGE_CHANNEL};

	return text_lookup_written(url, &seat);
}

/* Ana writes, or edits what she wrote, and forwards somebody else's words. */
static void forward(const char *name, uint64_t id, const char *text, const char *forwarded)
{
	json_t *m = text_stage_message(STAGE_GUILD, STAGE_CHANNEL, id, STAGE_ANA, text);

	json_object_set_new(m, "message_reference", json_pack("{s:i}", "type", 1));
	json_object_set_new(m, "message_snapshots",
			    json_pack("[{s:{s:s}}]", "message", "content", forwarded));
	text_session_event(s.ts, name, m);
	json_decref(m);
}

/* A stranger may have forwarded an address for each letter that they want to know. */
TEST(a_forwarded_address_is_none_that_a_person_wrote_in_the_channel)
{
	uint64_t id;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	id = text_stage_id(&s, 0);
	forward("MESSAGE_CREATE", id, "see https://a.example/own", "https://b.example/1 one");
	CHECK(was_written("https://a.example/own"));
	CHECK(!was_written("https://b.example/1"));
	forward("MESSAGE_UPDATE", id, "no, https://a.example/other", "https://b.example/1 one");
	CHECK(!was_written("https://a.example/own"));
	CHECK(was_written("https://a.example/other"));
	CHECK(!was_written("https://b.example/1"));
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_BOB,
			  "https://b.example/1");
	CHECK(was_written("https://b.example/1"));
	text_stage_close(&s);
}
