/* What pages and prompts read of the history, and /forget of the facts, by a job of the store
 * (store.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/job.h"
#include "control/store/store_inside.h"

enum { READ_MS = 500 /* for a page: a prompt may wait behind it */ };

int store_read_history(struct store *s, const struct store_query *q, store_document_h *h, void *arg)
{
	unsigned max = q->what == STORE_ACTIONS ? STORE_ACTIONS_MAX : STORE_READ_MAX;
	struct job j = {.kind = JOB_READ_HISTORY,
			.owner = q->what,
			.channel = q->session,
			.guild = q->guild,
			.user = q->user,
			.now_ms = q->since_ms,
			.words_ms = q->before_ms,
			.until_ms = q->row ? q->row : INT64_MAX,
			.version = q->most < max ? q->most : max,
			.any = q->words,
			.grants = q->operators,
			.compare = q->timeline,
			.search_ms = READ_MS,
			.text = strdup(q->reason ? q->reason : ""),
			.author = strdup(q->channels ? q->channels : "")};

	if (j.text && j.author)
		return store_request(s, &j, h, arg);
	free(j.text);
	free(j.author);
	return ENOMEM;
}

int store_list_own_facts(struct store *s, uint64_t user, unsigned most, store_document_h *h,
			 void *arg)
{
	return store_request(
		s, &(struct job){.kind = JOB_LIST_OWN_FACTS, .user = user, .version = most}, h,
		arg);
}

int store_find_lookups(struct store *s, const struct store_lookups *what, store_document_h *h,
		       void *arg)
{
	const struct job j = {.kind = JOB_FIND_LOOKUPS,
			      .urgent = true,
			      .guild = what->guild,
			      .channel = what->channel,
			      .now_ms = what->since_ms,
			      .version = what->most};

	return store_request(s, &j, h, arg);
}
