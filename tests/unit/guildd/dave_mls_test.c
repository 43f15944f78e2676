/* What guildd reads and writes of MLS: key packages, proposals, commits, welcomes; against members
 * written here and against what davey recorded. */
#include "tests/guildd/dave_mls.h"
#include "tests/test.h"
#include "tests/unit/guildd/member.h"

#include <errno.h>
#include <jansson.h>

enum { USER = 501, CAP = 8192 };

static size_t unhex(const char *hex, uint8_t *out, size_t cap)
{
	size_t n = hex ? strlen(hex) / 2 : 0;

	for (size_t i = 0; i < n && i < cap; i++) {
		char two[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		out[i] = (uint8_t)strtoul(two, NULL, 16);
	}
	return n < cap ? n : cap;
}

/* Reads one key package of a kind. */
static int read_odd(const struct member_odd *odd)
{
	struct member_key m;
	uint8_t buf[CAP];
	struct wr w = wr_of(buf, sizeof(buf));
	struct gd_key_package k;
	int err;

	if (!member_begin(&m, USER))
		return ENOMEM;
	member_key_package(&m, odd, &w);
	err = gd_key_package_read(&k, (struct slice){buf, w.pos});
	if (!err && (k.user != USER || k.signature_key.n != GD_MLS_POINT ||
		     memcmp(k.signature_key.p, m.pub, GD_MLS_POINT) != 0))
		err = EPROTO;
	member_end(&m);
	return err;
}

TEST(guildd_dave_key_package)
{
	CHECK_INT(read_odd(NULL), 0);
	CHECK_INT(read_odd(&(struct member_odd){.suite = 1}), EINVAL);
	CHECK_INT(read_odd(&(struct member_odd){.not_before = 1}), EINVAL);
	CHECK_INT(read_odd(&(struct member_odd){.same_keys = true}), EINVAL);
	CHECK_INT(read_odd(&(struct member_odd){.off_curve = true}), EINVAL);
	CHECK_INT(read_odd(&(struct member_odd){.other_signature = true}), EACCES);
}

TEST(guildd_dave_key_package_changed_or_cut)
{
	struct member_key m;
	uint8_t buf[CAP];
	struct wr w = wr_of(buf, sizeof(buf));
	struct gd_key_package k;
	size_t taken = 0;

	CHECK(member_begin(&m, USER));
	member_key_package(&m, NULL, &w);
	for (size_t i = 0; i < w.pos; i++) {
		buf[i] ^= 0x01;
		taken += gd_key_package_read(&k, (struct slice){buf, w.pos}) == 0;
		buf[i] ^= 0x01;
		taken += gd_key_package_read(&k, (struct slice){buf, i}) == 0;
	}
	buf[w.pos] = 0;
	taken += gd_key_package_read(&k, (struct slice){buf, w.pos + 1}) == 0;
	member_end(&m);
	CHECK_INT(taken, 0);
}

TEST(guildd_dave_sender_and_proposals)
{
	static const uint8_t tail[] = {0x00, 0x01, 0x01,
				       0x00}; /* basic, one byte 0, as in production */
	struct gd_sender *s;
	struct gd_proposal *p, *q;
	struct slice package;
	struct rd r;

	CHECK_INT(gd_sender_alloc(&s), 0);
	package = gd_sender_package(s);
	CHECK_INT(package.n, 71);
	CHECK_INT(package.p[0] << 8 | package.p[1], 0x4041);
	CHECK_INT(package.p[2], 4);
	CHECK_MEM(package.p + 67, 4, tail, 4);
	CHECK_INT(gd_sender_propose(s, &p, 77, 3, (struct slice){0}, 9), 0);
	r = rd_of(p->message, p->n);
	CHECK_INT(rd_be(&r, 4), 0x00010001);
	CHECK_INT(gd_mls_vec(&r).n, 8);
	CHECK_INT(rd_be(&r, 8), 3);
	CHECK_INT(rd_be(&r, 1), 2);
	CHECK_INT(rd_be(&r, 4), 0);
	CHECK_INT(gd_mls_vec(&r).n, 0);
	CHECK_INT(rd_be(&r, 1), 2);
	CHECK_INT(rd_be(&r, 2), 3);
	CHECK_INT(rd_be(&r, 4), 9);
	CHECK(gd_mls_vec(&r).n >= 68 && r.ok && rd_left(&r) == 0);
	CHECK_INT(gd_sender_propose(s, &q, 77, 3, (struct slice){0}, 10), 0);
	CHECK(memcmp(p->ref, q->ref, GD_MLS_REF) != 0);
	free(p);
	free(q);
	gd_sender_free(s);
}

static const uint8_t refs[3][GD_MLS_REF] = {{1}, {2}, {3}}, kps[2][GD_MLS_REF] = {{4}, {5}};

TEST(guildd_dave_commit_walk)
{
	struct member_key m;
	uint8_t buf[CAP], out[CAP];
	struct wr w = wr_of(buf, sizeof(buf)), o = wr_of(out, sizeof(out));
	struct member_commit in = {.group = 77,
				   .epoch = 5,
				   .leaf = 6,
				   .path = true,
				   .refs = refs,
				   .n_refs = 3,
				   .welcomes = kps,
				   .n_welcomes = 2};
	struct gd_commit c, narrow;
	size_t taken = 0;

	CHECK(member_begin(&m, USER));
	member_commit(&m, &in, &w);
	CHECK_INT(gd_commit_read(&c, (struct slice){buf, w.pos}), 0);
	CHECK(c.group == 77 && c.epoch == 5 && c.leaf == 6 && c.path && c.path_user == USER);
	CHECK_MEM(c.path_key.p, c.path_key.n, m.pub, sizeof(m.pub));
	CHECK_INT(c.n_refs, 3);
	CHECK_MEM(gd_commit_ref(&c, 2), GD_MLS_REF, refs[2], GD_MLS_REF);
	CHECK_INT(c.n_secrets, 2);
	CHECK_INT(c.message.n + c.welcome.n, w.pos);
	/* Narrowed, each has its own secrets alone: the second's is told by what stands in it. */
	CHECK_INT(gd_commit_welcome(&c, refs[0], &o), ENOENT);
	CHECK_INT(gd_commit_welcome(&c, kps[1], &o), 0);
	memcpy(buf + c.message.n, out, o.pos);
	CHECK_INT(gd_commit_read(&narrow, (struct slice){buf, c.message.n + o.pos}), 0);
	CHECK_INT(narrow.n_secrets, 1);
	CHECK_MEM(narrow.secrets.p + 1, GD_MLS_REF, kps[1], GD_MLS_REF);
	CHECK_INT(narrow.info.n, 120);
	CHECK(o.pos < c.welcome.n);
	for (size_t i = 0; i < w.pos; i++)
		taken += gd_commit_read(&c, (struct slice){buf, i}) == 0 && i != narrow.message.n &&
			 i != narrow.message.n + o.pos;
	CHECK_INT(taken, 0);
	member_end(&m);
}

TEST(guildd_dave_commit_with_a_proposal_inside)
{
	struct member_key m;
	uint8_t buf[CAP];
	struct wr w = wr_of(buf, sizeof(buf));
	struct member_commit in = {.group = 77, .refs = refs, .n_refs = 1};
	struct gd_commit c;

	CHECK(member_begin(&m, USER));
	member_commit(&m, &in, &w);
	CHECK_INT(gd_commit_read(&c, (struct slice){buf, w.pos}), 0);
	CHECK_INT(buf[28], 34);
	buf[29] = 1; /* ProposalOrRef by value */
	CHECK_INT(gd_commit_read(&c, (struct slice){buf, w.pos}), EINVAL);
	buf[29] = 2;
	buf[21] = 2; /* an external sender commits nothing */
	CHECK_INT(gd_commit_read(&c, (struct slice){buf, w.pos}), EINVAL);
	member_end(&m);
}

/* What davey wrote in a recorded group: its key package, its commits, its welcome. */
TEST(guildd_dave_reads_davey)
{
	const char *file = test_data("data/dave/members-4.json");
	json_t *o = file ? json_load_file(file, 0, NULL) : NULL;
	const json_t *steps = json_object_get(o, "steps"), *self = json_object_get(o, "self");
	uint8_t buf[CAP], out[CAP];
	struct gd_key_package k;
	struct gd_commit c;
	size_t n, commits = 0, welcomes = 0;

	CHECK(o != NULL);
	n = unhex(json_string_value(json_object_get(self, "key_package")), buf, sizeof(buf));
	CHECK_INT(gd_key_package_read(&k, (struct slice){buf, n}), 0);
	CHECK(k.user == strtoull(json_string_value(json_object_get(self, "user_id")), NULL, 10));
	for (size_t i = 0; i < json_array_size(steps); i++) {
		const json_t *st = json_array_get(steps, i);
		struct wr w = wr_of(out, sizeof(out));

		n = unhex(json_string_value(json_object_get(st, "op29_commit")), buf, sizeof(buf));
		n += unhex(json_string_value(json_object_get(st, "op30_welcome")), buf + n,
			   sizeof(buf) - n);
		CHECK_INT(gd_commit_read(&c, (struct slice){buf, n}), 0);
		commits++;
		CHECK_INT(c.epoch + 1, json_integer_value(json_object_get(st, "epoch")));
		if (c.welcome.n && gd_commit_welcome(&c, k.ref, &w) == 0)
			welcomes++;
	}
	CHECK(commits >= 5);
	CHECK_INT(welcomes, 1);
	json_decref(o);
}

/* Every key package and commit that three @discordjs/voice peers sent in a recorded session. */
TEST(guildd_dave_reads_a_transcript)
{
	const char *file = test_shared("vectors/discord/dave-3peers.jsonl");
	FILE *f = file ? fopen(file, "r") : NULL;
	size_t n_kp = 0, n_commit = 0, n_first = 0, cap = 0;
	static uint8_t packages[3][CAP], sender[CAP];
	size_t package_n[3] = {0}, sender_n = 0;
	uint64_t users[3];
	char *line = NULL;
	bool fine = true;

	if (!f) {
		test_skip("shared vectors not there: the project's own copies of the values are "
			  "tested in any case");
		return;
	}
	while (getline(&line, &cap, f) > 0) {
		json_t *o = json_loads(line, 0, NULL);
		const char *hex = json_string_value(json_object_get(o, "bin")),
			   *dir = json_string_value(json_object_get(o, "dir"));
		uint8_t buf[CAP];
		size_t n = unhex(hex, buf, sizeof(buf));
		struct slice body = {buf + 1, n ? n - 1 : 0};
		struct gd_key_package k;
		struct gd_commit c;

		if (hex && strcmp(dir, "c>s") == 0 && buf[0] == 26) {
			fine = fine && gd_key_package_read(&k, body) == 0 &&
			       k.user == strtoull(json_string_value(json_object_get(o, "user")),
						  NULL, 10);
			users[n_kp % 3] = k.user;
			memcpy(packages[n_kp % 3], body.p, body.n);
			package_n[n_kp++ % 3] = body.n;
		} else if (hex && strcmp(dir, "s>c") == 0 && buf[2] == 25) {
			sender_n = n - 3;
			memcpy(sender, buf + 3, sender_n);
		} else if (hex && strcmp(dir, "c>s") == 0 && buf[0] == 28) {
			fine = fine && gd_commit_read(&c, body) == 0 &&
			       c.group == 127121515262115840ull && c.n_refs == 1;
			n_commit++;
			for (size_t i = 0; c.epoch == 0 && i < 3; i++)
				n_first += users[i] == strtoull(json_string_value(
									json_object_get(o, "user")),
								NULL, 10) &&
					   !gd_commit_verify_first(
						   &c, (struct slice){packages[i], package_n[i]},
						   (struct slice){sender, sender_n});
			fine = fine && (!c.path || c.path_signed);
		}
		json_decref(o);
	}
	free(line);
	fclose(f);
	CHECK(fine);
	CHECK_INT(n_kp, 3);
	CHECK_INT(n_commit, 6);
	/* davey's group of one has another leaf than its key package. */
	CHECK_INT(n_first, 0);
}
