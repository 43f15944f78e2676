#include "control/again/again.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "control/again/rerun.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

enum { LEAST_PRIORITY = 19, AFTER_S = 10 };

struct again {
	const json_t *settings;
	json_t *clamped;
	const char *error, *setting; /* why it ends; borrowed */
};

static void limit_process(void)
{
	const struct rlimit cpu = {AGAIN_CPU_S, AGAIN_CPU_S};

	setpriority(PRIO_PROCESS, 0, LEAST_PRIORITY);
	setrlimit(RLIMIT_CPU, &cpu);
/* The shadow memory of the sanitizer counts as data. */
#ifndef __SANITIZE_ADDRESS__
	const rlim_t bytes = (rlim_t)AGAIN_MEMORY_MB << 20;

	setrlimit(RLIMIT_DATA, &(struct rlimit){bytes, bytes});
#endif
}

/* ---- the change ---- */

static int set_value(struct again *a, struct settings *s, const char *name, const json_t *value)
{
	char text[AGAIN_LINE_MAX / 16];
	int err;

	if (json_is_string(value))
		snprintf(text, sizeof text, "%s", json_string_value(value));
	else if (json_is_integer(value))
		snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
	else
		snprintf(text, sizeof text, "%s", json_is_true(value) ? "1" : "0");
	err = settings_set(s, name, text);
	/* With a text as its name, or as a word that ends a turn, the answer would tell whether
	 * somebody said it. */
	if ((!err || err == ERANGE) && !settings_is_choice(name))
		err = EINVAL;
	if (err == ERANGE) {
		json_object_set_new(a->clamped, name, json_true());
		return 0;
	}
	if (err) {
		a->error = err == ENOENT ? "unknown_setting" : "bad_value";
		a->setting = name;
	}
	return err;
}

static int change(struct settings *s, void *arg)
{
	struct again *a = arg;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)a->settings, name, value)
	{
		int err = set_value(a, s, name, value);

		if (err)
			return err;
	}
	return 0;
}

/* ---- the answer ---- */

static json_t *decision_json(const struct room_decision *d)
{
	if (!d)
		return json_null();
	return json_pack("{s:s,s:b,s:I,s:I}", "rule", room_rule_name(d->rule), "yes", (int)d->yes,
			 "value", (json_int_t)d->value, "limit", (json_int_t)d->limit);
}

static json_t *turn_json(const struct room_turn *t)
{
	json_t *decisions;

	if (!t)
		return json_null();
	decisions = json_array();
	for (unsigned i = 0; i < t->decisions && i < ROOM_CHAIN; i++)
		json_array_append_new(decisions, decision_json(&t->decision[i]));
	return json_pack("{s:s,s:s,s:o}", "reason", room_reason_name(t->reason), "text",
			 room_reason_text(t->reason), "decisions", decisions);
}

/* Rules that hold for one of them alone, or were asked for one alone. */
static json_t *rules_json(const struct room_turn *was, const struct room_turn *is)
{
	json_t *list = json_array();

	for (unsigned k = 0; is && k < ROOM_RULE_COUNT; k++) {
		const struct room_decision *a = rerun_decision(was, (enum room_rule)k),
					   *b = rerun_decision(is, (enum room_rule)k);

		if (!a != !b || (a && b && a->yes != b->yes))
			json_array_append_new(
				list, json_pack("{s:s,s:o,s:o}", "rule", room_rule_name(k), "was",
						decision_json(a), "is", decision_json(b)));
	}
	return list;
}

static json_t *answer_json(struct again *a, const struct rerun *base, const struct rerun *other,
			   uint32_t turn)
{
	const struct room_turn *was = rerun_turn(base, turn), *is = rerun_same(other, was);
	unsigned changed = 0, gone = 0, more = 0;

	for (size_t i = 0; i < base->n_turns; i++) {
		const struct room_turn *t = rerun_same(other, &base->turn[i]);

		changed += t && !rerun_is_same(&base->turn[i], t);
		gone += !t;
	}
	for (size_t i = 0; i < other->n_turns; i++)
		more += other->turn[i].ended_at <= base->ended_at &&
			!rerun_same(base, &other->turn[i]);
	return json_pack("{s:o,s:o,s:o,s:I,s:i,s:i,s:i,s:O,s:b}", "was", turn_json(was), "is",
			 turn_json(is), "rules", rules_json(was, is), "turns",
			 (json_int_t)base->n_turns, "changed", (int)changed, "gone", (int)gone,
			 "new", (int)more, "clamped", a->clamped, "approximate",
			 base->whole &&
				 (base->steps != base->said_steps || base->sum != base->said_sum));
}

/* ---- the journal ---- */

static const char *error_of(int err)
{
	return err == ENOMEM ? "too_large" : "no_journal";
}

static json_t *run_again(struct again *a, const void *data, size_t n, uint32_t turn)
{
	struct rerun base = {0}, other = {0};
	struct rerun_conf conf = {.data = data, .n = n, .turn = turn};
	json_t *answer = NULL;
	int err = rerun_bytes(&base, &conf);

	if (err)
		a->error = error_of(err);
	else if (!rerun_turn(&base, turn))
		a->error = "no_turn";
	if (a->error)
		goto out;
	conf = (struct rerun_conf){.data = data,
				   .n = n,
				   .change = change,
				   .arg = a,
				   .base = &base,
				   .until = base.ended_at + AFTER_S * NS_PER_S};
	err = rerun_bytes(&other, &conf);
	if (err && !a->error)
		a->error = error_of(err);
	if (!err)
		answer = answer_json(a, &base, &other, turn);
out:
	rerun_clear(&base);
	rerun_clear(&other);
	return answer;
}

/* Mapped, because only the part up to the turn is read; it may still grow. */
static json_t *open_and_run(struct again *a, const char *path, uint32_t turn)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	json_t *answer = NULL;
	void *data = MAP_FAILED;
	struct stat st;

	a->error = NULL;
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (data == MAP_FAILED) {
		a->error = "no_journal";
		return NULL;
	}
	answer = run_again(a, data, (size_t)st.st_size, turn);
	munmap(data, (size_t)st.st_size);
	return answer;
}

int again_main(void)
{
	char *line = malloc(AGAIN_LINE_MAX);
	struct again a = {.clamped = json_object(), .error = "bad_request"};
	json_t *request, *answer = NULL;
	const char *file;
	json_int_t turn;

	limit_process();
	if (!line || !fgets(line, AGAIN_LINE_MAX, stdin)) {
		free(line);
		json_decref(a.clamped);
		return 1;
	}
	request = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	file = json_string_value(json_object_get(request, "file"));
	turn = json_integer_value(json_object_get(request, "turn"));
	a.settings = json_object_get(request, "settings");
	if (file && turn > 0 && turn <= UINT32_MAX && json_object_size(a.settings) > 0 &&
	    json_object_size(a.settings) <= AGAIN_SETTINGS_MAX)
		answer = open_and_run(&a, file, (uint32_t)turn);
	if (!answer)
		answer = json_pack("{s:s,s:s?}", "error", a.error ? a.error : "too_large",
				   "setting", a.setting);
	json_dumpf(answer, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(answer);
	json_decref(a.clamped);
	json_decref(request);
	free(line);
	return 0;
}
