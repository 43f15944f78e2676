/* The published vectors that the unit tests run whole; tests/vectors has what they check. */
#include "tests/test.h"

#include "tests/vectors/runner.h"

static void run_file(const char *name, bool (*one)(const json_t *))
{
	const char *path = test_shared(name);
	json_t *root;

	if (!path) {
		test_skip("shared vectors not there");
		return;
	}
	root = json_load_file(path, 0, NULL);
	if (json_array_size(root) == 0)
		test_fail(__FILE__, __LINE__, "%s holds no cases", name);
	for (size_t i = 0; i < json_array_size(root); i++) {
		if (!one(json_array_get(root, i)))
			test_fail(__FILE__, __LINE__, "%s: case %zu", name, i);
		vec_end();
	}
	json_decref(root);
}

TEST(mls_vectors_deserialization)
{
	run_file("vectors/mls/deserialization.json", vec_deserialization);
}

TEST(mls_vectors_tree_math)
{
	run_file("vectors/mls/tree-math.json", vec_tree_math);
}

TEST(mls_vectors_crypto_basics)
{
	run_file("vectors/mls/crypto-basics.suite2.json", vec_crypto_basics);
}

TEST(mls_vectors_key_schedule)
{
	run_file("vectors/mls/key-schedule.suite2.json", vec_key_schedule);
}

TEST(mls_vectors_transcript_hashes)
{
	run_file("vectors/mls/transcript-hashes.suite2.json", vec_transcript_hashes);
}

TEST(mls_vectors_secret_tree)
{
	run_file("vectors/mls/secret-tree.suite2.json", vec_secret_tree);
}

TEST(mls_vectors_tree_validation)
{
	run_file("vectors/mls/tree-validation.suite2.json", vec_tree_validation);
}

TEST(mls_vectors_tree_operations)
{
	run_file("vectors/mls/tree-operations.suite1-only.json", vec_tree_operations);
}

TEST(mls_vectors_treekem)
{
	run_file("vectors/mls/treekem.suite2.json", vec_treekem);
}

TEST(mls_vectors_welcome)
{
	run_file("vectors/mls/welcome.suite2.json", vec_welcome);
}

TEST(mls_vectors_psk_secret)
{
	run_file("vectors/mls/psk_secret.suite2.json", vec_psk_secret);
}

/* Files of which some cases may be skipped. */
static void run_some(const char *name, unsigned passed, unsigned skipped)
{
	const char *path = test_shared(name);
	struct vec_tally t;

	if (!path) {
		test_skip("shared vectors not there");
		return;
	}
	CHECK(!vec_run(&t, path));
	if (t.failed || t.missing)
		vec_print(&t, path);
	CHECK_INT(t.failed, 0);
	CHECK_INT(t.missing, 0);
	CHECK_INT(t.passed, passed);
	CHECK_INT(t.skipped, skipped);
}

TEST(mls_vectors_messages)
{
	run_some("vectors/mls/messages.json", 15 * 300, 2 * 300);
}

TEST(mls_vectors_message_protection)
{
	run_some("vectors/mls/message-protection.suite2.json", 2, 3);
}

TEST(mls_vectors_passive_client_welcome)
{
	run_some("vectors/mls/passive-client-welcome.suite2.json", 8, 0);
}

TEST(mls_vectors_passive_client_handling_commit)
{
	run_some("vectors/mls/passive-client-handling-commit.suite2.json", 7, 6);
}
