package analyze

import (
	"slices"
	"strings"
	"sync"
)

// IsStopWord reports whether the folded word is one of the commonest of our languages: words that tell nothing
// of what a text is about. Nothing in this package leaves them out; a search may, and a keyword that is one
// of them alone deserves a warning. What means something in another of the languages is not among them,
// above all in English: war and die are German ones, and car is a French one.
func IsStopWord(folded string) bool {
	_, found := slices.BinarySearch(sortedStopWords(), folded)
	return found
}

// sortedStopWords returns the one list that is looked into, which nobody changes.
var sortedStopWords = sync.OnceValue(stopWords)

// stopWords returns a new list of the stop words, folded and sorted.
func stopWords() []string {
	meaningful := map[string]bool{}
	for word := range strings.FieldsSeq(meaningElsewhere) {
		meaningful[word] = true
	}
	var all []string
	for _, l := range latinLanguages[1:] {
		all = append(all, strings.Fields(Fold(commonWords[l]))...)
	}
	all = slices.DeleteFunc(all, func(word string) bool { return meaningful[word] || len(word) < shortestStemmed })
	for _, l := range []Language{English, Greek, Russian} {
		all = append(all, strings.Fields(Fold(commonWords[l]))...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

const meaningElsewhere = `
allen als ante aus avant ben bin che chi com come comment como con contra dan das dat dell dem den des die dies door
dos dove due elk ella elle encore era est fare fin fino fra fur gia han hat hay hem hoe hun ins ist kan las lei mag mais man mas meme men mes
met mia mit mon muss nada nas nell nem non nos nous num nun ons par pas pela pelo pendant per plus poi por pour prima quelle
sans seine sem sera ser ses seu sia sin sino solo son stata stati stato sue sui sul sur sus tan tem ten ter ton todo tot
tout tra tras tus uit uno van vers via vos war weer wel
`
