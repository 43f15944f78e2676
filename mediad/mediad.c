#include "mediad/mediad_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "mediad/dave/job.h"
#include "mediad/key_worker.h"
#include "proto/base/time.h"

enum { CLAIM_S = 2, STOP_S = 3, FLUSH_MS = 100 };
/* Who begins anew less often than this meets no supervisor's limit of starts: a decoderd that
 * always ends takes away the music alone. */
enum { AGAIN_S = 10 };

struct call *mediad_find_call(struct mediad *m, uint32_t id)
{
	for (unsigned i = 0; i < m->n_calls; i++)
		if (call_id(m->calls[i]) == id)
			return m->calls[i];
	return NULL;
}

void mediad_send(const struct media_msg *msg, uint32_t flow, void *arg)
{
	struct mediad *m = arg;

	if (m->link)
		link_send(m->link, msg, flow);
}

size_t mediad_queued(void *arg)
{
	struct mediad *m = arg;

	return m->link ? link_queued(m->link) : 0;
}

static void on_job_done(void *job, uint64_t owner, const uint8_t *answer, size_t len, void *arg)
{
	struct mediad *m = arg;

	(void)answer, (void)len;
	for (unsigned i = 0; i < m->n_calls; i++)
		if (call_job_done(m->calls[i], job, owner))
			return;
	dave_job_free(job);
}

/* The last call has left; its closing messages get a moment to be sent. */
static void stop_if_done(struct mediad *m)
{
	if (!m->stopping || m->n_calls || m->stopped)
		return;
	m->stopped = true;
	m->link = link_free(m->link);
	tmr_start(m->stop, FLUSH_MS * NS_PER_MS);
}

/* Music comes back with a new process alone. */
static void begin_anew_if_idle(void *arg)
{
	struct mediad *m = arg;
	uint64_t at = m->began_at + AGAIN_S * NS_PER_S, now = env_now(m->conf.env);

	if (!m->no_decoders || m->n_calls || m->stopping)
		return;
	if (now < at) {
		tmr_start(m->again, at - now);
		return;
	}
	log_warn("stopping", "hint=\"decoderd ended; both are to be started again\"");
	mediad_stop(m);
}

void mediad_on_call_gone(struct call *c, void *arg)
{
	struct mediad *m = arg;

	for (unsigned i = 0; i < m->n_calls; i++) {
		if (m->calls[i] != c)
			continue;
		m->calls[i] = m->calls[--m->n_calls];
		break;
	}
	call_free(c);
	begin_anew_if_idle(m);
	stop_if_done(m);
}

/* Audio threads cannot get real-time priority back, so this holds until the process ends. control
 * hears it once, however many threads follow. */
static void on_demoted(void *arg)
{
	struct mediad *m = arg;

	if (!m->demoted && m->link)
		link_fault(m->link, MEDIA_FAULT_NO_REAL_TIME);
	m->demoted = true;
}

static void on_decoders_lost(void *arg)
{
	struct mediad *m = arg;

	m->no_decoders = true;
	if (m->link)
		link_fault(m->link, MEDIA_FAULT_NO_DECODERS);
	begin_anew_if_idle(m);
}

static void tell_decoders(struct mediad *m)
{
	const struct media_msg msg = {
		.type = MEDIA_DECODERS,
		.decoders = {.running = decoders_are_running(m->decoders),
			     .folders = {m->folders, m->conf.n_music_roots * MEDIA_FOLDER_BYTES},
			     .tells_addresses = true,
			     .addresses = slice_str(
				     m->conf.music_addresses ? m->conf.music_addresses : "")}};

	if (!m->conf.tells_no_decoders)
		link_send(m->link, &msg, 0);
}

/* ---- control connects and is lost ---- */

static unsigned on_hello(void *arg)
{
	struct mediad *m = arg;

	tmr_stop(m->orphan);
	if (m->demoted)
		link_fault(m->link, MEDIA_FAULT_NO_REAL_TIME);
	if (m->no_decoders)
		link_fault(m->link, MEDIA_FAULT_NO_DECODERS);
	tell_decoders(m);
	for (unsigned i = 0; i < m->n_calls; i++)
		call_greet_control(m->calls[i]);
	tmr_start(m->claim, CLAIM_S * NS_PER_S);
	return m->n_calls;
}

static void on_drop(const struct media_heard *msg, void *arg)
{
	struct call *c = mediad_find_call(arg, msg->call);

	if (c)
		call_heard_dropped(c, msg);
}

static void on_lost(void *arg)
{
	struct mediad *m = arg;

	tmr_stop(m->claim);
	tmr_start(m->orphan, m->conf.orphan_s * NS_PER_S);
}

static void on_claim_over(void *arg)
{
	struct mediad *m = arg;

	for (unsigned i = 0; i < m->n_calls; i++)
		call_stop_unclaimed(m->calls[i]);
}

static void on_orphaned(void *arg)
{
	struct mediad *m = arg;

	if (m->n_calls)
		log_warn("orphaned", "calls=%u after_s=%u", m->n_calls, m->conf.orphan_s);
	for (unsigned i = 0; i < m->n_calls; i++)
		call_leave(m->calls[i]);
}

/* Leaves the calls first, then flushes the link. */
static void on_stop(void *arg)
{
	struct mediad *m = arg;

	if (!m->stopped)
		log_warn("stop_incomplete", "calls=%u", m->n_calls);
	m->conf.stoppedh(m->conf.arg);
}

/* ---- alloc, free, stop ---- */

static int start_decoders(struct mediad *m)
{
	const struct decoders_conf conf = {.env = m->conf.env,
					   .program = m->conf.decoderd,
					   .roots = m->conf.music_roots,
					   .n_roots = m->conf.n_music_roots,
					   .addresses = m->conf.music_addresses,
					   .log_level = m->conf.log_level,
					   .log_json = m->conf.log_json,
					   .losth = on_decoders_lost,
					   .arg = m};

	return conf.program ? decoders_alloc(&m->decoders, &conf) : 0;
}

/* Folders that come later are no others for decoderd, which has opened those of now. */
static void note_folders(struct mediad *m)
{
	for (unsigned i = 0; i < m->conf.n_music_roots; i++) {
		struct media_folder f = {0, 0};
		struct stat st;

		if (!env_replaying(m->conf.env) && stat(m->conf.music_roots[i], &st) == 0 &&
		    S_ISDIR(st.st_mode))
			f = (struct media_folder){st.st_dev, st.st_ino};
		f.device = (uint64_t)env_answer(m->conf.env, (int64_t)f.device);
		f.number = (uint64_t)env_answer(m->conf.env, (int64_t)f.number);
		media_folder_put(m->folders + i * MEDIA_FOLDER_BYTES, &f);
	}
}

int mediad_alloc(struct mediad **out, const struct mediad_conf *conf)
{
	struct mediad *m;
	struct link_conf link = {
		.env = conf->env,
		.path = conf->listen,
		.peer_uid = conf->peer_uid,
		.h = {on_hello, mediad_on_message, on_lost, on_drop, NULL},
	};
	struct engine_conf engine = {.env = conf->env,
				     .journal = conf->journal,
				     .threads = conf->threads,
				     .evh = call_engine_event,
				     .demotedh = on_demoted};
	int err;

	if (!out || !conf->env || !conf->listen || !conf->stoppedh ||
	    conf->n_music_roots > MEDIA_FOLDERS)
		return EINVAL;
	m = calloc(1, sizeof *m);
	if (!m)
		return ENOMEM;
	m->conf = *conf;
	m->began_at = env_now(conf->env);
	m->started_level = LOG_INFO_;
	log_level_parse(conf->log_level ? conf->log_level : "info", &m->started_level);
	link.h.arg = m;
	engine.arg = m;
	env_random(conf->env, &link.instance, sizeof link.instance);
	err = tmr_alloc(&m->claim, conf->env, on_claim_over, m);
	if (!err)
		err = tmr_alloc(&m->orphan, conf->env, on_orphaned, m);
	if (!err)
		err = tmr_alloc(&m->stop, conf->env, on_stop, m);
	if (!err)
		err = tmr_alloc(&m->again, conf->env, begin_anew_if_idle, m);
	if (!err)
		err = ws_ctx_alloc(&m->ws, conf->env, conf->ca_file);
	/* A fork takes every page that was touched, so the memory of audio threads comes after it.
	 */
	if (!err)
		err = start_decoders(m);
	if (!err)
		note_folders(m);
	if (!err)
		err = engine_alloc(&m->engine, &engine);
	if (!err)
		err = key_worker_alloc(&m->worker, conf->env, on_job_done, m);
	/* This comes last, because control can connect from here on. */
	if (!err)
		err = link_alloc(&m->link, &link);
	if (err)
		mediad_free(m);
	else
		*out = m;
	return err;
}

struct mediad *mediad_free(struct mediad *m)
{
	if (!m)
		return NULL;
	link_free(m->link);
	/* The engine is freed first, because streams that are still lent point to their calls. */
	engine_free(m->engine);
	worker_free(m->worker);
	while (m->n_calls)
		call_free(m->calls[--m->n_calls]);
	decoders_free(m->decoders);
	ws_ctx_free(m->ws);
	tmr_free(m->claim);
	tmr_free(m->orphan);
	tmr_free(m->stop);
	tmr_free(m->again);
	free(m);
	return NULL;
}

void mediad_stop(struct mediad *m)
{
	if (m->stopping)
		return;
	m->stopping = true;
	tmr_stop(m->orphan);
	tmr_stop(m->claim);
	tmr_start(m->stop, STOP_S * NS_PER_S);
	for (unsigned i = 0; i < m->n_calls; i++)
		call_leave(m->calls[i]);
	stop_if_done(m);
}

void mediad_stop_input(uint8_t kind, const uint8_t *data, size_t len, void *m)
{
	(void)kind, (void)data, (void)len;
	mediad_stop(m);
}

bool mediad_failed(const struct mediad *m)
{
	return m->stopped && m->no_decoders;
}

int mediad_directory(const struct mediad *m)
{
	return link_directory(m->link);
}

struct engine *mediad_engine(struct mediad *m)
{
	return m->engine;
}
