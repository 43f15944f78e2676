#include "tests/test.h"

#include "mediad/dave/codes.h"
#include "tests/unit/mediad/dave/answers.h"

static void check_pairwise(const json_t *c)
{
	uint8_t a[128], b[128], want[DAVE_FINGERPRINT], got[DAVE_FINGERPRINT];
	struct slice key_a = {.p = a, .n = answers_bytes(c, "key_a", a, sizeof a)};
	struct slice key_b = {.p = b, .n = answers_bytes(c, "key_b", b, sizeof b)};
	uint64_t user_a = answers_number(c, "user_a"), user_b = answers_number(c, "user_b");

	CHECK_INT(answers_bytes(c, "out", want, sizeof want), DAVE_FINGERPRINT);
	CHECK_INT(dave_fingerprint(got, key_a, user_a, key_b, user_b), 0);
	CHECK_MEM(got, sizeof got, want, sizeof want);
	CHECK_INT(dave_fingerprint(got, key_b, user_b, key_a, user_a), 0);
	CHECK_MEM(got, sizeof got, want, sizeof want);
}

TEST(dave_codes_libdave)
{
	json_t *j = answers_shared("libdave-fingerprints.json"), *v;
	uint8_t data[80], want[128], got[128];
	char code[DAVE_CODE_MAX];
	size_t i, n;

	if (!j)
		return;
	json_array_foreach(json_object_get(j, "displayable_code"), i, v)
	{
		struct slice s = {.p = data, .n = answers_bytes(v, "data", data, sizeof data)};

		CHECK_INT(dave_code(code, sizeof code, s,
				    (unsigned)json_integer_value(json_object_get(v, "length")),
				    (unsigned)json_integer_value(json_object_get(v, "group"))),
			  0);
		CHECK_STR(code, answers_text(v, "code"));
	}
	CHECK_INT(i, 2);
	json_array_foreach(json_object_get(j, "key_fingerprint"), i, v)
	{
		struct slice key = {.p = data, .n = answers_bytes(v, "key", data, sizeof data)};

		CHECK_INT(dave_key_fingerprint(got, sizeof got, &n, key,
					       answers_number(v, "user_id")),
			  0);
		CHECK_MEM(got, n, want, answers_bytes(v, "out", want, sizeof want));
	}
	CHECK_INT(i, 2);
	json_array_foreach(json_object_get(j, "pairwise"), i, v) check_pairwise(v);
	CHECK_INT(i, 2);
	json_decref(j);
}

/* Privacy codes of every epoch, and verification codes from the fingerprints of it. */
TEST(dave_codes_scenario)
{
	json_t *j = answers_shared("davey-scenario-1.json"), *step, *pair;
	const char *user;
	uint8_t bytes[DAVE_FINGERPRINT];
	char privacy[31], code[46];
	size_t i;

	if (!j)
		return;
	json_array_foreach(json_object_get(j, "steps"), i, step)
	{
		CHECK_INT(answers_bytes(step, "epoch_authenticator", bytes, sizeof bytes), 32);
		CHECK_INT(dave_privacy_code(privacy, bytes), 0);
		CHECK_STR(privacy, answers_text(step, "voice_privacy_code"));
		json_object_foreach(json_object_get(step, "pairwise_with_self"), user, pair)
		{
			CHECK_INT(answers_bytes(pair, "fingerprint", bytes, sizeof bytes),
				  DAVE_FINGERPRINT);
			CHECK_INT(dave_verification_code(code, bytes), 0);
			CHECK_STR(code, answers_text(pair, "code"));
		}
	}
	CHECK_INT(i, 4);
	json_decref(j);
}

TEST(dave_codes_recorded)
{
	json_t *j = answers_davey(), *f = json_object_get(j, "fingerprint");
	uint8_t bytes[DAVE_FINGERPRINT];
	char privacy[31], code[46];

	CHECK(j);
	CHECK_INT(answers_bytes(j, "authenticator", bytes, sizeof bytes), 32);
	CHECK_INT(dave_privacy_code(privacy, bytes), 0);
	CHECK_STR(privacy, answers_text(j, "privacy_code"));
	check_pairwise(f);
	answers_bytes(f, "out", bytes, sizeof bytes);
	CHECK_INT(dave_verification_code(code, bytes), 0);
	CHECK_STR(code, answers_text(f, "code"));
	json_decref(j);
}

/* One member's part is the beginning of the other's: the shorter comes first. (Computed with
 * another scrypt.) */
TEST(dave_codes_prefix)
{
	static const uint8_t key[] = {1, 0, 0, 0, 0, 0, 0, 0, 2};
	static const uint8_t want[DAVE_FINGERPRINT] = {
		0x05, 0x7a, 0xee, 0x8d, 0x76, 0x9c, 0x8d, 0x36, 0x70, 0xda, 0x26, 0x47, 0x93,
		0xb3, 0x9a, 0x24, 0x16, 0xf4, 0xb3, 0xdb, 0x10, 0x7d, 0xbc, 0x57, 0x5a, 0xf2,
		0xa7, 0xcf, 0xb3, 0xf5, 0xfc, 0x5e, 0xe3, 0xb0, 0xfb, 0x1c, 0xcd, 0x6b, 0xd7,
		0xa8, 0x30, 0x80, 0xde, 0xcd, 0x14, 0xa2, 0x8d, 0x72, 0x07, 0x99, 0xb2, 0x4d,
		0xea, 0xde, 0xfb, 0xb1, 0x59, 0x59, 0x84, 0x5f, 0xf4, 0x53, 0xc9, 0x92,
	};
	struct slice a = {.p = key, .n = 1}, b = {.p = key, .n = sizeof key};
	uint8_t got[DAVE_FINGERPRINT];

	CHECK_INT(dave_fingerprint(got, a, 2, b, 3), 0);
	CHECK_MEM(got, sizeof got, want, sizeof want);
	CHECK_INT(dave_fingerprint(got, b, 3, a, 2), 0);
	CHECK_MEM(got, sizeof got, want, sizeof want);
}

TEST(dave_codes_arguments)
{
	static const uint8_t data[DAVE_CODE_MAX] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	struct slice s = {.p = data, .n = sizeof data}, none = {.p = data, .n = 0};
	struct slice huge = {.p = data, .n = DAVE_SIGNATURE_KEY_MAX + 1},
		     key = {.p = data, .n = 33};
	uint8_t fp[DAVE_FINGERPRINT];
	char out[DAVE_CODE_MAX];
	size_t n;

	CHECK_INT(dave_code(out, sizeof out, s, 7, 7), 0);
	CHECK_STR(out, "7927935"); /* 2^56 - 1 */
	CHECK_INT(dave_code(out, sizeof out, s, 0, 5), 0);
	CHECK_STR(out, "");
	CHECK_INT(dave_code(out, sizeof out, s, 8, 8), EINVAL);
	CHECK_INT(dave_code(out, sizeof out, s, 8, 0), EINVAL);
	CHECK_INT(dave_code(out, sizeof out, s, 8, 3), EINVAL);
	CHECK_INT(dave_code(out, sizeof out, s, DAVE_CODE_MAX, 4), EINVAL);
	CHECK_INT(dave_code(out, 8, s, 8, 4), EINVAL);
	s.n = 7;
	CHECK_INT(dave_code(out, sizeof out, s, 8, 4), EINVAL);
	CHECK_INT(dave_fingerprint(fp, none, 1, key, 2), EINVAL);
	CHECK_INT(dave_fingerprint(fp, key, 1, huge, 2), EINVAL);
	CHECK_INT(dave_key_fingerprint(fp, 42, &n, key, 1), EMSGSIZE);
}
