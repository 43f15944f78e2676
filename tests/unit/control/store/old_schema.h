/* Takes a database back to the first version of its schema. */
#ifndef TESTS_UNIT_CONTROL_STORE_OLD_SCHEMA_H
#define TESTS_UNIT_CONTROL_STORE_OLD_SCHEMA_H

#define OLD_SCHEMA                                                                                 \
	"DROP TABLE embedding_models; DROP TABLE utterance_vectors; DROP TABLE fact_vectors;"      \
	"DROP TABLE consents; DROP TABLE consent_ledger; DROP TABLE deletions;"                    \
	"DROP TABLE erase_requests; DROP TABLE summaries; DROP TABLE summary_people;"              \
	"DROP TABLE fact_pairs; "                                                                  \
	"DROP TABLE fact_people; DROP TABLE music_queues; "                                        \
	"DROP TABLE music_positions; DROP TABLE summary_sources;"                                  \
	"ALTER TABLE utterances DROP COLUMN forgotten;"                                            \
	"DROP TABLE facts; DROP TABLE fact_sources; DROP TABLE fact_terms; DROP TABLE terms;"      \
	"DROP INDEX utterances_channel; DROP INDEX utterances_session;"                            \
	"DROP INDEX utterances_names; DROP INDEX utterances_message; DROP INDEX turns_session;"    \
	"ALTER TABLE utterances DROP COLUMN message;"                                              \
	"ALTER TABLE utterances DROP COLUMN channel; ALTER TABLE utterances DROP COLUMN turn;"     \
	"ALTER TABLE utterances DROP COLUMN language;"                                             \
	"ALTER TABLE utterances DROP COLUMN confidence;"                                           \
	"ALTER TABLE utterances DROP COLUMN addressee;"                                            \
	"ALTER TABLE utterances DROP COLUMN consent;"                                              \
	"DROP TABLE tool_calls; DROP TABLE costs; DROP TABLE contexts; DROP TABLE recordings;"     \
	"DROP TABLE text_taken; DROP TABLE erased_facts; DROP TABLE utterance_people;"             \
	"ALTER TABLE sessions DROP COLUMN spoken_ms;"                                              \
	"ALTER TABLE turns DROP COLUMN prompts; DROP TABLE guild_states;"                          \
	"ALTER TABLE audit DROP COLUMN salt; ALTER TABLE audit DROP COLUMN sealed;"                \
	"ALTER TABLE audit DROP COLUMN hash; DROP TABLE audit_chain;"                              \
	"ALTER TABLE audit DROP COLUMN said_salt; ALTER TABLE audit DROP COLUMN said_sealed;"      \
	"DROP INDEX events_user; DROP INDEX speech_user; PRAGMA user_version=1"

#endif
