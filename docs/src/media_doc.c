/* Prints the tables of docs/protocol.md from proto/media.def. */
#include "proto/media.h"

#include <stdio.h>

static const char *dir_text(char dir)
{
	return dir == 'C' ? "control → mediad" : dir == 'M' ? "mediad → control" : "both";
}

#define FIELD(type, field, since, def)                                                             \
	printf("%s`%s` %s", n++ ? ", " : "", #field, #type);                                       \
	if ((since) > m_since)                                                                     \
		printf(" (since minor %d)", since);
#define MSG(NAME, name, num, dir, lane, cap, since)                                                \
	{                                                                                          \
		const int m_since = since;                                                         \
		unsigned n = 0;                                                                    \
		printf("| %d | %s", num, #NAME);                                                   \
		if (m_since > 0)                                                                   \
			printf(" (since minor %d)", m_since);                                      \
		printf(" | %s | %s | %d | ", dir_text(*#dir), #lane, cap);                         \
		MEDIA_FIELDS_##NAME(FIELD) printf(" |\n");                                         \
	}
#define REASON(NAME, name, num, text, final)                                                       \
	printf("| %d | %s | %s | %s |\n", num, #name, text, (final) ? "yes" : "");
#define ROW(NAME, name, num, text) printf("| %d | %s | %s |\n", num, #name, text);

int main(void)
{
	printf("Version %d.%d. No frame is longer than %d bytes; a PCM field holds at most %d.\n\n",
	       MEDIA_MAJOR, MEDIA_MINOR, MEDIA_MAX_FRAME, MEDIA_PCM_MAX);
	printf("## Messages\n\n| number | name | direction | lane | cap, bytes | fields |\n"
	       "|---|---|---|---|---|---|\n");
	MEDIA_MESSAGES(MSG)
	printf("\n## Phases of a call\n\n| number | name | meaning |\n|---|---|---|\n");
	MEDIA_PHASES(ROW)
	printf("\n## Reasons\n\nAfter a final one no other lease can help: the call is left until "
	       "somebody asks for it again.\n\n"
	       "| number | name | in words | final |\n|---|---|---|---|\n");
	MEDIA_REASONS(REASON)
	printf("\n## What is done about speakers who cannot be decrypted\n\n");
	printf("| number | name | in words |\n|---|---|---|\n");
	MEDIA_HEALS(ROW)
	printf("\n## Whether a call may go without end-to-end encryption\n\n");
	printf("| number | name | in words |\n|---|---|---|\n");
	MEDIA_E2EES(ROW)
	printf("\n## Codecs of video\n\n| number | name | in words |\n|---|---|---|\n");
	MEDIA_VIDEO_CODECS(ROW)
	printf("\n## Faults\n\n| number | name | in words |\n|---|---|---|\n");
	MEDIA_FAULTS(ROW)
	return 0;
}
