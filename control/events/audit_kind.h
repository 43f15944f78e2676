/* The kinds of rows of the audit: audit_kinds.def. Pure. */
#ifndef CONTROL_EVENTS_AUDIT_KIND_H
#define CONTROL_EVENTS_AUDIT_KIND_H

#include "control/events/audit_kinds.def"

enum audit_kind {
#define X(NAME, kind, text) AUDIT_KIND_##NAME,
	AUDIT_KINDS(X)
#undef X
		AUDIT_KIND_COUNT
};

const char *audit_kind_name(enum audit_kind kind);
const char *audit_kind_text(enum audit_kind kind);

#endif
