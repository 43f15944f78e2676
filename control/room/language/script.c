#include <string.h>

#include "control/room/language/language.h"

enum { HANGUL = 0xac00, MEDIALS = 21, FINALS = 28, KANA = 0x3041 };

uint32_t room_script_next(const char **p)
{
	const unsigned char *s = (const unsigned char *)*p;
	unsigned more = *s < 0x80 ? 0 : *s >= 0xf0 ? 3 : *s >= 0xe0 ? 2 : *s >= 0xc0 ? 1 : 4;
	uint32_t ch = more == 0 ? *s : more == 4 ? 0xfffd : *s & (0x3fu >> more);

	s++;
	for (unsigned i = 0; more < 4 && i < more; i++) {
		if ((*s & 0xc0) != 0x80) {
			ch = 0xfffd;
			break;
		}
		ch = ch << 6 | (*s++ & 0x3f);
	}
	*p = (const char *)s;
	return ch;
}

enum room_script room_script_of(uint32_t ch)
{
	static const struct {
		uint32_t from, to;
		enum room_script script;
	} ranges[] = {
		{'0', '9', ROOM_SCRIPT_DIGIT},		{'A', 'Z', ROOM_SCRIPT_LATIN},
		{'a', 'z', ROOM_SCRIPT_LATIN},		{0xaa, 0xaa, ROOM_SCRIPT_LATIN},
		{0xba, 0xba, ROOM_SCRIPT_LATIN},	{0xc0, 0xd6, ROOM_SCRIPT_LATIN},
		{0xd8, 0xf6, ROOM_SCRIPT_LATIN},	{0xf8, 0x24f, ROOM_SCRIPT_LATIN},
		{0x300, 0x36f, ROOM_SCRIPT_LATIN},	{0x400, 0x52f, ROOM_SCRIPT_CYRILLIC},
		{0x1e00, 0x1eff, ROOM_SCRIPT_LATIN},	{0x3041, 0x3096, ROOM_SCRIPT_HIRAGANA},
		{0x3005, 0x3007, ROOM_SCRIPT_HAN},	{0x30a1, 0x30fa, ROOM_SCRIPT_KATAKANA},
		{0x30fc, 0x30fe, ROOM_SCRIPT_KATAKANA}, {0x1100, 0x11ff, ROOM_SCRIPT_HANGUL},
		{0x3130, 0x318f, ROOM_SCRIPT_HANGUL},	{0xac00, 0xd7a3, ROOM_SCRIPT_HANGUL},
		{0x3400, 0x4dbf, ROOM_SCRIPT_HAN},	{0x4e00, 0x9fff, ROOM_SCRIPT_HAN},
		{0xf900, 0xfaff, ROOM_SCRIPT_HAN},	{0x20000, 0x3ffff, ROOM_SCRIPT_HAN},
		{0xff10, 0xff19, ROOM_SCRIPT_DIGIT},	{0xff21, 0xff3a, ROOM_SCRIPT_LATIN},
		{0xff41, 0xff5a, ROOM_SCRIPT_LATIN},	{0x2000, 0x303f, ROOM_SCRIPT_NONE},
		{0xfe30, 0xfe4f, ROOM_SCRIPT_NONE},	{0xff00, 0xffff, ROOM_SCRIPT_NONE},
	};

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (ch >= ranges[i].from && ch <= ranges[i].to)
			return ranges[i].script;
	return ch < 0x250 || (ch >= 0x1f000 && ch < 0x20000) ? ROOM_SCRIPT_NONE : ROOM_SCRIPT_OTHER;
}

uint32_t room_script_lower(uint32_t ch)
{
	if (ch >= 0xff21 && ch <= 0xff3a)
		return ch - 0xff21 + 'a';
	if ((ch >= 0xff41 && ch <= 0xff5a) || (ch >= 0xff10 && ch <= 0xff19))
		return ch - 0xff10 + '0';
	if ((ch >= 'A' && ch <= 'Z') || (ch >= 0xc0 && ch <= 0xde && ch != 0xd7) ||
	    (ch >= 0x410 && ch <= 0x42f))
		return ch + 0x20;
	if (ch >= 0x400 && ch <= 0x40f)
		ch += 0x50;
	if (ch == 0x451)
		return 0x435; /* ё is written as е more often than not */
	if ((ch >= 0x139 && ch <= 0x148) || (ch >= 0x179 && ch <= 0x17e))
		return ch % 2 ? ch + 1 : ch;
	if (ch >= 0x100 && ch <= 0x177)
		return ch % 2 ? ch : ch + 1;
	return ch;
}

bool room_script_put(char *to, size_t size, size_t *n, uint32_t ch)
{
	unsigned more = ch < 0x80 ? 0 : ch < 0x800 ? 1 : ch < 0x10000 ? 2 : 3;
	static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};

	if (*n + more + 1 >= size)
		return false;
	to[(*n)++] = (char)(lead[more] | ch >> 6 * more);
	while (more--)
		to[(*n)++] = (char)(0x80 | (ch >> 6 * more & 0x3f));
	to[*n] = '\0';
	return true;
}

/* ---- Latin letters for other scripts ---- */

static const char *latin_of_cyrillic(uint32_t ch)
{
	static const char *const letters[] = {"a",  "b",  "v", "g", "d", "e", "zh", "z",
					      "i",  "i",  "k", "l", "m", "n", "o",  "p",
					      "r",  "s",  "t", "u", "f", "h", "ts", "ch",
					      "sh", "sh", "",  "y", "",	 "e", "iu", "ia"};

	ch = room_script_lower(ch);
	return ch >= 0x430 && ch <= 0x44f ? letters[ch - 0x430] : NULL;
}

uint32_t room_script_simplify(uint32_t ch)
{
	/* A traditional character and its simplified form, in turn, by code point; three bytes
	 * each. */
	static const char pairs[] = "乾干來来係系倆俩個个們们傢家兒儿兩两別别剛刚劇剧勞劳厭厌厲厉唸"
				    "念問问單单喲哟嗎吗嗚呜"
				    "嘍喽嘖啧噓嘘噯嗳嚇吓囉啰報报夠够夥伙妳你婦妇媽妈學学實实寫写寶"
				    "宝對对師师幫帮幹干幾几"
				    "張张後后從从復复愛爱憐怜換换據据擲掷擾扰斷断於于時时暫暂曉晓會"
				    "会東东樣样歡欢歲岁沒没"
				    "準准漲涨為为煩烦爲为爺爷現现甚什當当癮瘾瞭了確确種种簡简紹绍結"
				    "结絕绝給给經经緊紧練练"
				    "總总繼继續续罷罢羅罗羨羡聲声聽听舉举著着薦荐號号裏里裡里複复見"
				    "见親亲覺觉討讨記记訴诉"
				    "試试話话認认說说説说誰谁請请講讲謝谢識识譜谱譯译議议讀读讓让讚"
				    "赞貝贝貴贵贊赞趕赶較较"
				    "這这連连過过遞递遠远選选遺遗還还釋释錯错長长門门閉闭閨闺闆板關"
				    "关雖虽離离難难靜静順顺"
				    "須须頭头題题額额顯显餵喂馬马駕驾麼么麽么點点";
	size_t from = 0, to = sizeof pairs / 6;

	while (from < to) {
		const char *p = pairs + (from + to) / 2 * 6;
		uint32_t at = room_script_next(&p);

		if (at == ch)
			return room_script_next(&p);
		if (at < ch)
			from = (from + to) / 2 + 1;
		else
			to = (from + to) / 2;
	}
	return ch;
}

const char *room_script_characters(const char *name)
{
	return strcmp(name, "parley") == 0 ? "帕利,帕里,帕丽,帕力,佩利,佩里" : NULL;
}

static const char *latin_of_kana(uint32_t ch)
{
	static const char *const kana[] = {
		"a",  "a",  "i",  "i",	"u",  "u",  "e",  "e",	"o",   "o",  "ka",  "ga",
		"ki", "gi", "ku", "gu", "ke", "ge", "ko", "go", "sa",  "za", "shi", "ji",
		"su", "zu", "se", "ze", "so", "zo", "ta", "da", "chi", "ji", "",    "tsu",
		"zu", "te", "de", "to", "do", "na", "ni", "nu", "ne",  "no", "ha",  "ba",
		"pa", "hi", "bi", "pi", "fu", "bu", "pu", "he", "be",  "pe", "ho",  "bo",
		"po", "ma", "mi", "mu", "me", "mo", "ya", "ya", "yu",  "yu", "yo",  "yo",
		"ra", "ri", "ru", "re", "ro", "wa", "wa", "i",	"e",   "o",  "n",   "vu"};

	if (ch >= 0x30a1 && ch <= 0x30fa)
		ch -= 0x60;
	return ch >= KANA && ch < KANA + sizeof kana / sizeof kana[0] ? kana[ch - KANA] : NULL;
}

/* True for the initials kk, tt and pp. Foreign names are written with k, t and p. */
static bool is_tense_stop(uint32_t initial)
{
	return initial == 1 || initial == 4 || initial == 8;
}

static bool add_hangul(char *to, size_t size, size_t *k, uint32_t ch)
{
	static const char *const initials[] = {"g",  "kk", "n", "d",  "tt", "r", "m",
					       "b",  "pp", "s", "ss", "",   "j", "jj",
					       "ch", "k",  "t", "p",  "h"};
	static const char *const medials[] = {"a",  "e",  "ya", "e",  "o",  "e",  "yo",
					      "e",  "o",  "wa", "we", "we", "yo", "u",
					      "wo", "we", "wi", "yu", "u",  "ui", "i"};
	static const char *const finals[] = {"",  "k",	"k", "k", "n", "n", "n", "t", "l", "k",
					     "m", "l",	"l", "l", "p", "l", "m", "p", "p", "t",
					     "t", "ng", "t", "t", "k", "t", "p", "t"};
	const char *parts[3];

	if (ch < HANGUL || ch > 0xd7a3)
		return false;
	ch -= HANGUL;
	if (is_tense_stop(ch / (MEDIALS * FINALS)))
		return false;
	parts[0] = initials[ch / (MEDIALS * FINALS)];
	parts[1] = medials[ch / FINALS % MEDIALS];
	parts[2] = finals[ch % FINALS];
	for (unsigned i = 0; i < 3; i++)
		for (const char *p = parts[i]; *p && *k + 1 < size; p++)
			to[(*k)++] = *p;
	return true;
}

size_t room_script_romanise(const char *run, size_t n, char *to, size_t size)
{
	const char *p = run, *end = run + n;
	size_t k = 0;

	while (p < end) {
		uint32_t ch = room_script_next(&p);
		const char *latin = latin_of_cyrillic(ch);

		if (ch == 0x30fc) { /* a long vowel */
			if (k && k + 1 < size) {
				to[k] = to[k - 1];
				k++;
			}
			continue;
		}
		if (!latin)
			latin = latin_of_kana(ch);
		if (!latin && !add_hangul(to, size, &k, ch))
			return 0;
		for (; latin && *latin && k + 1 < size; latin++)
			to[k++] = *latin;
	}
	to[k] = '\0';
	return k;
}
