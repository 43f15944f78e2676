/* Reactions (inside.h): one that is the whole answer, which the store knows of before Discord does;
 * one that goes with words; and the signs by which the bot says that it failed or stopped. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "control/discord/rest.h"
#include "control/text/taken.h"
#include "control/text_session/inside.h"

/* Codes of Discord (documentation, "JSON error codes"). */
enum { UNKNOWN_MESSAGE = 10008, THREAD_ARCHIVED = 50083, THREAD_IS_LOCKED = 160005 };
enum { PATH = 96 + 3 * TEXT_EMOJI };

static void write_path(char path[PATH], const char *channel, uint64_t message, const char *emoji)
{
	size_t n = (size_t)snprintf(path, PATH, "/channels/%s/messages/%llu/reactions/", channel,
				    (unsigned long long)message);

	for (; *emoji; emoji++)
		n += (size_t)snprintf(path + n, PATH - n, "%%%02X", (unsigned char)*emoji);
	snprintf(path + n, PATH - n, "/@me");
}

/* path and major: for texts of the call. */
static void write_call(struct rest_call *call, char path[PATH], char major[24], uint64_t channel,
		       uint64_t message, const char *emoji)
{
	*call = (struct rest_call){.method = "PUT",
				   .route = "/channels/{}/messages/{}/reactions/{}/@me",
				   .path = path,
				   .major = major,
				   .idempotent = true};
	snprintf(major, 24, "%llu", (unsigned long long)channel);
	write_path(path, major, message, emoji);
}

void text_reacting_put(struct text_session *ts, uint64_t guild, uint64_t channel, uint64_t message,
		       const char *emoji)
{
	char path[PATH], major[24];
	struct rest_call call;

	write_call(&call, path, major, channel, message, emoji);
	call.spare = true;
	text_quiet_request(ts, &call, "reaction", guild, channel);
}

/* ---- the whole answer ---- */

/* The job is gone when the core is told. */
static void finish(struct text_job *job, enum text_event_type type, enum text_reason why)
{
	struct text_guild *g = job->g;
	const struct text_event ev = {.type = type,
				      .guild = g->id,
				      .channel = job->channel,
				      .reply = job->reply,
				      .why = why};

	text_job_remove(job);
	text_session_feed(g, &ev);
}

/* Where words could not be sent either. */
static enum text_reason reason_of(const json_t *body)
{
	json_int_t code = json_integer_value(json_object_get(body, "code"));

	if (code == UNKNOWN_MESSAGE)
		return TEXT_REASON_DELETED;
	return code == THREAD_ARCHIVED || code == THREAD_IS_LOCKED ? TEXT_REASON_THREAD_LOCKED
								   : TEXT_REASON_NONE;
}

static void on_reacted(int err, int status, const json_t *body, void *arg)
{
	struct text_job *job = arg;

	if (!err && status / 100 == 2) {
		finish(job, TEXT_REACTED, TEXT_REASON_NONE);
		return;
	}
	text_quiet_told(&(struct text_done){.event = "text_not_done",
					    .what = "reaction",
					    .guild = job->g->id,
					    .channel = job->channel},
			err, status, body);
	finish(job, TEXT_NOT_SENT, err ? TEXT_REASON_NONE : reason_of(body));
}

void text_reacting_request(struct text_job *job)
{
	char path[PATH], major[24];
	struct rest_call call;

	write_call(&call, path, major, job->channel, job->reply_to, job->emoji);
	if (rest_request(job->g->ts->conf.rest, &call, on_reacted, job))
		finish(job, TEXT_NOT_SENT, TEXT_REASON_NONE);
}

void text_reacting_begin(struct text_guild *g, const struct text_effect *e)
{
	struct text_job *job;

	if (!e->reply) {
		text_reacting_put(g->ts, e->guild, e->channel, e->message, e->text);
		return;
	}
	job = text_asking_find(g, e->reply);
	if (!job) {
		text_sending_not_sent(g, e);
		return;
	}
	job->state = TEXT_JOB_SENDING;
	job->reply_to = e->message;
	snprintf(job->emoji, sizeof job->emoji, "%s", e->text);
	job->keeping = text_taking_sending(job, e, taken_reaction_mark(e->message, e->text));
	if (!job->keeping)
		text_reacting_request(job);
}

void text_reacting_withdraw(struct text_job *job)
{
	if (job->keeping || rest_withdraw(job->g->ts->conf.rest, on_reacted, job))
		finish(job, TEXT_NOT_SENT, TEXT_REASON_NONE);
}

void text_reacting_abandon(struct text_guild *g, uint32_t reply)
{
	struct text_job *job = text_asking_find(g, reply);

	if (job && job->state == TEXT_JOB_SENDING && *job->emoji)
		text_reacting_withdraw(job);
}

/* ---- what the model wrote ---- */

void text_reacting_read(struct text_job *job, char emoji[TEXT_EMOJI])
{
	char earlier[TEXT_EMOJI] = "";

	*emoji = '\0';
	if (job->lead)
		text_emoji_take(job->lead, earlier);
	if (job->answer)
		text_emoji_take(job->answer, emoji);
	if (!*emoji)
		memcpy(emoji, earlier, sizeof earlier);
}
