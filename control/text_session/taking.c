/* Tells the store what a restart is to know of messages (inside.h): which are owed an answer, whose
 * answer is about to be sent, and which have ended. */
#include <errno.h>
#include <stdlib.h>

#include <jansson.h>

#include "control/settings/settings.h"
#include "control/store/store.h"
#include "control/text/missed.h"
#include "control/text/taken.h"
#include "control/text_session/inside.h"
#include "ipc/env.h"

/* Takes the rows. Errors of store_save_taken, ENOSYS without a store. */
static int save(const struct text_session *ts, json_t *rows, store_done_h *h, void *arg)
{
	char *text = ts->conf.store && rows ? json_dumps(rows, JSON_COMPACT) : NULL;
	int err = ENOSYS;

	if (text)
		err = store_save_taken(ts->conf.store, text, h, arg);
	free(text);
	json_decref(rows);
	return err;
}

static void put(struct text_session *ts, const struct taken *row)
{
	taken_put(ts->taken, row);
	save(ts, json_pack("[o]", taken_row(row)), NULL, NULL);
}

void text_taking_waits(struct text_guild *g, const struct text_effect *e)
{
	const struct taken *before = taken_find(g->ts->taken, e->message);
	uint64_t title = text_session_first_title(g->ts, e->message);

	/* After a restart the row alone knows the first title. */
	if (!title && before && taken_is_open(before) && !taken_answer_mark(before))
		title = before->mark;
	put(g->ts, &(struct taken){.message = e->message,
				   .guild = g->id,
				   .channel = e->channel,
				   .user = e->user,
				   .state = e->late ? TAKEN_LATE : TAKEN_WAITS,
				   .mark = title});
}

/* Without the store Discord still refuses a second message with the nonce, for some minutes. */
static void on_kept(int err, void *arg)
{
	(void)err;
	text_sending_kept(arg);
}

/* Discord's ids are times. */
static void keep_post(const struct text_job *job, json_t *rows)
{
	struct text_session *ts = job->g->ts;
	const struct taken row = {.message = missed_id_of(env_wall_ms(ts->conf.env)),
				  .guild = job->g->id,
				  .channel = job->channel,
				  .state = TAKEN_POSTED};

	taken_put(ts->taken, &row);
	json_array_append_new(rows, taken_row(&row));
}

void text_taking_tell_posts(struct text_guild *g)
{
	uint64_t now = env_wall_ms(g->ts->conf.env);
	const struct taken *row;

	for (size_t i = 0; (row = taken_at(g->ts->taken, i)); i++) {
		uint64_t at = row->message ? missed_ms_of(row->message) : 0;

		if (at && row->state == TAKEN_POSTED && row->guild == g->id)
			text_session_feed(
				g, &(struct text_event){
					   .type = TEXT_POSTED,
					   .guild = g->id,
					   .channel = row->channel,
					   .n = (uint32_t)(now > at ? (now - at) / 1000 : 0)});
	}
}

bool text_taking_sending(struct text_job *job, const struct text_effect *e, uint64_t mark)
{
	struct text_session *ts = job->g->ts;
	json_t *rows = json_array();

	for (size_t i = 0; i < e->n_triggers; i++) {
		const struct text_trigger *t = e->triggers[i];
		const struct taken row = {.message = t->message,
					  .guild = t->guild,
					  .channel = t->channel,
					  .user = t->user,
					  .state = TAKEN_SENDING,
					  .mark = mark};

		taken_put(ts->taken, &row);
		json_array_append_new(rows, taken_row(&row));
	}
	if (e->kind == TEXT_KIND_INITIATIVE)
		keep_post(job, rows);
	if (!json_array_size(rows)) {
		json_decref(rows);
		return false;
	}
	return save(ts, rows, on_kept, job) == 0;
}

bool text_taking_goes_on(const struct text_guild *g, uint64_t message)
{
	const struct taken *row = taken_find(g->ts->taken, message);

	return row && g->ts->conf.store && g->settings->text_catchup && taken_is_open(row);
}

/* Of these no new row is made: the same rules refuse them again, and anybody can write any number.
 */
static bool is_refused(enum text_reason reason)
{
	return reason == TEXT_REASON_NO_CONSENT || reason == TEXT_REASON_CHANNEL_BLOCKED ||
	       reason == TEXT_REASON_USER_BLOCKED || reason == TEXT_REASON_NO_PERMISSION;
}

/* A row without an author is of somebody who was erased. The mark stays: rows of messages that
 * shared the answer may not have ended on the disk when the program is killed, and are known by it.
 */
void text_taking_ended(struct text_guild *g, const struct text_trigger *t)
{
	const struct taken *row = taken_find(g->ts->taken, t->message);
	bool for_bot = !is_refused(t->reason) &&
		       (text_signal_forces(t->signal) || t->to_bot || !t->guild || t->reply);

	if (t->reason == TEXT_REASON_SHUTDOWN || t->reason == TEXT_REASON_DUPLICATE_TRIGGER ||
	    t->reason == TEXT_REASON_SELF_MESSAGE || t->reason == TEXT_REASON_BOT_MESSAGE ||
	    !t->message || !(row || for_bot) || (row && !row->user && t->user))
		return;
	put(g->ts, &(struct taken){.message = t->message,
				   .guild = t->guild,
				   .channel = t->channel,
				   .user = t->user,
				   .state = TAKEN_ENDED,
				   .mark = row ? taken_answer_mark(row) : 0});
}
