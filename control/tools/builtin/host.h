/* What the built-in tools need of the room that they work in, and where they give their outputs.
 * The room's agent fills it. */
#ifndef CONTROL_TOOLS_BUILTIN_HOST_H
#define CONTROL_TOOLS_BUILTIN_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "proto/base/cursor.h"

struct env;
struct http;
struct settings;

struct tool_host {
	struct env *env;
	struct http *http;
	const struct settings *settings;
	/* The one output of a call: JSON, or any text; with ok false why it failed. Copied. */
	void (*outputh)(uint32_t id, bool ok, struct slice text, void *arg);
	/* {"people":[…],"minutes":N}: the voice channel. The caller owns it; NULL without memory.
	 */
	json_t *(*statush)(void *arg);
	void *arg;
};

#endif
