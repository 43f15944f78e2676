/* What the relay says it forwarded. */
#include "tests/guildd/heard.h"
#include "tests/test.h"

TEST(guildd_heard_in_runs)
{
	struct gd_vec list = {0};
	json_t *o;
	char *text;

	for (uint32_t i = 65533; i < 65540; i++) {
		gd_heard_add(&list, 501, 7, i);
		gd_heard_add(&list, 502, 8, i * 2);
	}
	gd_heard_add(&list, 501, 7, 65600);
	o = gd_heard_json(&list);
	CHECK_INT(json_array_size(o), 2);
	text = json_dumps(json_object_get(json_array_get(o, 0), "runs"), JSON_COMPACT);
	CHECK_STR(text, "[[65533,65539],[65600,65600]]");
	CHECK_INT(json_integer_value(json_object_get(json_array_get(o, 0), "count")), 8);
	CHECK_INT(json_array_size(json_object_get(json_array_get(o, 1), "runs")), 7);
	free(text);
	json_decref(o);
	gd_heard_clear(&list);
}
