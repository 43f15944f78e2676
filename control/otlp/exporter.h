/* Exports metrics and traces by OTLP over HTTP (JSON encoding) to the collector that otlp_endpoint
 * names; off without it.
 *
 * A worker thread sends; the loop hands over whole requests and waits for nothing. What a slow or
 * dead collector leaves over is shed and counted: at most OTLP_REQUESTS requests wait, and
 * OTLP_SPANS spans between two of them. Answers 429, 502, 503 and 504 are tried again; nothing of
 * it is an input of the loop, and on replay nothing is sent. */
#ifndef CONTROL_OTLP_EXPORTER_H
#define CONTROL_OTLP_EXPORTER_H

#include <stdint.h>

struct bus;
struct env;
struct otlp_exporter;
struct settings;

enum { OTLP_REQUESTS = 8, OTLP_SPANS = 512, OTLP_TRIES = 3 };

struct otlp_exporter_conf {
	struct env *env;
	struct bus *bus;
	const struct settings *settings; /* borrowed, read at each export */
	const char *ca_file;		 /* a further authority, or NULL; copied */
	uint64_t started_ms;		 /* since 1970 */
	char *(*metricsh)(void *arg);	 /* ExportMetricsServiceRequest; taken over */
	void *arg;
};

/* EINVAL: otlp_endpoint is no address of http or https; ENOMEM, ENOSPC, errors of worker_alloc. The
 * caller owns *out and frees it before bus and env. */
int otlp_exporter_alloc(struct otlp_exporter **out, const struct otlp_exporter_conf *conf);
/* Hands over what there is, and does not wait for it. NULL accepted. */
struct otlp_exporter *otlp_exporter_free(struct otlp_exporter *e);

#endif
