#include "control/report/secure_faults.h"

#include "control/report/faults.h"
#include "proto/media.h"

static void see(struct faults *f, enum fault fault, bool observed, bool there, uint64_t now)
{
	enum fault_is is = there ? FAULT_IS_THERE : FAULT_IS_OVER;

	faults_set(f, fault, observed ? is : FAULT_IS_UNKNOWN, now);
}

void secure_see_faults(struct faults *f, const struct media_call_secure *m, bool up, bool others,
		       uint64_t now)
{
	bool known = m && m->known;

	see(f, FAULT_DEAF, known, known && m->undecryptable > 0, now);
	see(f, FAULT_KEYLESS, known, known && m->version && !m->ready && others, now);
	see(f, FAULT_UNDESCRIBED, known || (m && up), m && !known, now);
	see(f, FAULT_CLEAR, known, known && !m->version && m->ready, now);
}
