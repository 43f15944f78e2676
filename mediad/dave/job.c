#include "mediad/dave/mls_state_internal.h"

#include <errno.h>
#include <stdlib.h>

int dave_job_alloc(struct dave_job **out, enum dave_job_type type)
{
	struct dave_job *j = calloc(1, sizeof *j);

	if (!j)
		return ENOMEM;
	j->type = type;
	*out = j;
	return 0;
}

struct dave_job *dave_job_free(struct dave_job *j)
{
	if (!j)
		return NULL;
	dave_mls_state_free(j->mls_state);
	dave_epoch_free(j->epoch);
	free(j->in.p);
	free(j->recognized);
	free(j->theirs.p);
	free(j->mine.p);
	free(j->out.p);
	mls_wipe(j, sizeof *j);
	free(j);
	return NULL;
}

struct dave_epoch *dave_epoch_free(struct dave_epoch *e)
{
	if (!e)
		return NULL;
	for (uint32_t i = 0; e->member && i < e->n; i++)
		mls_wipe(e->member[i].base, sizeof e->member[i].base);
	free(e->member);
	mls_wipe(e, sizeof *e);
	free(e);
	return NULL;
}

const struct dave_member *dave_epoch_find(const struct dave_epoch *e, uint64_t user)
{
	uint32_t lo = 0, hi = e->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (e->member[mid].user == user)
			return &e->member[mid];
		if (e->member[mid].user < user)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* ---- running ---- */

static int compute_code(struct dave_job *j)
{
	uint8_t fingerprint[DAVE_FINGERPRINT];
	int err = dave_fingerprint(fingerprint, mls_slice(j->theirs.p, j->theirs.n), j->user,
				   mls_slice(j->mine.p, j->mine.n), j->self);

	return err ? err : dave_verification_code(j->code, fingerprint);
}

void dave_job_run(struct dave_job *j)
{
	struct dave_mls_state *k = j->mls_state;
	int err = 0;

	switch (j->type) {
	case DAVE_JOB_RESET:
	case DAVE_JOB_REKEY:
		err = dave_mls_state_reset(k, j, j->type == DAVE_JOB_RESET);
		break;
	case DAVE_JOB_DROP:
		dave_mls_state_drop(k);
		break;
	case DAVE_JOB_EXTERNAL_SENDER:
		err = dave_mls_state_set_external_sender(k, j);
		break;
	case DAVE_JOB_PROPOSALS:
		dave_mls_state_handle_proposals(k, j);
		break;
	case DAVE_JOB_COMMIT:
		dave_mls_state_handle_commit(k, j);
		break;
	case DAVE_JOB_WELCOME:
		dave_mls_state_handle_welcome(k, j);
		break;
	case DAVE_JOB_CODE:
		err = compute_code(j);
		break;
	}
	if (j->verdict == DAVE_NOT_RUN) {
		j->verdict = err ? DAVE_INVALID : DAVE_DONE;
		j->err = err;
	}
	if (k)
		j->in_group = k->established;
}
