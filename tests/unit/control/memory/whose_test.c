#include "control/memory/whose.h"

#include <stddef.h>

#include "tests/test.h"

/* 2: it depends on which was told first. */
static int differ(const char *a, const char *b)
{
	bool is = whose_differ(a, b, "Bob");

	return whose_differ(b, a, "Bob") == is ? is : 2;
}

TEST(two_people_in_the_place_of_owners_or_subjects_differ)
{
	CHECK_INT(differ("Lena's dentist appointment is at nine",
			 "Jonas's dentist appointment is at four"),
		  1);
	CHECK_INT(differ("lena's dentist appointment is at nine",
			 "jonas' dentist appointment is at four"),
		  1);
	CHECK_INT(differ("Lena has a dentist appointment at nine",
			 "on Friday Jonas has a dentist appointment"),
		  1);
	CHECK_INT(differ("the dentist appointment for Lena is at nine",
			 "the dentist appointment for Jonas is at four"),
		  1);
	CHECK_INT(differ("lena has a dentist appointment at nine",
			 "on friday jonas has a dentist appointment"),
		  1);
	CHECK_INT(differ("my mum's knee is done on Monday", "my dad's knee is done on Friday"), 1);
	CHECK_INT(differ("Lenas Zahnarzttermin ist um neun", "Jonas' Zahnarzttermin ist um vier"),
		  1);
	CHECK_INT(differ("Lenas Zahnarzttermin ist um neun", "Jonas Zahnarzttermin ist um vier"),
		  1);
	CHECK_INT(differ("Lena hat um neun einen Termin beim Zahnarzt",
			 "Jonas hat um vier einen Termin beim Zahnarzt"),
		  1);
	CHECK_INT(differ("der Zahnarzttermin von Lena ist um neun",
			 "der Zahnarzttermin f\u00fcr Jonas ist um vier"),
		  1);
	CHECK_INT(differ("У Лены приём у зубного в девять", "У Йонаса приём у зубного в четыре"),
		  1);
	CHECK_INT(differ("Лена идёт к зубному в девять", "Йонас пойдёт к зубному в четыре"), 1);
	CHECK_INT(differ("приём Лены у зубного в девять", "приём Йонаса у зубного в четыре"), 1);
	CHECK_INT(differ("Lena ma wizyt\u0119 u dentysty o dziewi\u0105tej",
			 "Tomek ma wizyt\u0119 u dentysty o czwartej"),
		  1);
	CHECK_INT(differ("la cita de Lena es a las nueve", "la cita de Jonas es a las cuatro"), 1);
	CHECK_INT(
		differ("le rendez-vous d'Anne est le lundi", "le rendez-vous de Paul est le jeudi"),
		1);
}

TEST(the_author_is_somebody_too)
{
	CHECK_INT(differ("I have a dentist appointment at nine", "Lena has one at four"), 1);
	CHECK_INT(differ("my dentist appointment is at nine",
			 "Lena's dentist appointment is at four"),
		  1);
	CHECK_INT(differ("У меня приём в девять", "У Лены приём в четыре"), 1);
	/* In the words of who writes for them. */
	CHECK_INT(
		differ("my dentist appointment is at nine", "Bob's dentist appointment is at four"),
		0);
	CHECK_INT(differ("my bike is red", "I have a blue bike now"), 0);
	CHECK(!whose_differ("Lena's bike is red", "Lena Maier has a blue one", "Bob"));
}

/* "ma" is "has" in Polish and "my" in French, "i" is "and" there and "I" in English. */
TEST(the_author_is_read_in_the_language_of_the_text)
{
	CHECK_INT(differ("Mam wizyt\u0119 u dentysty o dziewi\u0105tej",
			 "Lena ma wizyt\u0119 u dentysty o czwartej"),
		  1);
	CHECK_INT(differ("Mam wizyt\u0119 u dentysty o dziewi\u0105tej",
			 "Lena i jej kot maj\u0105 czas, bo wizyta dla Leny jest o czwartej"),
		  1);
	CHECK_INT(differ("Ik heb om negen een afspraak bij de tandarts",
			 "Lena heeft om vier een afspraak, zie je wel"),
		  1);
	CHECK_INT(differ("Ho un appuntamento dal dentista alle nove",
			 "l'appuntamento di Lena per i denti \u00e8 alle quattro"),
		  1);
	CHECK_INT(differ("J'ai rendez-vous chez le dentiste \u00e0 neuf heures",
			 "le rendez-vous de Lena chez le dentiste est \u00e0 quatre heures"),
		  1);
	CHECK_INT(differ("Tengo cita con el dentista a las nueve",
			 "la cita de Lena con el dentista es este mes, a las cuatro"),
		  1);
	CHECK_INT(differ("Tenho consulta no dentista \u00e0s nove",
			 "a consulta da Lena no dentista \u00e9 \u00e0s quatro"),
		  1);
	CHECK_INT(differ("Ich habe um neun einen Termin beim Zahnarzt",
			 "Lena hat um vier einen Termin beim Zahnarzt"),
		  1);
	CHECK_INT(differ("my dentist appointment is at nine", "Mia has one at four"), 1);
	CHECK_INT(differ("Ho un appuntamento dal dentista alle nove",
			 "l'appuntamento di Lena \u00e8 alle quattro come il mio"),
		  0);
	CHECK_INT(differ("Ma voiture est chez le garagiste",
			 "la voiture de Lena est avec ma voiture chez lui"),
		  0);
}

TEST(an_author_is_known_by_no_everyday_word_of_their_name)
{
	CHECK(whose_differ("my bike is red", "Lena has the blue bike", "The Dude"));
	CHECK(!whose_differ("my bike is red", "Lena has the blue bike of Dude", "The Dude"));
}

TEST(slavic_names_are_the_same_in_all_cases)
{
	CHECK_INT(
		differ("Kasia ma wizyt\u0119 o dziewi\u0105tej", "wizyta dla Kasi jest o czwartej"),
		0);
	CHECK_INT(differ("Ewa ma wizyt\u0119 o dziewi\u0105tej", "wizyta dla Ewy jest o czwartej"),
		  0);
	CHECK_INT(differ("Ola ma wizyt\u0119 o dziewi\u0105tej", "wizyta dla Oli jest o czwartej"),
		  0);
	CHECK_INT(differ("Сергей идёт к зубному в девять", "приём Сергея у зубного в четыре"), 0);
	CHECK_INT(differ("Сергея ждут у зубного в девять", "зубной примет за Сергеем и Сергее"), 0);
	CHECK_INT(differ("Андрей идёт к зубному в девять", "приём у Андрея в четыре"), 0);
	CHECK_INT(differ("Илья идёт к зубному в девять", "приём у Игоря в четыре"), 1);
	CHECK_INT(differ("Ewa ma wizyt\u0119 o dziewi\u0105tej", "wizyta dla Ela jest o czwartej"),
		  1);
}

TEST(the_same_person_in_other_forms_and_what_names_nobody_do_not_differ)
{
	CHECK_INT(differ("Lena's appointment is at nine", "Lena has it at four now"), 0);
	CHECK_INT(differ("Lena's appointment is at nine", "it was moved to four"), 0);
	CHECK_INT(differ("Lena's appointment is at nine", "Jonas drives, Lena has it at four"), 0);
	CHECK_INT(differ("Lenas Termin ist um neun", "Lena hat den Termin jetzt um vier"), 0);
	CHECK_INT(differ("У Лены приём в девять", "Лена идёт на приём в четыре"), 0);
	CHECK_INT(
		differ("Lena ma wizyt\u0119 o dziewi\u0105tej", "wizyta dla Leny jest o czwartej"),
		0);
	CHECK_INT(differ("Концерт в Лукасе", "Концерт теперь в Бонне"), 0);
	CHECK_INT(differ("щенка зовут Бисквит", "щенка теперь зовут Перец"), 0);
	CHECK_INT(differ("the game is called Lantern Creek", "we call it Mothlight"), 0);
	CHECK_INT(differ("the puppy is called Biscuit", "it's Pepper now, Biscuit didn't stick"),
		  0);
	CHECK_INT(differ("that's at nine", "it's at four"), 0);
	CHECK_INT(differ("the concert's at nine", "the show's at four"), 0);
	CHECK_INT(differ("the Konzert is on Monday", "let's meet on Friday"), 0);
	CHECK_INT(differ("Das Konzert ist in der Lukaskirche", "Das Konzert ist in der Stadthalle"),
		  0);
	CHECK_INT(differ("Parking is free", "parking costs three dollars"), 0);
	CHECK_INT(differ("everybody has the keys", "lena has the keys"), 0);
	CHECK_INT(differ("the game has eight levels", "i cut it, lena wants five levels"), 0);
	CHECK_INT(differ("the price is two hundred", "lena has it for one fifty"), 0);
	CHECK_INT(differ("let's meet at four", "lena's place is free at five"), 0);
	CHECK_INT(differ("", "Lena's appointment is at four"), 0);
	CHECK_INT(differ("東京 Musik ist um neun und das ist gut", "Lena hat um vier Probe"), 1);
}

TEST(a_question_asks_about_those_whom_it_names_or_about_its_asker)
{
	CHECK(whose_is_asked("when is Lena's appointment", "Lena has it at nine", "Bob"));
	CHECK(whose_is_asked("wann ist Lenas Termin", "Lena hat ihn um neun", "Bob"));
	CHECK(whose_is_asked("когда приём у Лены", "Лена идёт в девять", "Bob"));
	CHECK(!whose_is_asked("when is the appointment", "Lena has it at nine", "Bob"));
	CHECK(!whose_is_asked("when has Jonas his", "Lena has it at nine", "Bob"));
	CHECK(whose_is_asked("when is my appointment", "I have it at nine", "Bob"));
	CHECK(whose_is_asked("when is Bob's appointment", "I have it at nine", "Bob"));
	CHECK(!whose_is_asked("when is Ana's appointment", "I have it at nine", "Bob"));
	CHECK(!whose_is_asked("when is my appointment", "Lena has it at nine", "Bob"));
}

TEST(who_takes_something_over_tells_of_themselves)
{
	const char *older = "I cut the trailer on my bike";

	CHECK(whose_takes_over("I take it, Mira's swamped, so I cut it", older, "Mira"));
	CHECK(whose_takes_over("can i lead it, mira's fine with it", older, "Mira"));
	CHECK(!whose_takes_over("Mira's trailer is cut by Dev", older, "Mira"));
	CHECK(!whose_takes_over("I know that Mira's bike is blue", older, "Mira"));
	CHECK(!whose_takes_over("I like it, Mira said so", older, "Mira"));
	CHECK(!whose_takes_over("I cut the trailer now", older, "Mira"));
	CHECK(whose_takes_over("Mira has no time so I cut the trailer", older, "Mira"));
	CHECK(whose_takes_over("let me do it, I know Mira has the audit", older, "Mira"));
	CHECK(!whose_takes_over("I may cut it", older, "May"));
}

TEST(who_tells_what_they_heard_of_somebody_takes_nothing_over)
{
	const char *red = "my bike is red";

	CHECK(!whose_takes_over("I heard Mira has a blue bike", red, "Mira"));
	CHECK(!whose_takes_over("I saw Mira on a blue bike", red, "Mira"));
	CHECK(!whose_takes_over("me and Mira have a blue bike", red, "Mira"));
	CHECK(!whose_takes_over("Dev told me that Mira rides a blue one", red, "Mira"));
	CHECK(!whose_takes_over("ich habe geh\u00f6rt, dass Mira blau f\u00e4hrt", red, "Mira"));
	CHECK(!whose_takes_over("I think Mira works on Friday", "Thursday is for the office",
				"Mira"));
	CHECK(!whose_takes_over("podobno Mira ma niebieski rower", "m\u00f3j rower jest czerwony",
				"Mira"));
	CHECK(whose_takes_over("ich nehme es, Mira ist krank", "mein Film ist am Freitag", "Mira"));
}
