/* Op 27 as a job: the vector of proposals, or of references to revoke, as it came; or proposals
 * that the gateway signed with anything inside. In a group of two, where our commit may follow.
 *
 * Input: one byte of choice, then the vector, or pieces of one byte of kind, one of length and so
 * many bytes of body. */
#include <stdlib.h>

#include "mediad/dave/job.h"
#include "tests/unit/mediad/dave/gateway_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SELF = 7, PEER = 9, PIECES = 24 };
enum { AS_IT_CAME = 1, REVOKE = 2, IN_A_GROUP = 4 };

static void must(bool fine)
{
	if (!fine)
		abort();
}

/* Runs one job; the users told are the same each time, and so is a seed. */
static enum dave_verdict work(struct dave_mls_state **room, uint8_t seed, enum dave_job_type type,
			      struct slice in, struct mls_out *out)
{
	static const uint64_t users[] = {SELF, PEER};
	enum dave_verdict verdict;
	struct dave_job *j;

	must(dave_job_alloc(&j, type) == 0);
	j->mls_state = *room;
	j->channel = GATEWAY_FIXTURE_CHANNEL;
	memset(j->seed, seed, sizeof j->seed);
	j->in.p = malloc(in.n + 1);
	j->recognized = malloc(sizeof users);
	must(j->in.p && j->recognized);
	if (in.n)
		memcpy(j->in.p, in.p, in.n);
	j->in.n = in.n;
	memcpy(j->recognized, users, sizeof users);
	j->n_recognized = 2;
	dave_job_run(j);
	if (out)
		mls_out_slice(out, mls_slice(j->out.p, j->out.n));
	verdict = j->verdict;
	*room = j->mls_state;
	j->mls_state = NULL;
	dave_job_free(j);
	return verdict;
}

static struct dave_mls_state *new_room(uint64_t user, const struct gateway_fixture *g,
				       struct mls_out *package)
{
	struct dave_mls_state *room;

	must(dave_mls_state_alloc(&room, user) == 0);
	must(work(&room, (uint8_t)user, DAVE_JOB_EXTERNAL_SENDER, mls_out_view(&g->package),
		  NULL) == DAVE_DONE);
	must(work(&room, (uint8_t)user, DAVE_JOB_RESET, mls_slice(NULL, 0), package) == DAVE_DONE);
	return room;
}

static void send_op27(struct dave_mls_state **room, uint8_t revoke, struct slice list,
		      struct mls_out *op28)
{
	struct mls_out in = {0};

	mls_out_be(&in, revoke, 1);
	mls_out_vec(&in, list);
	must(!in.err);
	work(room, SELF + 100, DAVE_JOB_PROPOSALS, mls_out_view(&in), op28);
	mls_out_free(&in);
}

/* What the gateway signs, piece by piece. */
static void sign_pieces(struct gateway_fixture *g, struct rd *r, uint64_t epoch,
			struct slice package, struct mls_out *list)
{
	for (unsigned i = 0; i < PIECES && rd_left(r) > 1; i++) {
		uint8_t kind = (uint8_t)rd_be(r, 1);
		size_t n = (size_t)rd_be(r, 1), left = rd_left(r);
		struct slice body =
			mls_slice(rd_bytes(r, n < left ? n : left), n < left ? n : left);

		if (kind & 1)
			gateway_fixture_add(g, list, epoch, package);
		else if (kind & 2)
			gateway_fixture_remove(g, list, epoch, kind >> 4);
		else
			gateway_fixture_sign(
				g, list,
				&(struct gateway_fixture_framing){.epoch = epoch + (kind >> 6),
								  .index = kind >> 4 & 3},
				body);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mls_out mine = {0}, theirs = {0}, list = {0}, op28 = {0};
	struct rd r = rd_of(data, size);
	uint8_t choice = (uint8_t)rd_be(&r, 1);
	struct dave_mls_state *room, *peer;
	struct slice commit, welcome;
	uint64_t epoch = 0;
	struct gateway_fixture g;

	gateway_fixture_init(&g);
	room = new_room(SELF, &g, &mine);
	peer = new_room(PEER, &g, &theirs);
	if (choice & IN_A_GROUP) {
		gateway_fixture_add(&g, &list, 0, mls_out_view(&theirs));
		send_op27(&room, 0, mls_out_view(&list), &op28);
		commit = gateway_fixture_split_op28(mls_out_view(&op28), &welcome);
		must(commit.n &&
		     work(&room, SELF + 101, DAVE_JOB_COMMIT, commit, NULL) == DAVE_DONE);
		epoch = 1;
		mls_out_free(&list);
		mls_out_free(&op28);
	}
	if (choice & AS_IT_CAME) {
		work(&room, SELF + 102, DAVE_JOB_PROPOSALS,
		     mls_slice(rd_left(&r) ? r.p + r.pos : NULL, rd_left(&r)), &op28);
	} else {
		sign_pieces(&g, &r, epoch, mls_out_view(&theirs), &list);
		must(!list.err);
		send_op27(&room, choice & REVOKE ? 1 : 0, mls_out_view(&list), &op28);
	}
	/* What we would commit is a commit, and we can follow it. */
	if (op28.n) {
		commit = gateway_fixture_split_op28(mls_out_view(&op28), &welcome);
		must(commit.n &&
		     work(&room, SELF + 101, DAVE_JOB_COMMIT, commit, NULL) == DAVE_DONE);
	}
	dave_mls_state_free(room);
	dave_mls_state_free(peer);
	mls_out_free(&mine);
	mls_out_free(&theirs);
	mls_out_free(&list);
	mls_out_free(&op28);
	gateway_fixture_free(&g);
	return 0;
}
