/* What strangers send to the dashboard before anybody knows them: cookies, codes of a sign-in,
 * queries of lists, hosts and forwarded addresses; what Discord says of a person; and the kept
 * sessions, which another program could have written. The first byte says which. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/settings.h"
#include "control/web/cookies.h"
#include "control/web/discord_grant.h"
#include "control/web/list_query.h"
#include "control/web/queries.h"
#include "control/web/origins.h"
#include "control/web/sessions.h"
#include "control/web/sign_in.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TOKEN "0123456789abcdef0123456789abcdef"

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void find_cookies(const char *p, size_t n)
{
	char value[16], name[4] = {0};

	memcpy(name, p, n < 3 ? n : 3);
	if (cookie_find((struct http_text){p, n}, name, value, sizeof value))
		require(strlen(value) < sizeof value);
	else
		require(!*value);
}

/* Nobody without the token makes a code that holds. */
static void read_code(const char *text)
{
	char again[SIGN_IN_MAX];
	struct sign_in s;

	require(!sign_in_verify(text, TOKEN));
	if (sign_in_parse(text, &s))
		return;
	require(s.role != WEB_NOBODY && s.role <= WEB_ADMIN);
	require(sign_in_format(again, sizeof again, &s, TOKEN) == 0 &&
		sign_in_verify(again, TOKEN));
	require(strlen(again) <= strlen(text));
}

static void read_list(const char *p, size_t n)
{
	static struct http_head head;
	struct list_query q;

	memset(&head, 0, sizeof head);
	head.query = (struct http_text){p, n};
	require(query_check(&head, "?guild, ?kinds=a,b", NULL) <= QUERY_UNKNOWN_KIND);
	if (!list_query_read(&q, &head))
		return;
	require(q.limit >= 1 && q.limit <= LIST_LIMIT_MAX && q.cursor <= INT64_MAX &&
		q.since_ms <= INT64_MAX);
	require(memchr(q.reason, '\0', sizeof q.reason) && !strpbrk(q.reason, "'\"% ;"));
}

/* The name, with a dot behind it or the port of https or not. */
static bool is_of(struct http_text text, const char *name)
{
	struct http_text head = {text.p, strlen(name)};

	if (text.n < head.n || !http_text_like(head, name))
		return false;
	text.p += head.n;
	text.n -= head.n;
	if (text.n && *text.p == '.') {
		text.p++;
		text.n--;
	}
	return !text.n || http_text_is(text, ":") || http_text_is(text, ":443");
}

/* No Host but ours is ours, and a client is always an address. */
static void read_origin(const char *p, size_t n)
{
	static struct http_head head;
	struct origins o = {.listen = "127.0.0.1"}, other = {.listen = "127.0.0.1"};
	struct http_text text = {p, n};
	char client[ADDRESS_MAX] = "10.0.0.5";
	enum place place;

	require(origins_read(&o, "https://a.example", "https://b.example", "10.0.0.5"));
	place = origins_place(&o, text);
	require(place != PLACE_OWN || is_of(text, "a.example"));
	require(place != PLACE_SHARE || is_of(text, "b.example"));
	require(!origins_private(&o, text) || place != PLACE_SHARE);
	if (origins_match(&o, text, (struct http_text){"a.example", 9}))
		require(text.n > 8 && !memcmp(text.p, "https://", 8) &&
			is_of((struct http_text){text.p + 8, text.n - 8}, "a.example"));
	memset(&head, 0, sizeof head);
	head.fields[0] = (struct http_field){{"X-Forwarded-For", 15}, text};
	head.n_fields = 1;
	origins_client(&o, &head, client);
	require(*client && !client[strspn(client, "0123456789abcdefABCDEF.:")]);
	if (memchr(p, '\0', n) == NULL)
		origins_read(&other, p, p, p);
	require(other.n_proxies <= PROXIES_MAX);
}

static bool is_known(uint64_t guild, void *arg)
{
	(void)arg;
	return guild == 42;
}

/* Nobody gets a role but by the one server, and elsewhere nobody but an operator's. */
static void read_grant(const char *p, size_t n)
{
	static struct settings *settings;
	static struct discord_grants g;
	uint64_t id;

	if (!settings && settings_alloc(&settings))
		return;
	strcpy(settings->web_discord_guild, "41771983423143937");
	discord_grant_user(p, n, &id);
	if (!discord_grants_read(settings, p, n, is_known, NULL, &g) && g.n)
		require(g.n == 1 && (memmem(p, n, "\"4", 2) || memmem(p, n, "\\u00", 4)));
	*settings->web_discord_guild = '\0';
	require(discord_grants_read(settings, p, n, is_known, NULL, &g) || !g.n);
	settings->web_discord_everywhere = true;
	if (!discord_grants_read(settings, p, n, is_known, NULL, &g) && g.n)
		require(g.n == 1 && g.v[0].guild == 42 && g.v[0].role < WEB_ADMIN);
	settings->web_discord_everywhere = false;
}

static void read_sessions(const char *p, size_t n)
{
	struct sessions s = {.token = TOKEN}, again = {.token = TOKEN};
	json_t *j = json_loadb(p, n, JSON_REJECT_DUPLICATES, NULL);

	sessions_read(&s, j);
	json_decref(j);
	require(s.n <= SESSIONS_MAX && s.n_used <= SESSIONS_USED);
	for (unsigned i = 0; i < s.n; i++)
		require(s.v[i].id && s.v[i].id <= s.last_id && s.v[i].role != WEB_NOBODY);
	j = sessions_format(&s);
	sessions_read(&again, j);
	json_decref(j);
	require(again.n == s.n && again.n_used == s.n_used && again.last_id == s.last_id);
	sessions_expire(&s, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size)
		return 0;
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (data[0] == 'c')
		find_cookies(text, size - 1);
	else if (data[0] == 's')
		read_code(text);
	else if (data[0] == 'q')
		read_list(text, size - 1);
	else if (data[0] == 'o')
		read_origin(text, size - 1);
	else if (data[0] == 'g')
		read_grant(text, size - 1);
	else
		read_sessions(text, size - 1);
	free(text);
	return 0;
}
