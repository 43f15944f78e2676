/* SearXNG with its JSON format switched on: a search for W finds three pages about W. The script's
 * `answer WORDS => TEXT` says what the first of them is about. */
#include "tests/standins/link.h"
#include "tests/standins/script.h"
#include "tests/standins/services.h"
#include "tests/standins/standin.h"

#include <stdio.h>
#include <string.h>

enum { RESULTS = 3, WORDS_MAX = 2048 };

static bool is_one_of(const struct si_link *l, const char *name, const char *const *values)
{
	char value[32];

	if (!http_head_has_query(si_link_head(l), name))
		return true;
	if (!http_head_query(si_link_head(l), name, value, sizeof value))
		return false;
	for (; *values; values++)
		if (strcmp(value, *values) == 0)
			return true;
	return false;
}

static json_t *make_result(const char *words, unsigned i, const char *text)
{
	char url[64], title[WORDS_MAX + 32], content[WORDS_MAX + 64];

	snprintf(url, sizeof url, "https://site%u.example.org/page", i);
	snprintf(title, sizeof title, "Page %u about %s", i, words);
	snprintf(content, sizeof content, "This is fact %u about %s.", i, words);
	return json_pack("{s:s,s:s,s:s,s:s,s:f,s:n}", "url", url, "title", title, "content",
			 text ? text : content, "engine", "standin", "score", 1.0 / i,
			 "publishedDate");
}

static void search_serve(struct si_link *l, const char *words)
{
	const char *text = si_script_answer(si_link_standin(l)->script, words);
	json_t *results = json_array();

	for (unsigned i = 1; i <= RESULTS; i++)
		json_array_append_new(results, make_result(words, i, i == 1 ? text : NULL));
	si_reply_json(l, 200,
		      json_pack("{s:s,s:i,s:o,s:[],s:[],s:[],s:[],s:[]}", "query", words,
				"number_of_results", 0, "results", results, "answers",
				"corrections", "infoboxes", "suggestions", "unresponsive_engines"));
}

static bool search_request(struct si_link *l)
{
	static const char *const ranges[] = {"day", "month", "year", NULL}, *const safe[] = {
										    "0", "1", "2",
										    NULL};
	char words[WORDS_MAX], format[16];
	const struct http_head *head = si_link_head(l);

	if (strcmp(head->path, "/search") != 0)
		return false;
	if (head->method != HTTP_GET)
		si_reply(l, 405, "text/html", "Method Not Allowed", 18);
	else if (!http_head_query(head, "format", format, sizeof format) ||
		 strcmp(format, "json") != 0)
		si_reply(l, 403, "text/html", "Forbidden", 9);
	else if (!http_head_query(head, "q", words, sizeof words) || !*words ||
		 !is_one_of(l, "time_range", ranges) || !is_one_of(l, "safesearch", safe))
		si_reply(l, 400, "text/html", "Bad Request", 11);
	else
		search_serve(l, words);
	return true;
}

const struct si_service si_searxng = {.request = search_request};
