/* Against frames that @snazzah/davey sealed: the same frame sealed by us has the same bytes, and
 * theirs opens. */
#include "tests/test.h"

#include "mediad/dave/media.h"
#include "tests/unit/mediad/dave/answers.h"

enum { CAP = 8192 };
static uint8_t frame[CAP], sealed[CAP], out[CAP];

/* n bytes in `frame` as this codec rewrites them: to `out`. Returns how many. */
static size_t rewritten(enum dave_codec codec, size_t n)
{
	struct dave_clear_ranges plan;

	if (dave_find_clear_ranges(&plan, codec, frame, n, out, sizeof out) == 0)
		return plan.n;
	memcpy(out, frame, n);
	return n;
}

static void check_frame(const json_t *f, const char *codec_key, const char *plain_key,
			const char *sealed_key, const uint8_t *base, struct dave_opener *o)
{
	enum dave_codec codec = answers_codec(answers_text(f, codec_key));
	size_t n = answers_bytes(f, plain_key, frame, sizeof frame), len, m;
	size_t n_sealed = answers_bytes(f, sealed_key, sealed, sizeof sealed);
	static uint8_t opened[CAP], ours[CAP];
	struct dave_sealer *s = NULL;
	struct dave_key *k = NULL;
	struct dave_frame parsed;
	uint64_t epoch;

	CHECK_INT(dave_open(o, (struct slice){sealed, n_sealed}, 0, opened, sizeof opened, &len,
			    &epoch),
		  dave_is_silence(sealed, n_sealed) ? DAVE_SILENCE : DAVE_SEALED);
	m = rewritten(codec, n);
	CHECK_MEM(opened, len, out, m);
	if (dave_is_silence(sealed, n_sealed))
		return;
	CHECK(dave_frame_parse(&parsed, sealed, n_sealed));
	CHECK_INT(dave_sealer_alloc(&s), 0);
	CHECK_INT(dave_key_alloc(&k, base, 1, 0), 0);
	CHECK(!dave_sealer_set(s, k));
	dave_sealer_set_counter(s, parsed.nonce);
	CHECK_INT(dave_seal(s, codec, frame, n, ours, sizeof ours, &len), 0);
	dave_sealer_free(s);
	CHECK_MEM(ours, len, sealed, n_sealed);
}

static void returned(struct dave_key *key, void *arg)
{
	(void)arg;
	dave_key_free(key);
}

static struct dave_opener *opener_of(const uint8_t *base)
{
	struct dave_opener *o = NULL;
	struct dave_key *k = NULL;

	if (dave_opener_alloc(&o) || dave_key_alloc(&k, base, 1, 0))
		return dave_opener_free(o);
	dave_opener_add(o, k, 0, returned, NULL);
	return o;
}

TEST(dave_davey_recorded)
{
	json_t *j = answers_davey(), *f;
	uint8_t base[DAVE_SECRET];
	struct dave_opener *o;
	size_t i;

	CHECK(j);
	answers_bytes(json_object_get(json_object_get(j, "senders"), answers_text(j, "sender")),
		      "base", base, sizeof base);
	o = opener_of(base);
	CHECK(o);
	json_array_foreach(json_object_get(j, "frames"), i, f)
		check_frame(f, "codec", "frame", "sealed", base, o);
	CHECK_INT(i, 25);
	dave_opener_free(o);
	json_decref(j);
}

TEST(dave_davey_scenario)
{
	json_t *j = answers_shared("davey-scenario-1.json"), *step, *f;
	unsigned frames = 0;
	size_t i, k;

	if (!j)
		return;
	json_array_foreach(json_object_get(j, "steps"), i, step)
		json_array_foreach(json_object_get(step, "frames"), k, f)
	{
		json_t *sender = json_object_get(json_object_get(step, "senders"),
						 answers_text(f, "user_id"));
		uint8_t base[DAVE_SECRET];
		struct dave_opener *o;

		CHECK_INT(answers_bytes(sender, "base_secret", base, sizeof base), DAVE_SECRET);
		o = opener_of(base);
		CHECK(o);
		check_frame(f, "codec", "plaintext", "frame", base, o);
		dave_opener_free(o);
		frames++;
	}
	CHECK(frames >= 24);
	json_decref(j);
}
