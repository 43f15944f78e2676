/* What is written and needs no answer: recordings, and the state that a restart needs (store.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/job.h"
#include "control/store/store_inside.h"

/* ---- recordings ---- */

int store_keep_recording(struct store *s, const struct store_recording *r)
{
	struct job j = {.kind = JOB_KEEP_RECORDING,
			.guild = r->guild,
			.owner = r->session,
			.user = r->user,
			.version = r->utterance,
			.now_ms = r->at_ms,
			.until_ms = r->ms,
			.sound_n = r->n};

	if (r->n > STORE_RECORDING_MAX)
		return EMSGSIZE;
	j.sound = malloc(r->n + 1);
	if (!j.sound)
		return ENOMEM;
	memcpy(j.sound, r->sound, r->n);
	return store_post(s, &j);
}

int store_drop_recordings(struct store *s, uint64_t guild, uint64_t user)
{
	return store_post(s,
			  &(struct job){.kind = JOB_DROP_RECORDINGS, .guild = guild, .user = user});
}

/* ---- what a restart needs ---- */

int store_save_web(struct store *s, const char *document)
{
	struct job j = {.kind = JOB_SAVE_WEB, .text = strdup(document)};

	return j.text ? store_post(s, &j) : ENOMEM;
}

static int save_guild(struct store *s, enum job_kind kind, uint64_t guild, const char *document)
{
	struct job j = {.kind = kind, .guild = guild};

	if (document)
		j.text = strdup(document);
	return document && !j.text ? ENOMEM : store_post(s, &j);
}

int store_save_guild(struct store *s, uint64_t guild, const char *document)
{
	return save_guild(s, JOB_SAVE_GUILD, guild, document);
}

int store_save_queue(struct store *s, uint64_t guild, const char *document)
{
	return save_guild(s, JOB_SAVE_QUEUE, guild, document);
}

int store_save_position(struct store *s, uint64_t guild, uint32_t track, uint64_t position)
{
	return store_post(s, &(struct job){.kind = JOB_SAVE_POSITION,
					   .guild = guild,
					   .owner = track,
					   .version = position});
}

int store_drop_guilds(struct store *s)
{
	return store_post(s, &(struct job){.kind = JOB_DROP_GUILDS});
}

int store_save_session(struct store *s, const char *text, const char *instead)
{
	struct job j = {.kind = JOB_SAVE_SESSION, .scope = strdup(instead), .text = strdup(text)};

	if (j.scope && j.text)
		return store_post(s, &j);
	free(j.scope);
	free(j.text);
	return ENOMEM;
}
