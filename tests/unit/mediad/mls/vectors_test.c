/* The published vectors that the unit tests run whole; tests/vectors has what they check. */
#include "tests/test.h"

#include "tests/vectors/vectors.h"

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
