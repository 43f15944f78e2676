/* The metrics as OpenTelemetry's protocol has them (OTLP 1.x, ExportMetricsServiceRequest in its
 * JSON encoding: 64-bit integers are texts, enumerations numbers). Cumulative since the start of
 * the program. Names of the conventions for generative AI keep theirs, all others begin with
 * "parley.". Pure. */
#ifndef CONTROL_METRICS_OTLP_H
#define CONTROL_METRICS_OTLP_H

#include <stdint.h>

#include <jansson.h>

struct counters;
struct metrics;
struct metrics_now;

/* The resource of an export: service.name, service.version, service.instance.id. New reference. */
json_t *otlp_resource(uint64_t started_ms);
/* NULL without memory. The caller frees it. */
char *metrics_write_otlp(const struct metrics *m, const struct counters *c,
			 const struct metrics_now *now, uint64_t at_ms);

#endif
