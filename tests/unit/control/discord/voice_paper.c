#include "tests/unit/control/discord/voice_paper.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/time.h"
#include "tests/test.h"

void paper_act(const struct voice_act *act, void *arg)
{
	struct paper *p = arg;

	switch (act->type) {
	case VOICE_ACT_OP4:
		p->channel = act->channel;
		if (act->channel)
			p->op4s++;
		else
			p->leaves++;
		break;
	case VOICE_ACT_LEASE:
		p->leases++;
		p->channel = act->channel;
		snprintf(p->token, sizeof p->token, "%s", act->token);
		snprintf(p->session, sizeof p->session, "%s", act->session);
		break;
	case VOICE_ACT_MOVED:
		p->moved++;
		break;
	case VOICE_ACT_LEFT:
		p->left++;
		break;
	case VOICE_ACT_FAILED:
		p->failed++;
		p->why = act->why;
		p->media_reason = act->media_reason;
		break;
	}
}

enum voice_reason paper_predict(uint64_t channel, void *arg)
{
	(void)channel;
	return ((struct paper *)arg)->predicted;
}

int paper_alloc(struct paper *p, bool online)
{
	int err;

	memset(p, 0, sizeof *p);
	p->now = 100 * NS_PER_S;
	err = voice_alloc(&p->v, paper_act, paper_predict, p);
	if (!err && online)
		voice_online(p->v, true, p->now);
	return err;
}

void paper_wait(struct paper *p)
{
	uint64_t at = voice_deadline(p->v);

	if (at != UINT64_MAX && at > p->now)
		p->now = at;
	voice_tick(p->v, p->now);
}

void paper_state(struct paper *p, uint64_t channel, const char *session)
{
	voice_own_state(p->v, channel, session, p->now);
}

void paper_server(struct paper *p, const char *token)
{
	voice_server(p->v, token, token ? "localhost:5000" : NULL, p->now);
}

/* Each is another: none is given twice. */
void paper_fresh_server(struct paper *p)
{
	static unsigned n;
	char token[16];

	snprintf(token, sizeof token, "fresh%u", n++);
	paper_server(p, token);
}

void paper_join(struct paper *p, uint64_t channel)
{
	voice_join(p->v, channel, false, p->now);
	paper_state(p, channel, "s1");
	paper_server(p, "t1");
}
