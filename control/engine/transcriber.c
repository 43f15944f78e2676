#include "control/engine/transcriber.h"

#include <errno.h>
#include <stdlib.h>

#include "control/engine/transcribe_file.h"
#include "control/engine/transcribe_shared.h"

struct transcriber {
	struct transcribe_session *each; /* one of the three */
	struct transcribe_shared *shared;
	struct transcribe_file *files;
};

int transcriber_alloc(struct transcriber **out, const struct transcribe_conf *conf,
		      enum transcriber_how how)
{
	struct transcriber *e;
	int err;

	if (!out)
		return EINVAL;
	e = calloc(1, sizeof *e);
	if (!e)
		return ENOMEM;
	err = how == TRANSCRIBER_SHARED	 ? transcribe_shared_alloc(&e->shared, conf)
	      : how == TRANSCRIBER_FILES ? transcribe_file_alloc(&e->files, conf)
					 : transcribe_session_alloc(&e->each, conf);
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
	transcribe_session_free(e->each);
	transcribe_shared_free(e->shared);
	transcribe_file_free(e->files);
	free(e);
	return NULL;
}

static int do_shared(struct transcribe_shared *s, const struct transcriber_fact *e)
{
	switch (e->type) {
	case TRANSCRIBER_START:
		return transcribe_shared_start(s, e->user, e->utterance);
	case TRANSCRIBER_APPEND:
		transcribe_shared_append(s, e->utterance, e->pcm.p, e->pcm.n);
		break;
	case TRANSCRIBER_SPEECH:
		transcribe_shared_promoted(s, e->utterance);
		break;
	case TRANSCRIBER_COMMIT:
		transcribe_shared_commit(s, e->user, e->utterance);
		break;
	case TRANSCRIBER_INTERIM:
		transcribe_shared_interim(s, e->utterance);
		break;
	case TRANSCRIBER_CANCEL:
		transcribe_shared_cancel(s, e->utterance);
		break;
	case TRANSCRIBER_CLOSE:
		transcribe_shared_close(s, e->user);
		break;
	case TRANSCRIBER_FILE:
		return ENOTSUP;
	}
	return 0;
}

static int do_each(struct transcribe_session *a, const struct transcriber_fact *e)
{
	switch (e->type) {
	case TRANSCRIBER_START:
		return transcribe_session_start(a, e->user, e->utterance);
	case TRANSCRIBER_APPEND:
		transcribe_session_append(a, e->user, e->utterance, e->pcm.p, e->pcm.n);
		break;
	case TRANSCRIBER_SPEECH:
		break; /* of no matter */
	case TRANSCRIBER_COMMIT:
		transcribe_session_commit(a, e->user, e->utterance);
		break;
	case TRANSCRIBER_INTERIM:
		transcribe_session_interim(a, e->user, e->utterance);
		break;
	case TRANSCRIBER_CANCEL:
		transcribe_session_cancel(a, e->user, e->utterance);
		break;
	case TRANSCRIBER_CLOSE:
		transcribe_session_close(a, e->user);
		break;
	case TRANSCRIBER_FILE:
		return ENOTSUP;
	}
	return 0;
}

static int do_files(struct transcribe_file *f, const struct transcriber_fact *e)
{
	switch (e->type) {
	case TRANSCRIBER_START:
		return transcribe_file_start(f, e->user, e->utterance);
	case TRANSCRIBER_APPEND:
		transcribe_file_append(f, e->user, e->utterance, e->pcm.p, e->pcm.n);
		break;
	case TRANSCRIBER_FILE:
		return transcribe_file_run(f, e->user, e->utterance);
	case TRANSCRIBER_CANCEL:
		transcribe_file_cancel(f, e->user, e->utterance);
		break;
	case TRANSCRIBER_CLOSE:
		/* There is no session; whose words are awaited still gets them. */
		if (e->left)
			transcribe_file_close(f, e->user);
		break;
	case TRANSCRIBER_SPEECH:
		break; /* of no matter */
	case TRANSCRIBER_COMMIT:
	case TRANSCRIBER_INTERIM:
		return ENOTSUP;
	}
	return 0;
}

int transcriber_done(struct transcriber *e, uint64_t *user, uint32_t *utterance)
{
	return e->files ? transcribe_file_send(e->files, user, utterance) : 0;
}

int transcriber_do(struct transcriber *e, const struct transcriber_fact *fact)
{
	if (e->files)
		return do_files(e->files, fact);
	return e->shared ? do_shared(e->shared, fact) : do_each(e->each, fact);
}
