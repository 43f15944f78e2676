/* A joining machine on paper: counts its acts and plays Discord's events to it. */
#ifndef TESTS_VOICE_PAPER_H
#define TESTS_VOICE_PAPER_H

#include "control/discord/voice.h"

struct paper {
	struct voice *v;
	uint64_t now;
	unsigned op4s, leaves, leases, moved, left, failed;
	uint64_t channel; /* of the last op 4 or lease */
	char token[64], session[64];
	enum voice_reason why, predicted;
	unsigned media_reason;
};

/* 100 s after the clock's begin. online: the main gateway is up. */
int paper_alloc(struct paper *p, bool online);
/* To the next deadline. */
void paper_wait(struct paper *p);
/* The bot's own voice state; a server update with this token, NULL for none, or with a new one. */
void paper_state(struct paper *p, uint64_t channel, const char *session);
void paper_server(struct paper *p, const char *token);
void paper_fresh_server(struct paper *p);
/* A first join that is answered with a lease. */
void paper_join(struct paper *p, uint64_t channel);
void paper_act(const struct voice_act *act, void *arg);
enum voice_reason paper_predict(uint64_t channel, void *arg);

#endif
