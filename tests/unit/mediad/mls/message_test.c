/* Reading messages: layouts written by hand, and what is cut or wrong. */
#include "tests/test.h"

#include "mediad/mls/message.h"
#include "mediad/mls/psk.h"
#include "tests/unit/mediad/mls/hex.h"

/* MLSMessage(PublicMessage): group id 0102, epoch 7, external sender 0, no data, Remove of leaf 5,
 * signature aabb. */
#define REMOVE                                                                                     \
	"00010001"                                                                                 \
	"020102"                                                                                   \
	"0000000000000007"                                                                         \
	"0200000000"                                                                               \
	"00"                                                                                       \
	"02"                                                                                       \
	"000300000005"                                                                             \
	"02aabb"
/* The same of member 9, with a membership tag 77. */
#define BY_MEMBER                                                                                  \
	"00010001"                                                                                 \
	"020102"                                                                                   \
	"0000000000000007"                                                                         \
	"0100000009"                                                                               \
	"00"                                                                                       \
	"02"                                                                                       \
	"000300000005"                                                                             \
	"02aabb"                                                                                   \
	"0177"
/* A commit of member 9 of one reference and no path; signature aabb, confirmation tag cc,
 * membership tag 77. */
#define REF32 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define COMMIT                                                                                     \
	"00010001"                                                                                 \
	"020102"                                                                                   \
	"0000000000000007"                                                                         \
	"0100000009"                                                                               \
	"03616164"                                                                                 \
	"03"                                                                                       \
	"220220" REF32 "00"                                                                        \
	"02aabb"                                                                                   \
	"01cc"                                                                                     \
	"0177"

static int read_public(struct mls_public *m, const char *hex, size_t *left)
{
	struct slice s = hex_bytes(hex);
	struct rd r = rd_of(s.p, s.n);
	int err = mls_public_read(m, &r);

	*left = rd_left(&r);
	return err;
}

TEST(message_public_fields)
{
	struct mls_public m;
	struct slice want;
	size_t left;

	CHECK_INT(read_public(&m, REMOVE "ff", &left), 0);
	CHECK_INT(left, 1);
	CHECK_INT(m.raw.n, 31);
	CHECK_MEM(m.group_id.p, m.group_id.n, "\1\2", 2);
	CHECK_INT(m.epoch, 7);
	CHECK_INT(m.sender, MLS_SENDER_EXTERNAL);
	CHECK_INT(m.sender_index, 0);
	CHECK_INT(m.type, MLS_CONTENT_PROPOSAL);
	CHECK_MEM(m.body.p, m.body.n, "\0\3\0\0\0\5", 6);
	CHECK_MEM(m.signature.p, m.signature.n, "\xaa\xbb", 2);
	CHECK_INT(m.confirmation_tag.n + m.membership_tag.n, 0);

	CHECK_INT(read_public(&m, BY_MEMBER, &left), 0);
	CHECK_INT(m.sender, MLS_SENDER_MEMBER);
	CHECK_INT(m.sender_index, 9);
	CHECK_MEM(m.membership_tag.p, m.membership_tag.n, "\x77", 1);

	CHECK_INT(read_public(&m, COMMIT, &left), 0);
	CHECK_INT(left, 0);
	CHECK_INT(m.type, MLS_CONTENT_COMMIT);
	CHECK_MEM(m.aad.p, m.aad.n, "aad", 3);
	CHECK_MEM(m.confirmation_tag.p, m.confirmation_tag.n, "\xcc", 1);
	want = hex_bytes("0001"
			 "020102"
			 "0000000000000007"
			 "0100000009"
			 "03616164"
			 "03"
			 "220220" REF32 "00"
			 "02aabb");
	CHECK_MEM(mls_transcript_input(&m).p, mls_transcript_input(&m).n, want.p, want.n);
	want = hex_bytes("0001"
			 "020102"
			 "0000000000000007"
			 "0100000009"
			 "03616164"
			 "03"
			 "220220" REF32 "00"
			 "02aabb"
			 "01cc");
	CHECK_MEM(mls_authenticated(&m).p, mls_authenticated(&m).n, want.p, want.n);
	hex_end();
}

TEST(message_public_refused)
{
	static const struct {
		const char *hex;
		int err;
	} bad[] = {
		{"", EBADMSG},
		{"0002000100", ENOTSUP}, /* another version */
		{"0001000200", ENOTSUP}, /* PrivateMessage */
		{"0001000300", EBADMSG}, /* a Welcome */
		{"0001000900", EBADMSG},
		{"00010001"
		 "00"
		 "0000000000000007"
		 "0500000000"
		 "00"
		 "02"
		 "000300000005"
		 "00",
		 EBADMSG}, /* sender 5 */
		{"00010001"
		 "00"
		 "0000000000000007"
		 "0200000000"
		 "00"
		 "01"
		 "00"
		 "00",
		 EBADMSG}, /* application */
		{"00010001"
		 "00"
		 "0000000000000007"
		 "0200000000"
		 "00"
		 "04"
		 "00"
		 "00",
		 EBADMSG},
		{"00010001"
		 "00"
		 "0000000000000007"
		 "0200000000"
		 "00"
		 "02"
		 "0009"
		 "00",
		 ENOTSUP}, /* proposal 9 */
		{"00010001"
		 "4001"
		 "01"
		 "0000000000000007"
		 "0200000000"
		 "00"
		 "02"
		 "000300000005"
		 "00",
		 EBADMSG}, /* long form */
		{"00010001"
		 "00"
		 "0000000000000007"
		 "0100000009"
		 "00"
		 "03"
		 "0102"
		 "00"
		 "00"
		 "00"
		 "00",
		 EBADMSG},
		{"00010001"
		 "00"
		 "0000000000000007"
		 "0100000009"
		 "00"
		 "03"
		 "00"
		 "02"
		 "00"
		 "00"
		 "00",
		 EBADMSG}, /* optional 2 */
	};
	struct mls_public m;
	size_t left;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK_INT(read_public(&m, bad[i].hex, &left), bad[i].err);
	hex_end();
}

TEST(message_commit_entries)
{
	struct slice good = hex_bytes("0220" REF32), form = hex_bytes("0320" REF32),
		     none = hex_bytes("0020" REF32);
	struct rd r = rd_of(good.p, good.n);
	struct mls_proposal_or_ref p;

	CHECK_INT(mls_proposal_or_ref_read(&p, &r), 0);
	CHECK(p.by_ref && p.ref.n == MLS_HASH && !rd_left(&r));
	r = rd_of(form.p, form.n);
	CHECK_INT(mls_proposal_or_ref_read(&p, &r), EBADMSG);
	r = rd_of(none.p, none.n);
	CHECK_INT(mls_proposal_or_ref_read(&p, &r), EBADMSG);
	r = rd_of(good.p, good.n - 1);
	CHECK_INT(mls_proposal_or_ref_read(&p, &r), EBADMSG);
	hex_end();
}

/* A commit of so many Removes by value, empty otherwise. */
static int commit_of(unsigned n)
{
	struct mls_out o = {0};
	struct mls_public m;
	struct rd r;
	size_t at;
	int err;

	mls_out_be(&o, UINT64_C(0x00010001), 4);
	mls_content_write(&o, (struct slice){0}, 1, MLS_SENDER_MEMBER, 0, MLS_CONTENT_COMMIT);
	at = mls_out_open(&o);
	for (unsigned i = 0; i < n; i++)
		mls_out_be(&o, UINT64_C(0x01000300000000), 7);
	mls_out_close(&o, at);
	mls_out_be(&o, 0, 1 + 3); /* no path; signature and tags are empty */
	r = rd_of(o.p, o.n);
	err = mls_public_read(&m, &r);
	mls_out_free(&o);
	return err;
}

TEST(message_commit_has_a_cap)
{
	CHECK_INT(commit_of(MLS_PROPOSALS_MAX), 0);
	CHECK_INT(commit_of(MLS_PROPOSALS_MAX + 1), EOVERFLOW);
}

TEST(message_public_cut_short_is_malformed)
{
	struct slice all[] = {hex_bytes(REMOVE), hex_bytes(BY_MEMBER), hex_bytes(COMMIT)};

	for (size_t k = 0; k < 3; k++)
		for (size_t n = 0; n < all[k].n; n++) {
			struct rd r = rd_of(all[k].p, n);
			struct mls_public m;

			CHECK_INT(mls_public_read(&m, &r), EBADMSG);
		}
	hex_end();
}

TEST(message_tag_covers_what_is_there)
{
	static const uint8_t key[MLS_HASH] = {1};
	struct slice tbs = mls_slice("tbs", 3), sig = mls_slice("sig", 3),
		     tag = mls_slice("tag", 3);
	uint8_t got[MLS_HASH], want[MLS_HASH];
	struct slice whole = mls_slice("tbs\3sig\3tag", 11), proposal = mls_slice("tbs\3sig", 7);

	CHECK_INT(mls_membership_tag(got, key, tbs, sig, tag), 0);
	CHECK_INT(mls_hmac(want, mls_slice(key, MLS_HASH), &whole, 1), 0);
	CHECK_MEM(got, MLS_HASH, want, MLS_HASH);
	CHECK_INT(mls_membership_tag(got, key, tbs, sig, (struct slice){0}), 0);
	CHECK_INT(mls_hmac(want, mls_slice(key, MLS_HASH), &proposal, 1), 0);
	CHECK_MEM(got, MLS_HASH, want, MLS_HASH);
}

TEST(message_group_context_layout)
{
	struct mls_group_context c = {.suite = 2,
				      .group_id = mls_slice("id", 2),
				      .epoch = 258,
				      .tree_hash = mls_slice("tree", 4),
				      .confirmed = mls_slice("c", 1),
				      .extensions = mls_slice("\0\5\1x", 4)},
				 back;
	struct slice want = hex_bytes("0001"
				      "0002"
				      "026964"
				      "0000000000000102"
				      "0474726565"
				      "0163"
				      "0400050178"),
		     data;
	struct mls_out o = {0};
	struct rd r;

	mls_group_context_write(&o, &c);
	CHECK_MEM(o.p, o.n, want.p, want.n);
	for (size_t n = 0; n < o.n; n++) {
		r = rd_of(o.p, n);
		CHECK_INT(mls_group_context_read(&back, &r), EBADMSG);
	}
	r = rd_of(o.p, o.n);
	CHECK_INT(mls_group_context_read(&back, &r), 0);
	CHECK_INT(back.epoch, 258);
	CHECK(mls_extension_find(back.extensions, 5, &data));
	CHECK_MEM(data.p, data.n, "x", 1);
	CHECK(!mls_extension_find(back.extensions, 4, &data));
	o.p[1] = 2;
	r = rd_of(o.p, o.n);
	CHECK_INT(mls_group_context_read(&back, &r), ENOTSUP);
	mls_out_free(&o);
	hex_end();
}

TEST(message_extensions_are_checked)
{
	struct mls_out o = {0};

	CHECK_INT(mls_extensions_check((struct slice){0}), 0);
	CHECK_INT(mls_extensions_check(mls_slice("\0\2\0\0\5\1x", 7)), 0);
	CHECK_INT(mls_extensions_check(mls_slice("\0\2\0\0\2\0", 6)), EBADMSG);
	CHECK_INT(mls_extensions_check(mls_slice("\0\2\1", 3)), EBADMSG);
	CHECK_INT(mls_extensions_check(mls_slice("\0", 1)), EBADMSG);
	for (unsigned i = 0; i < 64; i++)
		mls_out_be(&o, (uint64_t)i << 8, 3);
	CHECK_INT(mls_extensions_check(mls_out_view(&o)), 0);
	mls_out_be(&o, UINT64_C(64) << 8, 3);
	CHECK_INT(mls_extensions_check(mls_out_view(&o)), EOVERFLOW);
	mls_out_free(&o);
}

TEST(message_welcome_finds_ours)
{
	uint8_t ref[MLS_HASH], other[MLS_HASH] = {0};
	struct slice s = hex_bytes("0002"
				   "26"
				   "20" REF32 "01ee"
				   "0201ff"
				   "0377880a"),
		     enc, sealed;
	struct rd r = rd_of(s.p, s.n);
	struct mls_welcome w;

	for (unsigned i = 0; i < MLS_HASH; i++)
		ref[i] = (uint8_t)i;
	CHECK_INT(mls_welcome_read(&w, &r), 0);
	CHECK_INT(w.suite, 2);
	CHECK_MEM(w.group_info.p, w.group_info.n, "\x77\x88\x0a", 3);
	CHECK_INT(mls_welcome_secrets(&w, ref, &enc, &sealed), 0);
	CHECK_MEM(enc.p, enc.n, "\xee", 1);
	CHECK_MEM(sealed.p, sealed.n, "\1\xff", 2);
	CHECK_INT(mls_welcome_secrets(&w, other, &enc, &sealed), ENOENT);
	w.secrets.n--;
	CHECK_INT(mls_welcome_secrets(&w, ref, &enc, &sealed), EBADMSG);
	for (size_t n = 0; n < s.n; n++) {
		r = rd_of(s.p, n);
		CHECK_INT(mls_welcome_read(&w, &r), EBADMSG);
	}
	s = hex_bytes("0002"
		      "00"
		      "00"
		      "00");
	r = rd_of(s.p, s.n);
	CHECK_INT(mls_welcome_read(&w, &r), EBADMSG);
	hex_end();
}

TEST(message_pre_shared_keys)
{
	static const uint8_t zero[MLS_HASH];
	struct mls_psk known = {mls_slice("one", 3), mls_slice("key", 3)};
	struct mls_out many = {0};
	uint8_t secret[MLS_HASH];

	CHECK_INT(mls_psk_secret(secret, (struct slice){0}, NULL, 0), 0);
	CHECK_MEM(secret, MLS_HASH, zero, MLS_HASH);
	CHECK_INT(mls_psk_secret(secret, mls_slice("\1\3one\1n", 7), NULL, 0), ENOTSUP);
	CHECK_INT(mls_psk_secret(secret, mls_slice("\1\3two\1n", 7), &known, 1), ENOTSUP);
	CHECK_INT(mls_psk_secret(secret, mls_slice("\1\0\1n", 4), &known, 1), ENOTSUP);
	CHECK_INT(mls_psk_secret(secret, mls_slice("\2\1\1g\0\0\0\0\0\0\0\1\1n", 14), &known, 1),
		  ENOTSUP);
	CHECK_INT(mls_psk_secret(secret, mls_slice("\3\3one\1n", 7), &known, 1), EBADMSG);
	CHECK_INT(mls_psk_secret(secret, mls_slice("\1\3one\1", 6), &known, 1), EBADMSG);
	CHECK_INT(mls_psk_secret(secret, mls_slice("\1\3one\1n", 7), &known, 1), 0);
	CHECK(memcmp(secret, zero, MLS_HASH) != 0);
	for (unsigned i = 0; i <= MLS_PSKS_MAX; i++)
		mls_out_bytes(&many, "\1\3one\1n", 7);
	CHECK_INT(mls_psk_secret(secret, mls_out_view(&many), &known, 1), EOVERFLOW);
	mls_out_free(&many);
}
