#include "control/asr/transcriber.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/asr/files.h"
#include "control/asr/shared.h"
#include "control/room/room.h"

struct transcriber {
	struct asr *each; /* one of the three */
	struct asr_shared *shared;
	struct asr_files *files;
};

int transcriber_alloc(struct transcriber **out, const struct asr_conf *conf, enum transcriber_how how)
{
	struct transcriber *e;
	int err;

	if (!out)
		return EINVAL;
	e = calloc(1, sizeof *e);
	if (!e)
		return ENOMEM;
	err = how == TRANSCRIBER_SHARED  ? asr_shared_alloc(&e->shared, conf)
	      : how == TRANSCRIBER_FILES ? asr_files_alloc(&e->files, conf)
				  : asr_alloc(&e->each, conf);
	if (err) {
		free(e);
		return err;
	}
	*out = e;
	return 0;
}

struct transcriber *transcriber_free(struct transcriber *e)
{
	if (!e)
		return NULL;
	asr_free(e->each);
	asr_shared_free(e->shared);
	asr_files_free(e->files);
	free(e);
	return NULL;
}

static int do_shared(struct asr_shared *s, const struct room_effect *e)
{
	switch (e->type) {
	case ROOM_DO_ASR_START:
		return asr_shared_start(s, e->user, e->utterance);
	case ROOM_DO_ASR_APPEND:
		asr_shared_append(s, e->utterance, e->pcm.p, e->pcm.n);
		break;
	case ROOM_DO_ASR_SPEECH:
		asr_shared_promoted(s, e->utterance);
		break;
	case ROOM_DO_ASR_COMMIT:
		asr_shared_commit(s, e->user, e->utterance);
		break;
	case ROOM_DO_ASR_INTERIM:
		asr_shared_interim(s, e->utterance);
		break;
	case ROOM_DO_ASR_CANCEL:
		asr_shared_cancel(s, e->utterance);
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
	case ROOM_DO_ASR_INTERIM:
		asr_interim(a, e->user, e->utterance);
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

static int do_files(struct asr_files *f, const struct room_effect *e)
{
	switch (e->type) {
	case ROOM_DO_ASR_START:
		return asr_files_start(f, e->user, e->utterance);
	case ROOM_DO_ASR_APPEND:
		asr_files_append(f, e->user, e->utterance, e->pcm.p, e->pcm.n);
		break;
	case ROOM_DO_ASR_FILE:
		return asr_files_run(f, e->user, e->utterance);
	case ROOM_DO_ASR_CANCEL:
		asr_files_cancel(f, e->user, e->utterance);
		break;
	case ROOM_DO_ASR_CLOSE:
		/* There is no session; whose words are awaited still gets them. */
		if (strcmp(e->text, "user_left") == 0)
			asr_files_close(f, e->user);
		break;
	case ROOM_DO_ASR_SPEECH:
		break; /* of no matter */
	default:
		return ENOTSUP;
	}
	return 0;
}

int transcriber_done(struct transcriber *e, uint64_t *user, uint32_t *utterance)
{
	return e->files ? asr_files_send(e->files, user, utterance) : 0;
}

int transcriber_do(struct transcriber *e, const struct room_effect *effect)
{
	if (e->files)
		return do_files(e->files, effect);
	return e->shared ? do_shared(e->shared, effect) : do_each(e->each, effect);
}
