/* What extraction and reflection ask the store (store.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/job.h"
#include "control/store/store_inside.h"
#include "ipc/env.h"

int store_next_episode(struct store *s, const struct store_episodes *what, store_document_h *h,
		       void *arg)
{
	struct job j = {.kind = JOB_NEXT_EPISODE,
			.now_ms = what->since_ms,
			.until_ms = what->running_ms,
			.version = what->most,
			.text = strdup(what->without)};

	return j.text ? store_request(s, &j, h, arg) : ENOMEM;
}

int store_end_episode(struct store *s, const struct store_episode *e)
{
	struct job j = {.kind = JOB_END_EPISODE,
			.guild = e->guild,
			.owner = e->session,
			.channel = e->channel,
			.version = e->line};

	if (e->summary && !(j.text = strdup(e->summary)))
		return ENOMEM;
	return store_request(s, &j, NULL, NULL);
}

int store_find_summaries(struct store *s, uint64_t guild, uint64_t channel, uint64_t since_ms,
			 store_document_h *h, void *arg)
{
	return store_request(s,
			     &(struct job){.kind = JOB_FIND_SUMMARIES,
					   .guild = guild,
					   .channel = channel,
					   .now_ms = since_ms,
					   .version = STORE_SUMMARIES},
			     h, arg);
}

int store_next_pairs(struct store *s, const struct store_pairs *what, store_document_h *h,
		     void *arg)
{
	struct job j = {.kind = JOB_NEXT_PAIRS,
			.owner = what->day,
			.now_ms = what->since_ms,
			.version = what->most,
			.text = strdup(what->without)};

	return j.text ? store_request(s, &j, h, arg) : ENOMEM;
}

int store_end_pairs(struct store *s, const struct store_decisions *what, store_document_h *h,
		    void *arg)
{
	struct job j = {.kind = JOB_END_PAIRS,
			.guild = what->guild,
			.owner = what->owner,
			.user = what->user,
			.version = what->mark,
			.now_ms = store_now_ms(s),
			.text = strdup(what->request)};

	return j.text ? store_request(s, &j, h, arg) : ENOMEM;
}
