/* Descriptions that are kept, and how many there may be. */
#include "control/attachments/captions.h"

#include <string.h>

#include "proto/base/time.h"
#include "tests/test.h"

static struct captions *c;
static const uint8_t hash_a[CAPTION_HASH] = {1}, hash_b[CAPTION_HASH] = {2};

static void begin(void)
{
	CHECK_INT(captions_alloc(&c), 0);
}

static void keep_at(uint64_t now, uint64_t guild, uint64_t message, uint64_t user,
		    const uint8_t *hash, const char *text)
{
	struct caption k = {.guild = guild, .message = message, .user = user, .text = text};

	memcpy(k.hash, hash, sizeof k.hash);
	captions_keep(c, &k, now);
}

static void keep(uint64_t guild, uint64_t message, uint64_t user, const uint8_t *hash,
		 const char *text)
{
	keep_at(0, guild, message, user, hash, text);
}

TEST(the_same_image_is_described_once_an_hour_in_a_server)
{
	begin();
	keep(7, 50, 501, hash_a, "a cat");
	CHECK_STR(captions_find(c, 7, hash_a, 10 * NS_PER_S), "a cat");
	CHECK(!captions_find(c, 7, hash_b, 0));
	CHECK(!captions_find(c, 8, hash_a, 0));
	CHECK(!captions_find(c, 7, hash_a, 3600 * NS_PER_S));
	CHECK_INT(captions_count(c), 0);
	captions_free(c);
}

/* Also one that nobody asks for again. */
TEST(descriptions_go_after_an_hour)
{
	begin();
	keep(7, 50, 501, hash_a, "a cat");
	CHECK(!captions_find(c, 7, hash_b, 3600 * NS_PER_S - 1));
	CHECK_INT(captions_count(c), 1);
	CHECK(!captions_find(c, 7, hash_b, 3600 * NS_PER_S));
	CHECK_INT(captions_count(c), 0);
	keep(7, 50, 501, hash_a, "a cat");
	keep_at(3600 * NS_PER_S, 7, 51, 502, hash_b, "a dog");
	CHECK_INT(captions_count(c), 1);
	captions_drop_old(c, 7200 * NS_PER_S - 1);
	CHECK_INT(captions_count(c), 1);
	captions_drop_old(c, 7200 * NS_PER_S);
	CHECK_INT(captions_count(c), 0);
	captions_free(c);
}

TEST(a_description_goes_with_its_message_and_its_person)
{
	begin();
	keep(7, 50, 501, hash_a, "a cat");
	keep(7, 51, 502, hash_b, "a dog");
	captions_drop_message(c, 50);
	CHECK(!captions_find(c, 7, hash_a, 0));
	CHECK(captions_find(c, 7, hash_b, 0) != NULL);
	captions_forget(c, 8, 502);
	CHECK_INT(captions_count(c), 1);
	captions_forget(c, 7, 502);
	CHECK_INT(captions_count(c), 0);
	keep(7, 51, 502, hash_b, "a dog");
	captions_forget(c, 0, 502);
	CHECK_INT(captions_count(c), 0);
	captions_free(c);
}

TEST(a_server_has_so_many_described_in_an_hour)
{
	begin();
	CHECK(!captions_take(c, 7, 0, 0));
	CHECK(captions_take(c, 7, 2, 0) && captions_take(c, 7, 2, 5 * NS_PER_S));
	CHECK(!captions_take(c, 7, 2, 3599 * NS_PER_S));
	CHECK(captions_take(c, 8, 2, 0));
	CHECK(captions_take(c, 7, 2, 3600 * NS_PER_S));
	captions_free(c);
}

TEST(descriptions_have_a_cap)
{
	static char text[CAPTION_TEXT + 100];
	uint8_t hash[CAPTION_HASH] = {0};

	begin();
	memset(text, 'a', sizeof text - 1);
	for (unsigned i = 0; i < CAPTIONS_KEPT + 20; i++) {
		hash[0] = (uint8_t)i;
		hash[1] = (uint8_t)(i >> 8);
		keep(7, i + 1, 501, hash, text);
	}
	CHECK_INT(captions_count(c), CAPTIONS_KEPT);
	CHECK_INT(strlen(captions_find(c, 7, hash, 0)), CAPTION_TEXT);
	captions_free(c);
}
