#include "control/memory/function_words.h"

#include <string.h>

#include "control/memory/terms.h"

/* Each list begins and ends with a blank, and has blanks between its words. */
static const char *const lists[FUNCTION_LANGUAGES] = {
	[FUNCTION_GERMAN] =
		" aber alle alles als also am an auch auf aus bei beim bin bis bist da dann das "
		"dass dein deine deinen deiner dem den denn der des dich die dir doch du durch ein "
		"eine einem einen einer er es euch euer für gab gesagt gibt habe haben hast hat "
		"hatte heißt ich ihm ihn ihr ihre im in ins ist ja kann kannst man mein meine "
		"meinem meinen meiner mich mir mit nach noch nun nur ob oder ohne sag sage sagte "
		"schon sein seine sich sie sind so über um und uns unser unsere vom von vor wann "
		"war waren warum was weil weiß weißt wem wen wenn wer werden wie will wird wir wo "
		"wohin zu zum zur erzähl vergiss bitte ",
	[FUNCTION_SPANISH] =
		" a al algo alguien aquí así aún con cuando cuándo como cómo cuál cual cuánto de "
		"del desde dime donde dónde dijo dije el él ella ellos en entre era eres es esa "
		"ese eso esta está están estaba este esto estoy fue ha había han has hay he la las "
		"le les lo los más me mi mí mis mucho muy nos nosotros nuestra nuestro o para pero "
		"por porque que qué quien quién sabe sabes se ser si sí sin sobre somos son soy su "
		"sus también te tengo tiene tienen tienes tu tú tus un una unas unos usted y ya yo "
		"olvida recuerda ",
	[FUNCTION_FRENCH] =
		" à ai au aux avec avait avez avons ce ces cet cette chez combien comme comment "
		"dans de des dit du elle elles en entre es est et étais était été êtes eux fait il "
		"ils je jusque l la le les leur leurs lui ma mais me mes moi mon ne nos notre nous "
		"on ont ou où par pas pour pourquoi quand que quel quelle quels quelles qui quoi "
		"sa sais sait sans se ses si son sont suis sur ta te tes toi ton tu un une va vos "
		"votre vous y c d j m n qu s t ça oublie rappelle dis ",
	[FUNCTION_ITALIAN] =
		" a ad ai al alla alle anche c che chi ci come con cosa cos da dal dalla degli dei "
		"del della delle detto di dice dove dov e è era ero essere fa gli ha hai hanno ho "
		"i il in io l la le lei li lo loro lui ma me mi mia mie miei mio ne nei nel nella "
		"noi nostra nostro o per perché più qual quale quali quando quanto quella quello "
		"questa questo qui sa sai se sei si sia siamo sono su sua sue sul sulla suo ti tu "
		"tua tue tuo un una uno vi voi dimmi dimentica ricorda ",
	[FUNCTION_DUTCH] =
		" aan al als bij ben bent daar dan dat de deze die dit door een en er gezegd had "
		"heb hebben heeft hem het hij hoe hun iets ik in is jij je jou jouw jullie kan "
		"maar me men met mij mijn naar niet nog of om ons onze ook op over te toch toen "
		"tot u uit uw van veel voor waar waarom wanneer waren was wat we weet welke wel "
		"werd wie wij wil worden wordt zei zeg ze zich zij zijn zo zou vergeet vertel t s ",
	[FUNCTION_POLISH] =
		" a aby albo ale być był była było bo by ci cię co czego czy dla do gdy gdzie go i "
		"ich ile im ja jak jaka jaki jakie jest jestem jesteś jego jej jeszcze już każdy "
		"kiedy kto która które który ma mam mamy masz mają mi mną mnie mój moja moje moją "
		"mojej mojego moim mu my na nad nam nas nasz nasza nasze nie nim o od on ona one "
		"oni ono oraz po pod powiedz powiedział powiedziała przez przy są się swój ta tak "
		"tam te tego tej ten też to tu twoja twoje twój ty u w we wie wiesz wy z za że ze "
		"zapomnij pamiętasz ",
	[FUNCTION_PORTUGUESE] =
		" a à ao aos as às até com como da das de dela dele do dos disse diz e é ela elas "
		"ele eles em entre era és essa esse está estão estava estou esta este eu foi há "
		"isso isto já lhe mais mas me meu meus mim minha minhas muito na nas no nos nós "
		"nossa nosso num numa o onde os ou para pela pelo por porque qual quando quanto "
		"que quem sabe sabes se sem ser seu sua são só sobre sou também te tem temos tens "
		"tenho teu tua tu um uma você vocês esquece lembra ",
	[FUNCTION_RUSSIAN] =
		" а без был была были было в вам вас ваш все всё вы где да для до его ее её если "
		"есть еще ещё же за знает знаешь и из или им их к как какая какие какое какой "
		"когда который которая кто куда ли мне меня мной мои моя моё мое моей моего моем "
		"мой мою моим мы на нам нас наш наша не него нее неё нет ни но ну о об он она они "
		"оно от очень по потому почему при про с свой сказал сказала скажи со сколько так "
		"также там тебе тебя то тоже только ты тут у уже что чтобы чего чья чей чьё эта "
		"эти это этот я забудь помнишь "};
/* They are content in English, and an English sentence with one of them is no other language. */
static const char homographs[] = " also are come die dim dove era fa for had has hat here hole i "
				 "in kid man me men mine no of on"
				 " one over per plus pod pour qui sage sale see sin son sur ten to "
				 "ton tu via war was wet will dice"
				 " ma mi my do go im by ale ";

static const char chinese[] = " 为什么 有没有 是不是 什么 时候 怎么 怎样 哪里 哪儿 多少 没有 可以 "
			      "一个 一下 知道 告诉 请问 关于"
			      " 我们 你们 他们 她们 自己 这个 那个 还是 我 你 您 他 她 它 的 了 吗 "
			      "呢 吧 们 是 在 这 那 哪 谁 么 也"
			      " 很 把 被 跟 就 与 ";
static const char dense[] =
	/* Japanese */
	" 私 僕 俺 君 彼 彼女 何 何時 誰 時 事 今 物 方 言っ 言い 言う 話し 話す 教え 覚え 知っ "
	"忘れ "
	/* Korean */
	"내 나 너 네 저 제 내가 나는 나의 너는 네가 저는 제가 우리 우리는 우리가 있어 있어요 "
	"있습니다 있니 있나"
	" 없어 없어요 어디 어디에 어디야 어디예요 언제 언제야 언제예요 뭐 뭐야 뭐예요 뭐라고 무엇 "
	"무엇을 누구"
	" 누가 누구야 왜 어떻게 얼마나 얼마 몇 이 그 저 이거 그거 저거 것 거 것은 것이 그리고 "
	"그런데 하지만 해"
	" 했어 했어요 했지 했니 해요 한 할 말했어 말했지 말해 알아 알려줘 기억해 잊어 잊어줘 좀 더 "
	"또 다 안 못 ";
/* Longer ones first. */
static const char *const korean_particles[] = {
	"에서는", "에서", "에게", "한테", "으로", "까지", "부터", "처럼", "보다",
	"이랑",	  "하고", "이나", "은",	  "는",	  "이",	  "가",	  "을",	  "를",
	"에",	  "의",	  "도",	  "와",	  "과",	  "로",	  "만",	  "랑",	  NULL};

static bool list_holds(const char *list, const char *word, size_t n)
{
	char blanks[TERM_MAX + 3];

	if (!n || n > TERM_MAX)
		return false;
	blanks[0] = ' ';
	memcpy(blanks + 1, word, n);
	blanks[n + 1] = ' ';
	blanks[n + 2] = '\0';
	return strstr(list, blanks) != NULL;
}

void function_words_count(struct function_count *c, const char *word, size_t n)
{
	bool counts = !list_holds(homographs, word, n);

	c->words++;
	c->english += terms_is_english_stop_word(word, n);
	for (size_t i = 0; i < FUNCTION_LANGUAGES && counts; i++)
		c->hits[i] += list_holds(lists[i], word, n);
}

function_languages function_words_guess(const struct function_count *c)
{
	function_languages languages = 0;
	unsigned most = c->english;

	for (size_t i = 0; i < FUNCTION_LANGUAGES; i++) {
		if (c->hits[i] > most) {
			most = c->hits[i];
			languages = 0;
		}
		if (c->hits[i] == most && most > c->english)
			languages |= 1u << i;
	}
	return c->words > 1 ? languages : 0;
}

bool function_words_hold(function_languages languages, const char *word, size_t n)
{
	for (size_t i = 0; i < FUNCTION_LANGUAGES; i++)
		if ((languages >> i & 1) && list_holds(lists[i], word, n))
			return true;
	return false;
}

size_t function_words_chinese(const char *p, const char *end)
{
	/* Of three characters at most, of three bytes each. */
	for (size_t n = 9; n; n -= 3)
		if ((size_t)(end - p) >= n && list_holds(chinese, p, n))
			return n;
	return 0;
}

bool function_words_dense(const char *word, size_t n)
{
	return list_holds(dense, word, n);
}

size_t function_words_korean_stem(const char *word, size_t n)
{
	enum { TWO = 6 }; /* bytes of two syllables */

	for (size_t i = 0; korean_particles[i]; i++) {
		size_t k = strlen(korean_particles[i]);

		if (n >= TWO + k && memcmp(word + n - k, korean_particles[i], k) == 0)
			return n - k;
	}
	return n;
}
