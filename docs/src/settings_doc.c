/* Prints docs/settings.md from control/settings/settings.def. */
#include "control/settings/settings.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	char *page;

	if (settings_doc(&page))
		return 1;
	fputs(page, stdout);
	free(page);
	return 0;
}
