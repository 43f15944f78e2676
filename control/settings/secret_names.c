#include "control/settings/secret_names.h"

#include <stddef.h>

#include "control/settings/settings.def"

const char *const secret_names[] = {
#define NONE(...)
#define K(name, env, ...) #env, #env "_FILE",
	SETTINGS(NONE, NONE, NONE, NONE, NONE, K)
#undef NONE
#undef K
		NULL};
