#include "tests/test.h"

#include "mediad/dave/key.h"
#include "tests/unit/mediad/dave/answers.h"

static void check_sender(const json_t *sender, const char *base_name, const char *const *names,
			 unsigned n)
{
	uint8_t base[DAVE_SECRET], want[16], got[16];

	CHECK_INT(answers_bytes(sender, base_name, base, sizeof base), DAVE_SECRET);
	for (unsigned g = 0; g < n; g++) {
		CHECK_INT(answers_bytes(sender, names[g], want, sizeof want), 16);
		CHECK_INT(dave_key_bytes(got, base, g), 0);
		CHECK_MEM(got, 16, want, 16);
	}
}

TEST(dave_key_scenario)
{
	static const char *const names[] = {"key_gen0", "key_gen1"};
	json_t *j = answers_shared("davey-scenario-1.json"), *step, *sender;
	const char *user;
	unsigned checked = 0;
	size_t i;

	if (!j)
		return;
	json_array_foreach(json_object_get(j, "steps"), i, step)
		json_object_foreach(json_object_get(step, "senders"), user, sender)
	{
		check_sender(sender, "base_secret", names, 2);
		checked++;
	}
	json_decref(j);
	CHECK(checked >= 12);
}

TEST(dave_key_recorded)
{
	json_t *j = answers_davey(), *sender, *key;
	const char *user;
	uint8_t base[DAVE_SECRET], want[16], got[16];
	unsigned checked = 0;
	size_t g;

	CHECK(j);
	json_object_foreach(json_object_get(j, "senders"), user, sender)
	{
		CHECK_INT(answers_bytes(sender, "base", base, sizeof base), DAVE_SECRET);
		json_array_foreach(json_object_get(sender, "keys"), g, key)
		{
			CHECK_INT(answers_hex(key, want, sizeof want), 16);
			CHECK_INT(dave_key_bytes(got, base, (uint32_t)g), 0);
			CHECK_MEM(got, 16, want, 16);
			checked++;
		}
	}
	json_decref(j);
	CHECK_INT(checked, 8);
}

static const uint8_t base[DAVE_SECRET] = "sixteen of them";

TEST(dave_key_arguments)
{
	struct dave_key *k = NULL;
	uint8_t out[16];

	CHECK_INT(dave_key_alloc(&k, base, 0, 0), EINVAL);
	CHECK_INT(dave_key_alloc(&k, base, 1, DAVE_GENERATIONS_MAX), EINVAL);
	CHECK_INT(dave_key_alloc(&k, base, 1, UINT32_MAX), EINVAL);
	CHECK_INT(dave_key_bytes(out, base, DAVE_GENERATIONS_MAX + 1), EINVAL);
	CHECK(!k);
	CHECK(!dave_key_free(NULL));
	CHECK_INT(dave_key_alloc(&k, base, 7, DAVE_GENERATIONS_MAX - 1), 0);
	CHECK_INT(dave_key_epoch(k), 7);
	CHECK_INT(dave_key_generation(k), DAVE_GENERATIONS_MAX - 1);
	k = dave_key_free(k);
	CHECK(!k);
}

TEST_OOM(dave_key_oom)
{
	struct dave_key *k = NULL;

	CHECK_OOM(dave_key_alloc(&k, base, 1, 2), );
	dave_key_free(k);
}
