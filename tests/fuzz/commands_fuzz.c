/* Commands and menus that users use, as Discord's gateway sends them: what is read keeps the caps
 * of the table, and what is kept for the next control reads the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/discord/command_table.h"
#include "control/settings/server_settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_texts(const struct command *cmd)
{
	static const char *const names[] = {"text",  "fact",   "question", "url",   "name",
					    "value", "worker", "task",	   "words", "answer"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *text = command_text(cmd, names[i]);

		if (text && strlen(text) > (size_t)COMMAND_URL_CHARACTERS * 4)
			abort();
	}
	if (command_number(cmd, "number") > COMMAND_NUMBER_MOST)
		abort();
	command_channel(cmd, "channel");
	command_flag(cmd, "private");
}

/* A value that the row takes is one that can be shown again. */
static void check_setting(const struct command *cmd)
{
	const char *name = command_text(cmd, "name"), *value = command_text(cmd, "value");
	json_t *row = name ? server_settings_row(name) : NULL;
	json_t *read = row && value ? server_settings_read(row, value) : NULL;
	char shown[SERVER_VALUE_MAX];

	if (row && !server_settings_has(name))
		abort();
	server_settings_show(read, shown);
	json_decref(read);
	json_decref(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *d = json_loadb((const char *)data, size, 0, NULL), *kept;
	struct command cmd, again;

	if (command_parse(d, &cmd) == 0) {
		if (!cmd.guild || !cmd.user || cmd.kind >= COMMAND_COUNT)
			abort();
		check_texts(&cmd);
		if (cmd.kind == COMMAND_SETTINGS)
			check_setting(&cmd);
		kept = command_extract(d);
		/* Without the id, the application or the token nothing can be answered. */
		if (kept && (command_parse(kept, &again) || again.kind != cmd.kind ||
			     again.user != cmd.user || again.target != cmd.target ||
			     command_is_private(&again) != command_is_private(&cmd)))
			abort();
		json_decref(kept);
	}
	json_decref(d);
	return 0;
}
