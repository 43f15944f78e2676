/* A conversation under test, and a script for its provider and its owner: what went out is noted as
 * one line of words. For the tests of control/engine/core/conversation*.c. */
#ifndef TESTS_UNIT_CONVERSE_H
#define TESTS_UNIT_CONVERSE_H

#include "control/engine/core/conversation.h"
#include "proto/base/time.h"

extern struct converse {
	struct conversation *c;
	struct conversation_outputs out;
	uint64_t now;
	char log[8192]; /* "connect respond:1 audio:1:480 …" of all outputs */
} converse;

int converse_step(struct conversation_input in);
void converse_pass(uint64_t ms);
struct conversation_caps converse_all_caps(void);
int converse_begin_as(struct conversation_caps caps);
int converse_begin(void);
void converse_end(void);
void converse_come_up(void);
void converse_begin_up(void);
int converse_ask_line(uint32_t id, uint32_t turn, const char *text, bool again);
void converse_created(const char *response, uint32_t ask);
void converse_audio(const char *response, const char *item, size_t n);
void converse_done(const char *response, uint32_t ask, bool ok);
void converse_refuse(uint32_t ask, enum conversation_error error);
void converse_act(enum conversation_input_type type, uint32_t n);
const char *converse_said(void);
struct conversation_caps converse_plain_caps(void);

#endif
