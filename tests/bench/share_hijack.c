/* Tries to show a picture in somebody else's name: against the decisions of
 * control/vision/core/shares.h, a million times, and through the web server (share_requests.h).
 * Guessed tokens and cookies, tokens and cookies with one letter changed, tokens without a cookie,
 * cookies of other shares, expired links, links whose browser is there already, and races of two
 * browsers for one link in every order. share_hijack counts the pictures that were taken;
 * share_hijack_off those of the million that a server without the cookie would have taken. */
#include <stdlib.h>
#include <string.h>

#include "control/vision/core/shares.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/bench/share_requests.h"
#include "tests/random.h"

enum {
	TRIES = 1000000,
	REQUESTS = 20000,
	OWNERS = 200,
	GUILD = 1,
	CHANNEL = 10,
	FIRST = 1000,
	OPENED = 150
};
#define MINUTE (UINT64_C(60) * NS_PER_S)

static const struct share_rules rules = {
	.ttl = 12 * MINUTE, .frames_per_minute = 1000000000, .frame_bytes = 1000};
static struct shares table;
static struct share *shares[OWNERS];
static uint64_t seed = 1, now = 1, expired_at;

static uint64_t channel_of(uint64_t guild, uint64_t user, void *arg)
{
	(void)guild, (void)user, (void)arg;
	return CHANNEL;
}

static uint64_t bot_channel(uint64_t guild, void *arg)
{
	(void)guild, (void)arg;
	return CHANNEL;
}

static const struct share_world world = {channel_of, bot_channel, NULL};

static void make_secret(char out[SHARE_SECRET_SIZE])
{
	uint8_t bytes[SHARE_SECRET_BYTES];

	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)random_next(&seed);
	share_secret_write(out, bytes);
}

static bool open_link(const char *token, uint32_t browser)
{
	char key[SHARE_SECRET_SIZE];
	struct share *s;

	make_secret(key);
	return shares_open(&table, &rules, token, key, browser, now, &s) == SHARE_GRANTED;
}

static void make_shares(void)
{
	for (unsigned i = 0; i < OWNERS; i++) {
		const struct share_owner owner = {GUILD, CHANNEL, FIRST + i, FIRST + i, false};
		char token[SHARE_SECRET_SIZE];
		struct share_offered offered;

		make_secret(token);
		if (shares_offer(&table, &rules, &world, &owner, token, now, &offered))
			bench_die("a share was refused");
		shares[i] = offered.share;
		if (i < OPENED && !open_link(shares[i]->token, 0))
			bench_die("a link was refused");
	}
}

/* A picture with this token by the browser of this cookie. */
static bool show(const char *token, const char *cookie, uint64_t at)
{
	struct share *s;

	return shares_prove(&table, token, shares_match_key(&table, cookie), at, &s) ==
		       SHARE_GRANTED &&
	       shares_take(s, &rules, &world, &(struct share_frame){10, true}, at) == SHARE_GRANTED;
}

static void change_letter(char text[SHARE_SECRET_SIZE])
{
	char *p = &text[random_below(&seed, SHARE_SECRET_SIZE - 1)];

	*p = *p == 'A' ? 'B' : 'A';
}

/* One try; *off: without the cookie it would have been taken. */
static bool try_once(unsigned way, bool *off)
{
	struct share *s = shares[random_below(&seed, OPENED)];
	struct share *other = shares[random_below(&seed, OPENED)];
	char token[SHARE_SECRET_SIZE], cookie[SHARE_SECRET_SIZE];
	struct share *found;

	memcpy(token, s->token, sizeof token);
	memcpy(cookie, s->key, sizeof cookie);
	*off = false;
	switch (way) {
	case 0:
		make_secret(token);
		break;
	case 1:
		make_secret(cookie);
		break;
	case 2:
		change_letter(token);
		break;
	case 3:
		change_letter(cookie);
		break;
	case 4:
		cookie[0] = '\0';
		break;
	case 5:
		if (other == s)
			return false;
		memcpy(cookie, other->key, sizeof cookie);
		break;
	case 6: /* the token as the cookie, or the cookie as the token */
		memcpy(random_below(&seed, 2) ? cookie : token,
		       random_below(&seed, 2) ? s->token : s->key, sizeof token);
		if (strcmp(cookie, s->key) == 0 && strcmp(token, s->token) == 0)
			return false;
		break;
	default:
		return show(token, cookie, expired_at);
	}
	*off = shares_open(&table, &rules, token, "", s->id, now, &found) == SHARE_GRANTED;
	return show(token, cookie, now);
}

/* Two browsers open a fresh link in one order or the other, with requests of the slower one
 * between. Returns the pictures of the slower one. */
static unsigned race(unsigned i)
{
	struct share *s = shares[OPENED + i % (OWNERS - OPENED)];
	char token[SHARE_SECRET_SIZE], slow[SHARE_SECRET_SIZE];
	unsigned taken = 0;

	memcpy(token, s->token, sizeof token);
	memset(s->key, 0, sizeof s->key);
	make_secret(slow);
	for (unsigned step = 0; step < 4; step++) {
		if (step == 1 + i % 2 && !open_link(token, 0))
			bench_die("the first browser was refused");
		taken += show(token, slow, now);
		taken += step > 1 + i % 2 && open_link(token, shares_match_key(&table, slow));
	}
	return taken;
}

int main(void)
{
	struct share_requests requests;
	unsigned hijacked = 0, off = 0;

	make_shares();
	expired_at = now + rules.ttl;
	for (unsigned i = 0; i < TRIES; i++) {
		bool would;

		hijacked += try_once(i % 8, &would);
		off += would;
		if (i % 100 == 0)
			hijacked += race(i / 100);
	}
	requests = share_requests_run(REQUESTS);
	bench_row_more("share_hijack", hijacked + requests.taken, "", "\"n\": %d, \"requests\": %u",
		       TRIES, requests.tries);
	bench_row_more("share_hijack_off", 100.0 * off / TRIES, "%", "\"n\": %d", TRIES);
	return 0;
}
