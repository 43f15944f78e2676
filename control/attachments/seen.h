/* Attachments in a prompt, before the question. Each one is an image that goes with the question,
 * or another model's description of the image, or the text of a file, or the reason why it cannot
 * be shown, with its age. Pure. */
#ifndef CONTROL_ATTACHMENTS_SEEN_H
#define CONTROL_ATTACHMENTS_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/tools/untrusted.h"

enum { SEEN_MAX = 12 };

enum seen_kind {
	SEEN_IMAGE,	/* goes with the question: the next one in order */
	SEEN_DESCRIBED, /* text: what the role see said */
	SEEN_FILE,	/* text: of the file */
	SEEN_NOT,	/* text: why not, a clause */
};

struct seen {
	enum seen_kind kind;
	bool cut;	  /* there is more text */
	const char *name; /* of the file */
	const char *by;	  /* who attached it; "": not known */
	uint64_t age_s;
	const char *text;
};

/* Returns the section, with text of strangers in fences of this mark. NULL: nothing was shown, or
 * without memory. The caller frees it. */
char *seen_text(const struct seen *v, size_t n, const uint8_t mark[UNTRUSTED_MARK]);

#endif
