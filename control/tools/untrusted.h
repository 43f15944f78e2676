/* Text of strangers (pages, search results, tools of others) on its way to a model: without
 * characters that nobody sees, and inside a fence that the text cannot close. Pure.
 *
 * The fence's mark is random and made anew for each turn. A fence only helps a model to see whose
 * words it reads; that nothing comes of them is the policy's work (control/tools/policy.h). */
#ifndef CONTROL_TOOLS_UNTRUSTED_H
#define CONTROL_TOOLS_UNTRUSTED_H

#include <stddef.h>
#include <stdint.h>

enum { UNTRUSTED_MARK = 8, UNTRUSTED_ORIGIN_MAX = 200 };

/* Removes, in place: bytes that are not UTF-8, control characters but tab and line feed, characters
 * of no width, marks of direction, tags and variation selectors beyond the basic plane. Returns the
 * new length. */
size_t untrusted_clean(char *text);
/* The same, and what breaks lines becomes a blank. */
size_t untrusted_clean_line(char *text);

/* Writes the text inside its fence:
 *
 *   <untrusted id="0011223344556677" origin="https://example.org/">
 *   …
 *   </untrusted id="0011223344556677">
 *
 * origin says where the text is from; it is cleaned and shortened. The text is cleaned. ENOMEM.
 * The caller frees *out. */
int untrusted_wrap(char **out, const uint8_t mark[UNTRUSTED_MARK], const char *origin,
		   const char *text);

#endif
