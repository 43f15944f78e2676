/* What the receipt of an erasure says. receipt: the document of erase_person
 * (control/store/erase.h), borrowed. */
#ifndef CONTROL_STORE_RECEIPT_H
#define CONTROL_STORE_RECEIPT_H

#include <stdbool.h>
#include <stdint.h>

struct words;

/* Adds its sentence for the person or for an operator. EBADMSG: it is no receipt. */
int receipt_tell(struct words *w, const char *receipt);
/* How many traces the search found afterwards; 0 also if the receipt cannot be read. */
uint64_t receipt_traces(const char *receipt);
/* True if something of the person was there, or if the receipt cannot be read. Traces alone are
 * nothing of a person: the id of a channel leaves many. */
bool receipt_knew_person(const char *receipt);

#endif
