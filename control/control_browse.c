/* /browse: reads a page of the web past the guard, as the tool web_read does, and has the text
 * model sum it up. The page is text of a stranger: it stands in a fence, its question comes from
 * the member, and the model that reads it can call nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/control_inside.h"
#include "control/discord/guilds.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/text_session/text_session.h"
#include "control/tools/builtin/web_page.h"
#include "control/tools/policy.h"
#include "control/tools/untrusted.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/http_guard.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"
#include "proto/media.h"

enum {
	PAGE_MAX = 12000,    /* bytes of a page that the model is given */
	QUESTION_MAX = 4096, /* bytes: what the prompts say beside a question is never cut */
	BROWSES_MAX = 8,
	BROWSES_EACH = 2, /* of one person: two with slow pages keep nobody else from it */
};

/* Made for the first page. */
struct browser {
	struct http_guard *guard;
	struct http *http;
	struct web_pages *pages;
	struct browse_request *requests;
};

/* A page that is read, or summed up. */
struct browse_request {
	struct browse_request *next;
	struct control *c;
	struct command *cmd;
	struct web_page_read *read;
	char *title, *url; /* of the page; NULL until it is read */
};

static void end_request(struct browse_request *r)
{
	struct browse_request **at = &r->c->browser->requests;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	web_page_cancel(r->read);
	free(r->title);
	free(r->url);
	free(r);
}

/* Nobody reads. */
static void close_reader(struct browser *b)
{
	b->pages = web_pages_free(b->pages);
	b->http = http_free(b->http);
	b->guard = http_guard_free(b->guard);
}

void control_end_browser(struct control *c)
{
	struct browser *b = c->browser;

	if (!b)
		return;
	while (b->requests)
		end_request(b->requests);
	close_reader(b);
	free(b);
	c->browser = NULL;
}

static int open_browser(struct control *c)
{
	struct browser *b = c->browser;
	int err = 0;

	if (!b)
		b = c->browser = calloc(1, sizeof *b);
	if (!b)
		return ENOMEM;
	/* An address that is allowed no more is read no more, nor over a connection that is kept.
	 */
	if (b->guard && !http_guard_is_of(b->guard, c->settings->web_read_allowed)) {
		if (b->requests)
			return EBUSY;
		close_reader(b);
	}
	if (!b->guard)
		err = http_guard_alloc(&b->guard, c->settings->web_read_allowed);
	if (!err && !b->http)
		err = http_alloc_guarded(&b->http, c->env, NULL, "Parley/" PARLEY_VERSION,
					 b->guard);
	if (!err && !b->pages)
		err = web_pages_alloc(&b->pages, c->env, b->http, b->guard);
	return err;
}

/* ---- who may ---- */

struct holder {
	const struct guilds *guilds;
	uint64_t guild, user;
};

static bool holds_role(uint64_t role, void *arg)
{
	const struct holder *h = arg;

	return guilds_has_role(h->guilds, h->guild, h->user, role);
}

/* The rank that tools know (control/tools/policy.h). */
static bool has_rank(const struct control *c, const struct command *cmd, const struct settings *s,
		     const char *tool)
{
	uint64_t bits = 0;

	guilds_permissions_as(c->guilds, cmd->guild, cmd->in, cmd->user, cmd->member, &bits);
	if (bits & DISCORD_PERMISSION(DISCORD_BIT_ADMINISTRATOR))
		return true;
	return !tool_policy_lists(s->tools_owners, tool) &&
	       (!tool_policy_lists(s->tools_moderators, tool) ||
		bits & DISCORD_PERMISSION(DISCORD_BIT_MOVE_MEMBERS));
}

bool control_may_use_tool(const struct control *c, const struct command *cmd,
			  const struct settings *s, const char *tool)
{
	struct holder holder = {c->guilds, cmd->guild, cmd->user};

	return has_rank(c, cmd, s, tool) &&
	       tool_policy_has_role(s->tools_roles, tool, holds_role, &holder);
}

static void judge(struct control *c, const struct command *cmd, struct words *words)
{
	struct settings *s = control_read_settings(c, cmd->guild);

	if (!s || !s->tools || !s->web_read || tool_policy_lists(s->tools_off, "web_read"))
		words_browse_off(words);
	else if (!control_may_use_tool(c, cmd, s, "web_read"))
		words_command_not_allowed(words);
	else if (control_is_refused(c, cmd->guild, cmd->user))
		words_ask_not_read(words);
	else
		control_may_ask(c, cmd, words);
	settings_free(s);
}

/* ---- the summary ---- */

/* Discord would make the address of a link that ends early. */
static bool is_shown(const char *url)
{
	return !strpbrk(url, " <>\"\\\t\r\n");
}

static char *write_reply(const struct browse_request *r, const char *summary)
{
	struct words head = {0};
	char *text = NULL;

	words_browse_title(&head, *r->title ? r->title : r->url);
	if (asprintf(&text, "%s%s%s%s\n%s", head.text, is_shown(r->url) ? "\n<" : "",
		     is_shown(r->url) ? r->url : "", is_shown(r->url) ? ">" : "", summary) < 0)
		return NULL;
	return text;
}

static void take_summary(const struct text_outcome *answer, void *arg)
{
	struct browse_request *r = arg;
	struct words words = {0};
	char *text = answer->text ? write_reply(r, answer->text) : NULL;

	words_speak(&words, r->cmd->locale);
	if (!answer->text)
		control_tell_no_answer(answer, &words);
	if (text)
		command_reply_text(r->cmd, text);
	else
		command_reply(r->cmd, &words);
	free(text);
	end_request(r);
}

static void write_question(const struct command *cmd, char to[QUESTION_MAX])
{
	const char *asked = command_text(cmd, "question");
	size_t n;

	if (control_has_words(asked))
		snprintf(to, QUESTION_MAX, PROMPT_BROWSE_QUESTION, asked);
	else
		snprintf(to, QUESTION_MAX, "%s", PROMPT_BROWSE);
	n = strlen(to);
	if (*cmd->locale)
		snprintf(to + n, QUESTION_MAX - n, PROMPT_BROWSE_LANGUAGE, cmd->locale);
	utf8_mend(to);
}

/* The fenced page, which the caller frees. NULL without memory. */
static char *fence_page(struct control *c, const struct web_page *page)
{
	uint8_t mark[UNTRUSTED_MARK];
	size_t n = strlen(page->text);
	char *fenced = NULL, *text = NULL;

	env_random(c->env, mark, sizeof mark);
	if (n > PAGE_MAX)
		n = utf8_whole(page->text, PAGE_MAX);
	if (asprintf(&text, "%s\n%.*s", page->title, (int)n, page->text) < 0)
		return NULL;
	if (untrusted_wrap(&fenced, mark, page->url, text))
		fenced = NULL;
	free(text);
	return fenced;
}

static void ask_for_summary(struct browse_request *r, const char *fenced)
{
	struct command *cmd = r->cmd;
	struct control *c = r->c;
	char question[QUESTION_MAX];
	struct text_question q = {.guild = cmd->guild,
				  .channel = cmd->in,
				  .parent = cmd->parent,
				  .user = cmd->user,
				  .id = cmd->id,
				  .name = cmd->name,
				  .text = question,
				  .material = fenced};

	write_question(cmd, question);
	control_start_embedded(c);
	text_session_ask(c->text, &q, take_summary, r);
}

static void fail(struct browse_request *r, const char *why)
{
	struct words words = {0};

	words_speak(&words, r->cmd->locale);
	if (why)
		words_browse_failed(&words, why);
	else
		words_memory_failed(&words);
	command_reply(r->cmd, &words);
	end_request(r);
}

static void take_page(const struct web_page *page, void *arg)
{
	struct browse_request *r = arg;
	char *fenced;

	r->read = NULL;
	if (page->why) {
		fail(r, page->why);
		return;
	}
	r->title = strdup(page->title);
	r->url = strdup(page->url);
	fenced = fence_page(r->c, page);
	if (!r->title || !r->url || !fenced)
		fail(r, NULL);
	else
		ask_for_summary(r, fenced);
	free(fenced);
}

/* ---- the command ---- */

static bool is_busy(const struct browser *b, uint64_t user)
{
	unsigned n = 0, own = 0;

	for (const struct browse_request *r = b->requests; r; r = r->next) {
		n++;
		own += r->cmd->user == user;
	}
	return n >= BROWSES_MAX || own >= BROWSES_EACH;
}

static void begin(struct control *c, struct command *cmd, const char *url)
{
	struct browse_request *r = calloc(1, sizeof *r);
	struct web_page_read *read = NULL;
	struct words words = {0};
	int err;

	if (!r) {
		words_speak(&words, cmd->locale);
		words_memory_failed(&words);
		command_reply(cmd, &words);
		return;
	}
	r->c = c;
	r->cmd = cmd;
	r->next = c->browser->requests;
	c->browser->requests = r;
	err = web_page_read(&read, c->browser->pages, url, take_page, r);
	if (err)
		fail(r, NULL);
	else if (read)
		r->read = read; /* otherwise it was read, or refused, at once */
}

void control_answer_browse(struct control *c, struct command *cmd)
{
	const char *url = command_text(cmd, "url");
	struct words words = {0};

	words_speak(&words, cmd->locale);
	judge(c, cmd, &words);
	if (!words.n && (!url || open_browser(c) || is_busy(c->browser, cmd->user)))
		words_memory_failed(&words);
	if (words.n)
		command_reply(cmd, &words);
	else
		begin(c, cmd, url);
}
