/* The script of a stand-in: which fault happens when.
 *
 * A line is a list of conditions and one action:
 *
 *   response 2 delay 500             the second response starts 500 ms late
 *   response 2 audio 3 abort         its third piece of sound is the last: the connection is reset
 *   connect * status 401 wrong key   every connection is refused
 *   at 3000 expire                   each session ends 3 s after it was opened
 *   answer code word => It is swan.  what the model says to a question that holds these words
 *   answer weather => call get_weather {"city":"Paris"}
 *
 * A condition is a trigger and how often it came, counted over the program's life (audio: in its
 * response); `*` is every time, and what a line without a number means. Empty lines and those that
 * begin with # are skipped. `build/standin --help` lists triggers and actions. */
#ifndef STANDINS_SCRIPT_H
#define STANDINS_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SI_TRIGGERS(X)                                                                             \
	X(CONNECT, "connect", "a connection, before anything is read from it")                     \
	X(OPEN, "open", "a session has begun")                                                     \
	X(UPDATE, "update", "a session gets its settings")                                         \
	X(COMMIT, "commit", "speech is committed for transcription")                               \
	X(ITEM, "item", "an item joins the conversation")                                          \
	X(RESPONSE, "response", "a request for an answer")                                         \
	X(AUDIO, "audio", "a piece of sound, or of streamed text, goes out")                       \
	X(CANCEL, "cancel", "an answer is cancelled")                                              \
	X(REQUEST, "request", "an HTTP request")

/* name, word, kind of the first argument, arguments as --help shows them, text */
#define SI_ACTIONS(X)                                                                              \
	X(DELAY, "delay", NUMBER, "MS", "waits before it answers")                                 \
	X(GAP, "gap", NUMBER, "MS",                                                                \
	  "waits between two pieces of an answer; 0, the default, is a burst")                     \
	X(LATE, "late", NUMBER, "N", "sends N more pieces after the answer was cancelled")         \
	X(SILENT, "silent", NONE, "", "never answers this")                                        \
	X(SAY, "say", TEXT, "TEXT", "answers so")                                                  \
	X(CALL, "call", WORD, "NAME JSON", "answers with a call of a tool")                        \
	X(ERROR, "error", WORD, "CODE TEXT", "answers with an error of this code")                 \
	X(FAIL, "fail", WORD, "CODE TEXT", "the answer begins and fails")                          \
	X(TRANSCRIPT, "transcript", TEXT, "TEXT", "hears this in the speech")                      \
	X(REASON, "reason", TEXT, "TEXT", "a text model thinks so before it answers")              \
	X(NODONE, "nodone", NONE, "", "a stream ends without its last event")                      \
	X(STATUS, "status", NUMBER, "N TEXT",                                                      \
	  "answers a request, or an upgrade, with this status")                                    \
	X(RETRY, "retry-after", NUMBER, "S", "a refusal by `status` asks to wait S seconds")       \
	X(RAW, "raw", TEXT, "TEXT", "sends this message")                                          \
	X(BYTES, "bytes", TEXT, "HEX", "sends these bytes as a text message")                      \
	X(HUGE, "huge", NUMBER, "N", "sends an event of N bytes")                                  \
	X(SPLIT, "split", NUMBER, "N",                                                             \
	  "sends messages in frames, and bodies in chunks, of N bytes")                            \
	X(SLOW, "slow", NUMBER, "N", "writes N bytes in a millisecond")                            \
	X(EXTRA, "extra", NONE, "", "sends unknown fields in all events, and unknown events")      \
	X(CLOSE, "close", NUMBER, "CODE TEXT", "closes the session so")                            \
	X(ABORT, "abort", NONE, "", "resets the connection")                                       \
	X(HALFOPEN, "halfopen", NONE, "", "neither reads nor writes any more")                     \
	X(EXPIRE, "expire", NONE, "", "the session reaches its limit")                             \
	X(GOAWAY, "goaway", NUMBER, "MS", "announces the end of the session, which comes after MS")

enum si_trigger {
#define X(name, word, text) SI_##name,
	SI_TRIGGERS(X)
#undef X
		SI_N_TRIGGERS,
	SI_AT, /* not counted: a time after SI_OPEN */
};
enum si_action {
#define X(name, word, kind, arguments, text) SI_DO_##name,
	SI_ACTIONS(X)
#undef X
		SI_N_ACTIONS,
};

struct si_script;

/* What a line does. Borrowed from the script. */
struct si_act {
	enum si_action action;
	uint32_t number;  /* the first argument of kind NUMBER, else 0 */
	const char *word; /* the first argument of kind WORD, else "" */
	const char *text; /* the rest of the line, "" without one */
	uint32_t at_ms;	  /* of a line with `at` */
};

/* Reads a text of n bytes. EINVAL: *line is the number of the wrong line and *why a sentence;
 * ENOMEM. Caller owns *out. */
int si_script_alloc(struct si_script **out, const char *text, size_t n, unsigned *line,
		    const char **why);
struct si_script *si_script_free(struct si_script *s);

/* Counts the trigger and writes at most max acts that are due now, which the script owns. Returns
 * their number. Pieces of sound are counted from 1 in each response. */
size_t si_script_fire(struct si_script *s, enum si_trigger t, const struct si_act **acts,
		      size_t max);
/* The lines with `at` of a session that opened. */
size_t si_script_times(const struct si_script *s, const struct si_act **acts, size_t max);
/* The answer to a question; NULL when no line has words of it. */
const char *si_script_answer(const struct si_script *s, const char *question);

#endif
