/* Owners of an SSRC, and the order of the claims to it. */
#include "tests/unit/mediad/call/secure_rig.h"

static uint64_t owner_of(uint32_t ssrc)
{
	const struct person *p = hear_find_owner(rig.c, ssrc);

	return p ? p->user : 0;
}

/* The voice server gave one SSRC to three members. Each has its turn, until one can be decrypted.
 */
TEST(hear_each_claim_has_its_turn)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	hear_prove_ssrc(rig.c, ANNA);
	rig_speaks(BEN, 700);
	rig_speaks(STRANGER, 700);
	CHECK_INT(owner_of(700), ANNA);
	hear_doubt_ssrc(rig.c, ANNA);
	CHECK_INT(owner_of(700), BEN);
	hear_doubt_ssrc(rig.c, BEN);
	CHECK_INT(owner_of(700), STRANGER);
	hear_doubt_ssrc(rig.c, STRANGER);
	CHECK_INT(owner_of(700), ANNA);
	CHECK_INT(owner_of(701), 0);
	rig_finish();
}

/* Otherwise the owner's name and consent would be taken for those of the other member. */
TEST(hear_takes_an_ssrc_away_although_the_next_owner_has_no_slot)
{
	const struct person *anna;

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	anna = hear_find(rig.c, ANNA);
	CHECK(anna && anna->slot && anna->slot->ssrc == 700 && !anna->proven);
	CHECK(!hear_find(rig.c, BEN)->slot);
	test_fail_allocation(0);
	hear_ssrc(rig.c, BEN, 700);
	test_fail_allocation(-1);
	for (unsigned i = 0; i < 10; i++)
		rig_audio();
	CHECK(!hear_find(rig.c, BEN)->slot);
	CHECK_INT(anna->slot->ssrc, 0);
	CHECK(hear_unmapped_ssrc(rig.c, 700));
	for (unsigned i = 0; i < 10; i++)
		rig_audio();
	CHECK_INT(hear_find(rig.c, BEN)->slot->ssrc, 700);
	rig_finish();
}

TEST(hear_forgets_the_ssrc_of_a_leaver)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig_speaks(BEN, 701);
	CHECK_INT(rig.c->n_lent, 2);
	rig_text("{\"op\":13,\"d\":{\"user_id\":\"8\"}}");
	CHECK_INT(owner_of(701), 0);
	CHECK_INT(rig.c->n_lent, 1);
	CHECK_INT(rig.c->with_slot[0]->user, ANNA);
	hear_end_session(rig.c);
	CHECK_INT(owner_of(700), 0);
	rig_finish();
}

/* An answer to a message of an older lease is no new control, which would repeat its refusals. */
TEST(hear_keeps_refusals_when_the_state_is_repeated)
{
	struct media_consent no = {.user = ANNA};
	struct media_call_set set = {.channel = 5, .bitrate = 64000, .consent = MEDIA_CONSENT_YES};
	const struct person *anna;

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	call_consent(rig.c, &no);
	call_send_all(rig.c);
	call_set(rig.c, &set);
	anna = hear_find(rig.c, ANNA);
	CHECK(anna && anna->consent_known && !anna->consented);
	rig_finish();
}
