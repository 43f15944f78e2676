/* What pages read of the history, by a job of the store (store.h). */
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
