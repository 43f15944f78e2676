#include "proto/http/validators.h"

#include <string.h>
#include <strings.h>

static void keep(char to[VALIDATOR_MAX], const char *value)
{
	if (strlen(value) < VALIDATOR_MAX)
		strcpy(to, value);
}

void validators_note(struct validators *v, const char *name, const char *value)
{
	if (strcasecmp(name, "etag") == 0)
		keep(v->etag, value);
	else if (strcasecmp(name, "last-modified") == 0)
		keep(v->modified, value);
	else if (strcasecmp(name, "date") == 0)
		keep(v->date, value);
}

static bool has_date(const struct validators *v)
{
	return *v->modified && strcmp(v->modified, v->date) != 0;
}

bool validators_exist(const struct validators *v)
{
	return *v->etag || has_date(v);
}

bool validators_differ(const struct validators *a, const struct validators *b)
{
	bool etags = *a->etag && *b->etag, dates = has_date(a) && has_date(b);

	return (etags || dates) && !(etags && strcmp(a->etag, b->etag) == 0) &&
	       !(dates && strcmp(a->modified, b->modified) == 0);
}
