/* The conversation with a realtime provider: a scripted provider without sockets, and events in any
 * order. */
#include "control/engine/core/conversation.h"

#include <errno.h>
#include <stdarg.h>

#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/test.h"

static struct scene {
	struct conversation *c;
	struct conversation_outputs out;
	uint64_t now;
	char log[8192]; /* "connect respond:1 audio:1:480 …" of all outputs */
} fx;

static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *fmt, ...)
{
	size_t n = strlen(fx.log);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(fx.log + n, sizeof fx.log - n, fmt, ap);
	va_end(ap);
}

static void note_text(const char *what, struct slice text)
{
	note("%s:%.*s ", what, (int)text.n, (const char *)text.p);
}

static void note_wire(const struct conversation_output *o)
{
	char line[128];

	if (o->session)
		note("next-");
	switch (o->type) {
	case CONVERSATION_DO_CONNECT:
		note("connect ");
		break;
	case CONVERSATION_DO_CLOSE:
		note("close ");
		break;
	case CONVERSATION_DO_DESCRIBE:
		note_text("describe", o->text);
		if (o->tools)
			note("with:%s ", o->tools);
		break;
	case CONVERSATION_DO_INSTRUCT:
		note_text("instruct", o->text);
		break;
	case CONVERSATION_DO_TOOLS:
		note("tools:%s ", o->tools);
		break;
	case CONVERSATION_DO_ITEM:
		engine_message_line(o->message, line, sizeof line);
		note("item:%s:%s ", o->id, line);
		break;
	case CONVERSATION_DO_IMAGE:
		note("image:%s ", o->image->type);
		break;
	case CONVERSATION_DO_ACTIVITY:
		note("activity ");
		break;
	case CONVERSATION_DO_APPEND:
		note("append:%zu ", o->pcm.n);
		break;
	case CONVERSATION_DO_COMMIT:
		note("commit ");
		break;
	case CONVERSATION_DO_RESPOND:
		note("respond:%u ", o->ask);
		break;
	case CONVERSATION_DO_SAY:
		note_text("say", o->text);
		break;
	case CONVERSATION_DO_RESULT:
		note("result:%s:%.*s ", o->id, (int)o->text.n, (const char *)o->text.p);
		break;
	case CONVERSATION_DO_CANCEL:
		note("cancel:%s ", o->id);
		break;
	case CONVERSATION_DO_TRUNCATE:
		note("truncate:%s:%u ", o->id, o->ms);
		break;
	case CONVERSATION_DO_DELETE:
		note("delete:%s ", o->id);
		break;
	default:
		note("keepalive ");
		break;
	}
}

static void note_output(const struct conversation_output *o)
{
	switch (o->type) {
	case CONVERSATION_SAYS_AUDIO:
		note("audio:%u:%zu ", o->ask, o->pcm.n);
		break;
	case CONVERSATION_SAYS_TEXT:
		note("text:%u:%.*s ", o->ask, (int)o->text.n, (const char *)o->text.p);
		break;
	case CONVERSATION_SAYS_CALL:
		note("call:%u:%s:%s:%.*s ", o->ask, o->id, o->name, (int)o->text.n,
		     o->text.n ? (const char *)o->text.p : "");
		break;
	case CONVERSATION_SAYS_USAGE:
		note("usage:%u ", o->ask);
		break;
	case CONVERSATION_SAYS_DONE:
		note("done:%u%s%s ", o->ask, o->calls ? ":calls" : "", o->cut ? ":cut" : "");
		break;
	case CONVERSATION_SAYS_FAILED:
		note("failed:%u:%.*s ", o->ask, (int)o->text.n, (const char *)o->text.p);
		break;
	case CONVERSATION_SAYS_SILENT:
		note("silent:%u ", o->ask);
		break;
	case CONVERSATION_SAYS_LINK_UP:
		note("up ");
		break;
	case CONVERSATION_SAYS_LINK_DOWN:
		note_text("down", o->text);
		break;
	case CONVERSATION_SAYS_ROLLED:
		note("rolled ");
		break;
	default:
		note_wire(o);
		break;
	}
}

static int step(struct conversation_input in)
{
	int err;

	in.response = in.response ? in.response : "";
	in.item = in.item ? in.item : "";
	in.call = in.call ? in.call : "";
	in.name = in.name ? in.name : "";
	err = conversation_step(fx.c, &in, fx.now, &fx.out);

	for (size_t i = 0; i < fx.out.n; i++)
		note_output(&fx.out.v[i]);
	return err;
}

/* Gives TIME at each deadline until now + ms. */
static void pass(uint64_t ms)
{
	uint64_t end = fx.now + ms * NS_PER_MS, at;

	while ((at = conversation_deadline(fx.c)) <= end) {
		fx.now = at > fx.now ? at : fx.now;
		step((struct conversation_input){.type = CONVERSATION_TIME});
	}
	fx.now = end;
}

static struct conversation_caps all_caps(void)
{
	return (struct conversation_caps){.cancel = true,
					  .truncate = true,
					  .erase = true,
					  .live_instructions = true,
					  .live_tools = true,
					  .sound = true,
					  .interrupts = true,
					  .min_sound = 4800,
					  .rate = 24000,
					  .silent_ms = 8000};
}

static int begin_as(struct conversation_caps caps)
{
	memset(&fx, 0, sizeof fx);
	fx.now = 1000 * NS_PER_MS;
	return conversation_alloc(&fx.c, &caps);
}

static int begin(void)
{
	return begin_as(all_caps());
}

static void end(void)
{
	fx.c = conversation_free(fx.c);
}

static void come_up(void)
{
	pass(0);
	step((struct conversation_input){.type = CONVERSATION_OPENED});
	step((struct conversation_input){.type = CONVERSATION_CREATED});
}

static void begin_up(void)
{
	CHECK_INT(begin(), 0);
	come_up();
	fx.log[0] = '\0';
}

static int ask_line(uint32_t id, uint32_t turn, const char *text, bool again)
{
	const struct engine_message messages[] = {
		{.role = ENGINE_USER, .speaker = "Bob", .text = "before"},
		{.role = ENGINE_ASSISTANT, .speaker = "", .text = "indeed"},
		{.role = ENGINE_USER, .speaker = "Alice", .text = text}};
	const struct engine_ask ask = {
		.id = id, .turn = turn, .again = again, .messages = messages, .n = 3};

	return step((struct conversation_input){.type = CONVERSATION_ASK, .request = &ask});
}

static void created(const char *response, uint32_t ask)
{
	step((struct conversation_input){
		.type = CONVERSATION_RESPONSE, .response = response, .ask = ask});
}

static void audio(const char *response, const char *item, size_t n)
{
	static const uint8_t pcm[96000];

	step((struct conversation_input){
		.type = CONVERSATION_AUDIO, .response = response, .item = item, .pcm = {pcm, n}});
}

static void done(const char *response, uint32_t ask, bool ok)
{
	step((struct conversation_input){.type = CONVERSATION_DONE,
					 .response = response,
					 .ask = ask,
					 .ok = ok,
					 .text = slice_str(ok ? "" : "broken")});
}

static void refuse(uint32_t ask, enum conversation_error error)
{
	step((struct conversation_input){
		.type = CONVERSATION_ERROR, .ask = ask, .error = error, .text = slice_str("no")});
}

static void act(enum conversation_input_type type, uint32_t n)
{
	step((struct conversation_input){.type = type, .ask = n, .turn = n, .ms = 5});
}

/* What was said since the last look. */
static const char *said(void)
{
	static char log[sizeof fx.log];

	memcpy(log, fx.log, sizeof log);
	fx.log[0] = '\0';
	return log;
}

TEST(a_session_is_up_when_it_was_created)
{
	CHECK_INT(begin(), 0);
	pass(0);
	CHECK_STR(said(), "connect ");
	step((struct conversation_input){.type = CONVERSATION_INSTRUCT, .text = slice_str("be")});
	ask_line(1, 7, "hello", false);
	step((struct conversation_input){.type = CONVERSATION_OPENED});
	CHECK(!conversation_up(fx.c));
	CHECK_STR(said(), "");
	step((struct conversation_input){.type = CONVERSATION_CREATED});
	CHECK(conversation_up(fx.c));
	/* The room's history goes along with the first ask. */
	CHECK_STR(said(), "describe:be up item::[Bob]: before item::indeed "
			  "item:ask_1:[Alice]: hello respond:1 ");
	created("r1", 1);
	audio("r1", "i1", 480);
	done("r1", 1, true);
	CHECK_STR(said(), "audio:1:480 done:1 ");
	ask_line(2, 8, "more", false);
	CHECK_STR(said(), "item:ask_2:[Alice]: more respond:2 ");
	end();
}

/* Another provider answers meanwhile: the next session learns all of it with its first ask. */
TEST(a_session_that_misses_answers_is_replaced_when_nothing_runs)
{
	begin_up();
	/* It knows nothing yet that could be out of date. */
	act(CONVERSATION_RENEW, 0);
	CHECK_STR(said(), "");
	ask_line(1, 7, "hello", false);
	created("r1", 1);
	said();
	act(CONVERSATION_RENEW, 0);
	CHECK_STR(said(), "");
	done("r1", 1, true);
	CHECK_STR(said(), "done:1 close ");
	pass(500);
	come_up();
	CHECK_STR(said(), "connect describe: up ");
	ask_line(2, 8, "more", false);
	CHECK_STR(said(), "item::[Bob]: before item::indeed item:ask_2:[Alice]: more respond:2 ");
	end();
}

TEST(a_connection_without_a_session_is_given_up)
{
	CHECK_INT(begin(), 0);
	pass(0);
	step((struct conversation_input){.type = CONVERSATION_OPENED});
	pass(3999);
	CHECK_STR(said(), "connect ");
	pass(1);
	CHECK_STR(said(), "close down:the connection is open, but no session was created ");
	end();
}

/* Connections come up, and die before they have served: the waits grow all the same. */
TEST(the_backoff_is_reset_by_a_served_answer_alone)
{
	static const unsigned waits[] = {500, 1000, 2000, 4000};

	begin_up();
	for (unsigned i = 0; i < 4; i++) {
		step((struct conversation_input){.type = CONVERSATION_CLOSED,
						 .text = slice_str("closed 1011")});
		said();
		pass(waits[i] - 1);
		CHECK_STR(said(), "");
		pass(1);
		CHECK_STR(said(), "connect ");
		come_up();
	}
	ask_line(1, 1, "hello", false);
	created("r1", 1);
	done("r1", 1, true);
	step((struct conversation_input){.type = CONVERSATION_CLOSED});
	said();
	pass(500);
	CHECK_STR(said(), "connect ");
	end();
}

/* The response of the first ask is created late, when the turn was asked again. */
TEST(a_late_response_does_not_adopt_the_audio_of_the_second_ask)
{
	begin_up();
	ask_line(1, 7, "hello", false);
	act(CONVERSATION_CANCEL, 1);
	ask_line(2, 7, "hello", true);
	CHECK_STR(said(), "item::[Bob]: before item::indeed item:ask_1:[Alice]: hello respond:1 ");
	pass(1500);
	CHECK_STR(said(), "respond:2 ");
	created("r1", 1);
	CHECK_STR(said(), "cancel:r1 ");
	audio("r1", "i1", 480);
	created("r2", 2);
	audio("r1", "i1", 480);
	audio("r2", "i2", 960);
	done("r1", 1, false);
	done("r2", 2, true);
	CHECK_STR(said(), "audio:2:960 done:2 ");
	end();
}

/* A server that returns no metadata: responses are matched in the order of the asks. */
TEST(a_server_without_metadata_is_matched_in_order)
{
	begin_up();
	ask_line(1, 7, "hello", false);
	act(CONVERSATION_CANCEL, 1);
	ask_line(2, 7, "hello", true);
	pass(1500);
	said();
	created("r1", 0);
	audio("r1", "i1", 480);
	created("r2", 0);
	audio("r2", "i2", 960);
	done("r2", 0, true);
	CHECK_STR(said(), "cancel:r1 audio:2:960 done:2 ");
	end();
}

TEST(an_active_response_is_waited_for)
{
	begin_up();
	ask_line(1, 7, "hello", false);
	said();
	refuse(1, CONVERSATION_ERROR_ACTIVE);
	CHECK_STR(said(), "cancel: ");
	pass(499);
	CHECK_STR(said(), "");
	pass(1);
	CHECK_STR(said(), "respond:1 ");
	refuse(0, CONVERSATION_ERROR_ACTIVE);
	/* Somebody's response is over: at once. */
	done("foreign", 0, true);
	CHECK_STR(said(), "respond:1 ");
	created("r1", 1);
	done("r1", 1, true);
	CHECK_STR(said(), "done:1 ");
	/* One that is never over: the session is replaced. */
	ask_line(2, 8, "hello", false);
	for (unsigned i = 0; i < 16; i++) {
		refuse(2, CONVERSATION_ERROR_ACTIVE);
		pass(500);
	}
	CHECK(strstr(said(), "close silent:2 "));
	end();
}

TEST(a_provider_that_does_not_answer_gets_a_new_session)
{
	begin_up();
	ask_line(1, 7, "hello", false);
	pass(5200);
	act(CONVERSATION_CANCEL, 1);
	ask_line(2, 7, "hello", true);
	said();
	pass(2799);
	CHECK_STR(said(), "respond:2 ");
	CHECK(!conversation_silent(fx.c));
	pass(1);
	CHECK_STR(said(), "close silent:2 ");
	CHECK(conversation_silent(fx.c));
	pass(500);
	CHECK_STR(said(), "connect ");
	step((struct conversation_input){.type = CONVERSATION_OPENED});
	step((struct conversation_input){.type = CONVERSATION_CREATED});
	CHECK_STR(said(), "describe: up item::[Bob]: before item::indeed "
			  "item:ask_2:[Alice]: hello respond:2 ");
	/* An answer that still comes is heard. */
	created("r2", 2);
	audio("r2", "i2", 480);
	CHECK(!conversation_silent(fx.c));
	done("r2", 2, true);
	CHECK_STR(said(), "audio:2:480 done:2 ");
	end();
}

TEST(a_turn_that_never_was_is_deleted)
{
	begin_up();
	ask_line(1, 7, "hel", false);
	created("r1", 1);
	audio("r1", "i1", 480);
	said();
	act(CONVERSATION_CANCEL, 1);
	act(CONVERSATION_FORGET, 7);
	ask_line(2, 8, "hello", false);
	CHECK_STR(said(), "cancel:r1 delete:ask_1 ");
	done("r1", 1, false);
	CHECK_STR(said(), "delete:i1 item:ask_2:[Alice]: hello respond:2 ");
	created("r2", 2);
	audio("r2", "i2", 480);
	done("r2", 2, true);
	said();
	/* Over already: both at once. Once. */
	act(CONVERSATION_FORGET, 8);
	act(CONVERSATION_FORGET, 8);
	CHECK_STR(said(), "delete:ask_2 delete:i2 ");
	end();
}

TEST(a_question_that_is_put_anew_takes_the_place_of_the_old_one)
{
	begin_up();
	ask_line(1, 7, "hello", false);
	created("r1", 1);
	act(CONVERSATION_CANCEL, 1);
	done("r1", 1, false);
	said();
	ask_line(2, 7, "hello there", false);
	CHECK_STR(said(), "delete:ask_1 item:ask_2:[Alice]: hello there respond:2 ");
	end();
}

TEST(what_was_not_for_it_is_told_once_the_history_is_there)
{
	const struct engine_message m = {
		.role = ENGINE_USER, .speaker = "", .text = "[Bob]: it was cassius"};
	const struct conversation_input in = {.type = CONVERSATION_HEAR, .message = &m};

	begin_up();
	step(in);
	CHECK_STR(said(), "");
	ask_line(1, 7, "hello", false);
	said();
	step(in);
	CHECK_STR(said(), "item::[Bob]: it was cassius ");
	end();
}

TEST(a_lost_session_passes_its_question_to_the_next)
{
	begin_up();
	ask_line(1, 7, "hello", false);
	ask_line(2, 8, "and", false);
	said();
	step((struct conversation_input){.type = CONVERSATION_CLOSED,
					 .text = slice_str("closed 1006")});
	CHECK_STR(said(), "down:closed 1006 ");
	pass(500);
	come_up();
	CHECK_STR(said(), "connect describe: up item::[Bob]: before item::indeed "
			  "item:ask_1:[Alice]: hello respond:1 ");
	refuse(1, CONVERSATION_ERROR_FATAL);
	CHECK_STR(said(), "close down:no ");
	pass(1000);
	come_up();
	said();
	/* It may be the question that ends them. */
	refuse(1, CONVERSATION_ERROR_FATAL);
	CHECK_STR(said(), "close failed:1:no down:no ");
	pass(2000);
	come_up();
	created("r2", 2);
	audio("r2", "i2", 480);
	said();
	/* Half of it was said. */
	step((struct conversation_input){.type = CONVERSATION_CLOSED,
					 .text = slice_str("closed 1006")});
	CHECK_STR(said(), "failed:2:closed 1006 down:closed 1006 ");
	end();
}

TEST(an_ask_has_a_deadline)
{
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "", .text = "hello"};
	const struct engine_ask ask = {
		.id = 1, .turn = 1, .messages = &m, .n = 1, .deadline = 3000 * NS_PER_MS};

	CHECK_INT(begin(), 0);
	step((struct conversation_input){.type = CONVERSATION_ASK, .request = &ask});
	fx.log[0] = '\0';
	pass(2000);
	CHECK(strstr(said(), "failed:1:the deadline of the ask has passed "));
	end();
}

TEST(an_answer_is_cut_at_what_was_played)
{
	begin_up();
	ask_line(1, 7, "hello", false);
	created("r1", 1);
	audio("r1", "i1", 480);
	said();
	act(CONVERSATION_TRUNCATE, 1); /* 5 ms of 10 */
	step((struct conversation_input){.type = CONVERSATION_TRUNCATE, .ask = 1, .ms = 99999});
	CHECK_STR(said(), "truncate:i1:5 truncate:i1:10 ");
	end();
}

/* ---- questions that are sound ---- */

static int ask_sound(uint32_t id, uint32_t turn, size_t bytes)
{
	static const uint8_t pcm[96000];
	const struct slice sound[] = {{pcm, bytes / 2}, {pcm, bytes - bytes / 2}};
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "Alice", .text = "hello"};
	const struct engine_ask ask = {.id = id,
				       .turn = turn,
				       .messages = &m,
				       .n = 1,
				       .sound = sound,
				       .n_sound = 2,
				       .sound_label = "[Alice]:"};

	return step((struct conversation_input){.type = CONVERSATION_ASK, .request = &ask});
}

static void name_sound(const char *item)
{
	step((struct conversation_input){.type = CONVERSATION_ITEM, .item = item});
}

TEST(a_voice_that_hears_gets_the_sound_of_the_question)
{
	begin_up();
	CHECK_INT(ask_sound(1, 7, 9600), 0);
	CHECK_STR(said(), "item:ask_1:[Alice]: activity append:4800 append:4800 commit respond:1 ");
	/* Less than the provider takes is said in words. */
	created("r1", 1);
	done("r1", 1, true);
	said();
	ask_sound(2, 8, 4798);
	CHECK_STR(said(), "item:ask_2:[Alice]: hello respond:2 ");
	end();
}

TEST(sound_of_a_turn_that_never_was_is_deleted_when_it_has_a_name)
{
	begin_up();
	ask_sound(1, 7, 9600);
	created("r1", 1);
	said();
	act(CONVERSATION_FORGET, 7);
	CHECK_STR(said(), "cancel:r1 delete:ask_1 ");
	name_sound("u1");
	CHECK_STR(said(), "delete:u1 ");
	name_sound("u2");
	CHECK_STR(said(), "");
	end();
}

TEST(a_provider_that_answers_a_commit_is_not_asked_twice)
{
	struct conversation_caps caps = all_caps();

	caps.commit_answers = true;
	CHECK_INT(begin_as(caps), 0);
	come_up();
	said();
	ask_sound(1, 7, 9600);
	CHECK_STR(said(), "item:ask_1:[Alice]: activity append:4800 append:4800 commit ");
	created("g1", 0);
	audio("g1", "g1", 480);
	done("g1", 0, true);
	CHECK_STR(said(), "audio:1:480 done:1 ");
	end();
}

TEST(sound_that_was_lost_with_its_session_is_sent_again)
{
	begin_up();
	ask_sound(1, 7, 9600);
	name_sound("u1");
	step((struct conversation_input){.type = CONVERSATION_CLOSED, .text = slice_str("gone")});
	said();
	pass(500);
	come_up();
	CHECK_STR(said(), "connect describe: up item:ask_1:[Alice]: activity append:4800 "
			  "append:4800 commit respond:1 ");
	end();
}

/* ---- providers without ids, cancel and changes ---- */

static struct conversation_caps plain_caps(void)
{
	return (struct conversation_caps){.sound = true,
					  .interrupts = true,
					  .describes_first = true,
					  .answers_results = true,
					  .rate = 24000,
					  .silent_ms = 8000};
}

TEST(an_answer_that_cannot_be_cancelled_is_interrupted_by_the_next_question)
{
	CHECK_INT(begin_as(plain_caps()), 0);
	pass(0);
	step((struct conversation_input){.type = CONVERSATION_INSTRUCT, .text = slice_str("be")});
	step((struct conversation_input){.type = CONVERSATION_OPENED});
	CHECK_STR(said(), "connect describe:be ");
	step((struct conversation_input){.type = CONVERSATION_CREATED});
	ask_line(1, 7, "hello", false);
	created("g1", 0);
	audio("g1", "g1", 480);
	said();
	act(CONVERSATION_CANCEL, 1);
	audio("g1", "g1", 480);
	ask_line(2, 8, "stop", false);
	CHECK_STR(said(), "item:ask_2:[Alice]: stop respond:2 ");
	audio("g1", "g1", 480);
	done("g1", 0, false);
	created("g2", 0);
	audio("g2", "g2", 960);
	done("g2", 0, true);
	CHECK_STR(said(), "audio:2:960 done:2 ");
	end();
}

TEST(an_answer_that_the_provider_cuts_is_over_as_far_as_it_goes)
{
	begin_up();
	ask_line(1, 7, "hello", false);
	created("r1", 1);
	audio("r1", "i1", 480);
	step((struct conversation_input){.type = CONVERSATION_INTERRUPTED, .response = "r1"});
	said();
	done("r1", 1, false);
	CHECK_STR(said(), "done:1:cut ");
	end();
}

TEST(new_instructions_reach_a_session_that_cannot_change_by_the_next_one)
{
	CHECK_INT(begin_as(plain_caps()), 0);
	come_up();
	ask_line(1, 7, "hello", false);
	created("g1", 0);
	said();
	step((struct conversation_input){.type = CONVERSATION_INSTRUCT, .text = slice_str("new")});
	CHECK_STR(said(), "");
	audio("g1", "g1", 480);
	done("g1", 0, true);
	said();
	pass(30000);
	CHECK_STR(said(), "next-connect ");
	step((struct conversation_input){.type = CONVERSATION_OPENED, .session = 1});
	CHECK_STR(said(), "next-describe:new ");
	step((struct conversation_input){.type = CONVERSATION_CREATED, .session = 1});
	CHECK_STR(said(), "close rolled ");
	end();
}

TEST(words_that_are_to_be_said_exactly_need_no_conversation)
{
	struct conversation_caps caps = all_caps();

	caps.lines = true;
	CHECK_INT(begin_as(caps), 0);
	come_up();
	said();
	ask_line(1, 7, "ten past four", false);
	CHECK_STR(said(), "say:ten past four ");
	created("r1", 1);
	audio("r1", "i1", 480);
	done("r1", 1, true);
	CHECK_STR(said(), "audio:1:480 done:1 ");
	end();
}

TEST(a_quiet_session_is_kept_alive)
{
	struct conversation_caps caps = all_caps();

	caps.keepalive_ms = 10000;
	CHECK_INT(begin_as(caps), 0);
	come_up();
	said();
	pass(9999);
	CHECK_STR(said(), "");
	pass(1);
	CHECK_STR(said(), "keepalive ");
	pass(5000);
	ask_line(1, 7, "hello", false);
	created("r1", 1);
	done("r1", 1, true);
	said();
	pass(9999);
	CHECK_STR(said(), "");
	pass(1);
	CHECK_STR(said(), "keepalive ");
	end();
}

TEST(an_answer_that_stops_within_is_failed)
{
	begin_up();
	ask_line(1, 7, "hello", false);
	created("r1", 1);
	pass(5000);
	audio("r1", "i1", 480);
	said();
	pass(7999);
	CHECK_STR(said(), "");
	pass(1);
	CHECK_STR(said(), "failed:1:the provider stopped within its answer cancel:r1 ");
	end();
}

TEST(an_answer_of_several_items_is_cut_where_it_was_played)
{
	begin_up();
	ask_line(1, 7, "hello", false);
	created("r1", 1);
	audio("r1", "i1", 480);
	audio("r1", "i2", 480);
	audio("r1", "i3", 480);
	said();
	step((struct conversation_input){.type = CONVERSATION_TRUNCATE, .ask = 1, .ms = 15});
	CHECK_STR(said(), "truncate:i2:5 delete:i3 ");
	end();
}

/* ---- tools ---- */

static void call_fact(enum conversation_input_type type, const char *response, const char *call,
		      const char *name, const char *text)
{
	step((struct conversation_input){.type = type,
					 .response = response,
					 .item = "ci",
					 .call = call,
					 .name = name,
					 .text = slice_str(text)});
}

static int ask_results(uint32_t id, uint32_t turn)
{
	const struct engine_message messages[] = {
		{.role = ENGINE_USER, .speaker = "Alice", .text = "hello"},
		{.role = ENGINE_CALL,
		 .speaker = "",
		 .call = "c1",
		 .tool = "look",
		 .text = "{\"a\":1}"},
		{.role = ENGINE_RESULT, .speaker = "", .call = "c1", .tool = "look", .text = "7"}};
	const struct engine_ask ask = {.id = id, .turn = turn, .messages = messages, .n = 3};

	return step((struct conversation_input){.type = CONVERSATION_ASK, .request = &ask});
}

static int give_result(const char *call)
{
	return step((struct conversation_input){
		.type = CONVERSATION_RESULT, .call = call, .text = slice_str("7")});
}

static void begin_called(void)
{
	begin_up();
	ask_line(1, 7, "hello", false);
	created("r1", 1);
	said();
	call_fact(CONVERSATION_CALL_BEGUN, "r1", "c1", "look", "");
	call_fact(CONVERSATION_CALL_FRAGMENT, "r1", "", "", "{\"a\"");
	call_fact(CONVERSATION_CALL_FRAGMENT, "r1", "c1", "", ":1}");
}

TEST(a_call_is_told_once_however_it_comes)
{
	begin_called();
	CHECK_STR(said(), "");
	call_fact(CONVERSATION_CALL, "r1", "c1", "", "");
	CHECK_STR(said(), "call:1:c1:look:{\"a\":1} ");
	call_fact(CONVERSATION_CALL, "r1", "c1", "look", "{\"a\":1}");
	CHECK_STR(said(), "");
	done("r1", 1, true);
	CHECK_STR(said(), "done:1:calls ");
	ask_results(2, 7);
	CHECK_STR(said(), "result:c1:7 respond:2 ");
	/* Its id is used up. */
	created("r2", 2);
	call_fact(CONVERSATION_CALL, "r2", "c1", "look", "{}");
	done("r2", 2, true);
	CHECK_STR(said(), "done:2 ");
	end();
}

TEST(a_call_whose_end_is_missing_is_told_with_its_answer)
{
	begin_called();
	done("r1", 1, true);
	CHECK_STR(said(), "call:1:c1:look:{\"a\":1} done:1:calls ");
	end();
	begin_called();
	done("r1", 1, false);
	CHECK_STR(said(), "failed:1:broken ");
	end();
}

TEST(each_call_gets_exactly_one_result)
{
	begin_called();
	call_fact(CONVERSATION_CALL, "r1", "c1", "", "");
	done("r1", 1, true);
	said();
	CHECK_INT(give_result("c1"), 0);
	CHECK_STR(said(), "result:c1:7 ");
	CHECK_INT(give_result("c1"), ENOENT);
	ask_results(2, 7);
	CHECK_STR(said(), "respond:2 ");
	end();
	/* Somebody asked something else meanwhile. */
	begin_called();
	call_fact(CONVERSATION_CALL, "r1", "c1", "", "");
	done("r1", 1, true);
	said();
	ask_line(2, 8, "and", false);
	CHECK_STR(said(), "result:c1:{\"error\":\"cancelled\"} item:ask_2:[Alice]: and respond:2 ");
	CHECK_INT(give_result("c1"), ENOENT);
	end();
	begin_called();
	call_fact(CONVERSATION_CALL, "r1", "c1", "", "");
	call_fact(CONVERSATION_CALL_REVOKED, "", "c1", "", "");
	CHECK_INT(give_result("c1"), ENOENT);
	end();
}

TEST(results_reach_a_session_that_did_not_call)
{
	begin_called();
	call_fact(CONVERSATION_CALL, "r1", "c1", "", "");
	done("r1", 1, true);
	step((struct conversation_input){.type = CONVERSATION_CLOSED, .text = slice_str("gone")});
	said();
	pass(500);
	come_up();
	said();
	ask_results(2, 7);
	CHECK_STR(said(), "item::[Alice]: hello item::{\"a\":1} item::7 respond:2 ");
	end();
}

TEST(a_provider_that_goes_on_by_itself_is_not_asked_after_results)
{
	CHECK_INT(begin_as(plain_caps()), 0);
	come_up();
	ask_line(1, 7, "hello", false);
	created("g1", 0);
	call_fact(CONVERSATION_CALL, "g1", "c1", "look", "{}");
	done("g1", 0, true);
	said();
	ask_results(2, 7);
	CHECK_STR(said(), "result:c1:7 ");
	end();
}

TEST(tools_are_told_when_they_change)
{
	const struct conversation_input tools = {.type = CONVERSATION_TOOLS,
						 .text = slice_str("[{}]")};

	begin_up();
	step(tools);
	CHECK_STR(said(), "tools:[{}] ");
	step(tools);
	CHECK_STR(said(), "");
	step((struct conversation_input){.type = CONVERSATION_CLOSED, .text = slice_str("gone")});
	pass(500);
	said();
	come_up();
	CHECK_STR(said(), "describe: with:[{}] up ");
	end();
}

TEST(arguments_without_end_are_dropped)
{
	static char long_text[1000];

	begin_called();
	memset(long_text, 'x', sizeof long_text - 1);
	for (unsigned i = 0; i < 30; i++)
		call_fact(CONVERSATION_CALL_FRAGMENT, "r1", "c1", "", long_text);
	said();
	call_fact(CONVERSATION_CALL, "r1", "c1", "", "");
	done("r1", 1, true);
	CHECK_STR(said(), "done:1 ");
	end();
}

/* ---- rollover ---- */

static void next_up(unsigned session)
{
	step((struct conversation_input){.type = CONVERSATION_OPENED, .session = session});
	step((struct conversation_input){.type = CONVERSATION_CREATED, .session = session});
}

static void begin_limited(void)
{
	struct conversation_caps caps = all_caps();

	caps.session_ms = 30 * 60000;
	CHECK_INT(begin_as(caps), 0);
	come_up();
	said();
}

TEST(a_session_is_replaced_before_its_end)
{
	begin_limited();
	ask_line(1, 7, "hello", false);
	created("r1", 1);
	done("r1", 1, true);
	said();
	pass(29 * 60000 - 1);
	CHECK_STR(said(), "");
	pass(1);
	CHECK_STR(said(), "next-connect ");
	next_up(1);
	CHECK_STR(said(), "next-describe: close rolled ");
	/* It knows what was said by the next ask. */
	ask_line(2, 8, "more", false);
	CHECK_STR(said(), "next-item::[Bob]: before next-item::indeed "
			  "next-item:ask_2:[Alice]: more next-respond:2 ");
	end();
}

TEST(an_answer_ends_in_its_session)
{
	begin_limited();
	ask_line(1, 7, "hello", false);
	created("r1", 1);
	said();
	step((struct conversation_input){.type = CONVERSATION_GO_AWAY});
	pass(0);
	CHECK_STR(said(), "next-connect ");
	next_up(1);
	CHECK_STR(said(), "next-describe: ");
	ask_line(2, 8, "more", false);
	audio("r1", "i1", 480);
	CHECK_STR(said(), "audio:1:480 ");
	done("r1", 1, true);
	CHECK_STR(said(), "done:1 close rolled next-item::[Bob]: before next-item::indeed "
			  "next-item:ask_2:[Alice]: more next-respond:2 ");
	/* What the old one still says is nobody's. */
	created("r9", 2);
	audio("r9", "i9", 480);
	done("r9", 2, true);
	CHECK_STR(said(), "");
	end();
}

TEST(a_lost_session_is_replaced_by_the_next_at_once)
{
	begin_limited();
	ask_line(1, 7, "hello", false);
	step((struct conversation_input){.type = CONVERSATION_GO_AWAY});
	pass(0);
	next_up(1);
	said();
	step((struct conversation_input){.type = CONVERSATION_CLOSED, .text = slice_str("gone")});
	CHECK_STR(said(), "next-item::[Bob]: before next-item::indeed "
			  "next-item:ask_1:[Alice]: hello next-respond:1 ");
	end();
}

TEST(a_next_session_that_fails_is_tried_again)
{
	begin_limited();
	step((struct conversation_input){.type = CONVERSATION_GO_AWAY});
	pass(0);
	said();
	step((struct conversation_input){
		.type = CONVERSATION_CLOSED, .session = 1, .text = slice_str("closed 1006")});
	CHECK_STR(said(), "");
	pass(5000);
	CHECK_STR(said(), "next-connect ");
	/* Now the first one ends, too. */
	step((struct conversation_input){.type = CONVERSATION_CLOSED, .text = slice_str("gone")});
	CHECK_STR(said(), "down:gone ");
	next_up(1);
	CHECK_STR(said(), "next-describe: up ");
	end();
}

TEST(instructions_reach_both_sessions)
{
	begin_limited();
	ask_line(1, 7, "hello", false);
	created("r1", 1);
	step((struct conversation_input){.type = CONVERSATION_GO_AWAY});
	pass(0);
	next_up(1);
	said();
	step((struct conversation_input){.type = CONVERSATION_INSTRUCT, .text = slice_str("be")});
	CHECK_STR(said(), "instruct:be next-instruct:be ");
	end();
}

/* ---- events in any order ---- */

enum { ASKS = 6, EVENTS = ASKS * 5, ROUNDS = 10000 };

struct event {
	enum { E_CREATED, E_AUDIO, E_TEXT, E_DONE, E_ACTIVE } type;
	uint32_t ask;
};

static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % n;
}

static struct world {
	struct event queue[EVENTS];
	unsigned n;
	unsigned ends[ASKS + 1], asked;
	bool cancelled[ASKS + 1];
	uint32_t current; /* ask that is wanted */
	unsigned foreign, after_end, heard;
	bool connect, dead;
} world;

static void provider_sees(const struct conversation_output *o)
{
	struct world *w = &world;

	if (o->type == CONVERSATION_DO_CONNECT)
		w->connect = true;
	if (o->type == CONVERSATION_DO_CLOSE)
		w->n = 0;
	if (o->type != CONVERSATION_DO_RESPOND || w->n + 4 > EVENTS)
		return;
	if (rnd(4) == 0) {
		w->queue[w->n++] = (struct event){E_ACTIVE, o->ask};
		return;
	}
	for (unsigned i = 0; i < 4; i++)
		w->queue[w->n++] = (struct event){(int)i, o->ask};
}

static void owner_hears(const struct conversation_output *o)
{
	struct world *w = &world;
	uint32_t told = 0;

	switch (o->type) {
	case CONVERSATION_SAYS_AUDIO:
		memcpy(&told, o->pcm.p, sizeof told);
		w->foreign += told != o->ask || w->cancelled[o->ask];
		w->after_end += w->ends[o->ask] > 0;
		w->heard++;
		break;
	case CONVERSATION_SAYS_TEXT:
		w->after_end += w->ends[o->ask] > 0;
		w->foreign += w->cancelled[o->ask];
		break;
	case CONVERSATION_SAYS_DONE:
	case CONVERSATION_SAYS_FAILED:
		w->ends[o->ask]++;
		break;
	default:
		break;
	}
}

static void world_step(struct conversation_input in)
{
	CHECK_INT(conversation_step(fx.c, &in, fx.now, &fx.out), 0);
	for (size_t i = 0; i < fx.out.n; i++) {
		provider_sees(&fx.out.v[i]);
		owner_hears(&fx.out.v[i]);
	}
}

/* One of what the provider has to say, whichever. A server that returns no metadata keeps its
 * order. */
static void deliver(bool metadata)
{
	struct world *w = &world;
	unsigned at = metadata ? rnd(w->n) : 0;
	struct event e = w->queue[at];
	char response[16], item[16];
	struct conversation_input in = {.response = response, .item = item};

	w->n--;
	memmove(&w->queue[at], &w->queue[at + 1], (w->n - at) * sizeof e);
	snprintf(response, sizeof response, "r%u", e.ask);
	snprintf(item, sizeof item, "i%u", e.ask);
	in.ask = metadata ? e.ask : 0;
	switch (e.type) {
	case E_CREATED:
		in.type = CONVERSATION_RESPONSE;
		break;
	case E_AUDIO:
		in.type = CONVERSATION_AUDIO;
		in.pcm = (struct slice){(uint8_t *)&e.ask, sizeof e.ask};
		break;
	case E_TEXT:
		in.type = CONVERSATION_TEXT;
		in.text = slice_str("word");
		break;
	case E_DONE:
		in.type = CONVERSATION_DONE;
		in.ok = rnd(8) != 0;
		break;
	case E_ACTIVE:
		in.type = CONVERSATION_ERROR;
		in.ask = e.ask;
		in.error = rnd(3) ? CONVERSATION_ERROR_ACTIVE : CONVERSATION_ERROR_OTHER;
		in.text = slice_str("refused");
		break;
	}
	world_step(in);
}

static void world_ask(void)
{
	struct world *w = &world;
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "Alice", .text = "hello"};
	struct engine_ask ask = {
		.id = ++w->asked, .turn = 1 + w->asked / 2, .messages = &m, .n = 1};

	/* Asking again is a new ask; the old one is cancelled, if it still goes on. */
	if (w->current && !w->ends[w->current]) {
		w->cancelled[w->current] = true;
		world_step((struct conversation_input){.type = CONVERSATION_CANCEL,
						       .ask = w->current});
		ask.again = rnd(2);
	}
	w->current = ask.id;
	world_step((struct conversation_input){.type = CONVERSATION_ASK, .request = &ask});
}

static void world_time(uint64_t ms)
{
	uint64_t end = fx.now + ms * NS_PER_MS, at;

	while ((at = conversation_deadline(fx.c)) <= end) {
		fx.now = at > fx.now ? at : fx.now;
		world_step((struct conversation_input){.type = CONVERSATION_TIME});
		if (!world.connect)
			continue;
		world.connect = false;
		world_step((struct conversation_input){.type = CONVERSATION_OPENED});
		world_step((struct conversation_input){.type = CONVERSATION_CREATED});
	}
	fx.now = end;
}

static void round_of(uint64_t number)
{
	struct world *w = &world;
	bool metadata = number % 4 != 3;

	memset(w, 0, sizeof *w);
	seed = number * 977 + 1;
	begin();
	world_time(0);
	while (w->asked < ASKS || w->n) {
		if (w->asked < ASKS && rnd(6) == 0)
			world_ask();
		else if (w->n && rnd(10))
			deliver(metadata);
		else
			world_time(rnd(2000));
	}
	/* Half an hour later nothing is left open. */
	for (unsigned i = 0; i < 180; i++) {
		world_time(10000);
		while (w->n)
			deliver(metadata);
	}
	for (unsigned i = 1; i <= ASKS; i++) {
		CHECK(w->ends[i] <= 1);
		CHECK_INT(w->ends[i] + w->cancelled[i], 1);
	}
	CHECK_INT(w->foreign, 0);
	CHECK_INT(w->after_end, 0);
	end();
}

TEST(events_in_any_order_lose_no_turn_and_play_no_foreign_audio)
{
	uint64_t heard = 0;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		round_of(i);
		heard += world.heard;
	}
	/* Deltas that come before their response are nobody's; the others are heard. */
	CHECK(heard > ROUNDS);
}

TEST_OOM(a_conversation_without_memory)
{
	int err;

	CHECK_OOM(begin(), fx.c = conversation_free(fx.c));
	come_up();
	err = step((struct conversation_input){.type = CONVERSATION_INSTRUCT,
					       .text = slice_str("be")});
	CHECK_OOM(err, fx.c = conversation_free(fx.c));
	err = ask_line(1, 7, "hello", false);
	CHECK_OOM(err, fx.c = conversation_free(fx.c));
	end();
}
