/* How many rows of the audit were handed over to be written, ever, in the file audit-waiting of the
 * state directory. The database has how many of them it wrote: the difference is what a control
 * that was killed, or that ended while the disk was full, took with it, and the next one tells it
 * as lost. The file is made once with room on the disk, and changed in place, by a thread of its
 * own: a disk that stalls holds up no caller. What a kill in the moment between a call and that
 * thread takes is not counted. Any thread. */
#ifndef CONTROL_STORE_AUDIT_WAITING_H
#define CONTROL_STORE_AUDIT_WAITING_H

#include <stdint.h>

struct audit_waiting;

/* before: the number in the file. Errors of open, posix_fallocate and pthread_create; ENOMEM.
 * Caller owns *out. */
int audit_waiting_open(struct audit_waiting **out, const char *dir, uint64_t *before);
/* The last number is in the file afterwards, unless the disk takes none. */
struct audit_waiting *audit_waiting_close(struct audit_waiting *w);
/* So many more were handed over. NULL: nobody counts. */
void audit_waiting_add(struct audit_waiting *w, uint64_t n);

#endif
