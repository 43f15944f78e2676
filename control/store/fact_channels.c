#include "control/store/fact_channels.h"

#include "control/store/db.h"

json_t *fact_channels(sqlite3_stmt *s, int column)
{
	json_t *list;

	if (sqlite3_column_type(s, column) == SQLITE_NULL)
		return NULL;
	list = json_loads(db_text(s, column), 0, NULL);
	if (json_is_array(list))
		return list;
	json_decref(list);
	return json_array();
}
