/* Side requests, which the conversation neither sees nor keeps (conversation.h). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/engine/core/conversation_state.h"

int conversation_aside(struct conversation *c, const struct conversation_input *in)
{
	const struct asked *a = conversation_asked(c, in->ask);
	struct conversation_output *o;

	if (!a || !c->caps.aside || c->asides_refused || !conversation_serves(c) ||
	    !conversation_serving(c)->echoes)
		return ENOTSUP;
	c->aside = (struct aside){.ask = in->ask};
	o = conversation_emit(c, CONVERSATION_DO_ASIDE);
	o->ask = in->ask;
	o->turn = a->turn;
	o->limit = CONVERSATION_ASIDE_TOKENS;
	o->text = in->text;
	return 0;
}

static void take_text(struct aside *aside, struct slice text)
{
	size_t room_left = sizeof aside->text - aside->n;

	if (text.n > room_left)
		text.n = room_left;
	if (text.n)
		memcpy(aside->text + aside->n, text.p, text.n);
	aside->n += text.n;
}

static void take_done(struct conversation *c, const struct conversation_input *in)
{
	struct conversation_output *o;

	if (in->usage) {
		o = conversation_emit(c, CONVERSATION_SAYS_USAGE);
		o->ask = in->ask;
		o->usage = in->usage;
	}
	if (in->ask != c->aside.ask)
		return;
	c->aside.ask = 0;
	if (!in->ok)
		return;
	o = conversation_emit(c, CONVERSATION_SAYS_ASIDE);
	o->ask = in->ask;
	o->text = (struct slice){(const uint8_t *)c->aside.text, c->aside.n};
}

bool conversation_take_aside(struct conversation *c, const struct conversation_input *in)
{
	struct aside *aside = &c->aside;

	switch (in->type) {
	case CONVERSATION_RESPONSE:
		if (in->aside && in->ask == aside->ask)
			snprintf(aside->response, sizeof aside->response, "%s", in->response);
		return in->aside;
	case CONVERSATION_TEXT:
		if (!*in->response || strcmp(aside->response, in->response) != 0)
			return false;
		if (aside->ask)
			take_text(aside, in->text);
		return true;
	case CONVERSATION_DONE:
		if (in->aside)
			take_done(c, in);
		return in->aside;
	case CONVERSATION_ERROR:
		if (in->aside && in->error != CONVERSATION_ERROR_FATAL) {
			c->asides_refused = true;
			aside->ask = 0;
			return true;
		}
		return false;
	default:
		return false;
	}
}
