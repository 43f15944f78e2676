#include "control/memory/reflect.h"

#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "control/memory/calendar.h"
#include "control/memory/compare.h"

enum { ANSWER_MAX = 64 << 10 };
/* A decision below this confidence leaves both facts, marked as a conflict. */
#define CONFIDENCE_MIN 0.7

/* Some providers take only objects that demand each of their members and no others: was and is are
 * "" of what is no update. */
const char reflect_schema[] =
	"{\"type\":\"object\",\"required\":[\"pairs\"],\"additionalProperties\":false,"
	"\"properties\":{\"pairs\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	"\"required\":[\"pair\",\"relation\",\"was\",\"is\",\"conf\"],"
	"\"additionalProperties\":false,\"properties\":{\"pair\":{\"type\":\"integer\"},"
	"\"relation\":{\"type\":\"string\","
	"\"enum\":[\"duplicate\",\"update\",\"unsure\",\"other\"]},"
	"\"was\":{\"type\":\"string\"},\"is\":{\"type\":\"string\"},"
	"\"conf\":{\"type\":\"number\"}}}}}}";

const char *reflect_relation_name(enum reflect_relation relation)
{
	static const char *const names[] = {
#define R(NAME, name) #name,
		REFLECT_RELATIONS(R)
#undef R
	};

	return relation < REFLECT_RELATION_COUNT ? names[relation] : "";
}

/* ---- the request ---- */

static json_t *fact_json(const char *text, uint64_t at_ms, int64_t offset_s)
{
	char day[CALENDAR_DATE];

	calendar_date(day, at_ms, offset_s);
	return json_pack("{s:s,s:s}", "said", day, "text", text);
}

char *reflect_request(const struct reflect_pair *pairs, size_t n, int64_t offset_s)
{
	json_t *list = json_array(), *root;
	char *text;

	for (size_t i = 0; i < n && i < REFLECT_PAIRS; i++)
		json_array_append_new(
			list,
			json_pack("{s:I,s:o,s:o}", "pair", (json_int_t)i + 1, "older",
				  fact_json(pairs[i].was, pairs[i].older_ms, offset_s), "newer",
				  fact_json(pairs[i].is, pairs[i].newer_ms, offset_s)));
	root = json_pack("{s:o}", "pairs", list);
	text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	return text;
}

/* ---- the result ---- */

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* An update names the former value and the present one, each by words of its fact. The later fact
 * may hold both: "it moved from four to five". */
static bool quotes_change(const json_t *decision, const struct reflect_pair *pair)
{
	const char *was = text_at(decision, "was"), *is = text_at(decision, "is");

	return *was && *is && strcasecmp(was, is) != 0 && strstr(pair->was, was) &&
	       strstr(pair->is, is) && !strcasestr(pair->was, is);
}

/* REFLECT_RELATION_COUNT: it cannot be true. */
static enum reflect_relation read_relation(const json_t *decision, const struct reflect_pair *pair)
{
	const char *name = text_at(decision, "relation");
	const json_t *conf = json_object_get(decision, "conf");
	bool sure = !conf || json_number_value(conf) >= CONFIDENCE_MIN;

	if (strcmp(name, "other") == 0)
		return REFLECT_OTHER;
	if (strcmp(name, "unsure") == 0 || strcmp(name, "conflict") == 0)
		return REFLECT_CONFLICT;
	if (strcmp(name, "duplicate") == 0 && fact_may_be_same(pair->was, pair->is))
		return sure ? REFLECT_DUPLICATE : REFLECT_OTHER;
	if (strcmp(name, "update") == 0 && quotes_change(decision, pair))
		return sure ? REFLECT_UPDATE : REFLECT_CONFLICT;
	return REFLECT_RELATION_COUNT;
}

static void take_decision(const json_t *decision, const struct reflect_pair *pairs, size_t n,
			  bool *decided, struct reflect_result *out)
{
	json_int_t number = json_integer_value(json_object_get(decision, "pair"));
	enum reflect_relation relation;

	if (number < 1 || (size_t)number > n || decided[number - 1]) {
		out->refused++;
		return;
	}
	decided[number - 1] = true;
	relation = read_relation(decision, &pairs[number - 1]);
	out->refused += relation == REFLECT_RELATION_COUNT;
	if (relation != REFLECT_RELATION_COUNT)
		out->relation[number - 1] = relation;
}

bool reflect_read(const char *answer, const struct reflect_pair *pairs, size_t n,
		  struct reflect_result *out)
{
	json_t *root = strlen(answer) > ANSWER_MAX ? NULL : json_loads(answer, 0, NULL), *decision;
	const json_t *decisions = json_object_get(root, "pairs");
	bool decided[REFLECT_PAIRS] = {false}, ok = json_is_array(decisions);
	size_t i;

	*out = (struct reflect_result){0};
	n = n < REFLECT_PAIRS ? n : REFLECT_PAIRS;
	json_array_foreach(decisions, i, decision)
	{
		if (i < REFLECT_PAIRS)
			take_decision(decision, pairs, n, decided, out);
	}
	json_decref(root);
	return ok;
}
