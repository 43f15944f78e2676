/* Shared by the files of the Gemini Live codec (realtime.h). For control/dialect/gemini*.c only.
 *
 * Source: Gemini API reference, BidiGenerateContent. The wire has no ids of answers and no cancel.
 *
 *   answer     message                                       next      facts
 *   NONE       content of the model                          RUNS      RESPONSE, and the content
 *   RUNS       interrupted                                   RUNS      INTERRUPTED
 *   RUNS       generationComplete, or a tool call            ENDS      DONE
 *   RUNS       turnComplete                                  NONE      DONE
 *   ENDS       turnComplete, interrupted                     NONE      late usage
 *   NONE       turnComplete while an answer is awaited       NONE      RESPONSE, DONE: it is silent
 *
 * Transcriptions of what is said have no place in this order. Words that come between two answers
 * are those of the next one, unless the one before was cut, or this service marks the end of its
 * transcriptions and has not done so for that one; within an answer they are its own, except for a
 * first mark of an end while the one before has none.
 *
 * So what comes late of a cut answer still has that answer's id, and a DONE does not wait for the
 * playback that the service imagines between generationComplete and turnComplete.
 *
 * Anything in clientContent interrupts a running answer. The codec therefore keeps the lines of the
 * conversation until the next request for an answer, or until somebody begins to speak. */
#ifndef CONTROL_DIALECT_GEMINI_H
#define CONTROL_DIALECT_GEMINI_H

#include <jansson.h>

#include "control/dialect/realtime.h"

enum {
	GEMINI_ASKED = 8,
	GEMINI_TURNS = 256,  /* lines that wait; the oldest go first */
	GEMINI_HEARD = 4096, /* bytes of an input transcript */
};

enum gemini_answer { GEMINI_NONE, GEMINI_RUNS, GEMINI_ENDS };

/* Small, so that a malformed message can be undone. */
struct gemini_state {
	enum gemini_answer answer;
	bool dropped;	  /* nobody requested this answer */
	bool interrupted; /* since the last turnComplete */
	bool calling;	  /* it ended with calls of tools */
	bool cut;	  /* the last answer was interrupted before its turnComplete */
	bool said;	  /* words of this answer came */
	bool transcribed; /* and the last of them */
	bool open_before; /* words of the answer before may still come */
	bool passed_mark; /* a mark of an end went to the answer before */
	bool marks_ends;  /* the service says which words are the last */
	unsigned answers; /* count: the id of the one that runs */
	struct {
		uint32_t ask;
		bool drop;
	} asked[GEMINI_ASKED]; /* answers that are awaited, in order */
	unsigned n_asked;
	uint32_t last_ask; /* of the answer that began last */
	unsigned calls;	   /* of tools, without a result */
	unsigned inputs;   /* count of the speakers' turns: the id of the last */
	size_t heard;	   /* bytes of its transcript */
	bool heard_named;
};

struct gemini_codec {
	char *url, *model, *voice;
	uint32_t rate_in;
	bool text_only;
	json_t *turns; /* lines that wait */
	struct gemini_state state;
	char heard[GEMINI_HEARD];
};

/* An answer is awaited; drop: nobody wants it. */
void gemini_await(struct gemini_codec *c, uint32_t ask, bool drop);

int gemini_encode(void *codec, const struct realtime_command *cmd, realtime_send_h *h, void *arg);
int gemini_decode(void *codec, bool text, const uint8_t *msg, size_t n,
		  struct realtime_facts *facts);
enum trouble gemini_trouble(const uint8_t *why, size_t n);

#endif
