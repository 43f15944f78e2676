/* What people showed, as it stands before a question to a model: the visual context. Each thing is
 * an image that goes with it, or what another model said of the image, or the text of a file, or
 * why it cannot be shown; with its age, so that nobody takes an old picture for the present one.
 * Pure. */
#ifndef CONTROL_ATTACHMENTS_SEEN_H
#define CONTROL_ATTACHMENTS_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/tools/untrusted.h"

enum {
	SEEN_MAX = 12,
	SEEN_STALE_S = 30, /* a screen of which nothing newer came for so long is stale */
};

enum seen_kind {
	SEEN_IMAGE,	/* goes with the question: the next one in order */
	SEEN_DESCRIBED, /* text: what the role see said */
	SEEN_FILE,	/* text: of the file */
	SEEN_NOTES,	/* text: notes of a screen that is shared */
	SEEN_NOT,	/* text: why not, a clause */
};

struct seen {
	enum seen_kind kind;
	bool screen;	  /* of a screen that is shared; else attached to a message */
	bool cut;	  /* there is more text */
	const char *name; /* of the file; of a screen: may be "" */
	const char *by;	  /* who showed it; "": not known */
	uint64_t age_s;
	const char *text;
};

/* The slice, with text of strangers in fences of this mark. NULL: nothing was shown, or without
 * memory. The caller frees it. */
char *seen_text(const struct seen *v, size_t n, const uint8_t mark[UNTRUSTED_MARK]);

#endif
