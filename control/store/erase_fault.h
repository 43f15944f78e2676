/* The file `erase.fault` of the state directory: a control whose database cannot be used tells
 * whoever waits for an erasure in another process. It holds an errno and a time, and nothing of
 * anybody; it goes when the database can be opened again. */
#ifndef CONTROL_STORE_ERASE_FAULT_H
#define CONTROL_STORE_ERASE_FAULT_H

#include <stdint.h>

/* err: of control/store/db.h. Where it cannot be written, nobody is told. */
void erase_fault_tell(const char *dir, int err);
void erase_fault_end(const char *dir);
/* What was told at from_ms (ms since 1970) or later; 0: nothing. */
int erase_fault_read(const char *dir, uint64_t from_ms);

#endif
