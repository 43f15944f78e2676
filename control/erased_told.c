#include "control/erased_told.h"

#include <inttypes.h>
#include <stdint.h>

#include "control/store/receipt.h"
#include "control/words/words.h"

/* A wrong id does no harm, and leaves the person whom somebody meant. */
void erased_told_unknown(FILE *err, const char *user)
{
	fprintf(err, "control: nothing was known of user %s: is the id right?\n", user);
}

/* The id of a server, a channel or a message is in many rows, and means nobody. */
static void tell_traces(FILE *err, const char *user, uint64_t traces, bool known)
{
	fprintf(err, "control: a search of the files found the number %s, traces: %" PRIu64 "\n",
		user, traces);
	if (known)
		fputs("control: the receipt names the files (\"found\"); please report this as a "
		      "fault of Parley\n",
		      err);
	else
		fputs("control: it may be the id of a server, a channel or a message; if it is "
		      "that of a person, please report this as a fault of Parley\n",
		      err);
}

bool erased_told(FILE *out, FILE *err, const char *user, const char *receipt)
{
	struct words sentence = {0};
	uint64_t traces = receipt_traces(receipt);
	bool known = receipt_knew_person(receipt);

	if (!known)
		erased_told_unknown(err, user);
	/* That of a member asks to report traces to whoever reads this. */
	if (!traces)
		receipt_tell(&sentence, receipt);
	if (!traces)
		fprintf(out, "user %s: %s\n", user, sentence.text);
	fprintf(out, "%s\n", receipt);
	if (traces)
		tell_traces(err, user, traces, known);
	return traces;
}
