#include "proto/base/strv.h"

#include <stdlib.h>
#include <string.h>

char **strv_copy(const char *const *list)
{
	size_t n = 0;
	char **copy;

	while (list && list[n])
		n++;
	copy = calloc(n + 1, sizeof *copy);
	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = strdup(list[i]);
		if (!copy[i])
			return strv_free(copy);
	}
	return copy;
}

char **strv_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++) {
		explicit_bzero(list[i], strlen(list[i]));
		free(list[i]);
	}
	free(list);
	return NULL;
}
