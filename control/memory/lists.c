#include "control/memory/lists.h"

#include <stddef.h>
#include <string.h>

const char *const lists_numbers[] = {
	"zero",	    "one",	"two",	   "three",	"four",	    "five",	"six",
	"seven",    "eight",	"nine",	   "ten",	"eleven",   "twelve",	"thirteen",
	"fourteen", "fifteen",	"sixteen", "seventeen", "eighteen", "nineteen", "twenty",
	"thirty",   "forty",	"fifty",   "sixty",	"seventy",  "eighty",	"ninety",
	"hundred",  "thousand", "million", "half",	"quarter",  "noon",	"midnight",
	"first",    "second",	"third",   "once",	"twice",    "fourth",	"fifth",
	"sixth",    "seventh",	"eighth",  "ninth",	"tenth",    "eleventh", "twelfth",
	NULL};
const char *const lists_dates[] = {
	"monday",  "tuesday",	"wednesday", "thursday",   "friday",	"saturday",   "sunday",
	"january", "february",	"march",     "april",	   "may",	"june",	      "july",
	"august",  "september", "october",   "november",   "december",	"today",      "tomorrow",
	"tonight", "yesterday", "morning",   "afternoon",  "evening",	"spring",     "summer",
	"autumn",  "winter",	"montag",    "dienstag",   "mittwoch",	"donnerstag", "freitag",
	"samstag", "sonntag",	"lundi",     "mardi",	   "mercredi",	"jeudi",      "vendredi",
	"samedi",  "dimanche",	"lunes",     "martes",	   "jueves",	"viernes",    "sábado",
	"domingo", "mondays",	"tuesdays",  "wednesdays", "thursdays", "fridays",    "saturdays",
	"sundays", "easter",	"christmas", "weekend",	   "noon",	"midnight",   NULL};

const char *const lists_colours[] = {"red",   "blue",	"green",   "yellow",	"black",  "white",
				     "brown", "grey",	"gray",	   "pink",	"purple", "orange",
				     "beige", "navy",	"teal",	   "turquoise", "gold",	  "silver",
				     "cream", "violet", "crimson", "maroon",	NULL};

bool lists_hold(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}
