/* Records of the settings (providers, MCP servers, prices): their structs, made from records.def,
 * and the parsing and printing of one record as JSON.
 *
 * Pure. Texts are inside the structs; nothing is borrowed. A record holds no secret but
 * provider_record.key and the values of an mcp_record and a worker_record, which are never parsed
 * and never printed: the caller reads them from the files that the record names.
 */
#ifndef CONTROL_SETTINGS_RECORD_H
#define CONTROL_SETTINGS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/settings/records.def"

enum {
	RECORD_NAME_MAX = 32,
	RECORD_PATH_MAX = 512,
	RECORD_KEY_MAX = 256,
	RECORD_VALUES_MAX = 5120,
	RECORD_JSON_MAX = 1 << 16,
	RECORD_FIELDS_MAX = 32, /* members of a record, or of the roles: more than there are */
};

#define RECORD_N_(name, text)		     char name[RECORD_NAME_MAX];
#define RECORD_T_(name, bytes, needed, text) char name[bytes];
#define RECORD_A_(name, bytes, text)	     char name[bytes];
#define RECORD_P_(name, text)		     char name[RECORD_PATH_MAX];
#define RECORD_W_(name, words, def, text)    uint32_t name;
#define RECORD_O_(name, bytes, text)	     char name[bytes];
#define RECORD_D_(name, must, text)	     uint64_t name;
#define RECORD_U_(name, max, def, text)	     uint32_t name;
#define RECORD_FIELDS_(TABLE)                                                                      \
	TABLE(RECORD_N_, RECORD_T_, RECORD_A_, RECORD_P_, RECORD_W_, RECORD_O_, RECORD_O_,         \
	      RECORD_D_, RECORD_U_)

/* In mcp_record.values. A blank is in no name of a header or variable. */
#define MCP_CLIENT_SECRET "client secret"
#define MCP_REFRESH_TOKEN "refresh token"

struct provider_record {
	RECORD_FIELDS_(PROVIDER_RECORD)
	char key[RECORD_KEY_MAX]; /* secret; "" for none */
};
/* The values of provider_record.images. */
enum provider_images_word { PROVIDER_IMAGES_AUTO, PROVIDER_IMAGES_OFF };
struct mcp_record {
	RECORD_FIELDS_(MCP_RECORD)
	/* Secret: a JSON object, the values of headers and secrets by their names, and those of
	 * MCP_CLIENT_SECRET and MCP_REFRESH_TOKEN; "" for none. */
	char values[RECORD_VALUES_MAX];
};
struct worker_record {
	RECORD_FIELDS_(WORKER_RECORD)	/* usd in millionths of a dollar */
	char values[RECORD_VALUES_MAX]; /* secret: those of `secrets`, as above */
};
/* The values of worker_record.kind. */
enum worker_kind_word { WORKER_ACP, WORKER_COMMAND, WORKER_MODEL };
struct price_record {
	RECORD_FIELDS_(PRICE_RECORD) /* usd in millionths of a dollar */
};
struct profile_record {
	RECORD_FIELDS_(PROFILE_RECORD)
};
#undef RECORD_N_
#undef RECORD_T_
#undef RECORD_A_
#undef RECORD_P_
#undef RECORD_W_
#undef RECORD_O_
#undef RECORD_D_
#undef RECORD_U_

enum dialect {
#define DIALECT_(NAME, name, url, roles, text) DIALECT_##NAME,
	SETTINGS_DIALECTS(DIALECT_)
#undef DIALECT_
		DIALECT_COUNT
};

/* The values of price_record.kind, in the order of PRICE_WORDS. */
enum price_kind {
	PRICE_TEXT_IN,
	PRICE_TEXT_CACHED,
	PRICE_TEXT_OUT,
	PRICE_AUDIO_IN,
	PRICE_AUDIO_CACHED,
	PRICE_AUDIO_OUT,
	PRICE_IMAGE_IN,
	PRICE_CHARACTERS,
	PRICE_SECONDS,
	PRICE_REQUESTS,
	PRICE_KINDS
};

enum record_field_kind {
	RECORD_NAME,
	RECORD_TEXT,
	RECORD_ADDRESS,
	RECORD_PATH,
	RECORD_WORD,
	RECORD_OBJECT,
	RECORD_LIST,
	RECORD_DOLLARS,
	RECORD_NUMBER,
};
struct record_field {
	enum record_field_kind kind;
	const char *name, *words, *text;
	size_t offset, bytes; /* bytes: of a text, with its NUL */
	uint32_t def, max;    /* def: of a word or number; max: of a number */
	bool needed;
};
struct record_kind {
	const char *name, *text; /* as the member of a settings file */
	const struct record_field *fields;
	size_t n_fields, size; /* size: of one record */
	unsigned most;
};

enum record_which {
#define RECORD_WHICH_(NAME, name, plural, most, TABLE, text) RECORD_KIND_##NAME,
	SETTINGS_RECORDS(RECORD_WHICH_)
#undef RECORD_WHICH_
		RECORD_KINDS
};
extern const struct record_kind record_kinds[RECORD_KINDS];

struct json_t;
/* One fault, as a clause for people that names the record and the field. */
typedef void(record_fault_h)(const char *text, void *arg);
/* The same with the number of the entry in its list, from 0; RECORD_WHOLE: the list itself. */
typedef void(record_entry_h)(unsigned entry, const char *text, void *arg);
#define RECORD_WHOLE (~0u)

/* An array of records into out (room for kind->most of them), each wiped first; records with a
 * fault are told and left out. Returns how many were taken; *faults counts the faults (may be
 * NULL). */
unsigned record_list_parse(const struct record_kind *kind, const struct json_t *list, void *out,
			   unsigned *faults, record_entry_h *h, void *arg);
/* The same as a JSON array without defaults and secrets; NULL without memory. Caller owns it. */
struct json_t *record_list_json(const struct record_kind *kind, const void *records, unsigned n);

#endif
