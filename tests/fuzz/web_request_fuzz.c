/* What strangers send to the dashboard before anybody knows them: cookies, codes of a sign-in,
 * queries of lists; and the kept sessions, which another program could have written. The first byte
 * says which. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/web/cookies.h"
#include "control/web/list_query.h"
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
	if (!list_query_read(&q, &head))
		return;
	require(q.limit >= 1 && q.limit <= LIST_LIMIT_MAX && q.cursor <= INT64_MAX &&
		q.since_ms <= INT64_MAX);
	require(memchr(q.reason, '\0', sizeof q.reason) && !strpbrk(q.reason, "'\"% ;"));
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
	else
		read_sessions(text, size - 1);
	free(text);
	return 0;
}
