#include "control/mcp/tool_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t hash(uint32_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 16777619u; /* FNV-1a */
	return h;
}

/* Returns whether it is the character itself. */
static bool put(char *to, char c)
{
	bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
	bool capital = c >= 'A' && c <= 'Z';

	*to = (char)(letter ? c : capital ? c + 32 : '_');
	return letter;
}

void tool_name_make(char *to, size_t size, const char *server, const char *tool)
{
	const char *const parts[] = {server, "__", tool};
	uint32_t h = hash(hash(hash(2166136261u, server), "\n"), tool);
	size_t end = strlen(server);
	/* The two underscores in the middle part the names only if there are no others. */
	bool parted = !strstr(server, "__") && !strstr(tool, "__") && *tool != '_' &&
		      !(end && server[end - 1] == '_');
	bool digit = *server >= '0' && *server <= '9', same = !digit && parted;
	size_t n = 0;

	if (digit)
		to[n++] = '_';
	for (unsigned i = 0; i < 3; i++)
		for (const char *p = parts[i]; *p; p++)
			if (n < TOOL_NAME_KEPT)
				same = put(&to[n++], *p) && same;
			else
				same = false;
	to[n] = '\0';
	if (!same)
		snprintf(to + n, size - n, "_%08x", h);
}
