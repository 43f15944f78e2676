#include "control/events/audit_kind.h"

static const struct {
	const char *name, *text;
} kinds[] = {
#define X(NAME, kind, text) {#kind, text},
	AUDIT_KINDS(X)
#undef X
};

const char *audit_kind_name(enum audit_kind kind)
{
	return kinds[kind].name;
}

const char *audit_kind_text(enum audit_kind kind)
{
	return kinds[kind].text;
}
