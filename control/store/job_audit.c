/* Rows of the audit that a control before was handed over and did not write (audit_waiting.h). */
#include "control/store/audit.h"
#include "control/store/audit_waiting.h"
#include "control/store/job_inside.h"

int job_compare_audit(struct job_runner *r)
{
	int err = 0;

	if (r->compared || !r->queue->waiting)
		return 0;
	err = audit_get_written(r->db, &r->audit_written);
	if (err)
		return err;
	r->compared = true;
	if (r->handed_over > r->audit_written)
		r->lost_audit += r->handed_over - r->audit_written;
	else
		audit_waiting_add(r->queue->waiting, r->audit_written - r->handed_over);
	return 0;
}

int job_count_audit(struct job_runner *r, unsigned long rows)
{
	return rows && r->compared ? audit_set_written(r->db, r->audit_written + rows) : 0;
}
