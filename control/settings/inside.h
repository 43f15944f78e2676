/* The rows of settings.def, for control/settings alone. */
#ifndef CONTROL_SETTINGS_INSIDE_H
#define CONTROL_SETTINGS_INSIDE_H

#include <stddef.h>
#include <stdint.h>

#include "control/settings/settings.h"

enum settings_kind {
	SETTINGS_NUMBER,
	SETTINGS_SWITCH,
	SETTINGS_WORD,
	SETTINGS_TEXT,
	SETTINGS_IDS,
	SETTINGS_SECRET
};

enum settings_group {
#define GROUP_(NAME, title) SETTINGS_GROUP_##NAME,
	SETTINGS_GROUPS(GROUP_)
#undef GROUP_
		SETTINGS_GROUP_COUNT
};
enum settings_level {
#define LEVEL_(NAME, title, text) SETTINGS_LEVEL_##NAME,
	SETTINGS_LEVELS(LEVEL_)
#undef LEVEL_
		SETTINGS_LEVEL_COUNT
};

struct settings_row {
	enum settings_kind kind;
	enum settings_group group;
	enum settings_level level;
	enum settings_when when;
	const char *name, *env;
	const char *path_name; /* a secret's file is named by this; NULL: no secret */
	size_t offset, bytes;  /* of the field; bytes of a text */
	size_t path_offset;
	uint32_t def, min, max; /* numbers */
	const char *text_def, *unit, *words, *text;
};

extern const struct settings_row settings_rows[];
extern const size_t settings_n_rows;

/* True if no server can have one of its own. */
bool settings_is_shared(const char *name);
/* True if the field holds text. */
bool settings_is_text(enum settings_kind kind);
/* The value as text; a secret's is "(secret)". */
void settings_print(const struct settings *s, const struct settings_row *r, char *buf, size_t size);
/* v is within the row's limits. */
void settings_put_number(struct settings *s, const struct settings_row *r, uint32_t v);
/* True if the row is a list of ids, a role of Discord or a list of addresses, and this text is
 * none. buf, of SETTINGS_FAULT_TEXT bytes, or NULL: as settings_say_fault. */
bool settings_text_fault(const struct settings_row *r, const char *text, char *buf, size_t size);
/* What it may be, as the rest of "it must be …". */
void settings_row_say(const struct settings_row *r, bool in_json, char *buf, size_t size);
/* Index of the n bytes at value in the row's words, or -1. */
int settings_word(const char *words, const char *value, size_t n);

#endif
