/* Lists of people in the gateway's messages. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/mediad/call/secure_rig.h"

/* A stage holds more than ten thousand. */
TEST(gateway_names_a_crowd)
{
	enum { CROWD = 12000 };
	char *text = malloc(CROWD * 16 + 64);
	size_t n = 0;

	CHECK(text != NULL);
	CHECK_INT(rig_start(true), 0);
	rig_join("s1", 0);
	n += (size_t)sprintf(text, "{\"op\":11,\"d\":{\"user_ids\":[");
	for (unsigned i = 0; i < CROWD; i++)
		n += (size_t)sprintf(text + n, "%s\"%u\"", i ? "," : "", 100000 + i);
	sprintf(text + n, "]}}");
	rig_text(text);
	free(text);
	CHECK(hear_find(rig.c, 100000) && hear_find(rig.c, 100000 + CROWD - 1));
	CHECK_INT(vgw_malformed(rig.c->gw), 0);
	rig_finish();
}
