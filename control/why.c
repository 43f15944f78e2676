#include "control/why.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control/events/turn_parts.def"
#include "control/room/base/turn.h"
#include "control/store/db.h"
#include "control/store/faults.h"
#include "control/store/turn_heard.h"
#include "control/text/event.h"
#include "control/words/words.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

/* ---- one turn as text ---- */

static const char *read_text(const json_t *j, const char *key)
{
	const char *text = json_string_value(json_object_get(j, key));

	return text ? text : "";
}

static long long read_number(const json_t *j, const char *key)
{
	return (long long)json_integer_value(json_object_get(j, key));
}

/* Prints the words of people and models as one plain line, without control characters for the
 * terminal. */
static void print_plain(FILE *f, const char *before, const char *text)
{
	char *plain = strdup(text);

	if (plain)
		utf8_plain(plain);
	fprintf(f, "%s%s", before, plain ? plain : "");
	free(plain);
}

/* "turn 5"; "1 person, limit 2". */
static void write_value(char *buf, size_t size, long long value, long long limit, const char *unit)
{
	static const char *const numbered[] = {"turn", "utterance", "fact", "option", "question"};
	static const char *const ones[][2] = {{"chars", "char"},    {"bytes", "byte"},
					      {"times", "time"},    {"lines", "line"},
					      {"people", "person"}, {"others", "other"}};

	for (size_t i = 0; i < sizeof numbered / sizeof numbered[0]; i++)
		if (strcmp(unit, numbered[i]) == 0) {
			snprintf(buf, size, "%s %lld", unit, value);
			return;
		}
	for (size_t i = 0; value == 1 && i < sizeof ones / sizeof ones[0]; i++)
		if (strcmp(unit, ones[i][0]) == 0)
			unit = ones[i][1];
	snprintf(buf, size, "%lld%s%s, limit %lld", value, *unit ? " " : "", unit, limit);
}

static void print_decision(FILE *f, const json_t *d)
{
	char values[96];
	long long value = read_number(d, "value"), limit = read_number(d, "limit");
	const char *unit = read_text(d, "unit"), *then = read_text(d, "then");

	values[0] = '\0';
	if (value || limit)
		write_value(values, sizeof values, value, limit, unit);
	fprintf(f, "  %-22s %-28s %s%s%s\n", read_text(d, "rule"), values, read_text(d, "text"),
		*then ? ": " : "", then);
}

static void print_time(FILE *f, long long at_ms)
{
	time_t at = (time_t)(at_ms / 1000);
	char text[40];
	struct tm tm;

	if (at_ms && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&at, &tm)))
		fprintf(f, ", %s", text);
}

static void print_words(FILE *f, const char *before, const char *text)
{
	if (!*text)
		return;
	print_plain(f, before, text);
	fputc('\n', f);
}

static bool is_merge(const char *rule)
{
#define X(name) #name,
	static const char *const rules[] = {EVENT_TURN_MERGES(X)};
#undef X

	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (strcmp(rule, rules[i]) == 0)
			return true;
	return false;
}

/* Of a turn that was merged: its last decision that merged it names the other one, as on the
 * dashboard. */
static void print_merged(FILE *f, const json_t *turn)
{
	const json_t *why = json_object_get(turn, "why");

	for (size_t i = json_array_size(why); i-- > 0;) {
		const json_t *d = json_array_get(why, i);

		if (!json_is_true(json_object_get(d, "yes")) || !is_merge(read_text(d, "rule")))
			continue;
		fprintf(f, "  its words are in turn %lld\n", read_number(d, "value"));
		return;
	}
}

static void print_turn(FILE *f, const json_t *turn)
{
	const json_t *ms = json_object_get(turn, "first_audio_ms"), *d;
	size_t i;

	fprintf(f, "turn %lld", read_number(turn, "turn"));
	print_plain(f, " of ", read_text(turn, "name"));
	print_time(f, read_number(turn, "at"));
	if (strcmp(read_text(turn, "stage"), "ended") == 0)
		fprintf(f, ": %s (%s)\n", read_text(turn, "reason"), read_text(turn, "text"));
	else
		fprintf(f, ": %s, and not over\n", read_text(turn, "stage"));
	if (strcmp(read_text(turn, "reason"), room_reason_name(ROOM_REASON_MERGED)) == 0)
		print_merged(f, turn);
	print_words(f, "  heard: ", read_text(turn, "heard"));
	print_words(f, "  said:  ", read_text(turn, "said"));
	if (json_is_integer(ms))
		fprintf(f, "  first sound %lld ms after the speaker's last\n",
			(long long)json_integer_value(ms));
	json_array_foreach(json_object_get(turn, "why"), i, d) print_decision(f, d);
}

static void print_speech(FILE *f, const json_t *x)
{
	print_plain(f, "speech of ", read_text(x, "name"));
	print_time(f, read_number(x, "at"));
	fprintf(f, ", %lld ms: never became a turn (%s)\n", read_number(x, "ms"),
		read_text(x, "speech"));
	print_words(f, "  heard: ", read_text(x, "heard"));
}

/* ---- one written message as text ---- */

#define NAME_(NAME, name, ...) #name,
static const char *const signals[] = {TEXT_SIGNALS(NAME_)};
static const char *const attentions[] = {TEXT_ATTENTIONS(NAME_)};
static const char *const admissions[] = {TEXT_ADMISSIONS(NAME_)};
static const char *const reasons[] = {TEXT_REASONS(NAME_)};
#undef NAME_
#define COUNT_(list) (sizeof(list) / sizeof(list)[0])

/* COUNT_(names) for one that is not there. */
static size_t find_name(const char *const *names, size_t n, const char *name)
{
	size_t i = 0;

	while (i < n && strcmp(names[i], name) != 0)
		i++;
	return i;
}

static const char *explain_signal(const char *name)
{
	size_t i = find_name(signals, COUNT_(signals), name);

	return i < COUNT_(signals) ? text_signal_text((enum text_signal)i) : "";
}

static const char *explain_attention(const char *name)
{
	size_t i = find_name(attentions, COUNT_(attentions), name);

	return i < COUNT_(attentions) ? text_attention_text((enum text_attention)i) : "";
}

static const char *explain_rule(const char *name)
{
	size_t i = find_name(admissions, COUNT_(admissions), name);

	return i < COUNT_(admissions) ? text_admission_text((enum text_admission)i)
				      : "it was refused before the rules of admission";
}

static const char *explain_reason(const char *name)
{
	size_t i = find_name(reasons, COUNT_(reasons), name);

	return i < COUNT_(reasons) ? text_reason_text((enum text_reason)i) : "";
}

static const char *explain_help(const char *name)
{
	size_t i = find_name(reasons, COUNT_(reasons), name);

	return i < COUNT_(reasons) ? text_reason_help((enum text_reason)i) : "";
}

static void print_answer(FILE *f, const json_t *m)
{
	fprintf(f, "  answer %lld after %lld ms", read_number(m, "reply"),
		read_number(m, "lasted_ms"));
	if (json_is_integer(json_object_get(m, "llm1_ms")))
		fprintf(f, ": the model %lld ms", read_number(m, "llm1_ms"));
	if (json_is_integer(json_object_get(m, "followup_ms")))
		fprintf(f, ", what followed %lld ms", read_number(m, "followup_ms"));
	print_words(f, ", reaction ", read_text(m, "reaction"));
	if (!*read_text(m, "reaction"))
		fputc('\n', f);
}

static void print_written(FILE *f, const json_t *x)
{
	const json_t *m = json_object_get(x, "written");
	const char *reason = read_text(m, "reason");
	bool judged = find_name(admissions, COUNT_(admissions), read_text(m, "rule")) <
		      COUNT_(admissions);

	fprintf(f, "message %s of user %s", read_text(m, "message"), read_text(m, "user"));
	if (*read_text(x, "name")) {
		print_plain(f, " (", read_text(x, "name"));
		fputc(')', f);
	}
	fprintf(f, " in channel %s", read_text(m, "channel"));
	print_time(f, read_number(x, "at"));
	fprintf(f, ": %s (%s)\n", reason, explain_reason(reason));
	print_words(f, "  wrote:  ", read_text(x, "heard"));
	print_words(f, "  said:   ", read_text(x, "said"));
	if (strcmp(reason, text_reason_name(TEXT_REASON_MISSING_CONTENT)) == 0)
		fputs("  Message Content Intent, in Discord's developer portal under Bot, has "
		      "Discord "
		      "give the text; without it people mention the bot.\n",
		      f);
	print_words(f, "  what helps ", explain_help(reason));
	if (judged)
		fprintf(f, "  signal     %s (%s)\n  attention  %s (%s)\n", read_text(m, "signal"),
			explain_signal(read_text(m, "signal")), read_text(m, "attention"),
			explain_attention(read_text(m, "attention")));
	fprintf(f, "  rule       %s (%s)\n", read_text(m, "rule"),
		explain_rule(read_text(m, "rule")));
	if (read_number(m, "reply"))
		print_answer(f, m);
}

/* ---- one turn or message ---- */

static int make_text(char **out, void (*print)(FILE *f, const json_t *x), const json_t *x)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	bool failed;

	if (!f)
		return ENOMEM;
	print(f, x);
	failed = ferror(f);
	if (fclose(f) || failed) {
		free(text);
		return ENOMEM;
	}
	*out = text;
	return 0;
}

int why_text(char **out, const json_t *turn)
{
	if (!json_is_integer(json_object_get(turn, "turn")) ||
	    !json_is_array(json_object_get(turn, "why")))
		return EBADMSG;
	return make_text(out, print_turn, turn);
}

int why_written_text(char **out, const json_t *x)
{
	if (!json_is_object(json_object_get(x, "written")))
		return EBADMSG;
	return make_text(out, print_written, x);
}

/* ---- finding it ---- */

static const char *text_or(const char *text, const char *otherwise)
{
	return *text ? text : otherwise;
}

static enum room_rule rule_of(const char *name)
{
	enum room_rule rule = 0;

	while (rule < ROOM_RULE_COUNT && strcmp(room_rule_name(rule), name) != 0)
		rule++;
	return rule;
}

static const char *reason_text_of(const char *name)
{
	for (unsigned i = 0; i < ROOM_REASON_COUNT; i++)
		if (strcmp(room_reason_name(i), name) == 0)
			return room_reason_text(i);
	return "";
}

/* The chain as rows.c keeps it, with the rules' units and sentences. */
static json_t *expand_why(const char *text)
{
	json_t *in = json_loads(text, 0, NULL), *out = json_array(), *d;
	size_t i;

	json_array_foreach(in, i, d)
	{
		const char *name = json_string_value(json_array_get(d, 0));
		enum room_rule rule = name ? rule_of(name) : ROOM_RULE_COUNT;
		bool known = rule < ROOM_RULE_COUNT, yes = json_is_true(json_array_get(d, 1));

		if (name)
			json_array_append_new(
				out, json_pack("{s:s,s:O,s:O,s:O,s:s,s:s,s:s}", "rule", name, "yes",
					       json_array_get(d, 1), "value", json_array_get(d, 2),
					       "limit", json_array_get(d, 3), "unit",
					       known ? room_rule_unit(rule) : "", "text",
					       known ? room_decision_text(rule, yes) : "", "then",
					       room_decision_then(rule, yes)));
	}
	json_decref(in);
	return out;
}

static json_t *read_turn(struct db *db, sqlite3_stmt *s)
{
	char *heard = turn_heard(db, db_uint(s, 0), db_uint(s, 4));
	json_t *turn;

	turn = json_pack("{s:I,s:I,s:s,s:s,s:s,s:s,s:s,s:s,s:o}", "at", (json_int_t)db_uint(s, 7),
			 "turn", (json_int_t)db_uint(s, 3), "stage", "ended", "name",
			 text_or(db_text(s, 5), "nobody"), "reason", db_text(s, 6), "text",
			 reason_text_of(db_text(s, 6)), "heard", heard ? heard : "", "said",
			 db_text(s, 9), "why", expand_why(db_text(s, 10)));
	if (turn && sqlite3_column_type(s, 8) != SQLITE_NULL)
		json_object_set_new(turn, "first_audio_ms",
				    json_integer((json_int_t)db_uint(s, 8)));
	free(heard);
	return turn;
}

static sqlite3_stmt *bind_query(struct db *db, enum db_statement statement,
				const struct why_query *q)
{
	sqlite3_stmt *s = db_use(db, statement);

	/* SQLite refuses numbers of parameters that a statement has not; which are there differs.
	 */
	if (sqlite3_bind_parameter_count(s) >= 1)
		sqlite3_bind_int64(s, 1, q->turn);
	sqlite3_bind_int64(s, 2, (sqlite3_int64)q->guild);
	sqlite3_bind_int64(s, 3, (sqlite3_int64)q->user);
	sqlite3_bind_int64(s, 4, (sqlite3_int64)q->since_ms);
	sqlite3_bind_int64(s, 5, q->one ? 1 : q->most ? q->most : WHY_MAX);
	if (sqlite3_bind_parameter_count(s) >= 7) {
		sqlite3_bind_int64(s, 6, (sqlite3_int64)q->message);
		sqlite3_bind_int64(s, 7, (sqlite3_int64)q->channel);
	}
	return s;
}

static int find_turns(struct db *db, const struct why_query *q, json_t *out)
{
	enum db_statement which = q->turn    ? DB_FIND_TURNS
				  : q->user  ? DB_FIND_TURNS_OF_USER
				  : q->guild ? DB_FIND_TURNS_OF_GUILD
					     : DB_FIND_ALL_TURNS;
	sqlite3_stmt *s = bind_query(db, which, q);
	int err;

	while (!(err = db_step(db, s)))
		json_array_append_new(out, read_turn(db, s));
	return err == ENOENT ? 0 : err;
}

/* heard: column of the words, or -1; reason: column of the reason, or -1. */
static int find_speech(struct db *db, const struct why_query *q, enum db_statement which, int heard,
		       int reason, json_t *out)
{
	sqlite3_stmt *s = bind_query(db, which, q);
	int err;

	while (!(err = db_step(db, s)))
		json_array_append_new(
			out, json_pack("{s:s,s:I,s:s,s:I,s:s}", "speech",
				       reason < 0 ? "no_turn_waited_for_it" : db_text(s, reason),
				       "at", (json_int_t)db_uint(s, 3), "name",
				       text_or(db_text(s, 2), "somebody"), "ms",
				       (json_int_t)(db_uint(s, 4) - db_uint(s, 3)), "heard",
				       heard < 0 ? "" : db_text(s, heard)));
	return err == ENOENT ? 0 : err;
}

/* The line of a written message, as far as it is kept: its author, or its reader, had to agree. */
static void add_line(struct db *db, json_t *x, uint64_t message, const char *words,
		     const char *name)
{
	sqlite3_stmt *s = db_use(db, DB_FIND_MESSAGE);

	db_bind_uint(s, 1, message);
	if (message && db_step(db, s) == 0) {
		json_object_set_new(x, words, json_string(db_text(s, 1)));
		if (name)
			json_object_set_new(x, name, json_string(db_text(s, 5)));
	}
	sqlite3_reset(s);
}

static int find_written(struct db *db, const struct why_query *q, json_t *out)
{
	sqlite3_stmt *s = bind_query(db, DB_FIND_WRITTEN, q);
	int err;

	while (!(err = db_step(db, s))) {
		json_t *m = json_loads(db_text(s, 1), 0, NULL);
		json_t *x = json_pack("{s:I,s:O*}", "at", (json_int_t)db_uint(s, 0), "written", m);
		uint64_t message = 0;

		discord_u64(read_text(m, "message"), &message);
		add_line(db, x, message, "heard", "name");
		add_line(db, x, (uint64_t)read_number(m, "reply"), "said", NULL);
		json_array_append_new(out, x);
		json_decref(m);
	}
	return err == ENOENT ? 0 : err;
}

struct dated {
	long long at;
	json_t *entry;
};

static int by_time(const void *a, const void *b)
{
	long long x = ((const struct dated *)a)->at, y = ((const struct dated *)b)->at;

	return (x > y) - (x < y);
}

json_t *why_sort(json_t *list)
{
	size_t n = json_array_size(list);
	struct dated *v = calloc(n ? n : 1, sizeof *v);
	json_t *sorted = json_array();

	for (size_t i = 0; v && i < n; i++)
		v[i] = (struct dated){.at = read_number(json_array_get(list, i), "at"),
				      .entry = json_array_get(list, i)};
	if (v)
		qsort(v, n, sizeof *v, by_time);
	for (size_t i = 0; v && i < n; i++)
		json_array_append(sorted, v[i].entry);
	free(v);
	json_decref(list);
	return sorted;
}

/* Turns of voice sessions. A question about a written message, or about a text channel, finds none.
 */
static int find_spoken(struct db *db, const struct why_query *q, json_t *out)
{
	int err;

	if (q->message || q->channel)
		return 0;
	err = find_turns(db, q, out);
	if (!err && !q->one)
		err = find_speech(db, q, DB_FIND_SPEECH, -1, 5, out);
	if (!err && !q->one)
		err = find_speech(db, q, DB_FIND_UNUSED, 5, -1, out);
	return err;
}

int why_find(json_t **out, const struct why_query *q)
{
	json_t *list = json_array();
	struct db *db = NULL;
	int err = db_open(&db, q->state_dir, DB_READ);

	if (!err)
		err = find_spoken(db, q, list);
	if (!err && !q->turn)
		err = find_written(db, q, list);
	db_close(db);
	list = why_sort(list);
	while (q->one && json_array_size(list) > 1)
		json_array_remove(list, 0);
	if (!err && !json_array_size(list))
		err = ENOENT;
	if (err)
		json_decref(list);
	else
		*out = list;
	return err;
}

/* ---- the command line ---- */

/* The ids of messages hold their time in the upper bits. */
#define MESSAGE_LEAST (UINT64_C(1) << 42)

bool why_parse_turn(struct why_query *q, const char *text)
{
	uint64_t id;

	q->one = true;
	if (!*text || strcmp(text, "last") == 0)
		return true;
	if (!discord_u64(text, &id) || !id || (id > UINT32_MAX && id < MESSAGE_LEAST))
		return false;
	q->turn = id <= UINT32_MAX ? (uint32_t)id : 0;
	q->message = q->turn ? 0 : id;
	return true;
}

bool why_parse_since(struct why_query *q, const char *text, uint64_t now_ms)
{
	static const struct {
		char unit;
		uint64_t ms;
	} units[] = {{'s', 1000}, {'m', 60000}, {'h', 3600000}, {'d', 86400000}};
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || !*end || end[1] || n > 100000)
		return false;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (units[i].unit == *end) {
			uint64_t ago = n * units[i].ms;

			q->since_ms = now_ms > ago ? now_ms - ago : 1;
			return true;
		}
	return false;
}

static void print_line(FILE *f, const json_t *x)
{
	print_plain(f, "", read_text(x, "line"));
	print_time(f, read_number(x, "at"));
	fputc('\n', f);
}

void why_print(const json_t *list)
{
	char *text = NULL;
	json_t *x;
	size_t i;

	json_array_foreach(list, i, x)
	{
		if (json_object_get(x, "speech")) {
			print_speech(stdout, x);
		} else if (json_object_get(x, "line")) {
			print_line(stdout, x);
		} else if ((json_object_get(x, "written") ? why_written_text(&text, x)
							  : why_text(&text, x)) == 0) {
			fputs(text, stdout);
			free(text);
		}
	}
}

static bool is_there(const char *dir)
{
	char path[640];

	snprintf(path, sizeof path, "%s/parley.db", dir);
	return access(path, F_OK) == 0;
}

/* A message of which the store knows no end, but that it is owed an answer. */
static int find_owed(json_t **out, const struct why_query *q)
{
	struct db *db = NULL;
	int err = db_open(&db, q->state_dir, DB_READ);
	sqlite3_stmt *s;

	if (!err) {
		s = db_use(db, DB_FIND_OWED);
		db_bind_uint(s, 1, q->message);
		db_bind_uint(s, 2, q->guild);
		err = db_step(db, s);
		if (!err)
			*out = json_pack("{s:I,s:I,s:I,s:I,s:s}", "at", (json_int_t)db_uint(s, 0),
					 "message", (json_int_t)q->message, "channel",
					 (json_int_t)db_uint(s, 2), "user",
					 (json_int_t)db_uint(s, 3), "state", db_text(s, 4));
	}
	db_close(db);
	return err ? err : *out ? 0 : ENOMEM;
}

static const char *explain_state(const char *name)
{
#define NAME_(NAME, name, text) #name,
#define TEXT_(NAME, name, text) text,
	static const char *const names[] = {TEXT_TAKEN(NAME_)};
	static const char *const texts[] = {TEXT_TAKEN(TEXT_)};
#undef NAME_
#undef TEXT_
	size_t i = find_name(names, COUNT_(names), name);

	return i < COUNT_(names) ? texts[i] : "";
}

static void print_owed(FILE *f, const json_t *m)
{
	const char *state = read_text(m, "state");

	fprintf(f, "message %lld of user %lld in channel %lld", read_number(m, "message"),
		read_number(m, "user"), read_number(m, "channel"));
	print_time(f, read_number(m, "at"));
	fprintf(f,
		": %s (%s)\n"
		"  It has not ended. /why in Discord tells what a control that runs holds it for; "
		"a "
		"start goes on with it if\n  text_catchup is on.\n",
		state, explain_state(state));
}

static void print_nothing(const struct why_query *q)
{
	if (q->turn && !q->guild && !q->user && !q->since_ms)
		fprintf(stderr, "control: there is no turn %u in %s/parley.db\n", (unsigned)q->turn,
			q->state_dir);
	else if (q->message)
		fprintf(stderr,
			"control: there is no message %llu in %s/parley.db: it holds, for 30 days, "
			"those that addressed the bot and those that a model was asked about. Not "
			"among them is what still waits, what was written while text_chat was off, "
			"in a channel that the settings exclude (text_channels, "
			"text_blocked_channels), and what somebody wrote who does not want to be "
			"read (/consent) or whom the settings block. /why in Discord knows of the "
			"last ones since control started.\n",
			(unsigned long long)q->message, q->state_dir);
	else
		fprintf(stderr, "control: no such turn or message in %s/parley.db\n", q->state_dir);
}

int why_run(const struct why_query *q)
{
	struct words w = {0};
	json_t *list = NULL, *owed = NULL;
	int err = why_find(&list, q);

	if (err == ENOENT && q->message && find_owed(&owed, q) == 0) {
		print_owed(stdout, owed);
		json_decref(owed);
		return 0;
	}
	if (err == ENOENT && is_there(q->state_dir))
		print_nothing(q);
	else if (err == ENOENT)
		words_store_missing(&w, q->state_dir);
	else if (err)
		store_fault_words(&w, q->state_dir, err);
	if (w.n)
		fprintf(stderr, "control: %s\n", w.text);
	why_print(list);
	json_decref(list);
	return err ? 1 : 0;
}
