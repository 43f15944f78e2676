/* The web server and the shares of control, for benches of shared screens: one server and one voice
 * channel, in which the bot is. */
#ifndef TESTS_BENCH_SHARE_SERVER_H
#define TESTS_BENCH_SHARE_SERVER_H

#include <stdint.h>

#include "control/vision/vision.h"

struct bus;
struct env;
struct live_settings;
struct settings;
struct web;

enum { SHARE_GUILD = 1, SHARE_CHANNEL = 2 };

struct share_server {
	struct env *env;
	struct bus *bus;
	struct settings *settings;
	struct live_settings *live;
	struct web *web;
	struct vision *vision;
	/* The voice channel of a person. NULL: everybody is in SHARE_CHANNEL. */
	uint64_t (*channel_of)(uint64_t guild, uint64_t user, void *arg);
	const char *program; /* the token of programs that send pictures; NULL: there is none */
};

/* s has the settings, and what the callers want of the last two. Ends the bench if it fails. */
void share_server_open(struct share_server *s, struct env *env);
void share_server_close(struct share_server *s);
/* A connection to it from this loopback address, NULL for any. */
int share_server_dial(const struct share_server *s, const char *from);
void share_server_write(int fd, const void *data, size_t n);

#endif
