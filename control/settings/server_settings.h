/* What members who manage a Discord server may change: the settings of server_settings.def, one at
 * a time, for their own server alone. An intent (document.h) is never taken whole from them.
 *
 * Pure. */
#ifndef CONTROL_SETTINGS_SERVER_SETTINGS_H
#define CONTROL_SETTINGS_SERVER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct document;
struct settings;

enum { SERVER_VALUE_MAX = 512 /* of a value as text */ };

bool server_settings_has(const char *name);
/* The row of settings_schema_json: {name, kind, default, effect, text, words, min, max}. NULL: it
 * is not one of them. The caller owns it. */
json_t *server_settings_row(const char *name);
/* Rows whose names or texts have all words of `typed`, in any case, those whose names begin with it
 * first; at most `most`. The caller owns the list; NULL without memory. */
json_t *server_settings_search(const char *typed, size_t most);
/* Values of the row that begin with `typed`: the words of a word, on and off of a switch. */
json_t *server_settings_values(const json_t *row, const char *typed);

/* The value as text: "on", "700", "quiet", "". Always terminated. */
void server_settings_show(const json_t *value, char to[SERVER_VALUE_MAX]);
/* The value of the setting in these. New reference; NULL: there is no such setting. */
json_t *server_settings_value(const struct settings *s, const char *name);
/* Reads a value as text for the row: NULL, it is none of its kind. What a text or number may be the
 * document says. */
json_t *server_settings_read(const json_t *row, const char *text);

/* The intent of the document with the server's setting as `value`, NULL: as for everybody. New
 * reference; NULL without memory. */
json_t *server_settings_intent(const struct document *d, uint64_t guild, const char *name,
			       const json_t *value);
/* The intent with all that version `version` changed in this server's settings as it was before.
 * What was changed again since stays. *changed: the number of settings. NULL: the version before is
 * not kept. */
json_t *server_settings_undo(const struct document *d, uint64_t guild, uint64_t version,
			     unsigned *changed);

#endif
