/* Buttons, selects and autocomplete of slash commands: parsing what users do and answering it.
 *
 * The custom_id of a component names its action, the user who may use it and the time at which it
 * was made: "parley:ACTION:USER:SECONDS". Discord sends it back with the id of the user who
 * pressed, so a press of somebody else is refused, in an ephemeral answer. So is a press later than
 * 15 minutes: the message may tell what is no longer so. Nothing is kept between making and
 * pressing.
 *
 * Each press is answered once: press_update replaces the message, press_defer and then press_finish
 * answer in a new ephemeral message. A press in flight does not survive a restart; Discord tells
 * the user that it failed. */
#ifndef CONTROL_DISCORD_COMPONENTS_H
#define CONTROL_DISCORD_COMPONENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/discord/interaction.h"

struct components;
struct env;
struct rest;
struct words;

enum {
	COMPONENT_ACTION = 24,
	COMPONENT_VALUE = 100,
	COMPONENT_LIFE_S = 15 * 60,
	COMPONENTS_OPEN_MAX = 64, /* presses that wait for Discord or for their answer */
};
enum component_style { COMPONENT_PLAIN = 2, COMPONENT_DANGER = 4 };

struct press {
	uint64_t guild, user;
	char action[COMPONENT_ACTION], value[COMPONENT_VALUE + 1]; /* value: of a select, else "" */
	char locale[INTERACTION_LOCALE]; /* of the user's client ("de", "pt-BR"), "" if not told */
};
/* A user types an option of a command. Borrowed from the interaction. */
struct typing {
	uint64_t guild, user;
	const char *command, *option, *text;
};

/* The holder answers it; p is valid until its answer. */
typedef void(press_h)(struct press *p, void *arg);
/* The suggestions, at most 25, at once: [{"name", "value"}]. New reference, NULL for none. */
typedef json_t *(typing_h)(const struct typing *t, void *arg);

/* env and rest are borrowed. ENOMEM. Caller owns *out and frees it after rest. */
int components_alloc(struct components **out, struct env *env, struct rest *rest, press_h *h,
		     typing_h *typingh, void *arg);
struct components *components_free(struct components *c);
/* Takes an INTERACTION_CREATE of components and autocomplete. False: it is of another type. */
bool components_interaction(struct components *c, const json_t *d, uint64_t wall_ms);

/* components: as component_row gives them; stolen; NULL removes those of the message. */
void press_update(struct press *p, const struct words *words, json_t *components);
void press_defer(struct press *p);
/* After press_defer. file may be NULL; both are copied. */
void press_finish(struct press *p, const struct words *words, const char *file_name,
		  const char *file);

/* For the user who may use it, made at this time. New references, NULL without memory. */
json_t *component_button(const char *action, uint64_t user, uint64_t wall_ms,
			 enum component_style style, const char *label);
/* options: [{"label", "value", "default"}], stolen. */
json_t *component_select(const char *action, uint64_t user, uint64_t wall_ms, json_t *options);
/* [{"type": 1, "components": [...]}]: the components field of a message with one row of these. The
 * array is stolen. */
json_t *component_row(json_t *components);

/* For tests and fuzzing. ENOENT: no press of ours; EBADMSG: malformed; EPERM: somebody else's
 * component; ETIME: expired. */
int press_parse(const json_t *d, uint64_t wall_ms, struct press *out);
/* ENOENT, EBADMSG. */
int typing_parse(const json_t *d, struct typing *out);

#endif
