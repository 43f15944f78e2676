/* Messages, reactions and the typing indicator (inside.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/discord/rest.h"
#include "control/room/language/language.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "control/text/markdown.h"
#include "control/text/taken.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "control/words/words.h"
#include "ipc/log.h"
#include "proto/discord.h"

/* Models may put neither (control/text/emoji.h). */
#define STOP_SIGN "\xf0\x9f\x9b\x91"	     /* U+1F6D1 */
#define WARNING	  "\xe2\x9a\xa0\xef\xb8\x8f" /* U+26A0 */

/* Codes of Discord (documentation, "JSON error codes"). */
enum {
	CANNOT_WRITE_TO_USER = 50007,
	MISSING_PERMISSIONS = 50013,
	THREAD_ARCHIVED = 50083,
	NO_HISTORY_FOR_REPLY = 160002,
	THREAD_IS_LOCKED = 160005,
	BLOCKED_BY_AUTOMOD = 200000,
};
enum { SUPPRESS_EMBEDS = 1 << 2 /* Discord's message flag */ };
enum { AFRESH = 100 /* added to the part in its nonce */ };

static void send_part(struct text_job *job);
static int request_part(struct text_job *job, const char *content);

void text_sending_typing(struct text_guild *g, uint64_t channel)
{
	const struct text_session_conf *c = &g->ts->conf;
	char path[64], major[24];
	const struct rest_call call = {.method = "POST",
				       .route = "/channels/{}/typing",
				       .path = path,
				       .major = major,
				       .spare = true};

	if (g->id && c->writeh && !c->writeh(g->id, channel, c->arg))
		return;
	snprintf(major, sizeof major, "%llu", (unsigned long long)channel);
	snprintf(path, sizeof path, "/channels/%s/typing", major);
	text_quiet_request(g->ts, &call, "typing", g->id, channel);
}

/* ---- notices: a sentence, or a sign where that cannot be sent ---- */

struct text_notice {
	struct text_notice *next; /* while the store works */
	struct text_session *ts;
	uint64_t guild, channel, message;
	const char *sign;
	json_t *body;
};

static void notice_free(struct text_notice *s)
{
	json_decref(s->body);
	free(s);
}

static void on_noticed(int err, int status, const json_t *body, void *arg)
{
	struct text_notice *s = arg;

	(void)body;
	if (err != ECANCELED && (err || status / 100 != 2))
		text_reacting_put(s->ts, s->guild, s->channel, s->message, s->sign);
	notice_free(s);
}

/* mark: of the nonce. */
static json_t *write_notice(uint64_t message, char mark, const char *text)
{
	return json_pack("{s:s,s:o,s:b,s:{s:[]},s:{s:o,s:b}}", "content", text, "nonce",
			 json_sprintf("%llu.%c", (unsigned long long)message, mark),
			 "enforce_nonce", 1, "allowed_mentions", "parse", "message_reference",
			 "message_id", json_sprintf("%llu", (unsigned long long)message),
			 "fail_if_not_exists", 0);
}

/* The words of somebody, in whose language the sentence is; English without any. */
static void speak_as(struct words *words, const char *text)
{
	words_speak(words, room_language_code(room_language_guess(text ? text : "", "",
								  ROOM_LANGUAGE_UNKNOWN)));
}

static void post_notice(struct text_notice *s)
{
	char path[64], major[24];
	struct rest_call call = {.method = "POST",
				 .route = "/channels/{}/messages",
				 .path = path,
				 .major = major,
				 .body = s->body,
				 .ordered = true,
				 .idempotent = true,
				 .spare = true};

	snprintf(major, sizeof major, "%llu", (unsigned long long)s->channel);
	snprintf(path, sizeof path, "/channels/%s/messages", major);
	if (rest_request(s->ts->conf.rest, &call, on_noticed, s))
		notice_free(s);
}

static void on_end_kept(int err, void *arg)
{
	struct text_notice *s = arg, **at = &s->ts->notices;

	(void)err;
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	post_notice(s);
}

/* The store is to know first that the message has ended. Otherwise the next control takes the
 * notice for an answer, or answers what was stopped. Owns body. */
static void send_notice(struct text_session *ts, const struct text_effect *e, const char *sign,
			json_t *body)
{
	struct text_notice *s = malloc(sizeof *s);

	if (!s || !body) {
		free(s);
		json_decref(body);
		return;
	}
	*s = (struct text_notice){ts->notices, ts, e->guild, e->channel, e->message, sign, body};
	if (ts->conf.store && store_sync(ts->conf.store, on_end_kept, s) == 0)
		ts->notices = s;
	else
		post_notice(s);
}

void text_sending_free_notices(struct text_session *ts)
{
	struct text_notice *s;

	while ((s = ts->notices)) {
		ts->notices = s->next;
		store_forget(ts->conf.store, s);
		notice_free(s);
	}
}

void text_sending_acknowledge(struct text_session *ts, const struct text_effect *e)
{
	struct words words = {0};

	if (e->sign) {
		text_reacting_put(ts, e->guild, e->channel, e->message, STOP_SIGN);
		return;
	}
	speak_as(&words, e->text);
	words_stopped(&words);
	send_notice(ts, e, STOP_SIGN, write_notice(e->message, 's', words.text));
}

void text_sending_warn(struct text_session *ts, const struct text_effect *e)
{
	struct words words = {0};

	if (e->record->reason != TEXT_REASON_MODERATED) {
		text_reacting_put(ts, e->guild, e->channel, e->message, WARNING);
		return;
	}
	speak_as(&words, e->record->text);
	words_moderated(&words);
	send_notice(ts, e, WARNING, write_notice(e->message, 'm', words.text));
}

/* ---- an answer ---- */

/* True if the answer may repeat words of others than who asked, or of strangers. */
static bool repeats(const struct text_job *job)
{
	return text_asking_repeats(job) || text_tools_tainted(job->g, job->channel);
}

static void speak(const struct text_job *job)
{
	const struct text_guild *g = job->g;
	const struct text_session_conf *c = &g->ts->conf;

	if (job->sent && g->settings->text_spoken && c->speakh)
		c->speakh(g->id, job->channel, *job->text ? job->text : job->question, c->arg);
}

/* The job is gone when the core is told. */
static void finish(struct text_job *job)
{
	struct text_guild *g = job->g;
	char *head = job->head;
	bool asks = text_agreeing_sent(job);
	struct text_event ev = {.type = job->sent ? TEXT_SENT : TEXT_NOT_SENT,
				.guild = g->id,
				.channel = job->channel,
				.reply = job->reply,
				.message = job->sent,
				.user = g->ts->self,
				.name = g->ts->name,
				.text = head ? head : "",
				.why = job->why,
				.strangers = text_asking_repeats(job),
				.partial = job->partial,
				.asker = asks ? job->user : 0,
				.asks = asks ? job->asks : 0};

	/* The message whose place it should have taken tells of work that is over. */
	if (job->replaces && !job->sent)
		text_working_delete(g, job->channel, job->replaces);
	if (job->leaves)
		text_working_delete(g, job->channel, job->leaves);
	speak(job);
	text_tools_over(job, asks ? job->shown : NULL);
	job->head = NULL;
	text_job_remove(job);
	text_session_feed(g, &ev);
	free(head);
}

static const char *content_of(const json_t *message)
{
	const char *text = json_string_value(json_object_get(message, "content"));

	return text ? text : "";
}

/* Without what needs further permissions, or in a place of its own. False: that is no help. */
static bool send_otherwise(struct text_job *job, int status, const json_t *body)
{
	json_int_t code = json_integer_value(json_object_get(body, "code"));

	if (job->replaces && (status == 404 || code == THREAD_ARCHIVED)) {
		/* A new message opens a thread again that was archived meanwhile. */
		job->leaves = status == 404 ? 0 : job->replaces;
		job->replaces = 0;
		job->afresh = true;
	} else if ((code == MISSING_PERMISSIONS || code == NO_HISTORY_FOR_REPLY) && !job->bare) {
		job->bare = true;
		job->as_file = false;
	} else {
		return false;
	}
	return job->content && !request_part(job, job->content);
}

/* What asking again would not change. */
static enum text_reason reason_of(const json_t *body)
{
	static const struct {
		json_int_t code;
		enum text_reason reason;
	} known[] = {{BLOCKED_BY_AUTOMOD, TEXT_REASON_MODERATED},
		     {THREAD_ARCHIVED, TEXT_REASON_THREAD_LOCKED},
		     {THREAD_IS_LOCKED, TEXT_REASON_THREAD_LOCKED},
		     {CANNOT_WRITE_TO_USER, TEXT_REASON_DIRECT_CLOSED}};
	json_int_t code = json_integer_value(json_object_get(body, "code"));

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].code == code)
			return known[i].reason;
	return TEXT_REASON_NONE;
}

static void fail_part(struct text_job *job)
{
	job->partial = true;
	finish(job);
}

static void on_sent(int err, int status, const json_t *body, void *arg)
{
	struct text_job *job = arg;
	uint64_t id = 0;

	if (err || status / 100 != 2 ||
	    !discord_snowflake(json_string_value(json_object_get(body, "id")), &id)) {
		if (!err && send_otherwise(job, status, body))
			return;
		text_quiet_told(&(struct text_done){.event = "text_not_sent",
						    .what = job->as_file    ? "file"
							    : job->reply_to ? "reply"
									    : "message",
						    .guild = job->g->id,
						    .channel = job->channel},
				err,
				err		    ? 0
				: status / 100 == 2 ? 500
						    : status,
				body);
		job->why = err ? TEXT_REASON_NONE : reason_of(body);
		fail_part(job);
		return;
	}
	/* A control before this one has told there of a tool at work. */
	if (!job->replaces && text_working_is(content_of(body)) &&
	    !text_working_is(job->content ? job->content : "")) {
		job->replaces = id;
		if (!request_part(job, job->content))
			return;
	}
	job->replaces = 0;
	if (!job->sent)
		job->sent = id;
	if (job->asking) {
		job->asks = id;
		job->shown = strdup(content_of(body));
	}
	job->part++;
	send_part(job);
}

/* Nobody is notified by an answer, whatever it says. With the nonce Discord gives back the message
 * that it has, in place of a second one. NULL without memory. */
static json_t *write_body(const struct text_job *job, const char *content)
{
	json_t *body = json_pack("{s:s,s:o,s:b,s:{s:[]}}", "content", content, "nonce",
				 json_sprintf("%llu.%u", (unsigned long long)job->first,
					      job->part + (job->afresh ? AFRESH : 0)),
				 "enforce_nonce", 1, "allowed_mentions", "parse");

	/* Discord requests an address at once for its preview. One that strangers had the model
	 * write could carry words of the channel to its owner. */
	if (body && repeats(job))
		json_object_set_new(body, "flags", json_integer(SUPPRESS_EMBEDS));
	if (body && job->asking)
		json_object_set_new(body, "components", text_agreeing_buttons(job));
	if (body && job->reply_to && !job->part && !job->replaces && !job->bare)
		json_object_set_new(
			body, "message_reference",
			json_pack("{s:o,s:b}", "message_id",
				  json_sprintf("%llu", (unsigned long long)job->reply_to),
				  "fail_if_not_exists", 0));
	return body;
}

static int request_part(struct text_job *job, const char *content)
{
	char path[64], major[24];
	struct rest_call call = {.method = "POST",
				 .route = "/channels/{}/messages",
				 .path = path,
				 .major = major,
				 .ordered = true,
				 .idempotent = true};
	json_t *body = write_body(job, content);
	int err = ENOMEM;

	snprintf(major, sizeof major, "%llu", (unsigned long long)job->channel);
	snprintf(path, sizeof path, "/channels/%s/messages", major);
	if (job->replaces) {
		call.method = "PATCH";
		call.route = "/channels/{}/messages/{}";
		snprintf(path + strlen(path), sizeof path - strlen(path), "/%llu",
			 (unsigned long long)job->replaces);
		json_object_del(body, "nonce");
		json_object_del(body, "enforce_nonce");
	}
	call.body = body;
	if (job->as_file && !job->asking) {
		call.file_name = "answer.md";
		call.file_type = "text/markdown; charset=utf-8";
		call.file = job->text;
	}
	if (body)
		err = rest_request(job->g->ts->conf.rest, &call, on_sent, job);
	json_decref(body);
	return err;
}

/* What models write must not look as if a tool were at work: it would be taken for no answer. */
static bool next_part(struct split *split, char content[SPLIT_BYTES])
{
	const size_t mark = sizeof TEXT_WORKING_MARK - 1;
	bool more = split_next(split, content);

	while (more && text_working_is(content))
		memmove(content, content + mark, strlen(content + mark) + 1);
	if (more && !content[strspn(content, " \n")])
		strcpy(content, "\xe2\x80\xa6");
	return more;
}

/* The parts of the answer, and then a message that is the question and nothing else: no file, no
 * code block and no mark of the answer can hide it. False: nothing is left. */
static bool next_content(struct text_job *job, char content[SPLIT_BYTES])
{
	if (job->asking)
		return false;
	if (!(job->as_file && job->part) && next_part(&job->split, content))
		return true;
	job->asking =
		job->question && text_markdown_escape(job->question, content, TEXT_ASKED_BYTES);
	return job->asking;
}

static void send_part(struct text_job *job)
{
	char content[SPLIT_BYTES];
	bool later = false;
	int err;

	if (!job->part && !job->replaces)
		job->replaces = text_working_take(job->g, job->channel, &later);
	job->awaits = later;
	if (later)
		return;
	if (!next_content(job, content)) {
		finish(job);
		return;
	}
	/* It should have been a file. */
	if (!job->asking && job->part == TEXT_PARTS) {
		fail_part(job);
		return;
	}
	if (!job->part)
		job->head = strdup(content);
	free(job->content);
	job->content = strdup(content);
	err = request_part(job, content);
	if (err) {
		log_warn("text_not_sent", "guild=%llu channel=%llu part=%u err=%d",
			 (unsigned long long)job->g->id, (unsigned long long)job->channel,
			 job->part, err);
		fail_part(job);
	}
}

void text_sending_not_sent(struct text_guild *g, const struct text_effect *e)
{
	text_session_feed(g, &(struct text_event){.type = TEXT_NOT_SENT,
						  .guild = g->id,
						  .channel = e->channel,
						  .reply = e->reply});
}

void text_sending_withdraw(struct text_guild *g, const struct text_effect *e)
{
	struct text_job *job = text_asking_find(g, e->reply);

	/* Its end was lost for want of memory; the channel would wait for it for ever. */
	if (!job)
		text_sending_not_sent(g, e);
	if (!job || job->state != TEXT_JOB_SENDING)
		return;
	if (*job->emoji) {
		text_reacting_withdraw(job);
		return;
	}
	if (job->awaits || job->keeping || rest_withdraw(g->ts->conf.rest, on_sent, job))
		fail_part(job);
}

void text_sending_resume(struct text_guild *g, uint64_t channel)
{
	struct text_job *j = g->jobs;

	while (j && (j->channel != channel || j->state != TEXT_JOB_SENDING))
		j = j->next;
	if (j)
		send_part(j);
}

void text_sending_kept(struct text_job *job)
{
	job->keeping = false;
	if (*job->emoji)
		text_reacting_request(job);
	else
		send_part(job);
}

void text_sending_begin(struct text_guild *g, const struct text_effect *e)
{
	struct text_job *job = text_asking_find(g, e->reply);
	/* An answer without words is its question. */
	bool wordless = job && job->question && strcmp(e->text, job->question) == 0;
	char *text = job ? strdup(wordless ? "" : e->text) : NULL;
	char first[SPLIT_BYTES] = "";
	struct split ahead;

	if (!text) {
		text_sending_not_sent(g, e);
		return;
	}
	job->state = TEXT_JOB_SENDING;
	text_keeping_sends(g, job->first, repeats(job));
	job->text = text;
	job->reply_to = e->message;
	job->as_file = split_count(text) > TEXT_PARTS;
	split_begin(&job->split, text);
	ahead = job->split;
	if (!next_part(&ahead, first) && job->question)
		text_markdown_escape(job->question, first, TEXT_ASKED_BYTES);
	job->keeping = text_taking_sending(job, e, taken_mark(first));
	if (!job->keeping)
		send_part(job);
}
