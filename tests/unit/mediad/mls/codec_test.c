#include "tests/test.h"

#include "mediad/mls/codec.h"

static const struct {
	size_t n;
	const char *form;
	size_t size;
} forms[] = {
	{0, "\0", 1},
	{37, "\x25", 1},
	{63, "\x3f", 1},
	{64, "\x40\x40", 2},
	{15293, "\x7b\xbd", 2},
	{16383, "\x7f\xff", 2},
	{16384, "\x80\0\x40\0", 4},
	{494878333, "\x9d\x7f\x3e\x7d", 4},
	{(1u << 30) - 1, "\xbf\xff\xff\xff", 4},
};
enum { FORMS = sizeof forms / sizeof *forms };

TEST(mls_varint_forms)
{
	for (size_t i = 0; i < FORMS; i++) {
		struct rd r = rd_of(forms[i].form, forms[i].size);
		uint8_t out[4];

		CHECK_INT(mls_varint_size(forms[i].n), forms[i].size);
		CHECK_MEM(out, mls_varint_put(out, forms[i].n), forms[i].form, forms[i].size);
		CHECK_INT(mls_rd_varint(&r), forms[i].n);
		CHECK(r.ok && rd_left(&r) == 0);
		r = rd_of(forms[i].form, forms[i].size - 1);
		CHECK_INT(mls_rd_varint(&r), 0);
		CHECK(!r.ok);
	}
	CHECK_INT(mls_varint_size((size_t)1 << 30), 0);
	CHECK_INT(mls_varint_put((uint8_t[4]){0}, (size_t)1 << 30), 0);
}

TEST(mls_varint_only_in_the_shortest_form)
{
	static const char *const bad[] = {"\x40\x3f",	"\x40\0",     "\x80\0\x3f\xff",
					  "\x80\0\0\0", "\xc0\0\0\0", "\xff\xff\xff\xff"};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct rd r = rd_of(bad[i], 4);

		CHECK_INT(mls_rd_varint(&r), 0);
		CHECK(!r.ok);
	}
}

TEST(mls_vectors_are_bounded_by_what_is_there)
{
	struct rd r = rd_of("\x03"
			    "abc"
			    "\x02"
			    "\x01"
			    "x"
			    "\x04"
			    "abc",
			    11),
		  sub;
	struct slice s = mls_rd_vec(&r);

	CHECK_MEM(s.p, s.n, "abc", 3);
	sub = mls_rd_sub(&r);
	s = mls_rd_vec(&sub);
	CHECK(sub.ok && rd_left(&sub) == 0);
	CHECK_MEM(s.p, s.n, "x", 1);
	s = mls_rd_vec(&r);
	CHECK(!r.ok && s.n == 0);
	sub = mls_rd_sub(&r);
	CHECK(!sub.ok);
	/* a length of a gigabyte is no reason to look for one */
	r = rd_of("\xbf\xff\xff\xff"
		  "abc",
		  7);
	CHECK_INT(mls_rd_vec(&r).n, 0);
	CHECK(!r.ok);
	r = rd_of("\0", 1);
	CHECK_INT(mls_rd_vec(&r).n, 0);
	CHECK(r.ok);
}

TEST(mls_optional_is_there_or_not)
{
	struct rd r = rd_of("\1\0\2\1", 4);

	CHECK(mls_rd_optional(&r));
	CHECK(!mls_rd_optional(&r) && r.ok);
	CHECK(!mls_rd_optional(&r) && !r.ok);
	CHECK(!mls_rd_optional(&r));
	r = rd_of("", 0);
	CHECK(!mls_rd_optional(&r) && !r.ok);
}

TEST(mls_out_writes_what_the_reader_reads)
{
	static uint8_t big[20000];
	struct mls_out o = {0};
	size_t outer, inner;
	struct rd r, body;
	struct slice s;

	memset(big, 7, sizeof big);
	mls_out_be(&o, 0x0102, 2);
	outer = mls_out_open(&o);
	mls_out_vec(&o, mls_slice("abc", 3));
	inner = mls_out_open(&o);
	mls_out_bytes(&o, big, 100);
	mls_out_close(&o, inner);
	mls_out_slice(&o, mls_slice(big, sizeof big));
	mls_out_close(&o, outer);
	outer = mls_out_open(&o);
	mls_out_close(&o, outer);
	CHECK_INT(o.err, 0);

	s = mls_out_view(&o);
	CHECK_INT(s.n, 2 + 4 + 4 + 2 + 100 + sizeof big + 1);
	r = rd_of(s.p, s.n);
	CHECK_INT(rd_be(&r, 2), 0x0102);
	body = mls_rd_sub(&r);
	CHECK_INT(mls_rd_vec(&body).n, 3);
	s = mls_rd_vec(&body);
	CHECK_MEM(s.p, s.n, big, 100);
	CHECK_MEM(rd_bytes(&body, sizeof big), sizeof big, big, sizeof big);
	CHECK(body.ok && rd_left(&body) == 0);
	CHECK_INT(mls_rd_vec(&r).n, 0);
	CHECK(r.ok && rd_left(&r) == 0);
	mls_out_free(&o);
	CHECK(!o.p && o.n == 0 && o.err == 0);
	mls_out_free(&o);
}

TEST(mls_out_has_a_cap)
{
	uint8_t *big = calloc(1, MLS_BYTES_MAX);
	struct mls_out o = {0};
	size_t at;

	mls_out_bytes(&o, big, MLS_BYTES_MAX);
	CHECK_INT(o.err, 0);
	CHECK_INT(mls_out_view(&o).n, MLS_BYTES_MAX);
	mls_out_be(&o, 1, 1);
	CHECK_INT(o.err, EOVERFLOW);
	CHECK_INT(mls_out_view(&o).n, 0);
	mls_out_free(&o);

	/* the length of a V counts too */
	at = mls_out_open(&o);
	mls_out_bytes(&o, big, MLS_BYTES_MAX);
	mls_out_close(&o, at);
	CHECK_INT(o.err, EOVERFLOW);
	mls_out_close(&o, at);
	mls_out_free(&o);

	mls_out_varint(&o, (size_t)1 << 30);
	CHECK_INT(o.err, EOVERFLOW);
	mls_out_vec(&o, mls_slice("a", 1));
	CHECK_INT(o.err, EOVERFLOW);
	mls_out_free(&o);
	mls_out_bytes(&o, big, SIZE_MAX);
	CHECK_INT(o.err, EOVERFLOW);
	mls_out_free(&o);
	free(big);
}

TEST_OOM(mls_out_without_memory)
{
	struct mls_out o = {0};
	size_t at = mls_out_open(&o);

	for (unsigned i = 0; i < 1000; i++)
		mls_out_be(&o, i, 4);
	mls_out_close(&o, at);
	CHECK_OOM(o.err, CHECK(mls_out_view(&o).n == 0); mls_out_free(&o));
	CHECK_INT(mls_out_view(&o).n, 4002);
	mls_out_free(&o);
}
