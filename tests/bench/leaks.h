/* Shared by the files of the bench `leaks`: a memory of several servers whose texts tell where they
 * belong, questions that people put to it, and a judge of whatever these people are shown.
 *
 * leaks.c         the memory, the judge, and the searches of the store
 * leaks_voice.c   prompts and tools of voice sessions
 * leaks_text.c    prompts and tools of text chat, direct messages among them */
#ifndef TESTS_BENCH_LEAKS_H
#define TESTS_BENCH_LEAKS_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/random.h"

struct env;
struct settings;
struct store;
struct tools_run;

enum {
	LEAK_SERVERS = 4, /* ids 1, 2, …, with the same channels and people in each */
	LEAK_PEOPLE = 5,
	LEAK_ASKERS = 4,     /* the first of them ask */
	LEAK_WITHDRAWN = 3,  /* told things, and is not to be remembered any more */
	LEAK_BLOCKED = 4,    /* the same, and the settings block them */
	LEAK_OPEN = 31,	     /* this channel and the next: everybody may follow them */
	LEAK_CLOSED = 33,    /* this one and the next: not everybody may */
	LEAK_VOICE_END = 35, /* after the last of them */
	LEAK_THREAD = 35,    /* of the channel LEAK_CLOSED */
	LEAK_PLACES = 5,     /* channels and the thread */
	LEAK_WORDS = 96
};

/* Who asks, and where. */
struct leak_asker {
	uint64_t guild; /* 0: in direct messages */
	uint64_t channel, user;
	bool alone;   /* nobody but the bot hears what they are told */
	bool written; /* everybody in the channel reads it */
	bool raw;     /* the store's answer, whose lines nobody has asked the consent of yet */
};

/* What the shells share; everything is borrowed. */
struct leak_shell {
	struct env *env;
	struct settings *settings;
	struct store *store;
	uint64_t *seed;
};

/* What they are told. */
struct leak_count {
	unsigned leaks;	  /* texts that the asker may not be shown */
	unsigned shown;	  /* all texts of the memory */
	unsigned private; /* of their own memory, which they may be shown */
};

/* A question of anybody's about anything, anywhere. */
void leak_question(char words[LEAK_WORDS], uint64_t *seed);
/* The same as arguments of memory_search, or (lines) conversation_search. The caller frees them. */
char *leak_arguments(bool lines, uint64_t *seed);
uint64_t leak_person(unsigned p);
/* True if models may be told what this person said. */
bool leak_may_quote(uint64_t user);
/* True if every member of a server may follow this channel. */
bool leak_is_open(uint64_t channel);
/* Adds the texts of the memory that stand in what this asker is shown. */
void leak_judge(struct leak_count *c, const char *shown, const struct leak_asker *by);
/* Runs the loop until done says so. */
void leak_wait(struct env *env, bool (*done)(void *arg), void *arg);
/* The output of the turn's one call, which the caller frees. */
char *leak_output(struct env *env, struct tools_run *run, uint32_t turn);

/* Every answer of voice sessions to so many questions. */
void leaks_of_voice(const struct leak_shell *sh, unsigned questions, struct leak_count *prompts,
		    struct leak_count *tools);
/* The same of text chat. */
void leaks_of_text(const struct leak_shell *sh, unsigned questions, struct leak_count *prompts,
		   struct leak_count *tools);

#endif
