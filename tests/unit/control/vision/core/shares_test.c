#include "control/vision/core/shares.h"

#include "proto/base/time.h"
#include "tests/random.h"
#include "tests/test.h"

enum { GUILD = 7, CHANNEL = 70, ALICE = 501, BOB = 502, MINUTES = 12 };
#define MINUTE (UINT64_C(60) * NS_PER_S)

static const struct share_rules rules = {
	.ttl = MINUTES * MINUTE, .frames_per_minute = 5, .frame_bytes = 1000};
static struct shares table;
static uint64_t alice_in, bob_in, bot_in, seed;

static uint64_t channel_of(uint64_t guild, uint64_t user, void *arg)
{
	(void)arg;
	return guild != GUILD ? 0 : user == ALICE ? alice_in : user == BOB ? bob_in : 0;
}

static uint64_t bot_channel(uint64_t guild, void *arg)
{
	(void)arg;
	return guild == GUILD ? bot_in : 0;
}

static const struct share_world world = {channel_of, bot_channel, NULL};
static const struct share_owner alice = {GUILD, CHANNEL, ALICE, ALICE, false},
				alice_of_bob = {GUILD, CHANNEL, ALICE, BOB, false},
				bob = {GUILD, CHANNEL, BOB, BOB, false};

static void begin(void)
{
	memset(&table, 0, sizeof table);
	alice_in = bob_in = bot_in = CHANNEL;
	seed = 5;
}

static const char *make_secret(char out[SHARE_SECRET_SIZE])
{
	uint8_t bytes[SHARE_SECRET_BYTES];

	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)random_next(&seed);
	share_secret_write(out, bytes);
	return out;
}

static enum share_refusal offer(const struct share_owner *owner, uint64_t now, struct share **s,
				bool *reused)
{
	struct share_offered offered;
	char token[SHARE_SECRET_SIZE];
	enum share_refusal refusal =
		shares_offer(&table, &rules, &world, owner, make_secret(token), now, &offered);

	if (refusal)
		return refusal;
	*s = offered.share;
	*reused = offered.reused;
	return SHARE_GRANTED;
}

static enum share_refusal open_link(const char *token, uint32_t browser, uint64_t now,
				    struct share **s)
{
	char key[SHARE_SECRET_SIZE];

	return shares_open(&table, &rules, token, make_secret(key), browser, now, s);
}

static enum share_refusal take(struct share *s, size_t bytes, uint64_t now)
{
	return shares_take(s, &rules, &world,
			   &(struct share_frame){.bytes = bytes, .known_type = true}, now);
}

TEST(rule_115_share_tokens_give_their_reason)
{
	struct share *s, *other;
	char token[SHARE_SECRET_SIZE];
	bool reused;

	begin();
	CHECK_INT(offer(&alice, 1, &s, &reused), SHARE_GRANTED);
	memcpy(token, s->token, sizeof token);
	CHECK_INT(strlen(token), 24);
	/* Unknown. */
	CHECK_INT(open_link("AAAAAAAAAAAAAAAAAAAAAAAA", 0, 2, &other), SHARE_UNKNOWN);
	CHECK_INT(open_link("", 0, 2, &other), SHARE_UNKNOWN);
	CHECK_INT(open_link("A", 0, 2, &other), SHARE_UNKNOWN);
	CHECK_STR(share_refusal_code(SHARE_UNKNOWN), "share_session_not_found");
	/* Expired. */
	CHECK_INT(open_link(token, 0, 1 + rules.ttl, &other), SHARE_UNKNOWN);
	CHECK_INT(open_link(token, 0, 3, &s), SHARE_GRANTED);
	/* Of another channel. */
	alice_in = CHANNEL + 1;
	CHECK_INT(take(s, 10, 4), SHARE_AWAY);
	CHECK_STR(share_refusal_code(SHARE_AWAY), "requester_not_in_same_vc");
	alice_in = CHANNEL;
	bot_in = CHANNEL + 1;
	CHECK_INT(take(s, 10, 4), SHARE_NOT_WATCHED);
	CHECK_STR(share_refusal_code(SHARE_NOT_WATCHED), "watch_not_active");
	bot_in = CHANNEL;
	/* Too large. */
	CHECK_INT(take(s, 1001, 5), SHARE_TOO_LARGE);
	CHECK_STR(share_refusal_code(SHARE_TOO_LARGE), "frame_too_large");
	/* Too frequent: the refused one of before counts, too. */
	for (unsigned i = 0; i < 4; i++)
		CHECK_INT(take(s, 1000, 6 + i), SHARE_GRANTED);
	CHECK_INT(take(s, 1000, 11), SHARE_TOO_OFTEN);
	CHECK_STR(share_refusal_code(SHARE_TOO_OFTEN), "frame_rate_limited");
	CHECK_INT(take(s, 1000, 4 + MINUTE), SHARE_GRANTED);
	CHECK_INT(s->frames, 5);
}

/* A stream may consist of key frames, 30 in a second. */
TEST(shares_of_streams_keep_their_pictures_for_the_whole_minute)
{
	static const unsigned most[] = {10, 180, 600};
	const uint64_t every = 1200, frame = NS_PER_S / 30;

	for (unsigned i = 0; i < sizeof most / sizeof most[0]; i++) {
		struct share_rules r = rules;
		uint64_t last = 0, longest = 0;
		struct share *s;
		bool reused;

		begin();
		r.frames_per_minute = most[i];
		r.spacing = shares_spacing(every, most[i]);
		CHECK_INT(offer(&alice, 1, &s, &reused), SHARE_GRANTED);
		for (uint64_t now = frame; now < 3 * MINUTE; now += frame) {
			if (!shares_due(s, &r, now))
				continue;
			CHECK_INT(shares_take(s, &r, &world, &(struct share_frame){10, true}, now),
				  SHARE_GRANTED);
			longest = last && now - last > longest ? now - last : longest;
			last = now;
		}
		CHECK(longest <= (most[i] < 60 ? MINUTE / most[i] : every * NS_PER_MS) + frame);
	}
}

TEST(shares_of_a_target_need_the_target)
{
	struct share *s;
	bool reused;

	begin();
	CHECK_INT(offer(&alice_of_bob, 1, &s, &reused), SHARE_GRANTED);
	bob_in = 0;
	CHECK_INT(take(s, 10, 2), SHARE_TARGET_AWAY);
	CHECK_STR(share_refusal_code(SHARE_TARGET_AWAY), "target_user_not_in_same_vc");
	CHECK_INT(offer(&bob, 2, &s, &reused), SHARE_AWAY);
	CHECK_INT(offer(&alice_of_bob, 2, &s, &reused), SHARE_TARGET_AWAY);
}

TEST(shares_take_pictures_of_known_types_alone)
{
	struct share *s;
	bool reused;

	begin();
	CHECK_INT(offer(&alice, 1, &s, &reused), SHARE_GRANTED);
	CHECK_INT(shares_take(s, &rules, &world, &(struct share_frame){.bytes = 1}, 2),
		  SHARE_BAD_TYPE);
	CHECK_STR(share_refusal_code(SHARE_BAD_TYPE), "invalid_mime_type");
	CHECK_INT(share_refusal_status(SHARE_BAD_TYPE), 415);
	CHECK_INT(s->frames, 0);
}

TEST(share_links_belong_to_the_first_browser)
{
	struct share *s, *other;
	char token[SHARE_SECRET_SIZE], key[SHARE_SECRET_SIZE];
	bool reused;

	begin();
	CHECK_INT(offer(&alice, 1, &s, &reused), SHARE_GRANTED);
	memcpy(token, s->token, sizeof token);
	/* The token alone proves nothing, before and after the link is opened. */
	CHECK_INT(shares_prove(&table, token, 0, 2, &other), SHARE_TAKEN);
	CHECK_INT(shares_match_key(&table, ""), 0);
	CHECK_INT(open_link(token, 0, 3, &other), SHARE_GRANTED);
	memcpy(key, s->key, sizeof key);
	CHECK_INT(shares_match_key(&table, key), s->id);
	CHECK_INT(shares_match_key(&table, token), 0);
	CHECK_INT(shares_prove(&table, token, 0, 4, &other), SHARE_TAKEN);
	CHECK_INT(shares_prove(&table, token, s->id + 1, 4, &other), SHARE_TAKEN);
	CHECK_INT(shares_prove(&table, token, s->id, 4, &other), SHARE_GRANTED);
	/* Another browser is too late; the same one may reload, and keeps its key. */
	CHECK_INT(open_link(token, 0, 5, &other), SHARE_TAKEN);
	CHECK_INT(open_link(token, s->id, 5, &other), SHARE_GRANTED);
	CHECK_STR(s->key, key);
	shares_end(s);
	CHECK_INT(shares_match_key(&table, key), 0);
	CHECK_INT(shares_prove(&table, token, 1, 6, &other), SHARE_UNKNOWN);
}

TEST(shares_are_reused_by_owner)
{
	struct share *s, *again, *third;
	char token[SHARE_SECRET_SIZE];
	bool reused;

	begin();
	CHECK_INT(offer(&alice, 1, &s, &reused), SHARE_GRANTED);
	CHECK(!reused);
	memcpy(token, s->token, sizeof token);
	CHECK_INT(offer(&alice, 2, &again, &reused), SHARE_GRANTED);
	CHECK(reused && again == s && strcmp(token, s->token) == 0);
	CHECK_INT(offer(&alice_of_bob, 2, &third, &reused), SHARE_GRANTED);
	CHECK(!reused && third != s);
	/* Opened and closed again: there is a new link, and the old browser is out. */
	CHECK_INT(open_link(token, 0, 3, &s), SHARE_GRANTED);
	CHECK_INT(offer(&alice, 4, &again, &reused), SHARE_GRANTED);
	CHECK(reused && again == s && strcmp(token, s->token) != 0 && !*s->key);
}

TEST(a_new_link_shuts_out_who_opened_the_first_and_shows)
{
	struct share *s, *again, *found;
	char token[SHARE_SECRET_SIZE], key[SHARE_SECRET_SIZE];
	bool reused;

	begin();
	CHECK_INT(offer(&alice, 1, &s, &reused), SHARE_GRANTED);
	memcpy(token, s->token, sizeof token);
	CHECK_INT(open_link(token, 0, 2, &s), SHARE_GRANTED);
	memcpy(key, s->key, sizeof key);
	CHECK_INT(take(s, 10, 3), SHARE_GRANTED);
	shares_touch(s, &rules, false, 4);
	CHECK_INT(offer(&alice, 5, &again, &reused), SHARE_GRANTED);
	CHECK(reused && again == s && strcmp(token, s->token) != 0);
	CHECK_INT(s->state, SHARE_OFFERED);
	CHECK_INT(shares_match_key(&table, key), 0);
	CHECK_INT(shares_prove(&table, token, s->id, 6, &found), SHARE_UNKNOWN);
	CHECK_INT(open_link(s->token, 0, 7, &found), SHARE_GRANTED);
	CHECK_INT(shares_prove(&table, s->token, shares_match_key(&table, s->key), 8, &found),
		  SHARE_GRANTED);
	CHECK(found == s);
}

TEST(shares_are_no_more_than_their_places)
{
	struct share_owner owner = alice;
	struct share *s;
	bool reused;

	begin();
	for (unsigned i = 0; i < SHARES_MAX; i++) {
		owner.guild = GUILD;
		owner.target = ALICE;
		owner.requester = ALICE;
		owner.channel = CHANNEL;
		table.v[i].id = i + 1;
		table.v[i].expires = 100 + i;
	}
	CHECK_INT(offer(&owner, 50, &s, &reused), SHARE_FULL);
	CHECK(shares_expired(&table, 99) == NULL);
	CHECK(shares_expired(&table, 101) == &table.v[0]);
	shares_end(shares_expired(&table, 101));
	CHECK_INT(offer(&owner, 101, &s, &reused), SHARE_GRANTED);
}

TEST(shares_last_while_their_page_is_there)
{
	struct share *s;
	bool reused;

	begin();
	CHECK_INT(offer(&alice, 1, &s, &reused), SHARE_GRANTED);
	CHECK_INT(open_link(s->token, 0, 2, &s), SHARE_GRANTED);
	CHECK_INT(s->state, SHARE_OPENED);
	CHECK_INT(take(s, 10, MINUTE), SHARE_GRANTED);
	CHECK_INT(s->state, SHARE_SHOWING);
	CHECK(s->expires == MINUTE + rules.ttl);
	shares_touch(s, &rules, true, 2 * MINUTE);
	CHECK_INT(s->state, SHARE_PAUSED);
	CHECK(s->expires == 2 * MINUTE + rules.ttl);
	/* One that was under way. */
	CHECK_INT(take(s, 10, 2 * MINUTE + 1), SHARE_NOT_WATCHED);
	CHECK_INT(s->state, SHARE_PAUSED);
	shares_touch(s, &rules, false, 3 * MINUTE);
	CHECK_INT(s->state, SHARE_OPENED);
	CHECK_INT(take(s, 10, 3 * MINUTE + 1), SHARE_GRANTED);
	CHECK_STR(share_state_name(SHARE_PAUSED), "paused");
}

TEST(shares_are_found_by_their_target)
{
	struct share *s, *found;
	bool reused;

	begin();
	CHECK_INT(shares_find_target(&table, GUILD, ALICE, 1, &found), SHARE_NOT_WATCHED);
	CHECK_INT(offer(&alice, 1, &s, &reused), SHARE_GRANTED);
	CHECK_INT(shares_find_target(&table, GUILD, ALICE, 2, &found), SHARE_GRANTED);
	CHECK(found == s);
	CHECK_INT(shares_find_target(&table, GUILD, BOB, 2, &found), SHARE_OTHER_TARGET);
	CHECK_STR(share_refusal_code(SHARE_OTHER_TARGET), "target_user_mismatch");
	CHECK_INT(shares_find_target(&table, GUILD + 1, ALICE, 2, &found), SHARE_NOT_WATCHED);
	s->watched = false;
	CHECK_INT(shares_find_target(&table, GUILD, ALICE, 2, &found), SHARE_NOT_WATCHED);
	CHECK_INT(take(s, 10, 3), SHARE_NOT_WATCHED);
}
