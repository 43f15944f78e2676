/* room-wordings: plays the wordings of tests/conversations/wordings to the room and prints the
 * text rows with their intervals, baselines and languages.
 *
 *   room-wordings [--untouched] [--show] [--step N] [--classifier WRONG]
 *
 * The tuned half, or with --untouched the other one, of which only figures are printed. --show: a
 * line for each wording of the tuned half that went wrong. --classifier: with a stand-in for the
 * interrupt classifier that answers after 150 ms and errs in WRONG of a thousand wordings. Exit
 * status: 0; 1 if a row of the whole tuned half, by rules alone, is below its floor; 2 for a usage
 * or an error. */
#include <stdlib.h>
#include <string.h>

#include "tests/conversations/wordings.h"

int main(int argc, char **argv)
{
	static struct wordings_score score;
	struct wordings_classifier classifier = {.after_ms = WORDINGS_CLASSIFIER_MS};
	bool untouched = false, show = false, classified = false;
	size_t step = 1;
	struct wordings w;
	int err;

	for (int i = 1; i < argc; i++) {
		untouched = untouched || strcmp(argv[i], "--untouched") == 0;
		show = show || strcmp(argv[i], "--show") == 0;
		if (strcmp(argv[i], "--step") == 0 && i + 1 < argc)
			step = strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--classifier") == 0 && i + 1 < argc) {
			classifier.wrong = (unsigned)strtoul(argv[++i], NULL, 10);
			classified = true;
		}
	}
	if (!step)
		return 2;
	err = wordings_load(&w, untouched ? "tests/conversations/wordings/untouched"
					  : "tests/conversations/wordings/tuned");
	if (!err)
		err = wordings_score(&score, &w, step, classified ? &classifier : NULL,
				     show && !untouched ? stdout : NULL);
	if (err) {
		fprintf(stderr, "room-wordings: %s\n", strerror(err));
		return 2;
	}
	wordings_print(stdout, untouched ? "untouched" : "tuned", &score);
	wordings_free(&w);
	if (untouched || classified || step > 1)
		return 0;
	return wordings_check_floors(stdout, &score) ? 1 : 0;
}
