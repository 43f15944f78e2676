#include "control/asr/ears.h"

#include <errno.h>
#include <stdlib.h>

#include "control/asr/shared.h"
#include "control/room/room.h"

struct ears {
	struct asr *each; /* one of the two */
	struct asr_shared *shared;
};

int ears_alloc(struct ears **out, const struct asr_conf *conf, bool shared)
{
	struct ears *e;
	int err;

	if (!out)
		return EINVAL;
	e = calloc(1, sizeof *e);
	if (!e)
		return ENOMEM;
	err = shared ? asr_shared_alloc(&e->shared, conf) : asr_alloc(&e->each, conf);
	if (err) {
		free(e);
		return err;
	}
	*out = e;
	return 0;
}

struct ears *ears_free(struct ears *e)
{
	if (!e)
		return NULL;
	asr_free(e->each);
	asr_shared_free(e->shared);
	free(e);
	return NULL;
}

static int do_shared(struct asr_shared *s, const struct room_effect *e)
{
	switch (e->type) {
	case ROOM_DO_ASR_START:
		return asr_shared_start(s, e->user, e->utterance);
	case ROOM_DO_ASR_APPEND:
		asr_shared_append(s, e->user, e->utterance, e->pcm.p, e->pcm.n);
		break;
	case ROOM_DO_ASR_SPEECH:
		asr_shared_promoted(s, e->user, e->utterance);
		break;
	case ROOM_DO_ASR_COMMIT:
		asr_shared_commit(s, e->user, e->utterance);
		break;
	case ROOM_DO_ASR_CANCEL:
		asr_shared_cancel(s, e->user, e->utterance);
		break;
	case ROOM_DO_ASR_CLOSE:
		asr_shared_close(s, e->user);
		break;
	default:
		return ENOTSUP;
	}
	return 0;
}

static int do_each(struct asr *a, const struct room_effect *e)
{
	switch (e->type) {
	case ROOM_DO_ASR_START:
		return asr_start(a, e->user, e->utterance);
	case ROOM_DO_ASR_APPEND:
		asr_append(a, e->user, e->utterance, e->pcm.p, e->pcm.n);
		break;
	case ROOM_DO_ASR_SPEECH:
		break; /* of no matter */
	case ROOM_DO_ASR_COMMIT:
		asr_commit(a, e->user, e->utterance);
		break;
	case ROOM_DO_ASR_CANCEL:
		asr_cancel(a, e->user, e->utterance);
		break;
	case ROOM_DO_ASR_CLOSE:
		asr_close(a, e->user);
		break;
	default:
		return ENOTSUP;
	}
	return 0;
}

int ears_do(struct ears *e, const struct room_effect *effect)
{
	return e->shared ? do_shared(e->shared, effect) : do_each(e->each, effect);
}
