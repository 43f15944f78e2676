#include "control/memory/extract.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "control/memory/compare.h"
#include "control/memory/evidence.h"
#include "proto/base/utf8.h"

/* Shorter quotes prove nothing; a fact below this confidence is left out. */
enum { QUOTE_MIN = 3, ANSWER_MAX = 64 << 10 };
#define CONFIDENCE_MIN 0.5

/* A sentence of a summary; the text is borrowed from the answer. */
struct extract_sentence {
	const char *text;
	uint64_t evidence[EXTRACT_EVIDENCE];
	unsigned n_evidence;
};

static const char *const types[] = {"preference", "plan", "decision", "event", "skill", "guidance"};

/* Some providers take only objects that demand each of their members and no others. */
#define OBJECT(members, names)                                                                     \
	"{\"type\":\"object\",\"properties\":{" members "},\"required\":[" names                   \
	"],\"additionalProperties\":false}"
#define LIST(of) "{\"type\":\"array\",\"items\":" of "}"
#define TEXT	 "{\"type\":\"string\"}"
#define EVIDENCE                                                                                   \
	"\"evidence\":" LIST(                                                                      \
		OBJECT("\"u\":{\"type\":\"integer\"},\"quote\":" TEXT, "\"u\",\"quote\""))
#define KIND                                                                                       \
	"{\"type\":\"string\",\"enum\":[\"preference\",\"plan\",\"decision\",\"event\",\"skill\"," \
	"\"guidance\"]}"
#define FACT                                                                                       \
	OBJECT("\"said_by\":" TEXT ",\"kind\":" KIND ",\"text\":" TEXT "," EVIDENCE                \
	       ",\"conf\":{\"type\":\"number\"}",                                                  \
	       "\"said_by\",\"kind\",\"text\",\"evidence\",\"conf\"")
#define SENTENCE OBJECT("\"text\":" TEXT "," EVIDENCE, "\"text\",\"evidence\"")

const char extract_schema[] =
	OBJECT("\"facts\":" LIST(FACT) ",\"summary\":" LIST(SENTENCE), "\"facts\",\"summary\"");

const char *extract_refusal_name(enum extract_refusal refusal)
{
	static const char *const names[] = {
#define R(NAME, name) #name,
		EXTRACT_REFUSALS(R)
#undef R
	};

	return refusal < EXTRACT_REFUSAL_COUNT ? names[refusal] : "";
}

/* ---- the request ---- */

/* The number of a speaker: their place among the speakers, from 1. 0: no line is theirs. */
static unsigned number_of(const struct extract_line *lines, size_t n, uint64_t user)
{
	unsigned number = 0;

	for (size_t i = 0; i < n; i++) {
		bool first = true;

		for (size_t k = 0; k < i && first; k++)
			first = lines[k].user != lines[i].user;
		number += first;
		if (lines[i].user == user)
			return number;
	}
	return 0;
}

static json_t *person_json(const struct extract_line *l, unsigned number)
{
	char p[16];

	snprintf(p, sizeof p, "p%u", number);
	return json_pack("{s:s,s:s}", "p", p, "name", l->name);
}

static json_t *line_json(const struct extract_line *l, unsigned number)
{
	char p[16];

	snprintf(p, sizeof p, "p%u", number);
	return json_pack("{s:I,s:s,s:I,s:s}", "u", (json_int_t)l->id, "p", p, "at",
			 (json_int_t)(l->at_ms / 1000), "text", l->text);
}

char *extract_request(const struct extract_line *lines, size_t n)
{
	json_t *people = json_array(), *utterances = json_array(), *root;
	unsigned known = 0;
	char *text;

	n = n < EXTRACT_LINES ? n : EXTRACT_LINES;
	for (size_t i = 0; i < n; i++) {
		unsigned number = number_of(lines, n, lines[i].user);

		if (number > known)
			json_array_append_new(people, person_json(&lines[i], known = number));
		json_array_append_new(utterances, line_json(&lines[i], number));
	}
	root = json_pack("{s:o,s:o}", "people", people, "utterances", utterances);
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

static const struct extract_line *find_line(const struct extract_line *lines, size_t n,
					    const json_t *id)
{
	for (size_t i = 0; json_is_integer(id) && i < n; i++)
		if (lines[i].id == (uint64_t)json_integer_value(id))
			return &lines[i];
	return NULL;
}

/* Adds the utterances of the quotes, which are those of the user, or of anybody if it is 0. The
 * first refusal counts. */
static enum extract_refusal read_evidence(const json_t *evidence, const struct extract_line *lines,
					  size_t n, uint64_t user, uint64_t *ids, unsigned *n_ids)
{
	const json_t *e;
	size_t i;

	if (!json_array_size(evidence) || json_array_size(evidence) > EXTRACT_EVIDENCE)
		return EXTRACT_REFUSAL_NO_EVIDENCE;
	json_array_foreach(evidence, i, e)
	{
		const struct extract_line *l = find_line(lines, n, json_object_get(e, "u"));
		const char *quote = text_at(e, "quote");

		if (!l || strlen(quote) < QUOTE_MIN || !strstr(l->text, quote))
			return EXTRACT_REFUSAL_NO_EVIDENCE;
		if (user && l->user != user)
			return EXTRACT_REFUSAL_WRONG_SPEAKER;
		if (memory_check_text(quote))
			return EXTRACT_REFUSAL_GUARDED;
		ids[(*n_ids)++] = l->id;
	}
	return EXTRACT_REFUSAL_NONE;
}

static bool read_type(const char *name, char *to)
{
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strcmp(types[i], name) == 0) {
			snprintf(to, EXTRACT_TYPE, "%s", name);
			return true;
		}
	return false;
}

static uint64_t read_speaker(const char *p, const struct extract_line *lines, size_t n)
{
	char *end;
	unsigned long number = *p == 'p' ? strtoul(p + 1, &end, 10) : 0;

	for (size_t i = 0; number && !*end && i < n; i++)
		if (number_of(lines, n, lines[i].user) == number)
			return lines[i].user;
	return 0;
}

static bool is_letter(char c)
{
	return (unsigned char)c >= 0x80 || isalnum((unsigned char)c);
}

/* The first place where the text holds the name as a word. NULL: nowhere. */
static const char *find_name(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = text; n && (at = strcasestr(at, name)); at++)
		if ((at == text || !is_letter(at[-1])) && !is_letter(at[n]))
			return at;
	return NULL;
}

/* Of the people who spoke only the author is not named by the author's own words. */
static bool has_people(const struct extract_fact *fact, const char *text, const json_t *evidence,
		       const struct extract_line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const json_t *e;
		bool quoted = false;
		size_t k;

		if (lines[i].user == fact->user || !find_name(text, lines[i].name))
			continue;
		json_array_foreach(evidence, k, e)
		{
			quoted = quoted || find_name(text_at(e, "quote"), lines[i].name);
		}
		if (!quoted)
			return false;
	}
	return true;
}

static bool is_carried(const struct extract_fact *fact, const char *text, const json_t *evidence,
		       const struct extract_line *lines, size_t n)
{
	const char *author = "";

	for (size_t i = 0; i < n; i++)
		if (lines[i].user == fact->user)
			author = lines[i].name;
	return evidence_has_numbers(text, evidence) && evidence_has_words(text, author, evidence) &&
	       has_people(fact, text, evidence, lines, n);
}

/* The quotes mean what the fact says: it denies something if one of them does. */
static bool is_meant(const char *text, const json_t *evidence, const struct extract_line *lines,
		     size_t n)
{
	bool denied = false;
	const json_t *e;
	size_t i;

	json_array_foreach(evidence, i, e)
	{
		const struct extract_line *l = find_line(lines, n, json_object_get(e, "u"));
		enum evidence_sense sense =
			l ? evidence_sense(text, l->text, text_at(e, "quote")) : EVIDENCE_SUPPOSES;

		if (sense == EVIDENCE_SUPPOSES || sense == EVIDENCE_QUOTES_OTHER)
			return false;
		denied = denied || sense == EVIDENCE_DENIES;
	}
	return denied == evidence_is_negated(text);
}

static enum extract_refusal read_fact(const json_t *fact, const struct extract_line *lines,
				      size_t n, struct extract_fact *out)
{
	const json_t *evidence = json_object_get(fact, "evidence");
	const json_t *conf = json_object_get(fact, "conf");
	const char *text = text_at(fact, "text");
	enum extract_refusal why;

	*out = (struct extract_fact){.user = read_speaker(text_at(fact, "said_by"), lines, n)};
	if (!out->user || !read_type(text_at(fact, "kind"), out->type))
		return EXTRACT_REFUSAL_MALFORMED;
	if (conf && json_number_value(conf) < CONFIDENCE_MIN)
		return EXTRACT_REFUSAL_UNSURE;
	if (memory_check_text(text))
		return EXTRACT_REFUSAL_GUARDED;
	why = read_evidence(evidence, lines, n, out->user, out->evidence, &out->n_evidence);
	if (!why &&
	    (!is_carried(out, text, evidence, lines, n) || !is_meant(text, evidence, lines, n)))
		why = EXTRACT_REFUSAL_NO_EVIDENCE;
	snprintf(out->text, sizeof out->text, "%s", text);
	utf8_plain(out->text);
	return why;
}

/* ---- the summary ---- */

static bool has_speaker(const struct extract_sentence *s, const struct extract_line *lines,
			size_t n, const char *name)
{
	for (unsigned i = 0; i < s->n_evidence; i++)
		for (size_t k = 0; k < n; k++)
			if (lines[k].id == s->evidence[i] && strcasecmp(lines[k].name, name) == 0)
				return true;
	return false;
}

/* Anybody may take the name of somebody who is there. */
static bool is_of_one(const struct extract_line *lines, size_t n, const char *name)
{
	uint64_t user = 0;

	for (size_t i = 0; i < n; i++) {
		if (strcasecmp(lines[i].name, name) != 0)
			continue;
		if (user && lines[i].user != user)
			return false;
		user = lines[i].user;
	}
	return true;
}

/* "Ana agreed" has to rest on words of Ana's: the first person that a sentence names is the one of
 * whom it tells. Of two Anas it may tell of the other one. */
static bool has_words_of_subject(const struct extract_sentence *s, const struct extract_line *lines,
				 size_t n)
{
	const char *first = NULL, *subject = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *at = find_name(s->text, lines[i].name);

		if (at && (!first || at < first ||
			   (at == first && strlen(lines[i].name) > strlen(subject)))) {
			first = at;
			subject = lines[i].name;
		}
	}
	return !first || (is_of_one(lines, n, subject) && has_speaker(s, lines, n, subject));
}

static bool read_sentence(const json_t *sentence, const struct extract_line *lines, size_t n,
			  struct extract_sentence *out)
{
	const json_t *evidence = json_object_get(sentence, "evidence");

	*out = (struct extract_sentence){.text = text_at(sentence, "text")};
	return !memory_check_text(out->text) &&
	       read_evidence(evidence, lines, n, 0, out->evidence, &out->n_evidence) ==
		       EXTRACT_REFUSAL_NONE &&
	       evidence_has_numbers(out->text, evidence) && has_words_of_subject(out, lines, n);
}

static void add_sentence(struct extract_result *out, const struct extract_sentence *s)
{
	size_t n = strlen(out->summary);

	if (n + 1 + strlen(s->text) > MEMORY_TEXT_MAX)
		return;
	snprintf(out->summary + n, sizeof out->summary - n, "%s%s", n ? " " : "", s->text);
	for (unsigned i = 0; i < s->n_evidence; i++)
		out->summary_line[out->summary_lines++] = s->evidence[i];
}

/* Sentences without evidence are left out. The guard also reads the whole, because an order may be
 * spread over two sentences. */
static void read_summary(const json_t *sentences, const struct extract_line *lines, size_t n,
			 struct extract_result *out)
{
	struct extract_sentence s;
	const json_t *one;
	size_t i;

	json_array_foreach(sentences, i, one)
	{
		if (i < EXTRACT_SENTENCES && read_sentence(one, lines, n, &s))
			add_sentence(out, &s);
	}
	if (*out->summary && memory_check_text(out->summary)) {
		out->summary[0] = '\0';
		out->summary_lines = 0;
	}
	utf8_plain(out->summary);
}

bool extract_read(const char *answer, const struct extract_line *lines, size_t n,
		  struct extract_result *out)
{
	json_t *root = strlen(answer) > ANSWER_MAX ? NULL : json_loads(answer, 0, NULL), *fact;
	const json_t *facts = json_object_get(root, "facts");
	bool ok = json_is_array(facts);
	size_t i;

	*out = (struct extract_result){0};
	n = n < EXTRACT_LINES ? n : EXTRACT_LINES;
	json_array_foreach(facts, i, fact)
	{
		enum extract_refusal why;

		if (out->facts == EXTRACT_FACTS)
			break;
		why = read_fact(fact, lines, n, &out->fact[out->facts]);
		out->refused[why] += why != EXTRACT_REFUSAL_NONE;
		out->facts += why == EXTRACT_REFUSAL_NONE;
	}
	if (ok)
		read_summary(json_object_get(root, "summary"), lines, n, out);
	json_decref(root);
	return ok;
}
