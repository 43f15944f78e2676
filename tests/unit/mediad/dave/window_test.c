#include "tests/test.h"

#include "mediad/dave/window.h"
#include "tests/unit/mediad/dave/answers.h"

TEST(dave_window_libdave)
{
	json_t *j = answers_shared("libdave-cryptor-manager.json"), *v;
	struct dave_window w = {0};
	size_t i;

	if (!j)
		return;
	json_array_foreach(json_object_get(j, "no_reprocess"), i, v)
	{
		const char *what = json_string_value(json_array_get(v, 0));
		uint64_t nonce = (uint64_t)json_integer_value(json_array_get(v, 1));

		if (strcmp(what, "ok") == 0)
			dave_window_mark(&w, nonce);
		else
			CHECK_INT(dave_window_fresh(&w, nonce), json_is_true(json_array_get(v, 2)));
	}
	CHECK_INT(i, 31);
	json_array_foreach(json_object_get(j, "wrapped_generation"), i, v)
		CHECK_INT(dave_generation((uint32_t)json_integer_value(json_array_get(v, 0)),
					  (uint8_t)json_integer_value(json_array_get(v, 1))),
			  json_integer_value(json_array_get(v, 2)));
	CHECK_INT(i, 6);
	json_array_foreach(json_object_get(j, "big_nonce"), i, v)
		CHECK_INT(dave_nonce((uint32_t)json_integer_value(json_array_get(v, 0)),
				     (uint32_t)json_integer_value(json_array_get(v, 1))),
			  json_integer_value(json_array_get(v, 2)));
	CHECK_INT(i, 7);
	json_decref(j);
}

TEST(dave_window_generations)
{
	CHECK_INT(dave_generation(0, 255), 255);
	CHECK_INT(dave_generation(1, 0), 256);
	CHECK_INT(dave_generation(255, 255), 255);
	CHECK_INT(dave_generation(256, 0), 256);
	CHECK_INT(dave_generation(511, 254), 766);
	CHECK(dave_nonce(1, 0x01000000) == 0x01000000);
	CHECK(dave_nonce(300, 0x2c000007) == (UINT64_C(300) << 24 | 7));
}

TEST(dave_window_first_sets_the_floor)
{
	struct dave_window w = {0};

	CHECK(dave_window_fresh(&w, 0));
	dave_window_mark(&w, 5000);
	CHECK(!dave_window_fresh(&w, 4999));
	CHECK(!dave_window_fresh(&w, 5000));
	CHECK(dave_window_fresh(&w, 5001));
	CHECK(dave_window_fresh(&w, 5000 + (UINT64_C(1) << 39)));
}

/* What the window is to be, in the plainest form: a list of what is missing. */
struct model {
	bool any;
	uint64_t newest, missing[DAVE_MISSING_MAX];
	unsigned n;
};

static bool model_fresh(const struct model *m, uint64_t nonce)
{
	if (!m->any || nonce > m->newest)
		return true;
	for (unsigned i = 0; i < m->n; i++)
		if (m->missing[i] == nonce)
			return true;
	return false;
}

static void model_drop(struct model *m, unsigned i)
{
	m->n--;
	memmove(m->missing + i, m->missing + i + 1, (m->n - i) * sizeof m->missing[0]);
}

static void model_mark(struct model *m, uint64_t nonce)
{
	if (m->any && nonce <= m->newest) {
		for (unsigned i = 0; i < m->n; i++)
			if (m->missing[i] == nonce)
				model_drop(m, i--);
		return;
	}
	for (uint64_t i = m->any ? m->newest + 1 : nonce; i < nonce; i++) {
		if (m->n == DAVE_MISSING_MAX)
			model_drop(m, 0);
		m->missing[m->n++] = i;
	}
	m->any = true;
	m->newest = nonce;
	/* The ring's end. */
	while (m->n && m->missing[0] + DAVE_WINDOW <= nonce)
		model_drop(m, 0);
}

static uint32_t lcg(uint64_t *s)
{
	*s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*s >> 33);
}

static const uint64_t strides[] = {1, 2, 3, 50, 999, 1000, 1001, 1002, 4095, 4096, 9000};

/* How a sender goes on: by ones and twos, by up to eight, or with a gap now and then, so that what
 * is missing gets old. */
static uint64_t step(uint64_t *s, uint64_t kind, bool jump)
{
	if (jump)
		return strides[lcg(s) % (sizeof strides / sizeof strides[0])];
	if (kind == 2)
		return lcg(s) % 16 ? 1 : 2;
	return 1 + lcg(s) % (kind ? 8 : 2);
}

static void run_model(uint64_t seed, unsigned rounds)
{
	struct dave_window w = {0};
	struct model m = {0};
	uint64_t s = seed, newest = seed & 1 ? 0 : 100000, start = newest;

	for (unsigned i = 0; i < rounds; i++) {
		unsigned what = lcg(&s) % 100;
		uint64_t nonce = newest;

		if (what < 50)
			nonce += step(&s, seed % 3, what == 0 && seed % 3 != 2);
		else if (newest - start > 6000)
			nonce -= lcg(&s) % (what < 80 ? 100 : 6000);
		CHECK_INT(dave_window_fresh(&w, nonce), model_fresh(&m, nonce));
		if (!model_fresh(&m, nonce) || (seed % 3 == 2 && what >= 50))
			continue;
		dave_window_mark(&w, nonce);
		model_mark(&m, nonce);
		if (nonce > newest)
			newest = nonce;
		CHECK(!dave_window_fresh(&w, nonce));
		CHECK_INT(w.n_missing, m.n);
	}
}

/* Random steps forward (also long ones) and back, against the model. */
TEST(dave_window_as_a_list)
{
	for (uint64_t seed = 1; seed <= 6; seed++)
		run_model(seed, seed % 3 == 2 ? 12000 : 5000);
}
