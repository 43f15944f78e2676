/* Searches files for traces of an erased person. It knows nothing of the database's tables: a store
 * that forgets an eraser is found, too. */
#ifndef CONTROL_STORE_SCAN_H
#define CONTROL_STORE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCAN_NEEDLES = 32, SCAN_TEXT = 512 };

/* All zero at first. */
struct scan {
	unsigned n;
	struct scan_needle {
		size_t n;
		bool number; /* no digit may stand beside it */
		char bytes[SCAN_TEXT];
	} needle[SCAN_NEEDLES];
};

/* The encodings in which a file may hold the id: decimal and hexadecimal digits, and 8 bytes of
 * either order. Ids below 2^32, which Discord does not give, are searched as decimal digits only:
 * other bytes would match by chance. */
void scan_add_id(struct scan *s, uint64_t user);
/* A text, as far as it fits: copied. Beyond SCAN_NEEDLES it is left out. */
void scan_add_text(struct scan *s, const char *text);
/* Whether the text has any of them. */
bool scan_holds(const struct scan *s, const char *text);
/* Reads up to n bytes; *got 0: the end. */
typedef int(scan_read_h)(void *buf, size_t n, size_t *got, void *arg);
/* Adds to *hits how many occurrences the bytes have. Errors of h, ENOMEM. */
int scan_bytes(const struct scan *s, scan_read_h *h, void *arg, uint64_t *hits);
/* Adds to *hits how many occurrences the file has; a file that is not there has none. Errors of
 * open and read, ENOMEM. */
int scan_file(const struct scan *s, const char *path, uint64_t *hits);

#endif
