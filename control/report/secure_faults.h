/* Finds the faults of a call's encryption that members are told about. No I/O. */
#ifndef CONTROL_REPORT_SECURE_FAULTS_H
#define CONTROL_REPORT_SECURE_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

struct faults;
struct media_call_secure;

/* Sets the faults of encryption from mediad's newest report, which is borrowed; NULL: there was
 * none. up: the voice session is up; others: somebody else is in the channel. Between two sessions
 * of the voice gateway there is no audio to decrypt or encrypt, so a reported fault stays open. */
void secure_see_faults(struct faults *f, const struct media_call_secure *m, bool up, bool others,
		       uint64_t now);

#endif
