/* Runs a program under a filter of system calls as container engines have it: a JSON file such as
 * deploy/seccomp-mediad.json. So scenarios try the filter of an image without an engine.
 *
 *   image_filter FILE PROGRAM [ARGUMENT…]
 *
 * Exit status: that of the program; 126 if the filter cannot be installed. */
#include <errno.h>
#include <jansson.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_FILTER = 126, ARGS_MAX = 6 };

static enum scmp_compare compare_of(const char *op)
{
	return strcmp(op, "SCMP_CMP_MASKED_EQ") == 0 ? SCMP_CMP_MASKED_EQ : SCMP_CMP_EQ;
}

static unsigned read_args(json_t *rule, struct scmp_arg_cmp args[ARGS_MAX])
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(rule, "args"), i, one)
	{
		const json_int_t value = json_integer_value(json_object_get(one, "value")),
				 two = json_integer_value(json_object_get(one, "valueTwo"));

		if (i == ARGS_MAX)
			return ARGS_MAX;
		/* Of a masked comparison the first value is the mask. */
		args[i] = (struct scmp_arg_cmp){
			.arg = (unsigned)json_integer_value(json_object_get(one, "index")),
			.op = compare_of(json_string_value(json_object_get(one, "op"))),
			.datum_a = (scmp_datum_t)value,
			.datum_b = (scmp_datum_t)two};
	}
	return (unsigned)json_array_size(json_object_get(rule, "args"));
}

/* A call that the library at hand does not know is none of ours. */
static int add_rule(scmp_filter_ctx f, json_t *rule)
{
	const char *action = json_string_value(json_object_get(rule, "action"));
	json_t *errnum = json_object_get(rule, "errnoRet"), *name;
	const bool allowed = strcmp(action, "SCMP_ACT_ALLOW") == 0;
	const uint32_t what =
		allowed ? SCMP_ACT_ALLOW
			: SCMP_ACT_ERRNO((unsigned)(errnum ? json_integer_value(errnum) : EPERM));
	struct scmp_arg_cmp args[ARGS_MAX];
	const unsigned n = read_args(rule, args);
	int err = 0;
	size_t i;

	json_array_foreach(json_object_get(rule, "names"), i, name)
	{
		int call = seccomp_syscall_resolve_name(json_string_value(name));

		if (call != __NR_SCMP_ERROR && !err)
			err = seccomp_rule_add_array(f, what, call, n, args);
		/* Exactly what the filter does anyway. */
		err = err == -EACCES ? 0 : err;
	}
	return err;
}

static int install(const char *path)
{
	json_t *root = json_load_file(path, 0, NULL), *rule;
	const json_int_t errnum = json_integer_value(json_object_get(root, "defaultErrnoRet"));
	scmp_filter_ctx f = root ? seccomp_init(SCMP_ACT_ERRNO((unsigned)errnum)) : NULL;
	int err = f ? 0 : -EINVAL;
	size_t i;

	json_array_foreach(json_object_get(root, "syscalls"), i, rule) err =
		err ? err : add_rule(f, rule);
	if (!err)
		err = seccomp_load(f);
	json_decref(root);
	return -err;
}

int main(int argc, char **argv)
{
	int err = argc > 2 ? install(argv[1]) : EINVAL;

	if (err) {
		fprintf(stderr, "image_filter: %s\n", strerror(err));
		return EXIT_FILTER;
	}
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return EXIT_FILTER;
}
