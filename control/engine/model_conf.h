/* Configuration of the parts of control that send kept words to a model beside the rooms:
 * extraction and embeddings. */
#ifndef CONTROL_ENGINE_MODEL_CONF_H
#define CONTROL_ENGINE_MODEL_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bus;
struct env;
struct http;
struct ledger;
struct settings;
struct store;
struct ws_ctx;

/* All is borrowed. */
struct model_conf {
	struct env *env;
	struct http *http;
	struct ws_ctx *ws;
	const struct settings *settings;
	struct store *store;
	struct ledger *ledger; /* NULL: nobody counts */
	struct bus *bus;       /* where costs are told */
	/* True if models may be told this person's words now. NULL: everybody's. */
	bool (*allowsh)(uint64_t guild, uint64_t user, void *arg);
	/* Writes the name of the server's time zone. NULL: all have the machine's. */
	void (*zoneh)(uint64_t guild, char *zone, size_t size, void *arg);
	void *arg;
};

#endif
