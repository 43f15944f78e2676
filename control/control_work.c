/* /work: longer tasks for the workers of delegation, given in writing. A task outlives the command;
 * its result is written into the channel where it was given, or kept for its member alone. Tasks
 * and results are their member's: nobody else can list or read them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/control_work.h"
#include "control/delegate/delegates.h"
#include "control/discord/components.h"
#include "control/discord/guilds.h"
#include "control/discord/rest.h"
#include "control/settings/settings.h"
#include "control/tools/policy.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

enum { SUGGESTED = 25, SHOWN = 100, LABEL = 101, HEAD = 250, MESSAGE = 1700, YES_S = 15 * 60 };
#define YES "work_yes." /* actions of buttons; the number of the task follows */
#define NO  "work_no."

static struct work_task *find_task(const struct work_desk *d, uint64_t user, uint64_t number)
{
	for (unsigned i = 0; d && number && i < WORK_TASKS; i++) {
		const struct work_task *t = &d->task[i];

		if (t->state != WORK_FREE && t->number == number && t->user == user)
			return (struct work_task *)(uintptr_t)t;
	}
	return NULL;
}

/* ---- results ---- */

static void on_posted(int err, int status, const json_t *body, void *arg)
{
	(void)body, (void)arg;
	if (err != ECANCELED && (err || status / 100 != 2))
		log_warn("work_not_told", "err=%d status=%d", err, status);
}

/* Its member alone is notified, whatever the worker wrote. */
static json_t *message_of(const struct work_task *t, const char *content)
{
	char user[24];

	snprintf(user, sizeof user, "%" PRIu64, t->user);
	return json_pack("{s:s,s:{s:[],s:[s]}}", "content", content, "allowed_mentions", "parse",
			 "users", user);
}

static void post(struct work_desk *d, const struct work_task *t, const struct words *head)
{
	char path[64], major[24], content[HEAD + MESSAGE + 8];
	struct rest_call call = {
		.method = "POST", .route = "/channels/{}/messages", .path = path, .major = major};
	bool whole = strlen(t->result) <= MESSAGE;

	snprintf(major, sizeof major, "%" PRIu64, t->channel);
	snprintf(path, sizeof path, "/channels/%s/messages", major);
	snprintf(content, sizeof content, "%.*s\n%.*s%s", HEAD, head->text,
		 (int)(whole ? strlen(t->result) : utf8_whole(t->result, MESSAGE)), t->result,
		 whole ? "" : " …");
	if (!whole) {
		call.file_name = "result.md";
		call.file_type = "text/markdown; charset=utf-8";
		call.file = t->result;
	}
	call.body = message_of(t, content);
	if (call.body)
		rest_request(d->c->rest, &call, on_posted, NULL);
	json_decref(call.body);
}

void work_task_ended(struct work_desk *d, struct work_task *t, const struct delegate_told *told)
{
	size_t n = strlen(told->text);
	struct words words = {0};

	t->state = WORK_ENDED;
	t->ok = told->ok;
	/* Why a task failed is for the log of the operator: it may tell of other machines. */
	t->result = strndup(told->text, !told->ok	  ? 0
					: n > WORK_RESULT ? utf8_whole(told->text, WORK_RESULT)
							  : n);
	if (!told->ok)
		log_warn("work_failed", "guild=%llu outcome=\"%s\" text=\"%s\"",
			 (unsigned long long)d->guild, told->outcome, told->text);
	words_speak(&words, t->locale);
	if (told->ok)
		words_work_done(&words, t->user, t->number);
	else
		words_work_failed(&words, t->user, t->number, told->outcome);
	if (!t->hidden && t->result)
		post(d, t, &words);
}

/* ---- start ---- */

/* Whether the member may have a worker do something, by the settings of the server as they are now.
 */
static void judge(struct control *c, const struct command *cmd, struct words *words)
{
	struct settings *s = control_read_settings(c, cmd->guild);
	bool outside;

	if (!s || !s->tools || !delegates_worker(c->delegates, 0, &outside) ||
	    tool_policy_lists(s->tools_off, "ask"))
		words_work_off(words);
	else if (!control_may_use_tool(c, cmd, s, "ask"))
		words_command_not_allowed(words);
	else if (control_is_refused(c, cmd->guild, cmd->user))
		words_ask_not_read(words);
	else
		control_may_ask(c, cmd, words);
	settings_free(s);
}

/* The worker that is meant, NULL for one that does not exist. *asks: its member has to say yes. */
static const char *find_worker(struct control *c, uint64_t guild, const char *name, bool *asks)
{
	struct settings *s = control_read_settings(c, guild);
	const char *worker;
	bool outside;

	for (unsigned i = 0; s && (worker = delegates_worker(c->delegates, i, &outside)); i++)
		if (!name || strcmp(worker, name) == 0) {
			*asks = outside && !tool_policy_lists(s->tools_allowed, "ask");
			settings_free(s);
			return worker;
		}
	settings_free(s);
	return NULL;
}

static void tell_given(int err, const struct work_task *t, struct words *words)
{
	if (err == EBUSY)
		words_work_busy(words);
	else if (err)
		words_memory_failed(words);
	else if (t->hidden)
		words_work_given_hidden(words, t->number);
	else
		words_work_given(words, t->number);
}

static void give(struct work_desk *d, struct work_task *t, struct words *words)
{
	uint32_t tokens;
	int err;

	if (!work_may_spend(d, &tokens)) {
		words_ask_failed(words, "the budget of the day is spent");
		work_task_drop(d, t);
		return;
	}
	err = work_task_give(d, t);
	tell_given(err, t, words);
	if (err)
		work_task_drop(d, t);
}

static json_t *yes_buttons(const struct control *c, const struct work_task *t)
{
	struct words yes = {0}, no = {0};
	char action[2][COMPONENT_ACTION];
	uint64_t now = env_wall_ms(c->env);

	words_speak(&yes, t->locale);
	words_speak(&no, t->locale);
	words_work_yes(&yes);
	words_work_no(&no);
	snprintf(action[0], COMPONENT_ACTION, YES "%" PRIu32, t->number);
	snprintf(action[1], COMPONENT_ACTION, NO "%" PRIu32, t->number);
	return component_row(json_pack(
		"[o,o]", component_button(action[0], t->user, now, COMPONENT_DANGER, yes.text),
		component_button(action[1], t->user, now, COMPONENT_PLAIN, no.text)));
}

/* NULL: no place, no memory, or the member has too many. */
static struct work_task *make_task(struct control *c, const struct command *cmd, const char *worker,
				   struct work_desk **desk)
{
	struct work_desk *d = work_desk_open(c, cmd->guild);
	struct work_task *t =
		d && work_desk_count(d, cmd->user) < WORK_OF_MEMBER ? work_desk_place(d) : NULL;

	if (!t)
		return NULL;
	*t = (struct work_task){.state = WORK_ASKED,
				.number = ++d->numbers,
				.user = cmd->user,
				.channel = cmd->in,
				.at = env_now(c->env),
				.hidden = command_flag(cmd, "private"),
				.text = strdup(command_text(cmd, "task")),
				.worker = strdup(worker)};
	utf8_copy(t->locale, sizeof t->locale, cmd->locale);
	if (!t->text || !t->worker) {
		work_task_drop(d, t);
		return NULL;
	}
	*desk = d;
	return t;
}

/* Those that their members forgot to say yes to. */
static void drop_unasked(struct control *c, uint64_t guild)
{
	struct work_desk *d = work_desk_find(c, guild);

	for (unsigned i = 0; d && i < WORK_TASKS; i++)
		if (d->task[i].state == WORK_ASKED &&
		    env_now(c->env) - d->task[i].at >= YES_S * NS_PER_S)
			work_task_drop(d, &d->task[i]);
}

static void start(struct control *c, struct command *cmd, struct words *words)
{
	struct work_desk *d = NULL;
	struct work_task *t = NULL;
	const char *worker;
	uint32_t tokens;
	bool asks = false;

	if (!control_has_words(command_text(cmd, "task")))
		words_ask_nothing(words);
	else
		judge(c, cmd, words);
	if (words->n)
		return;
	drop_unasked(c, cmd->guild);
	worker = find_worker(c, cmd->guild, command_text(cmd, "worker"), &asks);
	if (worker)
		t = make_task(c, cmd, worker, &d);
	if (!t) {
		if (worker)
			words_work_busy(words);
		else
			words_work_no_worker(words);
		return;
	}
	if (asks && work_may_spend(d, &tokens)) {
		words_work_sure(words, t->worker);
		command_reply_with(cmd, words, yes_buttons(c, t));
		*words = (struct words){0};
	} else {
		give(d, t, words);
	}
}

/* ---- looking and cancelling ---- */

static void tell_task(const struct work_desk *d, const struct work_task *t, struct words *words)
{
	const char *doing =
		t->state == WORK_GIVEN ? delegate_seat_progress(d->seat, t->number) : "";
	char shown[SHOWN];

	utf8_copy(shown, sizeof shown, t->text);
	words_line(words);
	words_work_task(words, t->number, shown);
	if (t->state == WORK_ASKED)
		words_work_state_asked(words);
	else if (t->state == WORK_GIVEN)
		words_work_state_given(words);
	else if (t->ok)
		words_work_state_done(words);
	else
		words_work_state_failed(words);
	if (*doing)
		words_work_doing(words, doing);
}

static void list(const struct control *c, const struct command *cmd, struct words *words)
{
	const struct work_desk *d = work_desk_find(c, cmd->guild);

	for (unsigned i = 0; d && i < WORK_TASKS; i++)
		if (d->task[i].state != WORK_FREE && d->task[i].user == cmd->user)
			tell_task(d, &d->task[i], words);
	if (!words->n)
		words_work_none(words);
}

/* True if it has answered. */
static bool show(struct control *c, struct command *cmd, struct words *words)
{
	const struct work_desk *d = work_desk_find(c, cmd->guild);
	const struct work_task *t = find_task(d, cmd->user, command_number(cmd, "number"));

	if (!t)
		words_work_none(words);
	else
		tell_task(d, t, words);
	if (!t || t->state != WORK_ENDED || !t->result || !*t->result)
		return false;
	command_reply_text(cmd, t->result);
	return true;
}

static void cancel(const struct control *c, const struct command *cmd, struct words *words)
{
	struct work_desk *d = work_desk_find(c, cmd->guild);
	struct work_task *t = find_task(d, cmd->user, command_number(cmd, "number"));

	if (!t || t->state == WORK_ENDED) {
		words_work_none(words);
		return;
	}
	work_task_drop(d, t);
	words_work_cancelled(words);
}

void control_answer_work(struct control *c, struct command *cmd)
{
	const char *what = command_subcommand(cmd);
	struct words words = {0};

	words_speak(&words, cmd->locale);
	if (strcmp(what, "list") == 0)
		list(c, cmd, &words);
	else if (strcmp(what, "cancel") == 0)
		cancel(c, cmd, &words);
	else if (strcmp(what, "start") == 0)
		start(c, cmd, &words);
	else if (show(c, cmd, &words))
		return;
	if (words.n)
		command_reply(cmd, &words);
}

/* ---- presses and typing ---- */

bool control_press_work(struct control *c, struct press *p)
{
	bool yes = strncmp(p->action, YES, sizeof YES - 1) == 0;
	bool no = strncmp(p->action, NO, sizeof NO - 1) == 0;
	struct work_desk *d = work_desk_find(c, p->guild);
	struct words words = {0};
	struct work_task *t;
	uint64_t number = 0;

	if (!yes && !no)
		return false;
	discord_u64(strchr(p->action, '.') + 1, &number);
	t = find_task(d, p->user, number);
	words_speak(&words, p->locale);
	if (!t || t->state != WORK_ASKED) {
		words_work_none(&words);
	} else if (no) {
		work_task_drop(d, t);
		words_work_cancelled(&words);
	} else {
		/* Minutes may have gone by since the question. */
		judge(c,
		      &(struct command){.guild = p->guild,
					.user = p->user,
					.in = p->channel,
					.member = p->member},
		      &words);
		if (words.n)
			work_task_drop(d, t);
		else
			give(d, t, &words);
	}
	press_update(p, &words, NULL);
	return true;
}

static json_t *suggest_tasks(const struct work_desk *d, uint64_t user)
{
	json_t *list = json_array();
	char label[LABEL], text[LABEL - 16];

	for (unsigned i = 0; d && i < WORK_TASKS; i++) {
		const struct work_task *t = &d->task[i];

		if (t->state == WORK_FREE || t->user != user || json_array_size(list) == SUGGESTED)
			continue;
		utf8_copy(text, sizeof text, t->text);
		snprintf(label, sizeof label, "%" PRIu32 ": %s", t->number, text);
		json_array_append_new(list, json_pack("{s:s,s:I}", "name", label, "value",
						      (json_int_t)t->number));
	}
	return list;
}

/* To those who may use them. */
static json_t *suggest_workers(struct control *c, const struct typing *t)
{
	const struct command cmd = {
		.guild = t->guild, .user = t->user, .in = t->in, .member = t->member};
	const char *typed = t->text, *worker;
	json_t *list = json_array();
	struct words words = {0};
	bool outside;

	judge(c, &cmd, &words);
	for (unsigned i = 0; !words.n && (worker = delegates_worker(c->delegates, i, &outside));
	     i++)
		if (strncmp(worker, typed, strlen(typed)) == 0)
			json_array_append_new(
				list, json_pack("{s:s,s:s}", "name", worker, "value", worker));
	return list;
}

void control_type_work(struct control *c, const struct typing *t, uint32_t id)
{
	components_suggest(c->components, id,
			   strcmp(t->option, "number") == 0
				   ? suggest_tasks(work_desk_find(c, t->guild), t->user)
				   : suggest_workers(c, t));
}

/* ---- what others change ---- */

void control_update_work(struct control *c)
{
	for (struct work_desk *d = c->work_desks; d; d = d->next)
		work_desk_update(d);
}

void control_forget_work(struct control *c, uint64_t guild, uint64_t user)
{
	for (struct work_desk *d = c->work_desks; d; d = d->next) {
		if (guild && d->guild != guild)
			continue;
		for (unsigned i = 0; i < WORK_TASKS; i++)
			if (d->task[i].user == user)
				work_task_drop(d, &d->task[i]);
		delegate_seat_forget(d->seat);
	}
}

void control_end_work(struct control *c)
{
	while (c->work_desks)
		work_desk_free(c->work_desks);
}
