/* The files that are attached to a written message, as Discord describes them (Discord
 * documentation, "Attachment Object"). Pure: bytes from outside, so every field is checked and
 * every text has a cap. */
#ifndef CONTROL_TEXT_ATTACHED_H
#define CONTROL_TEXT_ATTACHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

enum {
	ATTACHED_FILES = 10, /* Discord takes no more in one message */
	ATTACHED_NAME = 64,
	ATTACHED_TYPE = 64,
	ATTACHED_URL = 1024,
	ATTACHED_LINE = ATTACHED_NAME + ATTACHED_TYPE + 48,
};

enum attached_kind {
	ATTACHED_OTHER, /* known by name, type and size alone */
	ATTACHED_IMAGE, /* PNG, JPEG or WebP */
	ATTACHED_TEXT,
};

struct attached {
	enum attached_kind kind;
	uint64_t id, size; /* size: bytes, as Discord tells them */
	char name[ATTACHED_NAME];
	char type[ATTACHED_TYPE]; /* its media type without parameters; "": not told */
	char url[ATTACHED_URL];	  /* "": none that fits */
};

struct attached_list {
	unsigned n;
	struct attached v[ATTACHED_FILES];
};

/* attachments: the array of a message object, or NULL. Entries without an id or a name are left
 * out. */
void attached_read(struct attached_list *out, const json_t *attachments);
/* The image type that a name with this ending usually has; OTHER: none that models are shown. */
enum attached_kind attached_kind_of(const char *type, const char *name);
/* A text as lines in brackets have it: without line breaks, and without brackets. */
void attached_copy_plain(char *to, size_t size, const char *text);
/* "[attached: cat.png, image/png, 34 kB]". Always terminated; its length. */
size_t attached_line(const struct attached *a, char buf[ATTACHED_LINE]);
/* True if the file may be fetched from there: from Discord's own hosts for attachments by HTTPS, or
 * from where another Discord (api, its base address) is. */
bool attached_url_fits(const char *url, const char *api);
/* The origin of an address, "http://127.0.0.1:8080", and *host: where its host begins. 0: it is no
 * address of http or https. */
size_t attached_origin(const char *url, size_t *host);

#endif
