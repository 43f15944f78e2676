/* Of whom a statement tells, by the names in it: two statements about one matter of two people are
 * no values of the same ("Lena's appointment is at nine", "Jonas has one at four"). Pure.
 *
 * A name counts as a person's only where people tell of somebody: as an owner ("Lena's", German
 * "Lenas Termin"), before a verb, or behind "for", "of" and the like. Elsewhere it is mostly the
 * value of which a statement tells ("we call it Lantern Creek"). Chinese, Japanese and Korean have
 * no such signs, and none of their names is seen.
 *
 * Texts are borrowed for the call. */
#ifndef CONTROL_MEMORY_WHOSE_H
#define CONTROL_MEMORY_WHOSE_H

#include <stdbool.h>

/* True if both tell of somebody, of whom the other one says nothing. What begins with "I" or "my"
 * tells of its author, and so does the author's display name. author: of both; "": not known. */
bool whose_differ(const char *older, const char *newer, const char *author);
/* True if the question names somebody of whom the text tells, or the text tells of its author and
 * the question names the author or says "my". author: the name; "": not known. */
bool whose_is_asked(const char *question, const char *text, const char *author);
/* True if the text, by another author, tells that this one takes over what the person with the
 * display name told in `older` ("Mira has no time, so I cut the trailer"): it says "I" otherwise
 * than in "I heard", names the person, and tells no words of `older` of that person ("Mira has a
 * blue bike"): of that people know best themselves. */
bool whose_takes_over(const char *text, const char *older, const char *name);

#endif
