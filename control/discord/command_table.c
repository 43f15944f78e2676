#include "control/discord/command_table.h"

#include <errno.h>
#include <string.h>

#include "control/discord/command_words.h"
#include "control/discord/interaction.h"
#include "control/discord/music_commands.h"
#include "control/words/words.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

/* Discord's types of commands, of which an interaction tells one, too. */
enum type { SLASH = 1, USER, MESSAGE };
enum answer { PUBLIC, PRIVATE, CHOSEN };
enum when { DEFERRED, AT_ONCE, BARE };
enum place { SERVER, ANYWHERE };
enum kind { TEXT = 3, NUMBER = 4, FLAG = 5, VOICE_CHANNEL = 7 }; /* of options, by its numbers */

/* Where a command can be used: Discord's contexts. */
enum { CONTEXT_GUILD = 0, CONTEXT_BOT_DM = 1 };

static const struct row {
	const char *name;
	void (*describe)(struct words *w);
	enum type type;
	enum answer answer;
	enum when when;
	enum place place;
	const char *right;
} table[] = {
#define X(NAME, name, type, answer, when, place, right)                                            \
	{#name, words_command_##name, type, answer, when, place, right},
	COMMANDS(X)
#undef X
};

static const struct subcommand {
	enum command_kind of;
	const char *name;
	enum when when;
	void (*describe)(struct words *w);
} subcommands[] = {
#define X(OF, name, when, words) {COMMAND_##OF, #name, when, words_##words},
	COMMAND_SUBCOMMANDS(X)
#undef X
		{COMMAND_COUNT, NULL, DEFERRED, NULL},
};

static const struct option {
	enum command_kind of;
	const char *subcommand, *name;
	enum kind kind;
	bool required, suggests;
	unsigned most;
	void (*describe)(struct words *w);
} options[] = {
#define X(OF, subcommand, name, kind, required, suggests, most, words)                             \
	{COMMAND_##OF, subcommand, #name, kind, required, suggests, most, words_##words},
	COMMAND_OPTIONS(X)
#undef X
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

const char *command_name(enum command_kind kind)
{
	return table[kind].name;
}

/* ---- registration ---- */

static json_t *option_json(const struct option *o)
{
	json_t *j = json_pack("{s:s,s:i,s:b}", "name", o->name, "type", o->kind, "required",
			      o->required);

	command_rename(j, o->name);
	command_describe(j, o->describe);
	if (o->kind == VOICE_CHANNEL)
		json_object_set_new(
			j, "channel_types",
			json_pack("[i,i]", DISCORD_CHANNEL_VOICE, DISCORD_CHANNEL_STAGE));
	if (o->kind == TEXT && o->most)
		json_object_set_new(j, "max_length", json_integer(o->most));
	if (o->kind == NUMBER) {
		json_object_set_new(j, "min_value", json_integer(1));
		json_object_set_new(j, "max_value", json_integer(o->most));
	}
	if (o->suggests)
		json_object_set_new(j, "autocomplete", json_true());
	return j;
}

static json_t *options_json(enum command_kind kind, const char *subcommand)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < N_OPTIONS; i++)
		if (options[i].of == kind && strcmp(options[i].subcommand, subcommand) == 0)
			json_array_append_new(list, option_json(&options[i]));
	return list;
}

static json_t *subcommands_json(enum command_kind kind)
{
	json_t *list = json_array();

	for (const struct subcommand *s = subcommands; s->name; s++) {
		json_t *j;

		if (s->of != kind)
			continue;
		j = json_pack("{s:s,s:i,s:o}", "name", s->name, "type", INTERACTION_SUBCOMMAND,
			      "options", options_json(kind, s->name));
		command_rename(j, s->name);
		command_describe(j, s->describe);
		json_array_append_new(list, j);
	}
	return list;
}

static json_t *slash_json(enum command_kind kind)
{
	json_t *cmd = json_pack("{s:s}", "name", table[kind].name);
	json_t *list = kind == COMMAND_MUSIC ? music_command_options() : subcommands_json(kind);

	command_rename(cmd, table[kind].name);
	command_describe(cmd, table[kind].describe);
	if (!json_array_size(list)) {
		json_decref(list);
		list = options_json(kind, "");
	}
	if (json_array_size(list))
		json_object_set(cmd, "options", list);
	json_decref(list);
	return cmd;
}

static json_t *command_json(enum command_kind kind)
{
	json_t *cmd = table[kind].type == SLASH ? slash_json(kind) : json_object();

	if (table[kind].type != SLASH)
		command_label(cmd, table[kind].describe);
	json_object_set_new(cmd, "type", json_integer(table[kind].type));
	json_object_set_new(cmd, "contexts",
			    table[kind].place == ANYWHERE
				    ? json_pack("[i,i]", CONTEXT_GUILD, CONTEXT_BOT_DM)
				    : json_pack("[i]", CONTEXT_GUILD));
	if (*table[kind].right)
		json_object_set_new(cmd, "default_member_permissions",
				    json_string(table[kind].right));
	return cmd;
}

json_t *commands_body(void)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		json_array_append_new(list, command_json((enum command_kind)i));
	return list;
}

/* ---- interactions ---- */

static bool field_id(const json_t *d, const char *name, uint64_t *out)
{
	return discord_snowflake(json_string_value(json_object_get(d, name)), out);
}

/* A slash command by its name, a menu by its label in English. */
static bool is_named(const struct row *row, const char *name)
{
	struct words label = {0};

	if (row->type == SLASH)
		return strcmp(row->name, name) == 0;
	row->describe(&label);
	return strcmp(label.text, name) == 0;
}

static int find_kind(const json_t *data, enum command_kind *kind)
{
	const char *name = json_string_value(json_object_get(data, "name"));
	const json_t *type = json_object_get(data, "type");
	json_int_t of = type ? json_integer_value(type) : SLASH;

	if (!name)
		return EBADMSG;
	for (unsigned i = 0; i < COMMAND_COUNT; i++)
		if (table[i].type == (enum type)of && is_named(&table[i], name)) {
			*kind = (enum command_kind)i;
			return 0;
		}
	return ENOENT;
}

static int read_target(const json_t *data, struct command *cmd)
{
	const char *id = json_string_value(json_object_get(data, "target_id"));
	const json_t *messages = json_object_get(json_object_get(data, "resolved"), "messages");

	if (!discord_snowflake(id, &cmd->target))
		return EBADMSG;
	field_id(json_object_get(json_object_get(messages, id), "author"), "id", &cmd->target_user);
	if (table[cmd->kind].type == USER)
		cmd->target_user = cmd->target;
	return 0;
}

static void read_name(const json_t *member, const json_t *user, char to[COMMAND_USER_NAME])
{
	const char *name = json_string_value(json_object_get(member, "nick"));

	if (!name || !*name)
		name = json_string_value(json_object_get(user, "global_name"));
	if (!name || !*name)
		name = json_string_value(json_object_get(user, "username"));
	utf8_copy(to, COMMAND_USER_NAME, name ? name : "");
}

/* The types of channels that are threads. */
enum { THREAD_FIRST = 10, THREAD_LAST = 12 };

/* Of other channels it is the category. */
static void read_parent(const json_t *channel, uint64_t *parent)
{
	json_int_t type = json_integer_value(json_object_get(channel, "type"));

	if (type >= THREAD_FIRST && type <= THREAD_LAST)
		field_id(channel, "parent_id", parent);
}

/* Of a direct message the user; in a server they are in the member. */
static const json_t *user_of(const json_t *d)
{
	const json_t *member = json_object_get(d, "member");

	return json_object_get(json_object_get(d, "guild_id") ? member : d, "user");
}

int command_parse(const json_t *d, struct command *out)
{
	const json_t *data = json_object_get(d, "data"), *member = json_object_get(d, "member");
	bool direct = !json_object_get(d, "guild_id") && !member;
	struct command cmd = {0};
	int err;

	if (json_integer_value(json_object_get(d, "type")) != INTERACTION_COMMAND)
		return ENOENT;
	if ((!direct && !field_id(d, "guild_id", &cmd.guild)) ||
	    !field_id(user_of(d), "id", &cmd.user))
		return EBADMSG;
	err = find_kind(data, &cmd.kind);
	if (!err && direct && table[cmd.kind].place != ANYWHERE)
		err = EBADMSG;
	if (!err && table[cmd.kind].type != SLASH)
		err = read_target(data, &cmd);
	if (err)
		return err;
	field_id(d, "channel_id", &cmd.in);
	read_parent(json_object_get(d, "channel"), &cmd.parent);
	field_id(d, "id", &cmd.id);
	cmd.member = member;
	read_name(member, user_of(d), cmd.name);
	cmd.locale = interaction_locale(d);
	cmd.options = json_object_get(data, "options");
	*out = cmd;
	return 0;
}

/* {ID: {"author": {"id"}}}: a message has words that nobody needs here. */
static json_t *target_message(const json_t *data)
{
	const char *id = json_string_value(json_object_get(data, "target_id"));
	const json_t *message = json_object_get(
		json_object_get(json_object_get(data, "resolved"), "messages"), id ? id : "");
	const json_t *author = json_object_get(json_object_get(message, "author"), "id");

	return author ? json_pack("{s:{s:{s:{s:O}}}}", "messages", id, "author", "id", author)
		      : NULL;
}

json_t *command_extract(const json_t *d)
{
	const json_t *member = json_object_get(d, "member"), *data = json_object_get(d, "data");
	const json_t *channel = json_object_get(d, "channel");
	json_t *user = json_pack("{s:O}", "id", json_object_get(user_of(d), "id"));

	return json_pack("{s:i,s:O,s:O,s:O,s:O*,s:O*,s:{s:O*,s:O*},s:O*,s:o*,s:o*,s:{s:O,s:O*"
			 ",s:O*,s:O*,s:o*}}",
			 "type", INTERACTION_COMMAND, "id", json_object_get(d, "id"),
			 "application_id", json_object_get(d, "application_id"), "token",
			 json_object_get(d, "token"), "guild_id", json_object_get(d, "guild_id"),
			 "channel_id", json_object_get(d, "channel_id"), "channel", "type",
			 json_object_get(channel, "type"), "parent_id",
			 json_object_get(channel, "parent_id"), "locale",
			 json_object_get(d, "locale"), "member",
			 member ? json_pack("{s:o,s:O*}", "user", user, "roles",
					    json_object_get(member, "roles"))
				: NULL,
			 "user", member ? NULL : user, "data", "name",
			 json_object_get(data, "name"), "type", json_object_get(data, "type"),
			 "options", json_object_get(data, "options"), "target_id",
			 json_object_get(data, "target_id"), "resolved", target_message(data));
}

/* ---- what the user gave ---- */

/* The first option, if it is a subcommand. */
static const json_t *subcommand_of(const struct command *cmd)
{
	const json_t *first = json_array_get(cmd->options, 0);

	return json_integer_value(json_object_get(first, "type")) == INTERACTION_SUBCOMMAND ? first
											    : NULL;
}

const char *command_subcommand(const struct command *cmd)
{
	const char *name = json_string_value(json_object_get(subcommand_of(cmd), "name"));

	return name ? name : "";
}

static const struct option *find_option(enum command_kind of, const char *subcommand,
					const char *name)
{
	for (unsigned i = 0; i < N_OPTIONS; i++)
		if (options[i].of == of && strcmp(options[i].subcommand, subcommand) == 0 &&
		    strcmp(options[i].name, name) == 0)
			return &options[i];
	return NULL;
}

/* NULL: it was not given, or not as the table has it. */
static const json_t *value_of(const struct command *cmd, const char *name, enum kind kind,
			      unsigned *most)
{
	const json_t *sub = subcommand_of(cmd);
	const struct option *row = find_option(cmd->kind, command_subcommand(cmd), name);
	const json_t *given = sub ? json_object_get(sub, "options") : cmd->options, *o;
	size_t i;

	if (!row || row->kind != kind)
		return NULL;
	*most = row->most;
	json_array_foreach(given, i, o)
	{
		const char *key = json_string_value(json_object_get(o, "name"));

		if (key && strcmp(key, name) == 0 &&
		    json_integer_value(json_object_get(o, "type")) == (json_int_t)kind)
			return json_object_get(o, "value");
	}
	return NULL;
}

const char *command_text(const struct command *cmd, const char *name)
{
	unsigned most = 0;
	const char *text = json_string_value(value_of(cmd, name, TEXT, &most));

	/* Discord counts characters, which are of up to four bytes. */
	return text && (!most || strlen(text) <= (size_t)most * 4) ? text : NULL;
}

uint64_t command_channel(const struct command *cmd, const char *name)
{
	unsigned most = 0;
	const char *text = json_string_value(value_of(cmd, name, VOICE_CHANNEL, &most));
	uint64_t id = 0;

	return discord_snowflake(text, &id) ? id : 0;
}

bool command_flag(const struct command *cmd, const char *name)
{
	unsigned most = 0;

	return json_is_true(value_of(cmd, name, FLAG, &most));
}

uint64_t command_number(const struct command *cmd, const char *name)
{
	unsigned most = 0;
	const json_t *value = value_of(cmd, name, NUMBER, &most);
	json_int_t n = json_integer_value(value);

	return n >= 1 && n <= (json_int_t)most ? (uint64_t)n : 0;
}

bool command_is_private(const struct command *cmd)
{
	return table[cmd->kind].answer == PRIVATE ||
	       (table[cmd->kind].answer == CHOSEN && command_flag(cmd, "private"));
}

bool command_is_quick(const struct command *cmd)
{
	const char *name = command_subcommand(cmd);

	for (const struct subcommand *s = subcommands; *name && s->name; s++)
		if (s->of == cmd->kind && strcmp(s->name, name) == 0)
			return s->when == AT_ONCE;
	if (cmd->kind == COMMAND_MUSIC)
		return music_command_shows(cmd->options);
	return table[cmd->kind].when == AT_ONCE ||
	       (table[cmd->kind].when == BARE && !json_array_size(cmd->options));
}
