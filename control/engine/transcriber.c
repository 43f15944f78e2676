/* The engine of transcription: a session for each speaker, one session for all of them, or whole
 * recordings. A shell around the three (transcribe_session.h, transcribe_shared.h,
 * transcribe_file.h). */
#include "control/engine/engine.h"

#include <errno.h>
#include <stdlib.h>

#include "control/engine/transcribe_file.h"
#include "control/engine/transcribe_shared.h"

struct transcriber {
	engine_h *h;
	void *arg;
	struct transcribe_session *each; /* one of the three */
	struct transcribe_shared *shared;
	struct transcribe_file *files;
};

static void tell_words(enum transcribe_event type, uint64_t user, uint32_t utterance,
		       const uint8_t *text, size_t len, struct transcribe_sure sure, void *arg)
{
	static const enum engine_event_type types[] = {
		[TRANSCRIBE_PARTIAL] = ENGINE_PARTIAL,
		[TRANSCRIBE_TRANSCRIPT] = ENGINE_TRANSCRIPT,
		[TRANSCRIBE_FAILED] = ENGINE_NO_TRANSCRIPT,
	};
	struct transcriber *e = arg;
	struct engine_event ev = {.type = types[type],
				  .user = user,
				  .utterance = utterance,
				  .data = {text, len},
				  .doubt = sure.doubt,
				  .no_speech = sure.no_speech,
				  .language = sure.language};

	if (type == TRANSCRIBE_FAILED)
		ev.trouble = engine_trouble(text, len);
	e->h(&ev, e->arg);
}

static int transcriber_rekey(void *engine, const char *key)
{
	struct transcriber *e = engine;

	if (e->files)
		return transcribe_file_rekey(e->files, key);
	return e->shared ? transcribe_shared_rekey(e->shared, key)
			 : transcribe_session_rekey(e->each, key);
}

static void transcriber_free(void *engine)
{
	struct transcriber *e = engine;

	if (!e)
		return;
	transcribe_session_free(e->each);
	transcribe_shared_free(e->shared);
	transcribe_file_free(e->files);
	free(e);
}

static int transcriber_alloc(void **out, const struct engine_conf *conf)
{
	struct transcribe_conf inner = {.env = conf->env,
					.dialect = conf->caps->dialect,
					.ws = conf->ws,
					.url = conf->socket_url,
					.model = conf->model,
					.language = conf->language,
					.key = conf->key,
					.http = conf->http,
					.base = conf->http_url,
					.base_key = conf->key,
					.h = tell_words};
	struct transcriber *e;
	int err;

	if (!conf->h || !conf->caps)
		return EINVAL;
	e = calloc(1, sizeof *e);
	if (!e)
		return ENOMEM;
	e->h = conf->h;
	e->arg = conf->arg;
	inner.arg = e;
	err = conf->transcription == ENGINE_TRANSCRIBE_SHARED
		      ? transcribe_shared_alloc(&e->shared, &inner)
	      : conf->transcription == ENGINE_TRANSCRIBE_FILES
		      ? transcribe_file_alloc(&e->files, &inner)
		      : transcribe_session_alloc(&e->each, &inner);
	if (err) {
		free(e);
		return err;
	}
	*out = e;
	return 0;
}

static int do_shared(struct transcribe_shared *s, const struct engine_sound *e)
{
	switch (e->type) {
	case ENGINE_SOUND_START:
		return transcribe_shared_start(s, e->user, e->utterance);
	case ENGINE_SOUND_APPEND:
		transcribe_shared_append(s, e->utterance, e->pcm.p, e->pcm.n);
		break;
	case ENGINE_SOUND_SPEECH:
		transcribe_shared_promoted(s, e->utterance);
		break;
	case ENGINE_SOUND_COMMIT:
		transcribe_shared_commit(s, e->user, e->utterance);
		break;
	case ENGINE_SOUND_INTERIM:
		transcribe_shared_interim(s, e->utterance);
		break;
	case ENGINE_SOUND_CANCEL:
		transcribe_shared_cancel(s, e->utterance);
		break;
	case ENGINE_SOUND_CLOSE:
		transcribe_shared_close(s, e->user);
		break;
	case ENGINE_SOUND_FILE:
		return ENOTSUP;
	}
	return 0;
}

static int do_each(struct transcribe_session *a, const struct engine_sound *e)
{
	switch (e->type) {
	case ENGINE_SOUND_START:
		return transcribe_session_start(a, e->user, e->utterance);
	case ENGINE_SOUND_APPEND:
		transcribe_session_append(a, e->user, e->utterance, e->pcm.p, e->pcm.n);
		break;
	case ENGINE_SOUND_SPEECH:
		break; /* of no matter */
	case ENGINE_SOUND_COMMIT:
		transcribe_session_commit(a, e->user, e->utterance);
		break;
	case ENGINE_SOUND_INTERIM:
		transcribe_session_interim(a, e->user, e->utterance);
		break;
	case ENGINE_SOUND_CANCEL:
		transcribe_session_cancel(a, e->user, e->utterance);
		break;
	case ENGINE_SOUND_CLOSE:
		transcribe_session_close(a, e->user);
		break;
	case ENGINE_SOUND_FILE:
		return ENOTSUP;
	}
	return 0;
}

static int do_files(struct transcribe_file *f, const struct engine_sound *e)
{
	switch (e->type) {
	case ENGINE_SOUND_START:
		return transcribe_file_start(f, e->user, e->utterance);
	case ENGINE_SOUND_APPEND:
		transcribe_file_append(f, e->user, e->utterance, e->pcm.p, e->pcm.n);
		break;
	case ENGINE_SOUND_FILE:
		return transcribe_file_run(f, e->user, e->utterance);
	case ENGINE_SOUND_CANCEL:
		transcribe_file_cancel(f, e->user, e->utterance);
		break;
	case ENGINE_SOUND_CLOSE:
		/* There is no session; whose words are awaited still gets them. */
		if (e->left)
			transcribe_file_close(f, e->user);
		break;
	case ENGINE_SOUND_SPEECH:
		break; /* of no matter */
	case ENGINE_SOUND_COMMIT:
	case ENGINE_SOUND_INTERIM:
		return ENOTSUP;
	}
	return 0;
}

static int transcriber_flush(void *engine, uint64_t *user, uint32_t *utterance)
{
	struct transcriber *e = engine;

	return e->files ? transcribe_file_send(e->files, user, utterance) : 0;
}

static int transcriber_sound(void *engine, const struct engine_sound *sound)
{
	struct transcriber *e = engine;

	if (e->files)
		return do_files(e->files, sound);
	return e->shared ? do_shared(e->shared, sound) : do_each(e->each, sound);
}

const struct engine_ops engine_transcriber = {.alloc = transcriber_alloc,
					      .free = transcriber_free,
					      .rekey = transcriber_rekey,
					      .sound = transcriber_sound,
					      .flush = transcriber_flush};
