#include "ipc/json_wipe.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

TEST(json_wipe_leaves_nothing_of_a_block)
{
	char *p = malloc(40);
	bool clean = p != NULL;

	CHECK(p);
	strcpy(p, "a secret key in a message");
	json_wipe_block(p);
	for (unsigned i = 0; p && i < 40; i++)
		clean = clean && p[i] == 0;
	CHECK(clean);
	free(p);
	json_wipe_block(NULL);
}
