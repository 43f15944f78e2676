/* A file of facts, as an operator imports it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *facts = NULL, *fact;
	size_t i;

	if (memory_file_parse((const char *)data, size, &facts))
		return 0;
	json_array_foreach(facts, i, fact)
	{
		const char *text = json_string_value(json_object_get(fact, "text"));

		if (!text || !*text || strlen(text) > MEMORY_FILE_TEXT ||
		    !json_is_integer(json_object_get(fact, "written_ms")))
			abort();
	}
	json_decref(facts);
	return 0;
}
