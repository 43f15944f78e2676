/* Names that look the same (language.h). Unicode has many letters both as one character and as a
 * base letter with marks (Unicode Standard Annex #15), and case for most scripts that have any.
 * Marks are left out: people tell names apart by letters. */
#include <string.h>

#include "control/room/language/language.h"

enum { SYLLABLE = 0xac00, INITIAL = 0x1100, MEDIAL = 0x1161, FINAL = 0x11a7, KATAKANA = 0x60 };
enum { VOICED = 0x3099, SEMIVOICED };

struct range {
	uint32_t from, to;
};

static bool is_among(uint32_t ch, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ch >= ranges[i].from && ch <= ranges[i].to)
			return true;
	return false;
}

static bool is_seen(uint32_t ch)
{
	static const struct range unseen[] = {
		{0x09, 0x0d},	  {' ', ' '},	      {0x85, 0x85},	  {0xa0, 0xa0},
		{0xad, 0xad},	  {0x34f, 0x34f},     {0x61c, 0x61c},	  {0x115f, 0x1160},
		{0x1680, 0x1680}, {0x17b4, 0x17b5},   {0x180b, 0x180f},	  {0x2000, 0x200f},
		{0x2028, 0x202f}, {0x205f, 0x206f},   {0x2800, 0x2800},	  {0x3000, 0x3000},
		{0x3164, 0x3164}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},	  {0xffa0, 0xffa0},
		{0xfff0, 0xfff8}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	};

	return !is_among(ch, unseen, sizeof unseen / sizeof unseen[0]);
}

/* Of Latin, Greek and Cyrillic letters, which look nearly the same without. */
static bool is_mark(uint32_t ch)
{
	static const struct range marks[] = {{0x300, 0x36f},   {0x483, 0x489},	 {0x1ab0, 0x1aff},
					     {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f}};

	return is_among(ch, marks, sizeof marks / sizeof marks[0]);
}

/* ---- letters ---- */

/* The base letter in lower case of a Latin letter that has one; 0: it is another character. */
static uint32_t base_of_latin(uint32_t ch)
{
	static const char from_c0[] =
		"aaaaaa.ceeeeiiii.nooooo..uuuuy..aaaaaa.ceeeeiiii.nooooo..uuuuy.y"
		"aaaaaaccccccccdd..eeeeeeeeeegggggggghh..iiiiiiiii...jjkk.llllll."
		"...nnnnnn...oooooo..rrrrrrsssssssstttt..uuuuuuuuuuuuwwyyyzzzzzz."
		"................................oo.............uu..............."
		".............aaiioouuuuuuuuuu.aaaa....ggkkoooo..j...gg..nnaa...."
		"aaaaeeeeiiiioooorrrruuuusstt..hh......aaeeooooooooyy............"
		"................";
	static const char from_1e00[] =
		"aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmm"
		"mmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvv"
		"wwwwwwwwwwxxxxyyzzzzzzhtwy......aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee"
		"eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy......";
	char letter = '.';

	if (ch >= 0xc0 && ch < 0xc0 + sizeof from_c0 - 1)
		letter = from_c0[ch - 0xc0];
	if (ch >= 0x1e00 && ch < 0x1e00 + sizeof from_1e00 - 1)
		letter = from_1e00[ch - 0x1e00];
	return letter == '.' ? 0 : (uint32_t)letter;
}

/* The same of a Greek letter. */
static uint32_t base_of_greek(uint32_t ch)
{
	/* Two bytes each. */
	static const char from_386[] = "α·εηι·ο·υωιαβγδεζηθικλμνξοπρ·στυφχψωιυ"
				       "αεηιυαβγδεζηθικλμνξοπρσστυφχψωιυουω";
	static const char from_1f00[] = "ααααααααααααααααεεεεεε··εεεεεε··"
					"ηηηηηηηηηηηηηηηηιιιιιιιιιιιιιιιι"
					"οοοοοο··οοοοοο··υυυυυυυυ·υ·υ·υ·υ"
					"ωωωωωωωωωωωωωωωωααεεηηιιοουυωω··"
					"ααααααααααααααααηηηηηηηηηηηηηηηη"
					"ωωωωωωωωωωωωωωωωααααα·ααααααα·ι·"
					"··ηηη·ηηεεηηη···ιιιι··ιιιιιι····"
					"υυυυρρυυυυυυρ·····ωωω·ωωοοωωω···";
	const char *letter = "·";
	uint32_t base;

	if (ch >= 0x386 && ch < 0x386 + sizeof from_386 / 2)
		letter = &from_386[2 * (ch - 0x386)];
	if (ch >= 0x1f00 && ch < 0x1f00 + sizeof from_1f00 / 2)
		letter = &from_1f00[2 * (ch - 0x1f00)];
	base = room_script_next(&letter);
	return base == 0xb7 ? 0 : base;
}

static uint32_t lower_of_others(uint32_t ch)
{
	/* In turn with the letters of which the one before is an even code. */
	static const struct range even[] = {
		{0x3d8, 0x3ef}, {0x460, 0x481}, {0x48a, 0x4bf}, {0x4d0, 0x52f}};

	if (is_among(ch, even, sizeof even / sizeof even[0]))
		return ch | 1;
	if (ch >= 0x4c1 && ch <= 0x4ce)
		return ch + ch % 2;
	if (ch == 0x4c0)
		return 0x4cf;
	if (ch >= 0x531 && ch <= 0x556) /* Armenian */
		return ch + 0x30;
	return room_script_lower(ch);
}

static uint32_t look_of(uint32_t ch)
{
	/* Capitals apart from their small letters, and small letters with a mark: each before what
	 * it looks like. */
	static const char pairs[] = "ƁɓƂƃƄƅƆɔƇƈƉɖƊɗƋƌƎǝƏəƐɛƑƒƓɠƔɣƖɩƗɨƘƙƜɯƝɲƟɵ"
				    "ƢƣƤƥƦʀƧƨƩʃƬƭƮʈƱʊƲʋƳƴƵƶƷʒƸƹƼƽǄǆǅǆǇǉǈǉǊǌǋǌ"
				    "ǢæǤǥǮʒǱǳǲǳǶƕǷƿǼæǾøȜȝȠƞȢȣȤȥȺⱥȻȼȽƚȾⱦɁɂɃƀɄʉ"
				    "ɅʌɆɇɈɉɊɋɌɍɎɏǣæǽæǿøǯʒẞßỺỻỼỽỾỿйиѐеѓгїіќкѝи"
				    "ўуѷѵӂжӑаӓаӗеӛәӝжӟзӣиӥиӧоӫөӭэӯуӱуӳуӵчӹы";
	uint32_t base = base_of_latin(ch);

	if (ch < 0x80)
		return room_script_lower(ch);
	base = base ? base : base_of_greek(ch);
	if (base)
		return base;
	ch = lower_of_others(ch);
	for (const char *p = pairs; *p;) {
		uint32_t from = room_script_next(&p), to = room_script_next(&p);

		if (from == ch)
			return to;
	}
	return ch;
}

/* ---- kana and hangul, whose letters differ by their marks ---- */

/* The kana of this one and a sound mark; 0: there is none. */
static uint32_t join_kana(uint32_t ch, uint32_t mark)
{
	uint32_t of = ch >= 0x30a1 && ch <= 0x30fe ? ch - KATAKANA : ch;
	bool h = of >= 0x306f && of <= 0x307b && of % 3 == 0x306f % 3;

	if (mark == SEMIVOICED)
		return h ? ch + 2 : 0;
	if (mark != VOICED)
		return 0;
	if (of == 0x3046)
		return ch + 0x4e;
	if (ch >= 0x30ef && ch <= 0x30f2)
		return ch + 8;
	if (h || of == 0x309d || (of >= 0x304b && of <= 0x3061 && of % 2) ||
	    (of >= 0x3064 && of <= 0x3068 && of % 2 == 0))
		return ch + 1;
	return 0;
}

/* A name that is read. */
struct look {
	const char *at;
	uint32_t next[2]; /* letters of a syllable, the last one first */
	unsigned n;
};

static uint32_t take_syllable(struct look *l, uint32_t ch)
{
	uint32_t of = ch - SYLLABLE;

	if (of % 28)
		l->next[l->n++] = FINAL + of % 28;
	l->next[l->n++] = MEDIAL + of / 28 % 21;
	return INITIAL + of / (28 * 21);
}

/* The next character that is seen, as it looks; 0: there is none. */
static uint32_t next_look(struct look *l)
{
	while (!l->n && *l->at) {
		uint32_t ch = room_script_next(&l->at), kana;
		const char *mark = l->at;

		if (!is_seen(ch) || is_mark(ch))
			continue;
		if (ch >= SYLLABLE && ch <= 0xd7a3)
			return take_syllable(l, ch);
		kana = ch >= 0x3041 && ch <= 0x30fe ? join_kana(ch, room_script_next(&mark)) : 0;
		if (kana)
			l->at = mark;
		return kana ? kana : look_of(ch);
	}
	return l->n ? l->next[--l->n] : 0;
}

bool room_script_same(const char *a, const char *b)
{
	struct look x = {.at = a}, y = {.at = b};
	uint32_t ch;

	do {
		ch = next_look(&x);
		if (next_look(&y) != ch)
			return false;
	} while (ch);
	return true;
}
