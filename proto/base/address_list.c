#include "proto/base/address_list.h"

#include "proto/base/numeric_address.h"

#include <stdlib.h>
#include <string.h>

static const char separators[] = ", ";

bool address_entry_read(struct address_entry *out, const char *text, size_t n)
{
	char copy[80], *host = copy, *colon, *end;
	unsigned long port;

	if (n >= sizeof copy)
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	colon = strrchr(copy, ':');
	if (!colon || colon[1] < '0' || colon[1] > '9')
		return false;
	port = strtoul(colon + 1, &end, 10);
	*colon = '\0';
	if (*host == '[') {
		if (colon[-1] != ']')
			return false;
		colon[-1] = '\0';
		host++;
	}
	if (*end || !port || port >= 65536)
		return false;
	out->len = (socklen_t)numeric_address(&out->sa, host, (uint16_t)port);
	return out->len > 0;
}

const char *address_list_next(const char **list, size_t *n)
{
	const char *entry = *list + strspn(*list, separators);

	*n = strcspn(entry, separators);
	*list = entry + *n;
	return *n ? entry : NULL;
}

const char *address_list_fault(const char *list, size_t *n)
{
	struct address_entry e;
	unsigned count = 0;
	const char *entry;

	while ((entry = address_list_next(&list, n)))
		if (++count > ADDRESS_LIST_ENTRIES || !address_entry_read(&e, entry, *n))
			return entry;
	return NULL;
}
