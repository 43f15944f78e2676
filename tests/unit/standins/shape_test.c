#include "tests/standins/shape.h"
#include "tests/test.h"

static const struct si_shape shape[] = {
	{"type", "!'a' 'b'"},
	{"n", "int:1..4096 'inf'"},
	{"speed", "num:0.25..1.5 null"},
	{"list", "arr"},
	{"list[]", "obj"},
	{"list[].name", "!str"},
	{"list[].deep", "any"},
	{"o", "obj"},
	{"o.flag", "bool"},
	{"unit", "num:0..1"},
	{NULL, NULL},
};

static bool fits(const char *text, struct si_fault *f)
{
	json_t *v = json_loads(text, 0, NULL);
	bool ok = si_shape_check(shape, v, f);

	json_decref(v);
	return ok;
}

TEST(standin_shape_takes_what_it_knows)
{
	static const char *const good[] = {
		"{\"type\":\"a\"}",
		"{\"type\":\"b\",\"n\":4096,\"speed\":0.25,\"o\":{\"flag\":true}}",
		"{\"type\":\"b\",\"n\":\"inf\",\"speed\":null,\"unit\":1}",
		"{\"type\":\"a\",\"list\":[{\"name\":\"x\",\"deep\":{\"what\":[1]}},{\"name\":"
		"\"y\"}]}",
	};
	struct si_fault f;

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		CHECK(fits(good[i], &f));
}

TEST(standin_shape_names_the_fault)
{
	static const struct {
		const char *text;
		enum si_fault_kind kind;
		const char *path;
	} bad[] = {
		{"{\"n\":1}", SI_FAULT_MISSING, "type"},
		{"{\"type\":\"c\"}", SI_FAULT_VALUE, "type"},
		{"{\"type\":1}", SI_FAULT_TYPE, "type"},
		{"{\"type\":\"a\",\"x\":1}", SI_FAULT_UNKNOWN, "x"},
		{"{\"type\":\"a\",\"n\":0}", SI_FAULT_VALUE, "n"},
		{"{\"type\":\"a\",\"n\":4097}", SI_FAULT_VALUE, "n"},
		{"{\"type\":\"a\",\"unit\":1.5}", SI_FAULT_VALUE, "unit"},
		{"{\"type\":\"a\",\"speed\":2}", SI_FAULT_VALUE, "speed"},
		{"{\"type\":\"a\",\"o\":{\"flag\":1}}", SI_FAULT_TYPE, "o.flag"},
		{"{\"type\":\"a\",\"o\":{\"flags\":true}}", SI_FAULT_UNKNOWN, "o.flags"},
		{"{\"type\":\"a\",\"list\":[{\"deep\":1}]}", SI_FAULT_MISSING, "list[].name"},
		{"{\"type\":\"a\",\"list\":[1]}", SI_FAULT_TYPE, "list[]"},
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct si_fault f;

		CHECK(!fits(bad[i].text, &f));
		CHECK_INT(f.kind, bad[i].kind);
		CHECK_STR(f.path, bad[i].path);
	}
}
