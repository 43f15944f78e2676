#include "control/offline/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CLOSED PATTERN_CLOSED
#define OPEN   PATTERN_OPEN

static const struct pattern_slot slots[] = {
#define SLOT(sym, name, kind, spoken, written) {name, spoken, written, kind},
#include "control/offline/rules.def"
};

static const struct pattern_rule patterns[] = {
#define SPOKEN(intent, pattern)	 {pattern, true},
#define WRITTEN(intent, pattern) {pattern, false},
#include "control/offline/rules.def"
};

static const uint8_t intents[] = {
#define SPOKEN(intent, pattern)	 INTENT_##intent,
#define WRITTEN(intent, pattern) INTENT_##intent,
#include "control/offline/rules.def"
};

static const char *const names[] = {
#define INTENT(sym, name) name,
#include "control/offline/rules.def"
};

static const struct rule_sound sounds[] = {
#define SOUND(word, phones) {word, phones},
#include "control/offline/rules.def"
	{NULL, NULL},
};

struct rules {
	struct pattern_set *set;
};

int rules_alloc(struct rules **out)
{
	static const struct pattern_table table = {
		.slots = slots,
		.n_slots = RULE_SLOTS,
		.rules = patterns,
		.n_rules = sizeof patterns / sizeof *patterns,
		.lead = "<_lead>",
		.tail = "<_tail>",
	};
	struct rules *r = calloc(1, sizeof *r);
	int err;

	if (!r)
		return ENOMEM;
	err = pattern_compile(&r->set, &table, NULL);
	if (err) {
		rules_free(r);
		return err;
	}
	*out = r;
	return 0;
}

struct rules *rules_free(struct rules *r)
{
	if (!r)
		return NULL;
	pattern_free(r->set);
	free(r);
	return NULL;
}

int rules_read(const struct rules *r, const char *text, struct reading *out)
{
	int err;

	*out = (struct reading){.intent = INTENT_NONE};
	words_split(&out->words, text);
	if (!out->words.n || out->words.cut)
		return 0;
	err = pattern_match(r->set, &out->words, &out->match);
	if (err == ENOENT)
		return 0;
	if (!err)
		out->intent = (enum intent)intents[out->match.rule];
	return err;
}

const char *intent_name(enum intent intent)
{
	return (unsigned)intent < INTENT_COUNT ? names[intent] : "none";
}

bool intent_parse(const char *name, enum intent *out)
{
	for (unsigned i = 0; i < INTENT_COUNT; i++)
		if (strcmp(names[i], name) == 0) {
			*out = (enum intent)i;
			return true;
		}
	return false;
}

int rules_graph(const struct rules *r, struct pattern_graph *out)
{
	return pattern_graph(out, r->set);
}

const struct rule_sound *rules_sounds(void)
{
	return sounds;
}
