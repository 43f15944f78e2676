/* Settings as JSON for people and pages: values, who serves what, the schema, what a change will
 * do.
 *
 * Pure. No secret is in any of it, only whether one is set. Each result belongs to the caller; NULL
 * without memory. */
#ifndef CONTROL_SETTINGS_VIEW_H
#define CONTROL_SETTINGS_VIEW_H

#include "control/settings/settings.h"

struct json_t;

/* {silence_ms: 700, ..., discord_token: {set: true}, providers: [...], roles: {...}, ...} */
struct json_t *settings_values_json(const struct settings *s);
/* The same for those who may not change them: each text is {set: true or false}, and records lack
 * their commands, variables, files and addresses. */
struct json_t *settings_public_json(const struct settings *s);
/* {roles: {voice: [{provider, dialect, model, url}]}, purposes: {...}}: what was resolved; model is
 * null where there is none to choose. */
struct json_t *settings_bindings_json(const struct settings *s);
/* {settings: [{name, kind, group, level, effect, perServer, default, min, max, unit, words, text}],
 * records:
 * [...], presets: [...]} */
struct json_t *settings_schema_json(void);
/* [{key, outcome}] of what is another in `is` than in `was`; outcome: applied, next_call or
 * after_restart. sent: as for settings_when_of. */
struct json_t *settings_outcomes_json(const struct settings *was, const struct settings *is,
				      uint32_t sent);
/* One such. */
struct json_t *settings_outcome_json(const char *key, enum settings_when when);

#endif
