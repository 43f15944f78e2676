/* Presses and typing of users, as Discord's gateway sends them. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/discord/components.h"
#include "control/discord/interaction.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *d = json_loadb((const char *)data, size, 0, NULL);
	struct interaction i;
	struct typing t;
	struct press p;
	int err = press_parse(d, UINT64_C(1790000000000), &p);

	if (!err && (!*p.action || !p.user || !p.guild || strlen(p.value) > COMPONENT_VALUE))
		abort();
	if (typing_parse(d, &t) == 0 && (!t.command || !t.option || !t.text))
		abort();
	if (interaction_read(d, &i) && strpbrk(i.token, "/?#% "))
		abort();
	json_decref(d);
	return 0;
}
