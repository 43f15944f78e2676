/* A stand-in: a provider on this machine, for tests. One program, one provider, one port.
 *
 * A provider is a list of services, each of which knows one wire of providers' own documents. A
 * service answers from nothing but what its session, or its request, received (mind.h), follows the
 * script (script.h) and refuses what the provider refuses (shape.h). Everything that comes and goes
 * is recorded (record.h). */
#ifndef STANDINS_STANDIN_H
#define STANDINS_STANDIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct si_link;
struct si_prompts;
struct si_record;
struct si_script;

struct si_standin {
	struct event_base *base;
	struct si_script *script;
	struct si_record *record;
	const char *key;	/* that clients must show; NULL: any, or none */
	uint16_t offlined_port; /* of an offlined that hears and speaks real words; 0: tones */
	const struct si_prompts *prompts; /* sounds that it knows; NULL */
	uint32_t sounds;		  /* made so far; each has its own pitch */
};

/* A service of a provider. Both are called with a whole request. */
struct si_service {
	/* Answers a request; false: it is not for this service. NULL: it has no requests. */
	bool (*request)(struct si_link *l);
	/* Takes a WebSocket by si_link_take, or answers the request otherwise. False: as above. */
	bool (*open)(struct si_link *l);
};

struct si_provider {
	const char *name, *text;
	const struct si_service *const *services; /* ends with NULL */
};

extern const struct si_provider si_providers[]; /* ends with a name of NULL */

/* Memory, or the end of the program. */
void *si_alloc(size_t n);
char *si_copy(const char *text, size_t n);
/* CLOCK_MONOTONIC, ns. */
uint64_t si_now(void);

#endif
