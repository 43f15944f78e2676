#include "control/store/receipt.h"

#include <errno.h>

#include <jansson.h>

#include "control/words/words.h"

uint64_t receipt_traces(const char *receipt)
{
	json_t *j = json_loads(receipt, 0, NULL), *scan = json_object_get(j, "scan");
	json_int_t traces = json_integer_value(json_object_get(scan, "traces"));

	json_decref(j);
	return (uint64_t)traces;
}

int receipt_tell(struct words *w, const char *receipt)
{
	json_t *j = json_loads(receipt, 0, NULL), *rows, *scan = json_object_get(j, "scan");
	json_int_t traces = json_integer_value(json_object_get(scan, "traces"));
	json_int_t listed = json_integer_value(json_object_get(scan, "listed"));
	json_int_t total = 0;
	const char *table;
	bool valid = json_is_object(json_object_get(j, "erased"));
	bool searched = json_array_size(json_object_get(scan, "searched"));

	json_object_foreach(json_object_get(j, "erased"), table, rows)
	{
		total += json_integer_value(rows);
	}
	if (valid && !total && !searched)
		words_erased_nothing(w);
	else if (valid && !traces && !listed)
		words_erased(w, (unsigned)total);
	else if (valid && !traces)
		words_erased_but_listed(w, (unsigned)total);
	else if (valid)
		words_erased_with_traces(w, (unsigned)total, (unsigned)traces);
	json_decref(j);
	return valid ? 0 : EBADMSG;
}

bool receipt_knew_person(const char *receipt)
{
	json_t *j = json_loads(receipt, 0, NULL), *rows, *scan = json_object_get(j, "scan");
	bool found = !j || json_integer_value(json_object_get(scan, "listed"));
	const char *table;

	json_object_foreach(json_object_get(j, "erased"), table, rows)
	{
		found = found || json_integer_value(rows);
	}
	json_decref(j);
	return found;
}
