/* Buttons, selects and autocomplete of slash commands: parsing what users do and answering it.
 *
 * The custom_id of a component names its action, the user who may use it and the time at which it
 * was made: "parley:ACTION:USER:SECONDS". Discord sends it back with the id of the user who
 * pressed, so a press of somebody else is refused, in an ephemeral answer. So is a press later than
 * 15 minutes: the message may tell what is no longer so. A shared button,
 * "parley:ACTION:*:SUBJECT", is for everyone in the channel at any time; its subject names the
 * thing that the press is about, so that a late press cannot reach another thing. Nothing is kept
 * between making and pressing.
 *
 * Each press is answered once: press_update replaces the message, press_accept leaves it to its
 * owner to edit it, press_refuse answers in a new ephemeral message, and so do press_defer and then
 * press_finish. A press in flight does not survive a restart; Discord tells the user that it
 * failed.
 *
 * Typing is answered by components_suggest, with an empty list when no answer came within
 * COMPONENT_TYPING_MS: Discord takes none after three seconds. */
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
	COMPONENT_SUBJECT = 48,
	COMPONENTS_OPEN_MAX = 64,   /* presses that wait for Discord or for their answer */
	COMPONENTS_TYPING_MAX = 64, /* users who wait for suggestions */
	COMPONENT_TYPING_MS = 2000,
};
enum component_style { COMPONENT_PLAIN = 2, COMPONENT_DANGER = 4 };

struct press {
	uint64_t guild, user, channel, message; /* message: that the component belongs to */
	const json_t *member; /* the user with their roles; borrowed, for the press handler only */
	char subject[COMPONENT_SUBJECT];			   /* of a shared button, else "" */
	char action[COMPONENT_ACTION], value[COMPONENT_VALUE + 1]; /* value: of a select, else "" */
	char locale[INTERACTION_LOCALE]; /* of the user's client ("de", "pt-BR"), "" if not told */
};
/* A user types an option of a command. Borrowed from the interaction. */
struct typing {
	uint64_t guild, user;
	uint64_t in; /* the channel where they type; 0: not told */
	const json_t *member;
	const char *command, *subcommand, *option, *text; /* subcommand: "" for none */
	const char *locale;				  /* of their client, "" if not told */
	const char *named; /* what their option `name` holds by now, NULL for nothing */
};

/* The holder answers it; p is valid until its answer. */
typedef void(press_h)(struct press *p, void *arg);
/* To be answered by components_suggest with this id, at once or later. */
typedef void(typing_h)(const struct typing *t, uint32_t id, void *arg);

/* env and rest are borrowed. ENOMEM. Caller owns *out and frees it after rest. */
int components_alloc(struct components **out, struct env *env, struct rest *rest, press_h *h,
		     typing_h *typingh, void *arg);
struct components *components_free(struct components *c);
/* Takes an INTERACTION_CREATE of components and autocomplete. False: it is of another type. */
bool components_interaction(struct components *c, const json_t *d, uint64_t wall_ms);

/* choices: at most 25 [{"name", "value"}], stolen; NULL: none. An id that was answered already is
 * ignored. */
void components_suggest(struct components *c, uint32_t id, json_t *choices);

/* components: as component_row gives them; stolen; NULL removes those of the message. */
void press_update(struct press *p, const struct words *words, json_t *components);
/* Shows nothing new. */
void press_accept(struct press *p);
void press_refuse(struct press *p, const struct words *words);
void press_defer(struct press *p);
/* After press_defer. file may be NULL; both are copied. */
void press_finish(struct press *p, const struct words *words, const char *file_name,
		  const char *file);

/* For the user who may use it, made at this time. New references, NULL without memory. */
json_t *component_button(const char *action, uint64_t user, uint64_t wall_ms,
			 enum component_style style, const char *label);
/* subject: at most COMPONENT_SUBJECT - 1 letters, digits, '.' and '-'. */
json_t *component_shared_button(const char *action, const char *subject, enum component_style style,
				const char *label);
/* options: [{"label", "value", "default"}], stolen. */
json_t *component_select(const char *action, uint64_t user, uint64_t wall_ms, json_t *options);
/* [{"type": 1, "components": [...]}]: the components field of a message with one row of these. The
 * array is stolen. */
json_t *component_row(json_t *components);
/* Adds another row below. components is stolen. */
void component_add_row(json_t *rows, json_t *components);

/* For tests and fuzzing. ENOENT: no press of ours; EBADMSG: malformed; EPERM: somebody else's
 * component; ETIME: expired. */
int press_parse(const json_t *d, uint64_t wall_ms, struct press *out);
/* ENOENT, EBADMSG. */
int typing_parse(const json_t *d, struct typing *out);

#endif
