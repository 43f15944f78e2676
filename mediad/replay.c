#include "mediad/replay.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "ipc/env.h"
#include "ipc/journal.h"
#include "ipc/journal_play.h"
#include "mediad/engine/engine.h"
#include "mediad/mediad.h"
#include "proto/media_folder.h"

/* Nothing in a list of addresses has to be escaped in JSON. */
void mediad_meta(char *buf, size_t size, const struct mediad_conf *conf, bool whole)
{
	snprintf(buf, size,
		 "{\"program\":\"mediad\",\"version\":\"%s\",\"threads\":%u,\"orphan_s\":%u%s,"
		 "\"folders\":%u,\"addresses\":\"%s\"}",
		 PARLEY_VERSION, conf->threads, conf->orphan_s,
		 conf->decoderd ? ",\"music\":true" : "", conf->n_music_roots,
		 whole && conf->music_addresses ? conf->music_addresses : "");
}

/* addresses gets those of music; the conf borrows it. */
static int read_meta(const char *meta, struct mediad_conf *conf, char addresses[ADDRESS_LIST_BYTES])
{
	json_t *root = json_loads(meta, 0, NULL);
	const char *program = json_string_value(json_object_get(root, "program"));
	json_int_t threads = json_integer_value(json_object_get(root, "threads"));
	json_int_t orphan = json_integer_value(json_object_get(root, "orphan_s"));
	json_int_t folders = json_integer_value(json_object_get(root, "folders"));
	const char *listed = json_string_value(json_object_get(root, "addresses"));
	int err = EBADMSG;

	if (program && strcmp(program, "mediad") == 0 && threads >= 1 &&
	    threads <= ENGINE_THREADS && orphan >= 0 && orphan <= INT32_MAX && folders >= 0 &&
	    folders <= MEDIA_FOLDERS) {
		conf->threads = (unsigned)threads;
		conf->orphan_s = (uint32_t)orphan;
		/* The replay starts no program; it takes the same steps. */
		conf->decoderd = json_is_true(json_object_get(root, "music")) ? "decoderd" : NULL;
		conf->n_music_roots = (unsigned)folders; /* none of them is opened */
		conf->tells_no_decoders = !json_object_get(root, "folders");
		snprintf(addresses, ADDRESS_LIST_BYTES, "%s", listed ? listed : "");
		conf->music_addresses = addresses;
		err = 0;
	}
	json_decref(root);
	return err;
}

static void on_stopped(void *arg)
{
	(void)arg;
}

static int play_journal(struct journal_reader *r, struct mediad *m, struct env *loop,
			unsigned threads)
{
	struct env *envs[ENGINE_THREADS + 1] = {loop};
	int err = 0;

	for (unsigned i = 1; i <= threads && !err; i++) {
		envs[i] = engine_env(mediad_engine(m), i);
		err = journal_attach(r, envs[i], i);
	}
	return err ? err : journal_play(r, envs, threads + 1);
}

int mediad_replay(const char *path, const char *shapes)
{
	struct env_conf ec = {.thread = 0, .loop = true, .replaying = true};
	struct mediad_conf mc = {.listen = "", .peer_uid = (uid_t)-1, .stoppedh = on_stopped};
	struct journal_reader *r = NULL;
	struct mediad *m = NULL;
	struct env *env = NULL;
	char addresses[ADDRESS_LIST_BYTES], meta[MEDIAD_META_MAX];
	uint32_t stop;
	int err;

	err = journal_open(&r, path);
	if (!err)
		err = read_meta(journal_meta(r), &mc, addresses);
	if (!err)
		mediad_meta(meta, sizeof meta, &mc, false);
	if (!err && shapes)
		err = journal_create_shapes(&mc.journal, shapes, mc.threads + 1, meta);
	ec.journal = mc.journal;
	if (!err)
		err = env_alloc(&env, &ec);
	if (!err)
		err = journal_attach(r, env, 0);
	if (err)
		goto out;
	mc.env = env;
	err = mediad_alloc(&m, &mc);
	if (!err)
		err = env_source_add(env, &stop, mediad_stop_input, m);
	if (!err)
		err = play_journal(r, m, env, mc.threads);
out:
	mediad_free(m);
	env_free(env);
	journal_free(mc.journal);
	journal_close(r);
	return err;
}
