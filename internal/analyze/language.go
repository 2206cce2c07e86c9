package analyze

import "strings"

// Language is one of the languages whose words are reduced to their stems.
type Language uint8

const (
	Unknown Language = iota
	English
	Greek
	German
	French
	Spanish
	Italian
	Portuguese
	Dutch
	Russian
	languages = int(Russian) + 1
)

var languageCodes = [languages]string{"", "en", "el", "de", "fr", "es", "it", "pt", "nl", "ru"}

// String returns the code of the language as in ISO 639-1, and "" of Unknown.
func (l Language) String() string {
	if int(l) < len(languageCodes) {
		return languageCodes[l]
	}
	return ""
}

// ParseLanguage returns the language that a tag such as en, el or pt-BR (BCP 47) begins with; Unknown if
// that is none of ours.
func ParseLanguage(tag string) Language {
	primary := strings.TrimSpace(tag)
	if i := strings.IndexAny(primary, "-_"); i >= 0 {
		primary = primary[:i]
	}
	for l := English; int(l) < languages; l++ {
		if strings.EqualFold(primary, languageCodes[l]) {
			return l
		}
	}
	return Unknown
}

// script is the writing of a folded word that consists of the letters of one of our languages alone.
type script uint8

const (
	noScript script = iota // digits, symbols, letters of other languages
	latin
	greek
	cyrillic
)

func scriptOf(folded string) script {
	switch {
	case within(folded, 'a', 'z'):
		return latin
	case within(folded, 'α', 'ω'):
		return greek
	case within(folded, 'а', 'я'):
		return cyrillic
	}
	return noScript
}

func within(word string, first, last rune) bool {
	for _, r := range word {
		if r < first || r > last {
			return false
		}
	}
	return true
}

// latinLanguages are those written in Latin letters, English first.
var latinLanguages = [...]Language{English, German, French, Spanish, Italian, Portuguese, Dutch}

// ofLatinWords returns the language by which a word in Latin letters is stemmed in a text of language l:
// English, unless l is written in these letters itself.
func (l Language) ofLatinWords() Language {
	switch l {
	case Unknown, Greek, Russian:
		return English
	}
	return l
}

// salt tells the hash of a word in one language from that of the same word in another.
func (l Language) salt() uint64 { return uint64(l) * salter }
