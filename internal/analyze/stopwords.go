package analyze

import (
	"slices"
	"strings"
)

// StopWords returns the commonest words of English and Greek, folded and sorted: words that say nothing
// of what a text is about. Nothing in this package leaves them out; a search may, and a keyword that is
// one of them alone deserves a warning.
func StopWords() []string { return slices.Clone(stopWords) }

// IsStopWord reports whether the folded word is one of [StopWords].
func IsStopWord(folded string) bool {
	_, found := slices.BinarySearch(stopWords, folded)
	return found
}

var stopWords = func() []string {
	words := strings.Fields(Fold(englishStopWords + greekStopWords))
	slices.Sort(words)
	return slices.Compact(words)
}()

const englishStopWords = `
a about above after again against all also am an and any are as at be because been before being below
between both but by can cannot could did do does doing down during each few for from further had has have
having he her here hers herself him himself his how i if in into is it its itself just me more most my
myself no nor not now of off on once only or other our ours ourselves out over own same she should so some
such than that the their theirs them themselves then there these they this those through to too under until
up us very was we were what when where which while who whom why will with would you your yours yourself
yourselves
`

const greekStopWords = `
αλλά αν αντί από αυτά αυτές αυτή αυτήν αυτής αυτό αυτοί αυτός αυτού αυτούς αυτών για δε δεν εγώ εδώ εκεί
εκείνα εκείνες εκείνη εκείνο εκείνοι εκείνος εμείς ενώ επί εσείς εσύ έχει έχουν ή η ήταν θα και κάθε κατά
κι λοιπόν μα με μετά μέχρι μη μην μία μια μου μας να ο οι όμως όπου όπως όσο όταν ότι ούτε όχι παρά ποια
ποιες ποιο ποιοι ποιος που πού προς πρέπει πριν πως πώς σαν σας σε στα στη στην στις στο στον στους σου τα
τη την της τι τις το τον του τους των χωρίς ως ώστε είμαι είναι είσαι είμαστε είστε ένα ένας έναν
`
