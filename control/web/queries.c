#include "control/web/queries.h"

#include <string.h>

#include "control/events/action_kinds.def"
#include "control/events/message_actions.def"
#include "control/web/queries.def"

enum form { TEXT, NUMBER, KINDS, REASON };
enum { NAME_SIZE = 32, VALUE_SIZE = 512 };

static const struct {
	const char *name;
	enum form form;
} queries[] = {
#define QUERY_(n, f) {#n, f},
	WEB_QUERIES(QUERY_)
#undef QUERY_
};

static const char *const kinds[] = {
#define KIND_(kind)		    #kind,
#define MESSAGE_KIND_(reason, kind) #kind,
	ACTION_KINDS(KIND_) MESSAGE_ACTIONS(MESSAGE_KIND_) SEEDS_ACTION_KINDS(KIND_)
#undef KIND_
#undef MESSAGE_KIND_
};

const char *query_name(const char *p, size_t *n)
{
	while ((p = strchr(p, '?'))) {
		*n = strspn(++p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
		if (*n)
			return p;
	}
	return NULL;
}

static bool is_name(const char *text, const char *name, size_t n)
{
	return strncmp(text, name, n) == 0 && !text[n];
}

bool query_is_number(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
		if (is_name(queries[i].name, name, n))
			return queries[i].form == NUMBER;
	return false;
}

static bool takes(const char *text, const char *name)
{
	size_t n = 0;
	const char *p = text;

	while ((p = query_name(p, &n))) {
		if (is_name(name, p, n))
			return true;
		p += n;
	}
	return false;
}

static bool is_kind(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (is_name(kinds[i], name, n))
			return true;
	return false;
}

static bool are_kinds(const char *list)
{
	size_t n = strcspn(list, ",");

	for (; is_kind(list, n); n = strcspn(list, ",")) {
		if (!list[n])
			return true;
		list += n + 1;
	}
	return false;
}

/* A value that does not fit here is none of a table. */
static enum query_fault check_value(const struct http_head *head, const char *name, enum form form,
				    const json_t *reasons)
{
	char value[VALUE_SIZE];

	if (form == TEXT || form == NUMBER)
		return QUERY_FINE;
	http_head_query(head, name, value, sizeof value);
	if (form == KINDS)
		return are_kinds(value) ? QUERY_FINE : QUERY_UNKNOWN_KIND;
	return json_object_get(reasons, value) ? QUERY_FINE : QUERY_UNKNOWN_REASON;
}

enum query_fault query_check(const struct http_head *head, const char *text, const json_t *reasons)
{
	enum query_fault fault = QUERY_FINE;
	char name[NAME_SIZE];
	size_t at = 0;

	while (!fault && http_head_next_query(head, &at, name, sizeof name)) {
		if (!takes(text, name))
			fault = QUERY_UNKNOWN_NAME;
		for (size_t i = 0; i < sizeof queries / sizeof queries[0] && !fault; i++)
			if (strcmp(queries[i].name, name) == 0)
				fault = check_value(head, name, queries[i].form, reasons);
	}
	return fault;
}
