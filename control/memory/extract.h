/* Extraction: the request that asks a model for the facts of a past conversation and a summary of
 * it, and the checks of its result. Pure.
 *
 * A model invents quotes, mixes up speakers and obeys what it reads. So a fact is kept only if code
 * finds its evidence: each quote is a part of the utterance that it names, the author of the fact
 * said that utterance, the quotes carry the fact (evidence.h), and the guard (guard.h) takes the
 * text. The lines are people's own words; the bot's lines, outputs of tools and recalled text are
 * not among them, so that nothing is extracted twice. Each sentence of a summary needs the same
 * evidence, by any of the speakers, and the person whom it names first must be one of them; other
 * sentences are left out. */
#ifndef CONTROL_MEMORY_EXTRACT_H
#define CONTROL_MEMORY_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/memory/guard.h"

enum {
	EXTRACT_LINES = 400, /* of a request */
	EXTRACT_FACTS = 20,  /* of a result */
	EXTRACT_EVIDENCE = 4,
	EXTRACT_TYPE = 16,
	EXTRACT_SENTENCES = 6, /* of a summary */
};

/* R(NAME, name): why a fact of a result is not kept. */
#define EXTRACT_REFUSALS(R)                                                                        \
	R(NONE, none)                                                                              \
	R(MALFORMED, malformed)                                                                    \
	R(NO_EVIDENCE, no_evidence)                                                                \
	R(WRONG_SPEAKER, wrong_speaker)                                                            \
	R(GUARDED, guarded)                                                                        \
	R(UNSURE, unsure)

enum extract_refusal {
#define R(NAME, name) EXTRACT_REFUSAL_##NAME,
	EXTRACT_REFUSALS(R)
#undef R
		EXTRACT_REFUSAL_COUNT
};

/* An utterance. Strings are borrowed for the call. */
struct extract_line {
	uint64_t id, user, at_ms;
	const char *name, *text;
};

struct extract_fact {
	uint64_t user; /* who said it */
	char type[EXTRACT_TYPE];
	char text[MEMORY_TEXT_MAX + 1];
	uint64_t evidence[EXTRACT_EVIDENCE]; /* ids of utterances */
	unsigned n_evidence;
};

struct extract_result {
	unsigned facts;
	struct extract_fact fact[EXTRACT_FACTS];
	char summary[MEMORY_TEXT_MAX + 1]; /* "": none */
	/* The utterances that it rests on; one may stand there twice. */
	uint64_t summary_line[EXTRACT_SENTENCES * EXTRACT_EVIDENCE];
	unsigned summary_lines;
	unsigned refused[EXTRACT_REFUSAL_COUNT];
};

/* JSON Schema of the answer, for providers that hold a model to one. Code checks the answer all
 * the same. */
extern const char extract_schema[];

const char *extract_refusal_name(enum extract_refusal refusal);
/* The conversation as JSON, for the prompt: people as "p1", "p2", their utterances with ids. At
 * most EXTRACT_LINES lines. The caller frees it. NULL without memory. */
char *extract_request(const struct extract_line *lines, size_t n);
/* Reads what the model answered about these lines. False: it is no such JSON; *out is empty then.
 */
bool extract_read(const char *answer, const struct extract_line *lines, size_t n,
		  struct extract_result *out);

#endif
