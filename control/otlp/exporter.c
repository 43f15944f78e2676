#include "control/otlp/exporter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <curl/curl.h>
#include <jansson.h>

#include "control/events/events.h"
#include "control/metrics/otlp.h"
#include "control/otlp/trace.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/worker.h"
#include "proto/base/time.h"

enum {
	URL_MAX = 320,
	SEND_MS = 10000,
	CONNECT_MS = 3000,
	SLICE_MS = 100,
	WAIT_MAX_MS = 5000,
	END_MS = 500,
	FLUSH_SPANS = 64, /* a request goes out when so many wait */
};

struct job {
	char url[URL_MAX];
	char *body, *token;
};

/* The worker's own; it outlives the exporter. */
struct sender {
	_Atomic int64_t stop_ns; /* when the program began to end; 0: it does not */
	char *ca_file;
	CURL *curl;
	unsigned long failed; /* in a row */
};

struct otlp_exporter {
	struct otlp_exporter_conf conf;
	struct worker *worker;
	struct sender *sender;
	struct tmr *timer;
	struct otlp_speech speech;
	json_t *spans;
	unsigned long shed; /* requests and spans */
};

/* ---- on the worker ---- */

static size_t drop_answer(char *data, size_t size, size_t n, void *arg)
{
	(void)data, (void)arg;
	return size * n;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* False: the program ends. */
static bool wait_ms(struct sender *s, long ms)
{
	const struct timespec slice = {.tv_nsec = SLICE_MS * 1000000L};

	for (; ms > 0 && !atomic_load(&s->stop_ns); ms -= SLICE_MS)
		nanosleep(&slice, NULL);
	return !atomic_load(&s->stop_ns);
}

/* A program that ends leaves what is under way this long. */
static int check_end(void *sender, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	int64_t stop = atomic_load(&((struct sender *)sender)->stop_ns);

	(void)a, (void)b, (void)c, (void)d;
	return stop && now_ns() - stop > END_MS * INT64_C(1000000);
}

/* The status, or 0 when nothing answered. */
static long send_once(struct sender *s, const struct job *j, long *again_ms)
{
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	curl_off_t seconds = 0;
	char field[320];
	long status = 0;

	if (*j->token) {
		snprintf(field, sizeof field, "Authorization: Bearer %s", j->token);
		headers = curl_slist_append(headers, field);
		explicit_bzero(field, sizeof field);
	}
	curl_easy_reset(s->curl);
	curl_easy_setopt(s->curl, CURLOPT_URL, j->url);
	/* A proxy of the environment would read what goes without TLS. */
	if (strncmp(j->url, "http://", 7) == 0)
		curl_easy_setopt(s->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(s->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(s->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(s->curl, CURLOPT_POSTFIELDS, j->body);
	curl_easy_setopt(s->curl, CURLOPT_WRITEFUNCTION, drop_answer);
	curl_easy_setopt(s->curl, CURLOPT_XFERINFOFUNCTION, check_end);
	curl_easy_setopt(s->curl, CURLOPT_XFERINFODATA, s);
	curl_easy_setopt(s->curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(s->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(s->curl, CURLOPT_TIMEOUT_MS, (long)SEND_MS);
	curl_easy_setopt(s->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	if (s->ca_file)
		curl_easy_setopt(s->curl, CURLOPT_CAINFO, s->ca_file);
	if (curl_easy_perform(s->curl) == CURLE_OK) {
		curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
		curl_easy_getinfo(s->curl, CURLINFO_RETRY_AFTER, &seconds);
	}
	*again_ms = (long)seconds * 1000;
	curl_slist_free_all(headers);
	return status;
}

static bool may_try_again(long status)
{
	return status == 429 || (status >= 502 && status <= 504);
}

static void tell(struct sender *s, long status)
{
	bool well = status >= 200 && status < 300;

	if (!well && !s->failed++)
		log_warn("otlp_not_sent", "status=%ld", status);
	if (well && s->failed)
		log_info("otlp_sent_again", "lost=%lu", s->failed);
	if (well)
		s->failed = 0;
}

static void run_job(void *arg, struct worker_answer *answer, void *sender)
{
	struct sender *s = sender;
	const struct job *j = arg;
	long status = 0, wait;

	(void)answer;
	if (check_end(s, 0, 0, 0, 0))
		return;
	if (!s->curl)
		s->curl = curl_easy_init();
	for (unsigned i = 0; s->curl && i < OTLP_TRIES; i++) {
		status = send_once(s, j, &wait);
		if (!may_try_again(status))
			break;
		wait = wait ? wait : 1000L << i;
		if (!wait_ms(s, wait < WAIT_MAX_MS ? wait : WAIT_MAX_MS))
			break;
	}
	tell(s, status);
}

static void free_job(void *arg)
{
	struct job *j = arg;

	if (j->token)
		explicit_bzero(j->token, strlen(j->token));
	free(j->token);
	free(j->body);
	free(j);
}

static void end_sender(void *arg)
{
	struct sender *s = arg;

	if (s->curl)
		curl_easy_cleanup(s->curl);
	free(s->ca_file);
	free(s);
}

/* ---- on the loop ---- */

static void count_shed(struct otlp_exporter *e)
{
	if (!e->shed++)
		log_warn("otlp_shed", "hint=\"the collector is slower than the events\"");
}

/* Whoever is on the way would read the token. */
static bool may_send_token(const char *url)
{
	static const char *const own[] = {"http://127.0.0.1", "http://[::1]", "http://localhost"};

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
		size_t n = strlen(own[i]);

		if (strncmp(url, own[i], n) == 0 && strchr(":/", url[n]))
			return true;
	}
	return strncmp(url, "https://", 8) == 0;
}

/* Takes the body. */
static void post(struct otlp_exporter *e, const char *path, char *body)
{
	struct job *j = body && !env_replaying(e->conf.env) ? calloc(1, sizeof *j) : NULL;

	if (!j) {
		free(body);
		return;
	}
	snprintf(j->url, sizeof j->url, "%s%s", e->conf.settings->otlp_endpoint, path);
	j->body = body;
	j->token = strdup(may_send_token(j->url) ? e->conf.settings->otlp_token : "");
	if (j->token && !worker_post(e->worker, j))
		return;
	free_job(j);
	count_shed(e);
}

static void post_spans(struct otlp_exporter *e)
{
	json_t *root;

	if (!json_array_size(e->spans))
		return;
	root = json_pack("{s:[{s:o,s:[{s:{s:s,s:s},s:O}]}]}", "resourceSpans", "resource",
			 otlp_resource(e->conf.started_ms), "scopeSpans", "scope", "name", "parley",
			 "version", PARLEY_VERSION, "spans", e->spans);
	if (root)
		post(e, "/v1/traces", json_dumps(root, JSON_COMPACT));
	json_decref(root);
	json_array_clear(e->spans);
}

static void on_event(const struct bus_event *ev, void *arg)
{
	struct otlp_exporter *e = arg;

	if (!e->conf.settings->otlp_traces)
		return;
	if (json_array_size(e->spans) >= OTLP_SPANS)
		count_shed(e);
	else
		otlp_add_spans(e->spans, &e->speech, ev);
	if (json_array_size(e->spans) >= FLUSH_SPANS)
		post_spans(e);
}

static void arm(struct otlp_exporter *e)
{
	tmr_start(e->timer, e->conf.settings->otlp_seconds * NS_PER_S);
}

static void on_timer(void *arg)
{
	struct otlp_exporter *e = arg;

	post_spans(e);
	post(e, "/v1/metrics", e->conf.metricsh(e->conf.arg));
	arm(e);
}

static bool is_address(const char *url)
{
	size_t n = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;

	return n && url[n] && url[strlen(url) - 1] != '/' && !strpbrk(url, " ?#@");
}

static int start_worker(struct otlp_exporter *e, const char *ca_file)
{
	struct sender *s = calloc(1, sizeof *s);
	int err;

	if (!s)
		return ENOMEM;
	s->ca_file = ca_file ? strdup(ca_file) : NULL;
	err = ca_file && !s->ca_file ? ENOMEM
				     : worker_alloc(&e->worker, e->conf.env,
						    &(struct worker_conf){.name = "otlp",
									  .max = OTLP_REQUESTS,
									  .outside = true,
									  .runh = run_job,
									  .endh = end_sender,
									  .freeh = free_job,
									  .arg = s});
	if (err)
		end_sender(s);
	else
		e->sender = s;
	return err;
}

int otlp_exporter_alloc(struct otlp_exporter **out, const struct otlp_exporter_conf *conf)
{
	struct otlp_exporter *e;
	int err;

	if (!is_address(conf->settings->otlp_endpoint) ||
	    (*conf->settings->otlp_token && !may_send_token(conf->settings->otlp_endpoint)))
		return EINVAL;
	e = calloc(1, sizeof *e);
	if (!e)
		return ENOMEM;
	e->conf = *conf;
	e->spans = json_array();
	err = e->spans ? start_worker(e, conf->ca_file) : ENOMEM;
	if (!err)
		err = tmr_alloc(&e->timer, conf->env, on_timer, e);
	if (!err)
		err = bus_subscribe(conf->bus,
				    BUS_MASK(EVENT_TURN) | BUS_MASK(EVENT_UTTERANCE) |
					    BUS_MASK(EVENT_TOOL_CALLED) |
					    BUS_MASK(EVENT_ENGINE_USED),
				    on_event, e);
	if (err) {
		otlp_exporter_free(e);
		return err;
	}
	arm(e);
	*out = e;
	return 0;
}

struct otlp_exporter *otlp_exporter_free(struct otlp_exporter *e)
{
	if (!e)
		return NULL;
	if (e->worker) {
		post_spans(e);
		/* Nobody waits for a collector. */
		atomic_store(&e->sender->stop_ns, now_ns());
		worker_release(e->worker);
	}
	tmr_free(e->timer);
	json_decref(e->spans);
	free(e);
	return NULL;
}
