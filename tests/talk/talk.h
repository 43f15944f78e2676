/* The bridge between browsers and the room: serves the page, and makes each tab that joins a member
 * of the channel.
 *
 *   tab ── microphone (WebSocket) ──► person ──► its own mediad ──► guildd ──► the bot
 *   tab ◄── audio, members ────────── person ◄── …
 *   tab ◄── transcripts, reasons ──── event stream of control
 *
 * It listens only on 127.0.0.1 and refuses requests that do not come from its own page. */
#ifndef TESTS_TALK_TALK_H
#define TESTS_TALK_TALK_H

#include <stdint.h>

struct env;
struct talk;
struct ws_ctx;

enum { TALK_TABS = 8 };

/* Texts are borrowed for as long as it lives. */
struct talk_conf {
	struct env *env;
	struct ws_ctx *ws;
	const char *api;      /* guildd's control API, http://127.0.0.1:PORT */
	const char *ca_file;  /* guildd's */
	const char *mediad;   /* the program, one process a tab */
	const char *run_dir;  /* for their sockets */
	const char *control;  /* control's HTTP API, http://127.0.0.1:PORT */
	const char *token;    /* of that API */
	const char *page_dir; /* the page's files, read once */
	uint64_t guild, channel, bot;
	uint16_t port; /* 0: any */
};

/* *why: a sentence when it failed. Caller owns *out. */
int talk_alloc(struct talk **out, const struct talk_conf *conf, const char **why);
struct talk *talk_free(struct talk *t);
uint16_t talk_port(const struct talk *t);

#endif
