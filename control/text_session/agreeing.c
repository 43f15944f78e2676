/* Questions for a yes to a call of a tool, and who is who in a server (inside.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/discord/components.h"
#include "control/discord/rest.h"
#include "control/room/language/language.h"
#include "control/settings/settings.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "control/words/words.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

#define YES_MARK "\xe2\x9c\x85" /* U+2705 */
#define NO_MARK	 "\xe2\x9e\x96" /* U+2796 */

/* ---- members ---- */

static struct text_member *find_member(struct text_guild *g, uint64_t user)
{
	for (unsigned i = 0; i < TEXT_MEMBERS; i++)
		if (g->member[i].user == user)
			return &g->member[i];
	return NULL;
}

/* Something of theirs is under way, which may call a tool by their rank. */
static bool is_served(const struct text_guild *g, uint64_t user)
{
	for (const struct text_job *j = g->jobs; j; j = j->next)
		if (j->user == user)
			return true;
	for (const struct text_asked_yes *a = g->asked; a; a = a->next)
		if (a->user == user)
			return true;
	return text_chat_serves(g->core, user);
}

/* Of whoever wrote longest ago, and waits for nothing if there is such a one. */
static struct text_member *place_for_member(struct text_guild *g)
{
	struct text_member *oldest = &g->member[0], *best = NULL;

	for (unsigned i = 0; i < TEXT_MEMBERS; i++) {
		struct text_member *m = &g->member[i];

		if (!m->user)
			return m;
		if (m->order < oldest->order)
			oldest = m;
		if ((!best || m->order < best->order) && !is_served(g, m->user))
			best = m;
	}
	return best ? best : oldest;
}

/* A message of the history tells no rank. The one that was told before it was written may have been
 * taken from its author since. */
void text_member_keep(struct text_guild *g, uint64_t user, uint64_t message, const char *name,
		      const json_t *member)
{
	const struct text_session_conf *c = &g->ts->conf;
	struct text_member *m = find_member(g, user);

	if (!m) {
		m = place_for_member(g);
		json_decref(m->roles);
		*m = (struct text_member){.user = user};
	}
	m->order = ++g->n_members;
	if (name)
		utf8_copy(m->name, sizeof m->name, name);
	if (!member && message <= m->told)
		return;
	m->told = message > m->told ? message : m->told;
	m->rank = TOOL_RANK_EVERYONE;
	json_decref(m->roles);
	m->roles = NULL;
	if (!member)
		return;
	m->rank = c->rankh ? c->rankh(g->id, user, member, c->arg) : TOOL_RANK_EVERYONE;
	m->roles = json_incref(json_object_get(member, "roles"));
}

void text_member_forget(struct text_guild *g, uint64_t user)
{
	struct text_member *m = find_member(g, user);

	if (!m)
		return;
	json_decref(m->roles);
	*m = (struct text_member){0};
}

const char *text_member_name(const struct text_guild *g, uint64_t user)
{
	for (unsigned i = 0; i < TEXT_MEMBERS; i++)
		if (g->member[i].user == user)
			return g->member[i].name;
	return "";
}

/* The second one is marked, as in a room (control/room/base/people.h). */
static bool is_second(const struct text_guild *g, uint64_t user, const char *name, bool known)
{
	for (unsigned i = 0; i < TEXT_MEMBERS; i++) {
		const struct text_member *m = &g->member[i];

		if (m->user && m->user != user && (!known || m->user < user) &&
		    room_script_same(m->name, name))
			return true;
	}
	return false;
}

/* What the bot writes stands under these names. */
bool text_member_is_bot(const struct text_guild *g, const char *name)
{
	const struct text_session_conf *c = &g->ts->conf;
	const char *known = c->nicknameh ? c->nicknameh(g->id, c->arg) : NULL;
	char nickname[INCOMING_NAME];

	incoming_copy_name(nickname, known ? known : "");
	return *name && (room_script_same(g->settings->bot_name, name) ||
			 room_script_same(g->ts->name, name) || room_script_same(nickname, name));
}

const char *text_member_called(const struct text_guild *g, uint64_t user, const char *stored,
			       char to[TEXT_CALLED])
{
	const char *present = text_member_name(g, user);
	char name[INCOMING_NAME];

	incoming_copy_name(name, *present ? present : stored);
	snprintf(to, TEXT_CALLED, "%s%s", name,
		 text_member_is_bot(g, name) || is_second(g, user, name, *present != '\0') ? " (2)"
											   : "");
	return to;
}

uint64_t text_member_of(const struct text_guild *g, const char *name)
{
	char called[TEXT_CALLED];

	if (!*name) /* some have none yet */
		return 0;
	for (unsigned i = 0; i < TEXT_MEMBERS; i++) {
		uint64_t user = g->member[i].user;

		if (user && strcasecmp(text_member_called(g, user, "", called), name) == 0)
			return user;
	}
	return 0;
}

static bool holds_role(uint64_t role, void *arg)
{
	const struct text_member *m = arg;
	const json_t *held;
	uint64_t id;
	size_t i;

	json_array_foreach(m ? m->roles : NULL, i, held)
	{
		if (discord_snowflake(json_string_value(held), &id) && id == role)
			return true;
	}
	return false;
}

enum tool_rank text_member_rank(const struct text_guild *g, uint64_t user, const char *tool)
{
	struct text_member *m = user ? find_member((struct text_guild *)(uintptr_t)g, user) : NULL;
	enum tool_rank rank = m ? m->rank : TOOL_RANK_EVERYONE;

	if (rank < TOOL_RANK_OWNER &&
	    !tool_policy_has_role(g->settings->tools_roles, tool, holds_role, m))
		return TOOL_RANK_BARRED;
	return rank;
}

/* ---- questions ---- */

json_t *text_agreeing_buttons(const struct text_job *job)
{
	const struct text_guild *g = job->g;
	uint64_t now = env_wall_ms(g->ts->conf.env);
	struct words yes = {0}, no = {0};
	const char *language = room_language_code(
		room_language_guess(job->words ? job->words : "", "", ROOM_LANGUAGE_UNKNOWN));

	/* In direct messages an interaction has no member. */
	if (!g->id)
		return NULL;
	words_speak(&yes, language);
	words_speak(&no, language);
	words_text_yes(&yes);
	words_text_no(&no);
	return component_row(json_pack(
		"[o,o]", component_button("text_yes", job->user, now, COMPONENT_PLAIN, yes.text),
		component_button("text_no", job->user, now, COMPONENT_PLAIN, no.text)));
}

/* A nonce may give back another message than the one that was sent. */
bool text_agreeing_sent(struct text_job *job)
{
	struct text_guild *g = job->g;
	struct text_asked_yes *a;

	if (!job->asks || !job->shown || !tool_is_question(job->question, job->shown, 0))
		return false;
	a = calloc(1, sizeof *a);
	if (!a)
		return false;
	*a = (struct text_asked_yes){.next = g->asked,
				     .message = job->asks,
				     .channel = job->channel,
				     .user = job->user,
				     .at = env_now(g->ts->conf.env),
				     .reply = job->reply};
	utf8_copy(a->text, sizeof a->text, job->shown);
	g->asked = a;
	return true;
}

/* The core ends each question in time. */
bool text_agreeing_waits(const struct text_guild *g, uint64_t channel)
{
	uint64_t lasts = (TEXT_YES_S + TEXT_YES_GRACE_S) * NS_PER_S;
	uint64_t now = env_now(g->ts->conf.env);

	for (const struct text_asked_yes *a = g->asked; a; a = a->next)
		if (a->channel == channel && now - a->at < lasts)
			return true;
	return false;
}

void text_agreeing_free(struct text_guild *g)
{
	for (unsigned i = 0; i < TEXT_MEMBERS; i++)
		json_decref(g->member[i].roles);
	while (g->asked) {
		struct text_asked_yes *a = g->asked;

		g->asked = a->next;
		free(a);
	}
}

/* Without its buttons. content: NULL leaves what stands there. */
static void edit_question(struct text_session *ts, uint64_t guild, uint64_t channel,
			  uint64_t message, json_t *content)
{
	char path[96], major[24];
	struct rest_call call = {.method = "PATCH",
				 .route = "/channels/{}/messages/{}",
				 .path = path,
				 .major = major,
				 .ordered = true,
				 .idempotent = true};

	snprintf(major, sizeof major, "%llu", (unsigned long long)channel);
	snprintf(path, sizeof path, "/channels/%s/messages/%llu", major,
		 (unsigned long long)message);
	call.body = json_pack("{s:o*,s:[],s:{s:[]}}", "content", content, "components",
			      "allowed_mentions", "parse");
	if (call.body)
		text_quiet_request(ts, &call, "question", guild, channel);
	json_decref(call.body);
}

/* A mark tells what was said. The message holds nothing but the question. */
static void mark_question(struct text_guild *g, const struct text_asked_yes *a, bool yes)
{
	edit_question(g->ts, g->id, a->channel, a->message,
		      json_sprintf("%s %s", a->text, yes ? YES_MARK : NO_MARK));
}

static void remove_buttons(struct text_session *ts, uint64_t guild, uint64_t channel,
			   uint64_t message)
{
	edit_question(ts, guild, channel, message, NULL);
}

/* A press may come before Discord has told that the message stands. */
static bool is_asked(const struct text_guild *g, const struct press *p)
{
	for (const struct text_asked_yes *a = g->asked; a; a = a->next)
		if (a->message == p->message && a->user == p->user)
			return true;
	for (const struct text_job *j = g->jobs; j; j = j->next)
		if (j->channel == p->channel && j->user == p->user && j->asking)
			return true;
	return false;
}

void text_agreeing_end(struct text_guild *g, const struct text_effect *e)
{
	struct text_asked_yes **at = &g->asked, *a;

	while (*at && ((*at)->message != e->message || (*at)->user != e->user))
		at = &(*at)->next;
	a = *at;
	if (!a)
		return;
	*at = a->next;
	mark_question(g, a, text_tools_words(g, a->channel, a->reply, a->user, e->yes));
	free(a);
}

enum text_press text_session_press(struct text_session *ts, const struct press *p)
{
	bool yes = strcmp(p->action, "text_yes") == 0;
	struct text_guild *g =
		text_session_uses(ts, p->guild) ? text_session_open(ts, p->guild) : NULL;

	if (!yes && strcmp(p->action, "text_no") != 0)
		return TEXT_PRESS_OTHER;
	if (!g || !is_asked(g, p)) {
		if (ts)
			remove_buttons(ts, p->guild, p->channel, p->message);
		return TEXT_PRESS_OVER;
	}
	text_member_keep(g, p->user, 0, NULL, p->member);
	text_session_feed(g, &(struct text_event){.type = TEXT_AGREED,
						  .guild = p->guild,
						  .channel = p->channel,
						  .message = p->message,
						  .user = p->user,
						  .yes = yes});
	return TEXT_PRESS_TAKEN;
}
