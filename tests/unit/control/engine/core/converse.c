#include "tests/unit/control/engine/core/converse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/media.h"
#include "tests/test.h"

struct converse converse;

static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *fmt, ...)
{
	size_t n = strlen(converse.log);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(converse.log + n, sizeof converse.log - n, fmt, ap);
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
		note("item:%s%s%s:%s ", o->id, *o->after ? "<" : "", o->after, line);
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
	case CONVERSATION_DO_ASIDE:
		note_text("aside", o->text);
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
	case CONVERSATION_SAYS_REVOKED:
		note("revoked:%s ", o->id);
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
	case CONVERSATION_SAYS_ASIDE:
		note("told:%u:%.*s ", o->ask, (int)o->text.n, (const char *)o->text.p);
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

int converse_step(struct conversation_input in)
{
	int err;

	in.response = in.response ? in.response : "";
	in.item = in.item ? in.item : "";
	in.call = in.call ? in.call : "";
	in.name = in.name ? in.name : "";
	err = conversation_step(converse.c, &in, converse.now, &converse.out);

	for (size_t i = 0; i < converse.out.n; i++)
		note_output(&converse.out.v[i]);
	return err;
}

/* Gives TIME at each deadline until now + ms. */
void converse_pass(uint64_t ms)
{
	uint64_t end = converse.now + ms * NS_PER_MS, at;

	while ((at = conversation_deadline(converse.c)) <= end) {
		converse.now = at > converse.now ? at : converse.now;
		converse_step((struct conversation_input){.type = CONVERSATION_TIME});
	}
	converse.now = end;
}

struct conversation_caps converse_all_caps(void)
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

int converse_begin_as(struct conversation_caps caps)
{
	memset(&converse, 0, sizeof converse);
	converse.now = 1000 * NS_PER_MS;
	return conversation_alloc(&converse.c, &caps);
}

int converse_begin(void)
{
	return converse_begin_as(converse_all_caps());
}

void converse_end(void)
{
	converse.c = conversation_free(converse.c);
}

void converse_come_up(void)
{
	converse_pass(0);
	converse_step((struct conversation_input){.type = CONVERSATION_OPENED});
	converse_step((struct conversation_input){.type = CONVERSATION_CREATED});
}

void converse_begin_up(void)
{
	CHECK_INT(converse_begin(), 0);
	converse_come_up();
	converse.log[0] = '\0';
}

int converse_ask_line(uint32_t id, uint32_t turn, const char *text, bool again)
{
	const struct engine_message messages[] = {
		{.role = ENGINE_USER, .speaker = "Bob", .text = "before"},
		{.role = ENGINE_ASSISTANT, .speaker = "", .text = "indeed"},
		{.role = ENGINE_USER, .speaker = "Alice", .text = text}};
	const struct engine_ask ask = {
		.id = id, .turn = turn, .again = again, .messages = messages, .n = 3};

	return converse_step(
		(struct conversation_input){.type = CONVERSATION_ASK, .request = &ask});
}

void converse_created(const char *response, uint32_t ask)
{
	converse_step((struct conversation_input){
		.type = CONVERSATION_RESPONSE, .response = response, .ask = ask});
}

void converse_audio(const char *response, const char *item, size_t n)
{
	static const uint8_t pcm[96000];

	converse_step((struct conversation_input){
		.type = CONVERSATION_AUDIO, .response = response, .item = item, .pcm = {pcm, n}});
}

void converse_done(const char *response, uint32_t ask, bool ok)
{
	converse_step((struct conversation_input){.type = CONVERSATION_DONE,
						  .response = response,
						  .ask = ask,
						  .ok = ok,
						  .text = slice_str(ok ? "" : "broken")});
}

void converse_refuse(uint32_t ask, enum conversation_error error)
{
	converse_step((struct conversation_input){
		.type = CONVERSATION_ERROR, .ask = ask, .error = error, .text = slice_str("no")});
}

void converse_act(enum conversation_input_type type, uint32_t n)
{
	converse_step((struct conversation_input){.type = type, .ask = n, .turn = n, .ms = 5});
}

/* What was said since the last look. */
const char *converse_said(void)
{
	static char log[sizeof converse.log];

	memcpy(log, converse.log, sizeof log);
	converse.log[0] = '\0';
	return log;
}

struct conversation_caps converse_plain_caps(void)
{
	return (struct conversation_caps){.sound = true,
					  .interrupts = true,
					  .describes_first = true,
					  .answers_results = true,
					  .rate = 24000,
					  .silent_ms = 8000};
}
