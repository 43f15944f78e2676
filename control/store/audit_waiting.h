/* How many rows of the audit are not written yet, in the file audit-waiting of the state directory:
 * what a control that was killed, or that ended while the disk was full, took with it is told by
 * the next one as lost. The file is made once with room on the disk, and changed in place. Any
 * thread. */
#ifndef CONTROL_STORE_AUDIT_WAITING_H
#define CONTROL_STORE_AUDIT_WAITING_H

struct audit_waiting;

/* before: how many the control before left. Errors of open and posix_fallocate; ENOMEM. Caller owns
 * *out. */
int audit_waiting_open(struct audit_waiting **out, const char *dir, unsigned long *before);
struct audit_waiting *audit_waiting_close(struct audit_waiting *w);
/* So many more wait, or less (below 0). NULL: nobody counts. */
void audit_waiting_add(struct audit_waiting *w, long n);

#endif
