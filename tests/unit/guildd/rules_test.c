/* guildd's small rules: permissions, rate limits, bad networks, switches. */
#include "tests/guildd/bucket.h"
#include "tests/guildd/impair.h"
#include "tests/guildd/perm.h"
#include "tests/guildd/switches.h"
#include "tests/test.h"

enum { GUILD = 1, OWNER = 2, ALICE = 3, ROLE = 10, OTHER = 11 };

TEST(guildd_permissions_of_owner_and_administrator)
{
	static const uint64_t ids[] = {ROLE}, admin[] = {GD_PERM_ADMINISTRATOR};
	struct gd_overwrite deny = {.id = GUILD, .deny = GD_PERM_VIEW};
	struct gd_perm_in in = {.guild = GUILD,
				.user = OWNER,
				.owner = OWNER,
				.channel = true,
				.over = &deny,
				.n_over = 1};

	CHECK(gd_perm(&in) == GD_PERM_ALL);
	in.user = ALICE;
	CHECK(gd_perm(&in) == 0);
	in.role_ids = ids;
	in.role_perms = admin;
	in.n_roles = 1;
	CHECK(gd_perm(&in) == GD_PERM_ALL);
}

TEST(guildd_overwrites_apply_everyone_roles_member)
{
	static const uint64_t ids[] = {ROLE}, perms[] = {0};
	struct gd_overwrite over[] = {
		{.id = GUILD, .deny = GD_PERM_CONNECT | GD_PERM_SPEAK},
		{.id = ROLE, .allow = GD_PERM_CONNECT},
		{.id = OTHER, .deny = GD_PERM_VIEW}, /* not a role of ours */
		{.id = ALICE, .member = true, .allow = GD_PERM_MOVE, .deny = GD_PERM_SEND},
	};
	struct gd_perm_in in = {.guild = GUILD,
				.user = ALICE,
				.owner = OWNER,
				.everyone = GD_PERM_DEFAULT,
				.role_ids = ids,
				.role_perms = perms,
				.n_roles = 1,
				.channel = true,
				.over = over,
				.n_over = 4};
	uint64_t p = gd_perm(&in);

	CHECK(p & GD_PERM_VIEW && p & GD_PERM_CONNECT && p & GD_PERM_MOVE);
	CHECK(!(p & GD_PERM_SPEAK) && !(p & GD_PERM_SEND));
	in.n_roles = 0;
	CHECK(!(gd_perm(&in) & GD_PERM_CONNECT));
}

TEST(guildd_who_cannot_see_a_channel_can_do_nothing_in_it)
{
	struct gd_perm_in in = {
		.guild = GUILD, .user = ALICE, .owner = OWNER, .everyone = GD_PERM_CONNECT};

	CHECK(gd_perm(&in) == GD_PERM_CONNECT);
	in.channel = true;
	CHECK(gd_perm(&in) == 0);
}

TEST(guildd_bucket_counts_and_refills)
{
	struct gd_bucket b = {.limit = 3, .window_ns = 1000};
	struct gd_bucket_answer a;

	for (unsigned i = 0; i < 3; i++) {
		a = gd_bucket_take(&b, 5000 + i);
		CHECK(a.allowed);
		CHECK_INT(a.remaining, 2 - i);
	}
	CHECK_INT(a.reset_after_ns, 998);
	a = gd_bucket_take(&b, 5999);
	CHECK(!a.allowed);
	CHECK_INT(a.reset_after_ns, 1);
	a = gd_bucket_take(&b, 6000);
	CHECK(a.allowed);
	CHECK_INT(a.remaining, 2);
	CHECK_INT(a.reset_after_ns, 1000);
}

TEST(guildd_bucket_keys_keep_texts_apart)
{
	static const char *const x[] = {"ab", "c"}, *const y[] = {"a", "bc"},
				 *const z[] = {"ab", NULL};

	CHECK(gd_bucket_hash(x, 2) != gd_bucket_hash(y, 2));
	CHECK(gd_bucket_hash(x, 2) != gd_bucket_hash(z, 2));
	CHECK(gd_bucket_hash(x, 2) == gd_bucket_hash(x, 2));
}

TEST(guildd_network_loses_what_it_is_told_to)
{
	struct gd_impair_conf conf = {.loss_permille = 100,
				      .dup_permille = 50,
				      .reorder_permille = 20,
				      .reorder_ms = 40,
				      .delay_ms = 10,
				      .jitter_ms = 5};
	struct gd_impair im, same;
	unsigned lost = 0, twice = 0, late = 0;

	gd_impair_seed(&im, 42);
	gd_impair_seed(&same, 42);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t d[2] = {0}, e[2] = {0};
		unsigned n = gd_impair_plan(&im, &conf, d);

		CHECK_INT(gd_impair_plan(&same, &conf, e), n);
		CHECK_MEM(d, sizeof(d), e, sizeof(e));
		lost += n == 0;
		twice += n == 2;
		late += n > 0 && d[0] >= 50000000;
		CHECK(n == 0 || (d[0] >= 10000000 && d[0] <= 55000000));
	}
	CHECK(lost > 1800 && lost < 2200);
	CHECK(twice > 800 && twice < 1000);
	CHECK(late > 280 && late < 450);
}

TEST(guildd_network_is_clean_by_default)
{
	struct gd_impair_conf conf = {0};
	struct gd_impair im;
	uint64_t d[2];

	gd_impair_seed(&im, 1);
	for (unsigned i = 0; i < 1000; i++) {
		CHECK_INT(gd_impair_plan(&im, &conf, d), 1);
		CHECK_INT(d[0], 0);
	}
}

TEST(guildd_switches_by_name)
{
	struct gd_switches sw;
	json_t *v;

	gd_switches_default(&sw);
	CHECK_INT(sw.voice_heartbeat_ms, 13750);
	CHECK_STR(sw.modes, "aead_aes256_gcm_rtpsize,aead_xchacha20_poly1305_rtpsize");
	CHECK_INT(gd_switch_parse(&sw, "loss_permille=50"), 0);
	CHECK_INT(sw.loss_permille, 50);
	CHECK_INT(gd_switch_parse(&sw, "modes=x"), 0);
	CHECK_STR(sw.modes, "x");
	CHECK_INT(gd_switch_parse(&sw, "loss_permille=1001"), EINVAL);
	CHECK_INT(gd_switch_parse(&sw, "loss_permille=5x"), EINVAL);
	CHECK_INT(gd_switch_parse(&sw, "loss_permille"), EINVAL);
	CHECK_INT(gd_switch_parse(&sw, "nothing=1"), ENOENT);
	v = json_true();
	CHECK_INT(gd_switch_set(&sw, "dave_required", v), 0);
	CHECK_INT(sw.dave_required, 1);
	v = json_string("1");
	CHECK_INT(gd_switch_set(&sw, "dave_required", v), EINVAL);
	json_decref(v);
}
