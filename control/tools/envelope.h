/* The output of a call for the model: one JSON object.
 *
 *   {"ok":true,"output":VALUE}                            VALUE: JSON, or a string
 *   {"ok":true,"output":"…","truncated":true}             it was longer than max_output
 *   {"ok":true,"untrusted":"…","output":VALUE}            the tool reads text of strangers
 *   {"ok":false,"error":{"code":"…","message":"…"}}
 *   {"ok":false,"error":{"code":"needs_yes","message":"…","question":"…"}}
 *
 * Pure. */
#ifndef CONTROL_TOOLS_ENVELOPE_H
#define CONTROL_TOOLS_ENVELOPE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/cursor.h"

enum { TOOL_SUMMARY_MAX = 224, TOOL_ARGUMENTS_MAX = 24000, TOOL_ERROR_MAX = 480 };

/* C(NAME, name, sentence): why a call failed. */
#define TOOL_CODES(C)                                                                              \
	C(OK, ok, "The call succeeded.")                                                           \
	C(UNKNOWN_TOOL, unknown_tool, "There is no such tool.")                                    \
	C(BAD_ARGUMENTS, bad_arguments, "The arguments are no JSON object of the tool's schema.")  \
	C(TOO_LARGE, too_large, "The arguments are too large.")                                    \
	C(LIMIT, limit, "No more calls in this turn: answer with what you have.")                  \
	C(BUSY, busy, "Too many calls are under way.")                                             \
	C(DENIED, denied, "The call is not allowed.")                                              \
	C(NEEDS_YES, needs_yes, "The speaker must agree first.")                                   \
	C(TIMEOUT, timeout, "The tool did not answer in time.")                                    \
	C(CANCELLED, cancelled,                                                                    \
	  "The call was cancelled, because the turn ended or was told to stop.")                   \
	C(NOT_RECORDED, not_recorded, "The call could not be recorded, so it was not made.")       \
	C(FAILED, failed, "The tool failed.")

enum tool_code {
#define C(NAME, name, text) TOOL_CODE_##NAME,
	TOOL_CODES(C)
#undef C
		TOOL_CODE_COUNT
};
const char *tool_code_name(enum tool_code code);
const char *tool_code_text(enum tool_code code);

/* The object as text; the caller frees it. NULL without memory. most: bytes of the output.
 * untrusted: the output is text of strangers. */
char *tool_envelope_output(struct slice text, size_t most, bool untrusted);
/* message "": the sentence of the code. */
char *tool_envelope_error(enum tool_code code, const char *message);
/* NEEDS_YES, with the question that the model has to say (control/tools/read_back.h). */
char *tool_envelope_ask(const char *message, const char *question);
/* The job goes on, and its result comes later. */
char *tool_envelope_running(uint32_t id);
/* One line for the context: the tool and its output or error, cut. buf: TOOL_SUMMARY_MAX. */
void tool_envelope_summary(const char *tool, const char *envelope, char *buf, size_t size);
/* The same line without the output, for tools that read text of strangers. */
void tool_envelope_bare_summary(const char *tool, enum tool_code code, char *buf, size_t size);
/* The envelope in at most `most` bytes; the caller frees it. Cuts a long output before the end of
 * its fence (control/tools/untrusted.h), so that the fence stays closed. NULL without memory. */
char *tool_envelope_cut(const char *envelope, size_t most);

/* The arguments as an object: JSON text, or JSON text within a JSON string, as some models write
 * it; "" counts as {}. NULL: malformed. The caller owns it. */
json_t *tool_arguments_read(struct slice text);

#endif
