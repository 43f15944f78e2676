/* How each provider does since the start of the program: requests, failures and delays by role, for
 * the dashboard. A subscriber of the bus. Holds no words; what a provider says of a failure is its
 * own text, and is for operators. */
#ifndef CONTROL_WEB_LIVE_PROVIDERS_H
#define CONTROL_WEB_LIVE_PROVIDERS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct bus;
struct live_providers;

/* Beyond LIVE_PROVIDERS_MAX pairs of a provider and a role the one that was quiet for longest goes.
 */
enum { LIVE_PROVIDERS_MAX = 32, LIVE_PROVIDERS_DELAYS = 256 };

/* Subscribes; bus is borrowed. ENOMEM, ENOSPC. Caller owns *out and frees it when nobody publishes
 * any more. */
int live_providers_alloc(struct live_providers **out, struct bus *bus);
struct live_providers *live_providers_free(struct live_providers *p);
/* [{provider, role, up, requests, requestsLastHour, failures, failuresLastHour, delays: {count,
 * p50Ms, p95Ms}, lastFailureAt, lastFailure}] as of now_ms (since 1970). up: null before the first
 * report. delays: from the question to the first sound, of the last LIVE_PROVIDERS_DELAYS turns
 * that a voice or a text provider answered. lastFailure: null without `errors`. Caller owns it. */
json_t *live_providers_json(const struct live_providers *p, uint64_t now_ms, bool errors);

#endif
