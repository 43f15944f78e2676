#include "tests/bench/canaries.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/bench/traces.h"

enum { NAME = 96, BUSY_MS = 10000 };

/* Columns of any table that hold neither words nor ids of people, but what servers, channels,
 * sessions, turns, rows, times and states are called. */
static const char *const numbers[] = {
	"at_ms",	 "bound",	  "call",      "channel",	 "channels",   "confidence",
	"consent",	 "fact",	  "forgotten", "guild",		 "id",	       "language",
	"line",		 "model",	  "n",	       "nano",		 "priced",     "prompts",
	"reason",	 "scale",	  "seq",       "session",	 "started_ms", "state",
	"superseded_by", "tainted",	  "turn",      "turn_seq",	 "type",       "utterance",
	"written_ms",	 "valid_from_ms", "ended_ms",  "lasted_ms",	 "ms",	       "kind",
	"mac",		 "updated_ms",	  "version",   "valid_until_ms", "said_ms"};
/* TABLE.COLUMN, and tables whose other columns are of this kind, too. Pseudonyms and hashes stay.
 */
static const char *const bare[] = {"audit.target",
				   "audit.via",
				   "audit.result",
				   "audit.salt",
				   "audit.sealed",
				   "audit.hash",
				   "audit.said_salt",
				   "audit.said_sealed",
				   "audit_chain",
				   "consent_ledger.before",
				   "consent_ledger.after",
				   "consent_ledger.ends",
				   "consent_ledger.via",
				   "consents",
				   "costs",
				   "deletions",
				   "embedding_models",
				   "erase_requests",
				   "erased_facts",
				   "fact_pairs",
				   "fact_sources",
				   "meta",
				   "music_positions",
				   "sessions",
				   "settings_documents.scope",
				   "summary_sources",
				   "text_taken.message",
				   "text_taken.mark",
				   "tool_calls.tool",
				   "tool_calls.arguments",
				   "turns.why",
				   "turns.first_audio_ms",
				   "utterance_people.told",
				   "utterances.source",
				   "utterances.addressee",
				   "utterances.message"};

static bool is_number(const char *column)
{
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (strcmp(numbers[i], column) == 0)
			return true;
	return false;
}

static bool is_bare(const char *table, const char *column)
{
	size_t n = strlen(table);

	for (size_t i = 0; i < sizeof bare / sizeof bare[0]; i++)
		if (strncmp(bare[i], table, n) == 0 &&
		    (!bare[i][n] || (bare[i][n] == '.' && strcmp(bare[i] + n + 1, column) == 0)))
			return true;
	return is_number(column);
}

static sqlite3_stmt *prepare(sqlite3 *sql, const char *text)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(sql, text, -1, &s, NULL) != SQLITE_OK)
		bench_die("%s: %s", text, sqlite3_errmsg(sql));
	return s;
}

static bool has_trace(sqlite3 *sql, const char *table, const char *column)
{
	char text[2 * NAME + 32];
	sqlite3_stmt *s;
	bool has = false;

	snprintf(text, sizeof text, "SELECT \"%s\" FROM \"%s\"", column, table);
	s = prepare(sql, text);
	while (!has && sqlite3_step(s) == SQLITE_ROW) {
		const char *value = sqlite3_column_type(s, 0) == SQLITE_BLOB
					    ? sqlite3_column_blob(s, 0)
					    : (const char *)sqlite3_column_text(s, 0);

		has = value && traces_in(value, (size_t)sqlite3_column_bytes(s, 0)) > 0;
	}
	sqlite3_finalize(s);
	return has;
}

/* The tables of the full-text indexes hold terms in a form of their own. */
#define COLUMNS                                                                                    \
	"SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c"              \
	" WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'"                                   \
	" AND m.name NOT LIKE 'terms%' AND m.name NOT LIKE 'fact_terms%' ORDER BY 1, c.cid"

unsigned canaries_missing(const char *database)
{
	sqlite3 *sql = NULL;
	sqlite3_stmt *s;
	unsigned missing = 0;

	if (sqlite3_open_v2(database, &sql, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
	    sqlite3_busy_timeout(sql, BUSY_MS) != SQLITE_OK)
		bench_die("%s", database);
	s = prepare(sql, COLUMNS);
	while (sqlite3_step(s) == SQLITE_ROW) {
		char table[NAME], column[NAME];

		snprintf(table, sizeof table, "%s", (const char *)sqlite3_column_text(s, 0));
		snprintf(column, sizeof column, "%s", (const char *)sqlite3_column_text(s, 1));
		if (is_bare(table, column) == has_trace(sql, table, column)) {
			fprintf(stderr, "erase: %s.%s %s\n", table, column,
				is_bare(table, column) ? "holds somebody" : "has no canary");
			missing++;
		}
	}
	sqlite3_finalize(s);
	sqlite3_close(sql);
	return missing;
}
