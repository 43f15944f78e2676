/* A settings file (control/settings/file.h): whatever its text, reading it ends, every fault is one
 * plain line within the file, and the settings stay within the table's bounds; so a second reading
 * of what they are changes nothing. */
#include "control/settings/file.h"
#include "control/settings/members.h"
#include "control/settings/settings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	unsigned lines, faults;
};

static void on_fault(unsigned line, const char *text, void *arg)
{
	struct seen *s = arg;

	if (line < 1 || line > s->lines || !*text || strchr(text, '\n'))
		abort();
	s->faults++;
}

static void same(const char *name, const char *value, bool secret, void *arg)
{
	if (!secret && settings_set(arg, name, value))
		abort();
}

static void walk(const char *text, size_t size)
{
	struct members w;
	struct member m;

	members_begin(&w, text, size);
	while (members_next(&w, &m))
		if (m.key < text || m.key + m.key_len > text + size || m.value < m.key ||
		    m.value + m.value_len > text + size || members_entry_line(&m, 2) < m.line)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct seen seen = {.lines = 1};
	struct settings *s, *copy;

	if (settings_alloc(&s))
		return 0;
	if (settings_alloc(&copy)) {
		settings_free(s);
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		seen.lines += data[i] == '\n';
	walk(text, size);
	if (settings_file(s, text, size, on_fault, &seen) != seen.faults)
		abort();
	settings_each(s, same, copy);
	settings_free(s);
	settings_free(copy);
	return 0;
}
