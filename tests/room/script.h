/* The scenario language (docs/scenarios.md). Parses a text into a list of lines: actions with their
 * times, expectations, settings and statements. Plays nothing and knows no names.
 *
 * The grammar of an action is a row of SCRIPT_ACTIONS: plain words stand for themselves, NAME for a
 * person, WORD for one word, TEXT for "quoted words", N for a number. The first row that fits
 * counts, so rows that begin with a plain word come first. Options follow in any order, each once.
 */
#ifndef TESTS_ROOM_SCRIPT_H
#define TESTS_ROOM_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIPT_ACTIONS(A)                                                                          \
	A(JOIN, "join NAME", 0)                                                                    \
	A(BOT, "bot NAME joins", 0)                                                                \
	A(TRANSCRIPTS_TAKE, "transcripts take N", 0)                                               \
	A(TRANSCRIPTS_MANUAL, "transcripts manual", 0)                                             \
	A(TRANSCRIPTS_FAIL, "transcripts fail", 0)                                                 \
	A(TRANSCRIPTS_WORK, "transcripts work", 0)                                                 \
	A(PARTIALS_EVERY, "partials every N", 0)                                                   \
	A(BRAIN_SAYS, "brain says TEXT", SCRIPT_FOR)                                               \
	A(BRAIN_STARTS, "brain starts TEXT", SCRIPT_FOR)                                           \
	A(BRAIN_WRITES, "brain writes TEXT", 0)                                                    \
	A(BRAIN_DONE, "brain done", 0)                                                             \
	A(BRAIN_FAILS, "brain fails", 0)                                                           \
	A(BRAIN_ANSWERS, "brain answers TEXT", SCRIPT_FOR | SCRIPT_AFTER)                          \
	A(PLAYBACK_MANUAL, "playback manual", 0)                                                   \
	A(PLAYBACK_STARTS, "playback starts", 0)                                                   \
	A(PLAYBACK_DRAINS, "playback drains", 0)                                                   \
	A(PLAYBACK_STOPS, "playback stops", SCRIPT_FOR)                                            \
	A(PLAYBACK_FAILS, "playback fails", 0)                                                     \
	A(CALL_UP, "call up", 0)                                                                   \
	A(CALL_DOWN, "call down", 0)                                                               \
	A(MUTE, "mute", 0)                                                                         \
	A(UNMUTE, "unmute", 0)                                                                     \
	A(SHUTDOWN, "shutdown", 0)                                                                 \
	A(SETTING, "setting WORD TEXT", 0)                                                         \
	A(EVENT, "event WORD", SCRIPT_FIELDS)                                                      \
	A(WAIT, "wait", 0)                                                                         \
	A(LEAVES, "NAME leaves", 0)                                                                \
	A(SPEAKS, "NAME speaks TEXT", SCRIPT_LEVEL | SCRIPT_QUIETLY)                               \
	A(SAYS, "NAME says TEXT", SCRIPT_FOR | SCRIPT_LEVEL | SCRIPT_QUIETLY)                      \
	A(STOPS, "NAME stops", 0)                                                                  \
	A(PARTIAL, "NAME partial TEXT", 0)                                                         \
	A(TRANSCRIPT, "NAME transcript TEXT", 0)                                                   \
	A(TRANSCRIPT_FAILS, "NAME transcript fails", 0)

enum script_what {
#define X(NAME, form, options) SCRIPT_##NAME,
	SCRIPT_ACTIONS(X)
#undef X
		SCRIPT_EXPECT, /* outside the table: not at a time of its own */
};

/* for N (ms), level N (amplitude), after N (ms), quietly; fields: member=value … of a raw event. */
enum { SCRIPT_FOR = 1, SCRIPT_LEVEL = 2, SCRIPT_AFTER = 4, SCRIPT_QUIETLY = 8, SCRIPT_FIELDS = 16 };

enum {
	SCRIPT_BYTES = 65536, /* of a text */
	SCRIPT_LINES = 4096,
	SCRIPT_TOKENS = 24,
	SCRIPT_NAME = 32,
	SCRIPT_RULES = 64,
	SCRIPT_MS = 100000000, /* the last time, a day and some */
	SCRIPT_RULE_MAX = 164,
	SCRIPT_WITHIN_MS = 3000, /* of an expectation that does not say */
};

/* A word, or a quoted text without its quotes. Borrowed from the script. */
struct script_token {
	const char *text;
	bool quoted;
};

struct script_line {
	unsigned number;
	enum script_what what;
	uint64_t ms;	  /* of an action */
	const char *name; /* NAME */
	const char *word; /* WORD */
	const char *text; /* TEXT; "" when there is none */
	uint64_t n;	  /* N */
	unsigned given;	  /* options */
	uint64_t lasts, level, after;
	bool no;		/* expect no … */
	uint64_t within, times; /* times: 0 = at least once */
	unsigned tokens;	/* of an expectation, or the fields of an event */
	struct script_token token[SCRIPT_TOKENS];
};

struct script {
	char *text; /* what the tokens point into */
	unsigned n;
	struct script_line *line;
	unsigned rules;
	unsigned rule[SCRIPT_RULES];
};

/* EBADMSG with "LINE: what is wrong" in err; ENOMEM. Caller owns *out. */
int script_parse(struct script **out, const char *text, size_t n, char *err, size_t size);
struct script *script_free(struct script *s);
/* The rows of SCRIPT_ACTIONS; NULL past the last. */
const char *script_form(unsigned what);

#endif
